"""docs/feedback.md covers the whole query language, and all its examples are valid."""

import re
from pathlib import Path

from feedback.deciding import VERBS
from feedback.querying import parse
from feedback.querying.fields import FIELDS, HAS, IS

GUIDE = (Path(__file__).parents[2] / "docs/feedback.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| ((?:`\w+` ?)+) \| (.+?) \|", GUIDE.partition("## The query line")[2].partition("\n## ")[0], re.MULTILINE
)


def test_every_field_is_in_the_guide_with_examples_that_are_understood() -> None:
    named = [name for names, _ in ROWS for name in re.findall(r"`(\w+)`", names)]
    assert sorted(named) == sorted(FIELDS)
    for names, examples in ROWS:
        for example in re.findall(r"`([^`]+)`", examples):
            assert parse(example).problems == (), example
            assert example.partition(":")[0] in names


def test_every_state_and_everything_that_may_be_there_is_in_the_guide() -> None:
    for prefix, values in (("is", IS), ("has", HAS)):
        assert re.findall(rf"`{prefix}:(\w+)`", GUIDE.partition("| field |")[2])[: len(values)] == list(values)


def test_every_verb_is_in_the_guide() -> None:
    table = GUIDE.partition("| verb |")[2].partition("\n\n")[0]
    assert set(VERBS) == set(re.findall(r"\w+", " ".join(re.findall(r"^\| ([a-z, ]+) \|", table, re.MULTILINE))))


def test_queries_by_rest_are_understood() -> None:
    asked = re.findall(r"q=([^']+)'", GUIDE) + re.findall(r'"query": "([^"]+)"', GUIDE)
    assert len(asked) >= 3
    assert [query for query in asked if parse(query).problems] == []
