"""CTP's closed schema: what its JSON Schema takes of the fields that the record has no place for (catalogue 1.4, C41).

CTP's TypeScript has more fields and other spellings. They are read and kept, and written as far as the schema goes.
"""

from collections.abc import Callable, Mapping
from typing import Any

from catalogue.dialects.sheet import Sheet, pointer
from catalogue.record import JsonObject

Fields = Mapping[str, Callable[[Any], bool]]
MAX_OUTPUT, MAX_INSTRUCTIONS = 200, 1000


def _anything(value: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and float(value).is_integer()


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _fits(fields: Fields) -> Callable[[Any], bool]:
    return lambda value: _is_object(value) and all(takes(fields, key, each) for key, each in value.items())


def takes(fields: Fields, key: str, value: Any) -> bool:
    """Whether an object with these fields takes this one."""
    return key in fields and fields[key](value)


_LIMIT: Fields = {"requests": _is_number, "window": _is_number}
EXAMPLE: Fields = {"input": _is_object, "output": _anything, "description": _is_text}
DEFINITION: Fields = {
    "outputDescription": lambda value: _is_text(value) and 1 <= len(value) <= MAX_OUTPUT,
    "example": lambda value: _fits(EXAMPLE)(value) and {"input", "output"} <= value.keys(),
    **dict.fromkeys(("icon", "aiInstructions"), _is_text),
    **dict.fromkeys(("keywords", "relatedTools"), _are_texts),
    "requiresAuth": _is_flag,
    "deprecated": lambda value: value is False,  # true is the record's
    "rateLimit": _fits(_LIMIT),
    "executionMode": lambda value: value in ("client", "server", "hybrid"),
}
VALIDATION: Fields = {
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_whole),
    **dict.fromkeys(("min", "max", "step", "maxSize"), _is_number),
    **dict.fromkeys(("pattern", "accept", "custom"), _is_text),
}
OPTION: Fields = {
    "value": _is_text, "label": lambda value: _is_text(value) and value != "", "description": _is_text,
    "disabled": _is_flag,
}  # fmt: skip
PARAMETER: Fields = {
    **dict.fromkeys(("placeholder", "group", "aiHint"), _is_text),
    "defaultValue": _anything,
    "dependsOn": lambda value: value is not None,
    "order": _is_number,
    "hidden": _is_flag,
    "validation": _fits(VALIDATION),
    "options": lambda value: isinstance(value, list) and all(map(_fits(OPTION), value)),
}


def kept(sheet: Sheet, values: Mapping[str, Any], fields: Fields, *place: str) -> JsonObject:
    """The values that the schema takes; each other one is lost by name."""
    for key, value in values.items():
        if not takes(fields, key, value):
            sheet.lose(pointer(*place, key), "no_slot", "CTP's schema does not take it")
    return {key: value for key, value in values.items() if takes(fields, key, value)}


def respelled(sheet: Sheet, extras: JsonObject, *place: str) -> JsonObject:
    """The fields of a definition in the schema's spelling; each change is named."""
    spelled = dict(extras)
    if spelled.get("executionMode") == "both":
        spelled["executionMode"] = "hybrid"
        sheet.lose(pointer(*place, "executionMode"), "renamed", "both is called hybrid in CTP's schema")
    limit = spelled.get("rateLimit")
    if isinstance(limit, dict):
        limit = dict(limit)
        if "windowSeconds" in limit and "window" not in limit:
            limit["window"] = limit.pop("windowSeconds")
            sheet.lose(pointer(*place, "rateLimit", "windowSeconds"), "renamed", "is called window in CTP's schema")
        spelled["rateLimit"] = kept(sheet, limit, _LIMIT, *place, "rateLimit")
    return spelled
