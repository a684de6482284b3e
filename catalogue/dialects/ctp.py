"""CTP's tool definition (catalogue 1.4). Its JSON Schema and its TypeScript differ: both are read, one is written."""

import re

from catalogue.dialects import ctp_parameters
from catalogue.dialects.ctp_parameters import cut, humanised
from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Annotations, Content, Imported, JsonObject, ToolProblem
from catalogue.worlds import making

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
_MAX_TEXTS = {"outputDescription": 200, "aiInstructions": 1000}
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
    parameters = ctp_parameters.respelled(source.need("parameters", list))
    schema = ctp_parameters.read(parameters, source)
    kept = {"parameters": parameters, "executionMode": mode}
    unversioned = {
        "tags": tags,
        "deprecated": source.take("deprecated", bool, False),
        "deprecation_message": source.take("deprecationMessage", str),
    }
    declared_version = source.take("version", str)
    for key, kind in (("outputDescription", str), ("example", dict)):
        kept[key] = source.need(key, kind)
        source.lose(key, "no_slot", "has no place in the catalogue's record", preserved=True)
    extras = {**source.rest(), **{key: value for key, value in kept.items() if value is not None}}
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
    return Imported(tool_id, content, unversioned)


def write(sheet: Sheet) -> JsonObject:
    """A definition that CTP's own schema accepts (C41 to C44)."""
    content, tool = sheet.content, sheet.tool
    title = cut(sheet, content.annotations.title or humanised(tool.name), _MAX_NAME, "annotations/title")
    definition = {
        **sheet.extras,
        "id": sheet.rename(_slug(sheet.name)),
        "name": title,
        "description": cut(sheet, content.description or title, _MAX_DESCRIPTION, "description"),
        "category": _category(sheet),
        "tags": _tags(sheet),
        "method": "GET" if content.idempotent else "POST",
        "parameters": ctp_parameters.restored(sheet) or ctp_parameters.write(sheet),
    }
    definition.setdefault("outputDescription", _output_description(sheet, title))
    definition.setdefault("example", _example(content))
    for key, limit in _MAX_TEXTS.items():
        if isinstance(text := definition.get(key), str):
            definition[key] = cut(sheet, text, limit, f"extras/{NAME}/{key}" if key in sheet.extras else key)
    if not sheet.is_home:
        definition["executionMode"] = _mode(content.annotations)
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
    tags = [cut(sheet, tag, _MAX_TAG, "tags") for tag in sheet.tool.tags if tag]
    if not tags:
        sheet.lose("tags", "defaulted", "CTP asks for a tag and the tool has none; the server's name is written")
    return list(dict.fromkeys(tags)) or [sheet.tool.server[:_MAX_TAG]]


def _output_description(sheet: Sheet, title: str) -> str:
    said = (sheet.content.output_schema or {}).get("description")
    return said if isinstance(said, str) and said else f"Result of {title}"


def _example(content: Content) -> JsonObject:
    """An example that both of CTP's validators accept: one of them wants to see `success` in the output."""
    return {
        "input": making.example({"type": "object", **content.input_schema}, "input"),
        "output": {"success": True, "data": making.example(content.output_schema or {"type": "object"}, "output")},
    }


def _mode(hints: Annotations) -> str:
    return "client" if hints.read_only is True and hints.open_world is False else "server"


def _is_implied(definition: JsonObject, hints: Annotations, hint: str) -> bool:
    """Whether the execution mode says this hint, so that reading it again gives the same."""
    implied = _MODES.get(definition.get("executionMode", ""), {})
    return bool(implied.get(hint) == getattr(hints, hint))
