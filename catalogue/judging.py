"""Validation of CTP results at three levels, which disagree with each other (catalogue 2.4, C73).

`core`: the two checks of the real `validateToolResult`. `schema`: the JSON Schema in the documentation. `strict`: the
closed schema file in the CTP source tree.
"""

from typing import Any, Final, Literal

from catalogue import validating
from catalogue.result_dialects.ctp import STRICT_METADATA
from catalogue.results import CODES

Level = Literal["schema", "core", "strict"]
Error = dict[str, Any]

_NUMBER, _TEXT = {"type": "number"}, {"type": "string"}
_METADATA: Final = {
    "type": "object",
    "properties": {
        "executionTime": _NUMBER,
        "inputSize": _NUMBER,
        "outputSize": _NUMBER,
        "warnings": {"type": "array", "items": _TEXT},
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["success"],
    "properties": {
        "success": {"type": "boolean"},
        "data": True,
        "error": _TEXT,
        "errorCode": {"enum": [*CODES]},
        "suggestion": _TEXT,
        "metadata": _METADATA,
    },
}
_SIZE = {"type": "integer", "minimum": 0}
STRICT: Final[dict[str, Any]] = {
    **SCHEMA,
    "properties": {
        **{name: each for name, each in SCHEMA["properties"].items() if name != "suggestion"},
        "metadata": {
            "type": "object",
            "properties": {
                **dict.fromkeys(STRICT_METADATA, True),
                "executionTime": {"type": "number", "minimum": 0},
                "inputSize": _SIZE,
                "outputSize": _SIZE,
                "cached": {"type": "boolean"},
                "warnings": {"type": "array", "items": _TEXT},
                "toolVersion": _TEXT,
                "executionMode": {"enum": ["client", "server", "hybrid"]},
            },
            "additionalProperties": False,
        },
    },
    "if": {"properties": {"success": {"const": True}}},
    "then": {"required": ["data"]},
    "else": {"required": ["error"]},
    "additionalProperties": False,
}


def judge(value: Any, level: Level) -> list[Error]:
    """The errors at that level, `{field, code, message}` each; empty if it is valid."""
    if level == "core":
        return _core(value)
    return validating.problems(value, SCHEMA if level == "schema" else STRICT)


def _core(value: Any) -> list[Error]:
    if not isinstance(value, dict | list):
        return [_error("result", "type", "must be an object")]
    result = value if isinstance(value, dict) else {}
    success = result.get("success")
    if not isinstance(success, bool):
        return [_error("success", "type" if "success" in result else "required", "must be true or false")]
    if not success and not isinstance(result.get("error"), str):
        return [_error("error", "required", "must be text if success is false")]
    return []


def _error(field: str, code: str, message: str) -> Error:
    return {"field": field, "code": code, "message": message}
