"""The table of catalogue 2.4, row by row (C73)."""

from typing import Any

import pytest

from catalogue import judging

FAILED = {"success": False, "error": "m"}
TABLE: list[tuple[Any, str]] = [
    (None, "nnn"),
    ("x", "nnn"),
    (1, "nnn"),
    ([], "nnn"),
    ({}, "nnn"),
    ({"data": {}}, "nnn"),
    ({"success": "true"}, "nnn"),
    ({"success": 1}, "nnn"),
    ({"success": True}, "yyn"),
    ({"success": True, "data": None}, "yyy"),
    ({"success": True, "data": 1, "error": "x"}, "yyy"),
    ({"success": False}, "nyn"),
    ({"success": False, "error": ""}, "yyy"),
    ({"success": False, "error": None}, "nnn"),
    ({"success": False, "error": {"code": "a", "message": "b"}}, "nnn"),
    ({**FAILED, "errorCode": "NOPE"}, "ynn"),
    ({**FAILED, "errorCode": "TIMEOUT", "suggestion": "s"}, "yyn"),
    ({**FAILED, "suggestion": 5}, "ynn"),
    ({"success": True, "data": 1, "metadata": {"executionTime": "slow"}}, "ynn"),
    ({"success": True, "data": 1, "metadata": {"warnings": [1]}}, "ynn"),
    ({"success": True, "data": 1, "metadata": None}, "ynn"),
    ({"success": True, "data": 1, "metadata": {"executionTime": -1}}, "yyn"),
    ({"success": True, "data": 1, "metadata": {"inputSize": 1.5}}, "yyn"),
    ({"success": True, "data": 1, "metadata": {"custom": 1}}, "yyn"),
    ({"success": True, "data": 1, "else": 1}, "yyn"),
]


@pytest.mark.parametrize(("value", "verdicts"), TABLE)
def test_three_levels_and_what_each_thinks_C73(value, verdicts):
    levels = ("core", "schema", "strict")
    assert "".join("n" if judging.judge(value, level) else "y" for level in levels) == verdicts


def test_core_names_result_success_or_error_and_type_or_required():
    assert judging.judge("x", "core") == [{"field": "result", "code": "type", "message": "must be an object"}]
    assert [error["field"] for error in judging.judge({}, "core")] == ["success"]
    assert [error["field"] for error in judging.judge({"success": False}, "core")] == ["error"]
