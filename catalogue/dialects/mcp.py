"""The Model Context Protocol's tool (catalogue 1.10)."""

from catalogue.dialects.mcp_output import with_object_root
from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Annotations, Content, Imported, JsonObject, ToolProblem

NAME = "mcp"
HOLDS = frozenset({"description", "input_schema", "output_schema", "idempotent", "annotations", "visible", "tags"})
_MAX_NAME = 128
_HINTS = {"read_only": "readOnlyHint", "destructive": "destructiveHint", "open_world": "openWorldHint"}
_IDEMPOTENT = "idempotentHint"
_VISIBLE, _TAGS, _CACHE = "heddle/visible", "heddle/tags", "heddle/cache_mutating"


def read(source: Source) -> Imported:
    """A tool as a server lists it. Absent hints stay unknown: MCP's implied defaults are the reader's (C36 to C38)."""
    name, schema = source.need("name", str), source.need_schema("inputSchema")
    description = source.take("description", str, "")
    output_schema = source.take_schema("outputSchema")
    title = source.take("title", str)
    given = {key: source.take(key, dict) for key in ("annotations", "_meta")}
    hints, meta = (Source(value or {}, source.at(key)) for key, value in given.items())
    idempotent = hints.take(_IDEMPOTENT, bool)
    inner_title = hints.take("title", str)
    annotations = Annotations(
        title=inner_title if title is None else title,
        cache_mutating=meta.take(_CACHE, bool),
        **{field: hints.take(hint, bool) for field, hint in _HINTS.items()},
    )
    said = {"visible": meta.take(_VISIBLE, bool), "tags": meta.texts(_TAGS)}
    left = {**source.rest(), **source.nulls}
    spelled: JsonObject = {key: None for key in (_VISIBLE, _TAGS) if key in meta.nulls}
    nulls = {key: None for key in meta.nulls if key not in spelled}
    kept_hints, kept_meta = {**hints.rest(), **hints.nulls}, {**meta.rest(), **nulls}
    if idempotent is False:
        kept_hints[_IDEMPOTENT] = False
    if inner_title is not None:
        kept_hints["title"] = inner_title
        if title is not None:
            left["title"] = title
    spelled |= {_VISIBLE: True} if said["visible"] else {}
    spelled |= {_TAGS: []} if said["tags"] == [] else {}
    if kept_hints or given["annotations"] == {}:
        left["annotations"] = kept_hints
    if kept_meta:
        left["_meta"] = kept_meta
    # An empty object is nothing versioned either: the tags or `visible` may have been all that was in it.
    around = {"_meta": spelled} if spelled or given["_meta"] == {} else {}
    source.losses += [*hints.losses, *meta.losses]
    content = Content(
        description=description,
        input_schema=schema,
        output_schema=output_schema,
        idempotent=idempotent is True,
        annotations=annotations,
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, left),
    )
    unversioned = {key: value for key, value in said.items() if value is not None}
    return Imported(name, content, unversioned, extras_of(NAME, around))


def write(sheet: Sheet) -> JsonObject:
    """A tool for `tools/list`; what the protocol has no field for travels in `_meta` (C37)."""
    content, extras, spelled = sheet.content, sheet.extras, sheet.spelled_out
    sheet.lose_all_but(HOLDS)
    if len(sheet.name) > _MAX_NAME:
        raise ToolProblem("not_representable", "/name", f"{sheet.name} is longer than {_MAX_NAME} characters")
    hints, meta = (
        {**(extras.get("annotations") or {}), **_hints(content)},
        {**(extras.get("_meta") or {}), **spelled.get("_meta", {}), **_meta(sheet)},
    )
    tool = {
        **spelled,
        **extras,
        "name": sheet.rename(),
        "description": sheet.given("description", content.description, ""),
        "inputSchema": content.input_schema,
    }
    title = content.annotations.title
    if title is not None and (extras.get("title") is not None or hints.get("title") is None):
        tool["title"] = title
    if content.output_schema is not None:
        tool["outputSchema"] = with_object_root(sheet, content.output_schema)
    return tool | {key: value for key, value in (("annotations", hints), ("_meta", meta)) if value}


def _hints(content: Content) -> JsonObject:
    values = {hint: getattr(content.annotations, field) for field, hint in _HINTS.items()}
    values[_IDEMPOTENT] = True if content.idempotent else None
    return {hint: value for hint, value in values.items() if value is not None}


def _meta(sheet: Sheet) -> JsonObject:
    meta: JsonObject = {}
    if sheet.content.annotations.cache_mutating is not None:
        meta[_CACHE] = sheet.content.annotations.cache_mutating
    if not sheet.tool.visible:
        meta[_VISIBLE] = False
    if sheet.tool.tags:
        meta[_TAGS] = sheet.tool.tags
    return meta
