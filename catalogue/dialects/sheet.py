"""Writing a tool into a dialect: what is not taken, and not at its default, is named as lost (catalogue 1.11, 1.12)."""

from collections.abc import Callable, Iterator
from typing import Any

from catalogue.dialects.source import param_order
from catalogue.record import JsonObject, Loss, LossReason, Stored


def pointer(*parts: str) -> str:
    """A place in the record, as `Sheet.lose` takes it."""
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)


HINTS = ("read_only", "cache_mutating", "destructive", "open_world")


class Sheet:
    """One export. `name` is the tool's name there, bare or qualified, before the dialect's own rules.

    `kept` are the fields that the tool's own dialect has a slot for: an export to that one brings them back.
    `is_renaming`: whether a name that does not fit the dialect is respelled; Heddle itself imports it as it is.
    """

    def __init__(
        self,
        dialect: str,
        tool: Stored,
        name: str,
        style: str | None,
        kept: frozenset[str],
        *,
        is_renaming: bool = True,
    ) -> None:
        self.dialect = dialect
        self.tool = tool
        self.content = tool.content
        self.name = name
        self.style = style
        self.name_there = name
        self.losses: list[Loss] = []
        self._kept = kept
        self._is_renaming = is_renaming

    @property
    def extras(self) -> JsonObject:
        """What the tool brought from this very dialect and the record has no place for; of others, nothing (C48)."""
        return self.content.extras.get(self.dialect, {})

    @property
    def spelled_out(self) -> JsonObject:
        """What the tool said of unversioned fields in this dialect though it need not have."""
        return self.tool.spelled_out.get(self.dialect, {})

    @property
    def is_home(self) -> bool:
        """Whether the tool came from this dialect."""
        return self.content.source_dialect == self.dialect

    def given(self, key: str, value: Any, otherwise: Any) -> Any:
        """A value for a key, or null where the tool came with a null there, which was read as `otherwise`."""
        return None if value == otherwise and self.extras.get(key, otherwise) is None else value

    def lose(self, field: str, reason: LossReason, detail: str) -> None:
        """Note that a field does not arrive as it is."""
        preserved = not self.is_home and bool(self._kept & {field, field.partition("/")[0]})
        self.losses.append(Loss(path=f"/{field}", reason=reason, detail=detail, preserved=preserved))

    def rename(self, respelled: Callable[[str], str] = str) -> str:
        """The name under which the tool goes there, as `respelled` makes it fit."""
        name = respelled(self.name) if self._is_renaming else self.name
        self.name_there = name
        if name != self.name:
            self.lose("name", "renamed", f"{self.name} is called {name} there")
        return name

    def lose_all_but(self, held: frozenset[str]) -> None:
        """Name everything that says something and has no slot among these."""
        for field, value in self._stated():
            if field not in held and field.partition("/")[0] not in held:
                self.lose(field, "no_slot", f"{self.dialect} has no place for it ({value})"[:200])

    def _stated(self) -> Iterator[tuple[str, object]]:
        tool, content = self.tool, self.content
        if content.output_schema is not None:
            yield "output_schema", "a schema"
        if content.idempotent:
            yield "idempotent", "true"
        for name, hint in content.annotations:
            if hint is not None:
                yield f"annotations/{name}", str(hint).lower() if isinstance(hint, bool) else hint
        if content.param_order != param_order(content.input_schema):
            yield "param_order", ", ".join(content.param_order)
        for name, text in (("category", content.category), ("declared_version", content.declared_version)):
            if text is not None:
                yield name, text
        if tool.tags:
            yield "tags", ", ".join(tool.tags)
        if not tool.visible:
            yield "visible", "false"
        if tool.deprecated:
            yield "deprecated", "true"
        if tool.deprecation_message is not None:
            yield "deprecation_message", tool.deprecation_message
        for dialect, extras in content.extras.items():
            if dialect != self.dialect:
                for key, value in extras.items():
                    if value is not None:
                        yield pointer("extras", dialect, key), "a field of that dialect"
