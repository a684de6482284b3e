"""CTP's tool definition (catalogue 1.4). Its JSON Schema and its TypeScript differ: both are read, one is written."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from catalogue.dialects import ctp_closed as closed
from catalogue.dialects import ctp_parameters
from catalogue.dialects.ctp_parameters import cut, filled, humanised
from catalogue.dialects.sheet import Sheet, pointer
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Annotations, Content, Imported, JsonObject, ToolProblem
from catalogue.sampling import making

NAME = "ctp"
_SAID = frozenset({"description", "input_schema", "idempotent", "tags", "category", "param_order"})
_STATE = frozenset({"annotations/title", "deprecated", "deprecation_message"})
HOLDS = (
    _SAID | _STATE | {"declared_version", "annotations/read_only", "annotations/destructive", "annotations/open_world"}
)
CATEGORIES = (
    "formatters", "encoders", "generators", "converters", "validators", "analyzers", "editors", "utilities",
)  # fmt: skip
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_MAX_ID, _MAX_NAME, _MAX_DESCRIPTION, _MAX_TAG = 100, 50, 500, 30
_KEPT = ("parameters", "example", "outputDescription")
"""What the extras of a tool from CTP always have; the rest is optional."""
_UNVERSIONED = ("deprecated", "deprecationMessage")
_LOCAL = {"read_only": True, "destructive": False, "open_world": False}
_MODES: dict[str, dict[str, bool]] = {
    "client": _LOCAL,
    "server": {"open_world": True},
    "hybrid": {"open_world": True},
    "both": {"open_world": True},
}


def read(source: Source) -> Imported:
    """A definition in either spelling (C39, C40, C45)."""
    tool_id = source.need("id", str)
    if not _ID.fullmatch(tool_id) or len(tool_id) > _MAX_ID:
        raise ToolProblem("invalid_tool", "/id", f"must match ^{_ID.pattern}$, at most {_MAX_ID} characters")
    title, description = source.need("name", str), source.need("description", str)
    category, tags = source.need("category", str), source.texts("tags")
    if tags is None:
        raise ToolProblem("invalid_tool", "/tags", "required")
    method = source.need("method", str)
    if method not in ("GET", "POST"):
        raise ToolProblem("invalid_tool", "/method", "must be GET or POST")
    mode = source.take("executionMode", str)
    if mode is not None and mode not in _MODES:
        raise ToolProblem("invalid_tool", "/executionMode", f"must be one of {', '.join(_MODES)}")
    parameters = ctp_parameters.respelled(source)
    schema = ctp_parameters.read(parameters, source)
    deprecated = source.take("deprecated", bool)
    unversioned = {
        "tags": tags,
        "deprecated": deprecated is True,
        "deprecation_message": source.take("deprecationMessage", str),
    }
    declared_version = source.take("version", str)
    spelled: JsonObject = {key: None for key in _UNVERSIONED if key in source.nulls}
    spelled |= {"deprecated": False} if deprecated is False else {}
    nulls = {key: None for key in source.nulls if key not in _UNVERSIONED}
    extras: JsonObject = {"parameters": parameters, **nulls}
    if mode is not None:
        extras["executionMode"] = mode
    for key, kind in (("outputDescription", str), ("example", dict)):
        extras[key] = source.need(key, kind)
        comes_back = closed.takes(closed.DEFINITION, key, extras[key])
        source.lose(key, "no_slot", "has no place in the catalogue's record", preserved=comes_back)
    extras |= source.rest(partial(closed.takes, closed.DEFINITION))
    content = Content(
        declared_version=declared_version,
        description=description,
        input_schema=schema,
        idempotent=method == "GET",
        annotations=Annotations(title=title, **_MODES.get(mode or "", {})),
        param_order=param_order(schema),
        category=category,
        source_dialect=NAME,
        extras=extras_of(NAME, extras),
    )
    return Imported(tool_id, content, unversioned, extras_of(NAME, spelled))


def write(sheet: Sheet) -> JsonObject:
    """A definition that CTP's own schema accepts (C41 to C44)."""
    content, tool = sheet.content, sheet.tool
    place = ("extras", NAME)
    optional = {key: value for key, value in {**sheet.extras, **sheet.spelled_out}.items() if key not in _KEPT}
    title = filled(sheet, content.annotations.title, humanised(tool.name), _MAX_NAME, "annotations/title")
    if content.annotations.title is None:
        sheet.lose(
            "annotations/title", "defaulted", "CTP asks for a name for people; the tool's name is written in words"
        )
    definition = {
        **closed.kept(sheet, closed.respelled(sheet, optional, *place), closed.DEFINITION, *place),
        "id": sheet.rename(_slug),
        "name": title,
        "description": filled(sheet, content.description, title, _MAX_DESCRIPTION, "description"),
        "category": _category(sheet),
        "tags": _tags(sheet),
        "method": "GET" if content.idempotent else "POST",
        "parameters": ctp_parameters.restored(sheet) or ctp_parameters.write(sheet),
        "outputDescription": _output_description(sheet, title),
        "example": _example(sheet),
    }
    if (text := definition.get("aiInstructions")) is not None:
        definition["aiInstructions"] = cut(sheet, text, closed.MAX_INSTRUCTIONS, pointer(*place, "aiInstructions"))
    if not sheet.is_home:
        definition["executionMode"] = _mode(sheet)
    if (version := content.declared_version) is not None and _VERSION.fullmatch(version):
        definition["version"] = version
    if tool.deprecated:
        definition["deprecated"] = True
    if tool.deprecation_message is not None:
        definition["deprecationMessage"] = tool.deprecation_message
    implied = {f"annotations/{hint}" for hint in _LOCAL if _is_implied(definition, content.annotations, hint)}
    sheet.lose_all_but(_SAID | _STATE | implied | ({"declared_version"} if "version" in definition else set()))
    return definition


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug or len(slug) > _MAX_ID:
        raise ToolProblem("not_representable", "/name", f"{name} makes no id of 1 to {_MAX_ID} characters")
    return slug


def _category(sheet: Sheet) -> str:
    category = sheet.content.category
    if category in CATEGORIES:
        return category
    why = f"CTP knows no category {category}" if category else "CTP asks for a category and the tool has none"
    sheet.lose("category", "defaulted", f"{why}; utilities is written")
    return "utilities"


def _tags(sheet: Sheet) -> list[str]:
    tags: dict[str, None] = {}
    for tag in sheet.tool.tags:
        kept = cut(sheet, tag, _MAX_TAG, "tags")
        if not kept or kept in tags:
            sheet.lose("tags", "no_slot", "CTP takes no empty tag" if not kept else f"{kept} is there already")
        else:
            tags[kept] = None
    if not tags:
        sheet.lose("tags", "defaulted", "CTP asks for a tag and the tool has none; the server's name is written")
    return list(tags) or [sheet.tool.server[:_MAX_TAG]]


def _output_description(sheet: Sheet, title: str) -> str:
    instead = f"Result of {title}"
    if (brought := sheet.extras.get("outputDescription")) is not None:
        return filled(sheet, brought, instead, closed.MAX_OUTPUT, pointer("extras", NAME, "outputDescription"))
    said = (sheet.content.output_schema or {}).get("description")
    return cut(sheet, said if isinstance(said, str) and said else instead, closed.MAX_OUTPUT, "outputDescription")


def _example(sheet: Sheet) -> JsonObject:
    """The example that the tool brought, or one that both of CTP's validators accept.

    One of them wants to see `success` in the output.
    """
    brought = sheet.extras.get("example")
    place = ("extras", NAME, "example")
    example = closed.kept(sheet, brought or {}, closed.EXAMPLE, *place)
    for part, make in _EXAMPLES.items():
        if part not in example:
            example[part] = make(sheet.content)
            if brought is not None and part not in brought:
                sheet.lose(pointer(*place, part), "defaulted", "CTP asks for it and the example has none")
    return example


_EXAMPLES: Mapping[str, Callable[[Content], Any]] = {
    "input": lambda content: making.example({"type": "object", **content.input_schema}, "input"),
    "output": lambda content: {
        "success": True,
        "data": making.example(content.output_schema or {"type": "object"}, "output"),
    },
}


def _mode(sheet: Sheet) -> str:
    """Where the tool runs. It says hints, and one that the tool does not give is named."""
    hints = sheet.content.annotations
    mode = "client" if hints.read_only is True and hints.open_world is False else "server"
    for hint, value in _MODES[mode].items():
        if getattr(hints, hint) is None:
            sheet.lose(f"annotations/{hint}", "defaulted", f"executionMode {mode} says {hint} {str(value).lower()}")
    return mode


def _is_implied(definition: JsonObject, hints: Annotations, hint: str) -> bool:
    """Whether the execution mode says this hint, so that reading it again gives the same."""
    implied = _MODES.get(definition.get("executionMode", ""), {})
    return bool(implied.get(hint) == getattr(hints, hint))
