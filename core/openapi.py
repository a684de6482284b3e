"""The OpenAPI schema: results under `data`, errors in the envelope, bearer tokens, descriptions from docstrings."""

import ast
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from core import syntax
from core.api import KEY, KEY_HEADER, Described
from core.paging import DEFAULT_LIMIT, MAX_LIMIT

Schema = dict[str, Any]
_NULL: Schema = {"type": "null"}
"""What a route returns that has nothing to tell."""
_ENVELOPE: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["error_code", "message"],
            "additionalProperties": False,
            "properties": {"error_code": {"type": "string"}, "message": {"type": "string", "minLength": 1}},
        },
        "details": {
            "anyOf": [
                {"type": "array", "items": {"type": "object"}},
                {"type": "object", "required": ["reason"], "properties": {"reason": {"type": "string"}}},
            ]
        },
    },
}


class Bearer(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How programs authenticate."""

    target_class = "accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        return {"type": "http", "scheme": "bearer"}


@cache
def _field_docstrings(module: str) -> Mapping[str, Mapping[str, str]]:
    """The string literals below annotated fields, by class and field, for the top-level classes of a module.

    Read from the source when the schema is built: pydantic's `use_attribute_docstrings` would do it at every start.
    """
    source = getattr(sys.modules.get(module), "__file__", None) or ""
    if not source.endswith(".py"):
        return {}
    tree = syntax.module(Path(source).read_text(encoding="utf-8"))
    return {node.name: _docstrings_in(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docstrings_in(node: ast.ClassDef) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                found[name] = " ".join(text.split())
    return found


def _described(cls: type, schema: JsonSchemaValue, names: Mapping[str, str] = MappingProxyType({})) -> JsonSchemaValue:
    """The schema of a record with the docstrings of its fields; `names` are those on the wire that differ."""
    properties = schema.get("properties", {})
    for each in (*cls.__mro__, *getattr(cls, "__orig_bases__", ())):
        module = getattr(each, "__module__", "")
        if module.partition(".")[0] in ("builtins", "pydantic", "typing", "typing_extensions"):
            continue
        for name, text in _field_docstrings(module).get(getattr(each, "__name__", ""), {}).items():
            properties.get(names.get(name, name), {}).setdefault("description", text)
    return schema


class DescribedSchema(GenerateJsonSchema):
    """JSON schema in which the docstring of a field is its description, unless `Field` gives one."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        cls: type[BaseModel] = schema["cls"]
        names = {name: field.serialization_alias or name for name, field in cls.model_fields.items()}
        return _described(cls, super().model_schema(schema), names)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        found = super().typed_dict_schema(schema)
        return _described(schema["cls"], found) if "cls" in schema else found

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """`anyOf` where a function finds the member: a value may fit several, and `oneOf` would refuse it."""
        found = super().tagged_union_schema(schema)
        if callable(schema["discriminator"]):
            found["anyOf"] = found.pop("oneOf")
        return found

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _described(schema["cls"], super().dataclass_schema(schema))


class Records(PydanticExtension):  # type: ignore[no-untyped-call]
    """Wire models in the schema, with descriptions."""

    priority = 1

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> Schema:
        found: Schema = self.target.model_json_schema(
            ref_template="#/components/schemas/{model}", mode="serialization", schema_generator=DescribedSchema
        )
        for name, part in found.pop("$defs", {}).items():
            component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=part)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        return found


class Operation(AutoSchema):
    """An operation, from what `describe` kept. The docstrings of views are for readers of the code."""

    @property
    def described(self) -> Described:
        """What `describe` stored for the method."""
        found: Described = getattr(self.view, self.method.lower()).described
        return found

    def get_summary(self) -> str:
        return self.described.summary

    def get_description(self) -> str:  # type: ignore[override]
        return ""

    def get_operation_id(self) -> str:
        path = re.sub(r"[{}]", "", self.path.removeprefix("/v1/")).strip("/")
        return f"{self.method.lower()}_{re.sub(r'[^a-z0-9]+', '_', path)}"

    def get_tags(self) -> list[str]:
        if "/admin/" in self.path:
            return ["triage"]
        if self.path.startswith(("/v1/orgs", "/v1/tokens")):
            return ["orgs"]
        tags = ("webhooks", "feedback", "skills", "agents", "catalogue")
        return [next((tag for tag in tags if tag in self.path), "threads")]

    def get_override_parameters(self) -> list[Any]:
        found = [OpenApiParameter(name, self._type_of(name), required=False) for name in self.described.query]
        if hasattr(self.view, "org") and self.method not in getattr(self.view, "methods_without_org", ()):
            found.append(_header("X-Roboto-Org-Id", "The org that the request acts in, for members of several."))
        if hasattr(self.view, "owner"):
            found.append(_header("X-Roboto-Resource-Owner-Id", "The org that owns it. Absent: the org of the request."))
        if hasattr(type(self.view), "api_version"):
            found.append(
                _header(
                    "X-Roboto-Api-Version",
                    "The client's API version, a date. Unknown or absent: latest. Before 2026-05-20, threads "
                    "have `session_id` and `forked_from_session_id` in place of the names below.",
                )
            )
        if self.described.has_version:
            found.append(_header("If-Match", "The ETag with which a GET returned it; 412 if it has changed since."))
        if KEY in getattr(self.described.takes, "model_fields", ()):
            found.append(
                _header(KEY_HEADER, f"Same as `{KEY}` in the body: a repeated request does not repeat the call.")
            )
        return found

    def _type_of(self, name: str) -> Any:
        if name in self.described.choices:
            return {"type": "string", "enum": [*self.described.choices[name]]}
        return _TYPES.get(name, str)

    def get_request_serializer(self) -> Any:
        return self.described.takes

    def get_response_serializers(self) -> Any:
        if self.described.files:
            return {(200, kind): OpenApiTypes.BINARY for kind in self.described.files}
        return {200: _NULL if self.described.gives is None else self.described.gives}

    def get_extensions(self) -> Schema:
        return {"x-of-heddle": self.described}


def _header(name: str, words: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=False, description=words)


_TYPES: dict[str, Any] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    "wait": {"type": "integer", "minimum": 0, "maximum": 60, "default": 0},
    "load_messages": {"type": "boolean", "default": True},
    **dict.fromkeys(("resolved", "dispatchable"), bool),
}
"""Parameters that are not text. A name means the same on every route."""

_DESCRIPTIONS: dict[str, str] = {
    "limit": "Maximum number of items per page.",
    "page_token": "The `next_token` of the previous page, for the same query; omit it for the first page. "
    "A `next_token` of null means that there are no more pages.",
    "next_token": "The `continuation_token` of the previous delta; omit it for the first one.",
    "q": "Search query. Without fields of its own, its words are searched for.",
    "wait": "Wait up to this many seconds for the batch to finish.",
    "load_messages": "Whether to include the messages. Default: true.",
    "format": "Output format. Threads: openai, anthropic, roboto (default) or data_harness. Feedback: csv or jsonl.",
    "bom": "Whether the CSV begins with a byte order mark, which some spreadsheets need. Default: false.",
    "conversation": "Whether to include the request and the rated answer. Default: false.",
    "category": "Only ratings with this category.",
    "sentiment": "Only ratings with this sentiment.",
    "resolved": "Only resolved (true) or only open (false) reports.",
    "org_id": "Only reports of this org.",
    "since": "First day of the period (YYYY-MM-DD), a number of days up to `until` (such as 30d, the default) or all.",
    "until": "Last day of the period (YYYY-MM-DD). Default: today.",
    "tz": "IANA time zone in which days begin, such as Europe/Berlin.",
    "state": "Only checks in this state.",
    "status": "Only worlds with this status.",
    "scope": "`personal`: your own skills and those you subscribe to. `org`: skills that others share in the org.",
    "server": "A tool server, by name.",
    "tag": "Only tools with this tag.",
    "visible": "true, false or any. Default: any; true if a `dialect` is given.",
    "source_dialect": "Only tools imported from this dialect.",
    "dispatchable": "Only tools that Heddle can execute (true) or cannot (false).",
    "dialect": "Export in this format: openai, anthropic, mcp or another one that the catalogue knows.",
    "naming": "How an export names tools: bare (default for one tool) or qualified (default for a list).",
    "style": "A variant of the dialect, if it has any.",
    "version": "Version number. As a query parameter: default is the current version.",
    "name": "Name of the record.",
    "index": "Index of the message in its thread (`sequence_num`).",
    "against": "ID of the batch to compare with.",
    "qualified_name": "A tool as `server__name`.",
}
"""Descriptions of path and query parameters. A name means the same on every route; any `..._id` describes itself."""


_ETAG = "The version of the record: send it as `If-Match` to refuse a change if it has changed since."


def _description(name: str) -> str:
    return _DESCRIPTIONS.get(name) or f"ID of the {name.removesuffix('_id').replace('_', ' ')}."


def _takes_nothing(model: type[BaseModel]) -> bool:
    """Whether the body is optional: a missing one is read as an empty object."""
    try:
        model.model_validate({})
    except ValidationError:
        return False
    return True


def as_sent(result: Schema, **_: Any) -> Schema:
    """Postprocessing: wrap results in `data`, add error responses, omit deprecated route names."""
    result["paths"] = {path: item for path, item in result["paths"].items() if not path.startswith("/v1/ai/chats")}
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _ENVELOPE
    for item in result["paths"].values():
        for method, operation in item.items():
            _wrap(operation, is_write=method != "get")
    return result


def _wrap(operation: Schema, *, is_write: bool) -> None:
    described: Described = operation.pop("x-of-heddle")
    if described.takes is not None and not _takes_nothing(described.takes):
        operation["requestBody"]["required"] = True
    if described.at_most:
        for content in operation["requestBody"]["content"].values():
            content["schema"] = {"type": "array", "maxItems": described.at_most, "items": content["schema"]}
    for parameter in operation.get("parameters", ()):
        parameter.setdefault("description", _description(parameter["name"]))
    for answer in operation["responses"].values():
        for kind, content in answer.get("content", {}).items():
            if kind != "application/json":
                continue
            inner = {"type": "array", "items": content["schema"]} if described.many else content["schema"]
            content["schema"] = {"type": "object", "required": ["data"], "properties": {"data": inner}}
        answer["description"] = answer.get("description") or "Done."
        if described.has_etag:
            answer["headers"] = {"ETag": {"description": _ETAG, "schema": {"type": "string"}}}
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    refusals = {
        "400": "Invalid request; `details` lists the fields",
        "401": "No valid token",
        "403": "Forbidden",
        "404": "Not found",
        **({"409": "Conflict with the current state"} if is_write else {}),
        **({"412": "Changed since you read it"} if described.has_version else {}),
        **described.refusals,
        "503": "The database is not responding: try again shortly",
        "default": "Any other error",
    }
    for status, words in refusals.items():
        operation["responses"][status] = {"description": words, "content": problem}
