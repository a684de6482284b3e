"""Every row of the specification of the threads API is named by a test that proves it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| ([BGK]\d+) \|", re.MULTILINE)
_NAMED = re.compile(r"(?<![A-Za-z0-9])([BGK])(\d+)(?: (?:to|-) [BGK]?(\d+))?(?![A-Za-z0-9])")


def named_by(words: str) -> set[str]:
    """The rows that a name or a docstring speaks of; `B167 to B169` are three."""
    found = set()
    for letter, first, last in _NAMED.findall(words.replace("_", " ")):
        found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def test_every_row_has_its_test():
    named: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                named |= named_by(f"{node.name} {ast.get_docstring(node) or ''}")
    rows = _ROW.findall((ROOT / "docs/spec/threads-api.md").read_text())
    assert len(rows) > 200
    assert [row for row in rows if row not in named] == []
