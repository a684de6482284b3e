"""docs/server-tools.md, followed to the letter."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from catalogue import builtin
from catalogue.spec import ToolContext, ToolSpec, by_name

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = ToolContext("", "")


def test_what_the_guide_says_pasted_where_it_says_is_a_tool():
    guide = (ROOT / "docs/server-tools.md").read_text()
    function, entry = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)[:2]
    before, bracket = (ROOT / "catalogue/builtin.py").read_text().rsplit(")\n", 1)
    module = ModuleType("pasted")
    head, tools, entries = before.partition("TOOLS: ")
    exec(compile(f"{head}{function}\n\n{tools}{entries}{entry})\n{bracket}", "builtin.py", "exec"), vars(module))  # noqa: S102
    assert set(module.TOOLS) == {*builtin.TOOLS, "count_words"}
    assert module.TOOLS["count_words"].run({"text": "one two three"}, CONTEXT) == {"words": 3}


def test_an_entry_that_is_none_is_told_and_so_is_a_name_given_twice():
    spec = ToolSpec("count_words", "Count.", {"type": "object"}, None)
    assert by_name(spec) == {"count_words": spec}
    with pytest.raises(TypeError, match=r"each entry is one ToolSpec\(\.\.\.\), not a tuple"):
        by_name((spec,))
    with pytest.raises(ValueError, match="the name 'count_words' is taken"):
        by_name(spec, spec)
