"""The OpenAPI schema as the wire really is: everything under `data`, refusals in the envelope, a bearer token."""

import re
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel, ValidationError

from core.api import KEY, KEY_HEADER, Described
from core.paging import DEFAULT_LIMIT, MAX_LIMIT

Schema = dict[str, Any]
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
    """The one way a program signs in."""

    target_class = "accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        return {"type": "http", "scheme": "bearer"}


class Operation(AutoSchema):
    """An operation as its method is described; the class's docstring is for the reader of the code."""

    @property
    def described(self) -> Described:
        """What `describe` kept with the method."""
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
        tags = ("webhooks", "feedback", "skills", "agents", "catalogue")
        return [next((tag for tag in tags if tag in self.path), "threads")]

    def get_override_parameters(self) -> list[Any]:
        found = [OpenApiParameter(name, self._type_of(name), required=False) for name in self.described.query]
        if hasattr(self.view, "org") and self.method not in getattr(self.view, "methods_without_org", ()):
            found.append(_header("X-Roboto-Org-Id", "The org that the request acts in, for members of several."))
        if self.described.has_version:
            found.append(_header("If-Match", "The ETag that the report was read with: what has changed since is 412."))
        if KEY in getattr(self.described.takes, "model_fields", ()):
            found.append(_header(KEY_HEADER, f"The same as {KEY} in the body."))
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
        return {200: self.described.gives}

    def get_extensions(self) -> Schema:
        return {"x-of-heddle": self.described}


def _header(name: str, words: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=False, description=words)


_TYPES: dict[str, Any] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    "wait": {"type": "integer", "minimum": 0, "maximum": 60, "default": 0},
    **dict.fromkeys(("load_messages", "resolved", "dispatchable"), bool),
}
"""What is no text, by the name of the parameter: the same on every route."""


def _takes_nothing(model: type[BaseModel]) -> bool:
    """Whether a body may be left out: it is read as an empty one."""
    try:
        model.model_validate({})
    except ValidationError:
        return False
    return True


def as_sent(result: Schema, **_: Any) -> Schema:
    """Postprocessing: wrap what is answered, add the refusals, leave the older names of the routes out."""
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
    for answer in operation["responses"].values():
        for kind, content in answer.get("content", {}).items():
            if kind != "application/json":
                continue
            inner = {"type": "array", "items": content["schema"]} if described.many else content["schema"]
            content["schema"] = {"type": "object", "required": ["data"], "properties": {"data": inner}}
        answer["description"] = answer.get("description") or "Done."
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    refusals = {
        "400": "Refused, with the field",
        "401": "No valid token",
        "403": "No right",
        "404": "Not there",
        **({"409": "It cannot be done to what is there"} if is_write else {}),
        **({"412": "Somebody has changed it since"} if described.has_version else {}),
        "503": "The database does not answer: try again in a moment",
        "default": "Any other refusal",
    }
    for status, words in refusals.items():
        operation["responses"][status] = {"description": words, "content": problem}
