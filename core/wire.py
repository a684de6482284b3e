"""Base classes of all wire models: frozen, with unknown keys rejected unless a class says otherwise."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from core.visible import is_visible

NAMED_STRANGERS: Final = 20

Row = TypeVar("Row")


class Wire(BaseModel):
    """A record in a response. Unknown keys are a programming error, so they are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def trusted(cls, values: dict[str, Any]) -> Self:
        """A record from values that need no validation: all fields, in their order.

        `model_construct` also handles aliases and defaults, which takes a third of the time for a page of fifty.
        """
        made = cls.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        object.__setattr__(made, "__pydantic_fields_set__", set(values))
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made


@dataclass(frozen=True, slots=True)
class Spelling:
    """A required text format: a pattern for the schema, and words for the error message."""

    pattern: str
    """Matches the whole text; without anchors."""
    words: str
    """What follows the name of the field: "must be ..."."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "pattern": f"^{self.pattern}$"}

    def _checked(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text):
            raise ValueError(self.words)
        return text


def _seen(text: str) -> str:
    if not is_visible(text):
        raise ValueError("must have at least one visible character")
    return text


Seen: Final = AfterValidator(_seen)
"""Refuses a name of which nothing is seen: it could not be told from an empty one, nor be clicked."""


class Body(BaseModel):
    """A request body of an SDK route. Unknown keys are ignored (B20); types are not coerced.

    Heddle's own routes use `Exact`, so that a misspelled key is an error.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Exact(BaseModel):
    """A request body that rejects unknown keys and names the first of them.

    Reporting all of them could turn a body of megabytes into gigabytes of errors.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    named_otherwise: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Keys by which another route takes the same, with the name of the field here: it is told with the refusal."""

    @model_validator(mode="before")
    @classmethod
    def _none_of_another_route(cls, data: Any) -> Any:
        for key in cls.named_otherwise if isinstance(data, dict) else ():
            if key in data:
                raise ValueError(f"{key}: is not a known field; here it is called {cls.named_otherwise[key]}")
        return data

    @model_validator(mode="before")
    @classmethod
    def _few_strangers(cls, data: Any) -> Any:
        if not isinstance(data, dict) or len(data) <= len(cls.model_fields) + NAMED_STRANGERS:
            return data
        strangers = islice((key for key in data if key not in cls.model_fields), NAMED_STRANGERS)
        return {key: data[key] for key in (*(key for key in cls.model_fields if key in data), *strangers)}


class Nothing(Exact):
    """The body of a request without parameters: empty, or an empty object."""


@cache
def keys_read(model: type[BaseModel]) -> frozenset[str] | None:
    """The keys that a body of this model is read by; None if it has no others, because it rejects them."""
    if model.model_config.get("extra", "ignore") != "ignore":
        return None
    aliases = (field.validation_alias for field in model.model_fields.values())
    older = (choice for alias in aliases if isinstance(alias, AliasChoices) for choice in alias.choices)
    return frozenset(model.model_fields) | {choice for choice in older if isinstance(choice, str)}


UNCHANGED: Final[Any] = Field(default_factory=lambda: None)
"""The default of a field of a change. The schema shows none: it would be the value of an absent field."""


class Change(BaseModel):
    """A change: an absent field leaves the value. Null clears it if its type allows null, and is rejected otherwise."""

    def changes(self) -> dict[str, Any]:
        """Only the fields that the client sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Patch(Change, Exact):
    """A change that rejects unknown keys (B127, B128)."""


class Page(BaseModel, Generic[Row]):
    """One page of a list; `next_token` is present even when null, because the SDK indexes it."""

    items: list[Row]
    next_token: str | None
    """Send it as `page_token` to get the next page; null on the last page."""
