"""How the lines of a template are joined."""

import pytest
from django.template import Engine
from hypothesis import given
from hypothesis import strategies as st

from core.templating import joined

PIECES = (
    "<b>",
    "</b>",
    '<i class="a b">',
    "word",
    " ",
    "{{ value }}",
    "{% if x %}",
    "{% endif %}",
    "{# why #}",
    "{",
    "<",
    "\n",
    "\n  ",
)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("<p>\n  <b>one</b>\n  <i>two</i>\n</p>\n", "<p><b>one</b><i>two</i></p>"),
        ("<p>\n  some\n  words of {{ a }}\n  and\n  {{ b }}\n</p>", "<p>some words of {{ a }} and {{ b }}</p>"),
        ("{% if a %}\n  yes\n{% else %}\n  no\n{% endif %}", "{% if a %}yes{% else %}no{% endif %}"),
        ("<b>one</b> word\n<i>two</i>", "<b>one</b> word<i>two</i>"),
        (
            '<a\n  class="x"\n  href="y" {% if a %}hidden{% endif %}\n>go</a>',
            '<a class="x" href="y" {% if a %}hidden{% endif %}>go</a>',
        ),
        (
            '<a title="1 > 0\n and {% if b == "c" %}2{% endif %}">\n  go\n</a>',
            '<a title="1 > 0 and {% if b == "c" %}2{% endif %}">go</a>',
        ),
        ("<div>\n\n\n  <br>\n</div>", "<div><br></div>"),
        (
            "{# what this is, #}\n{# and what it needs #}\n{% load ui %}\n",
            "{# what this is, #}{# and what it needs #}{% load ui %}",
        ),
        (
            '<pre>\n a\n  b\n</pre>\n<textarea\n  name="t"\n>\n{{ t }}\n</textarea>',
            '<pre>\n a\n  b\n</pre><textarea name="t">\n{{ t }}\n</textarea>',
        ),
    ],
)
def test_a_break_at_a_tag_is_nothing_and_one_between_words_a_space(source: str, line: str) -> None:
    assert joined(source) == line


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_joining_loses_only_spaces_and_does_all_at_once(source: str) -> None:
    once = joined(source)
    assert "".join(once.split()) == "".join(source.split())
    assert joined(once) == once or ("<" in source and ">" not in source.rpartition("<")[2])


def test_the_project_s_templates_are_loaded_like_that() -> None:
    assert "\n" not in Engine.get_default().get_template("base.html").source
