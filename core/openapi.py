"""The OpenAPI schema as the wire really is: everything under `data`, refusals in the envelope, a bearer token."""

import re
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from core.api import Described

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
        return [OpenApiParameter(name, str, required=False) for name in self.described.query]

    def get_request_serializer(self) -> Any:
        return self.described.takes

    def get_response_serializers(self) -> Any:
        if self.described.files:
            return {(200, kind): OpenApiTypes.BINARY for kind in self.described.files}
        return {200: self.described.gives}

    def get_extensions(self) -> Schema:
        return {"x-list": True} if self.described.many else {}


def as_sent(result: Schema, **_: Any) -> Schema:
    """Postprocessing: wrap what is answered, add the refusals, leave the older names of the routes out."""
    result["paths"] = {path: item for path, item in result["paths"].items() if not path.startswith("/v1/ai/chats")}
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _ENVELOPE
    for item in result["paths"].values():
        for operation in item.values():
            _wrap(operation)
    return result


def _wrap(operation: Schema) -> None:
    is_list = operation.pop("x-list", False)
    for answer in operation["responses"].values():
        for kind, content in answer.get("content", {}).items():
            if kind != "application/json":
                continue
            inner = {"type": "array", "items": content["schema"]} if is_list else content["schema"]
            content["schema"] = {"type": "object", "required": ["data"], "properties": {"data": inner}}
        answer["description"] = answer.get("description") or "Done."
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status, words in (
        ("400", "Refused, with the field"),
        ("401", "No valid token"),
        ("403", "No right"),
        ("404", "Not there"),
    ):
        operation["responses"][status] = {"description": words, "content": problem}
