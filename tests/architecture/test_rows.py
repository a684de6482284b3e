"""Every row of the specifications is named by a test."""

import ast
import re
from pathlib import Path

import pytest

from core import syntax

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| ([BCGHKT]\d+) \|", re.MULTILINE)
_NAMED = re.compile(r"(?<![A-Za-z0-9])([BCGHKT])(\d+)(?: (?:to|-) [BCGHKT]?(\d+))?(?![A-Za-z0-9])")


def named_by(words: str) -> set[str]:
    """The rows that a name or docstring mentions; `B167 to B169` are three."""
    found = set()
    for letter, first, last in _NAMED.findall(words.replace("_", " ")):
        found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


@pytest.mark.parametrize(("spec", "at_least"), [("threads-api.md", 220), ("catalogue.md", 135)])
def test_every_row_has_its_test(spec, at_least):
    named: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(syntax.module(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                named |= named_by(f"{node.name} {ast.get_docstring(node) or ''}")
    rows = _ROW.findall((ROOT / "docs/spec" / spec).read_text())
    assert len(rows) >= at_least
    assert [row for row in rows if row not in named] == []
