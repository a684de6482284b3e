"""The kernel of every projection: frozen models that refuse what they do not know."""

from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

Row = TypeVar("Row")


class Wire(BaseModel):
    """A record as one audience sees it. Unknown keys are a programming error, so they are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def trusted(cls, values: dict[str, Any]) -> Self:
        """A record of values that the database keeps in shape, every field among them, in its order.

        `model_construct` looks for aliases and defaults as well, which on a page of fifty is a third of the answer.
        """
        made = cls.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        object.__setattr__(made, "__pydantic_fields_set__", set(values))
        object.__setattr__(made, "__pydantic_extra__", None)
        object.__setattr__(made, "__pydantic_private__", None)
        return made


class Body(BaseModel):
    """What a client sends. Unknown keys are ignored (B20), types are not coerced."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Patch(BaseModel):
    """A change: an absent key leaves the value, null clears it, unknown keys are refused (B127, B128)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def changes(self) -> dict[str, Any]:
        """Only what the client spelled out."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Page(BaseModel, Generic[Row]):
    """One page of a list; `next_token` is present even when null, because the SDK indexes it."""

    items: list[Row]
    next_token: str | None
