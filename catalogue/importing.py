"""Import tools from any dialect: all or none, unless the import is partial (catalogue 1.1, C1 to C15).

An import is one transaction that locks its servers, so imports of one server run one after the other. A dry run does
the same and rolls back; it also reports which recorded calls a new version would reject.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Subquery

from accounts import orgs
from accounts.rights import may_keep
from catalogue import dialects, naming, replaying
from catalogue.dialects import Dialect, convilyn, python
from catalogue.models import Tool, ToolServer, ToolVersion
from catalogue.record import Content, Imported, JsonObject, Loss, ToolProblem
from catalogue.results import problem_of
from catalogue.schema_rules import check_schema, parts_of
from catalogue.wire_tools import OUTCOMES, ImportedOut, ImportIn, Outcome, ReplayOut, ToolFault, ToolImportOut
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, Unauthorized

MAX_TOOLS = 500
MAX_PARTS = 50_000
"""Subschemas in all schemas of an import; checking 4,000 takes a second. 4 MiB of real tools have as many."""
HANDLER_STAYS = "the handler was not changed: only the tool's creator, org admins and platform admins can change it"


@dataclass
class Item:
    """One tool of an import, from input to outcome."""

    index: int
    server: str = ""
    found: Imported | None = None
    fault: ToolFault | None = None
    outcome: Outcome = "failed"
    version: int | None = None
    replay: ReplayOut | None = None

    @property
    def said(self) -> Imported:
        """The tool as read; only for valid items."""
        assert self.found is not None
        return self.found

    @property
    def qualified_name(self) -> str:
        """`<server>__<name>`; only for valid items."""
        return naming.join(self.server, self.said.name)

    def fail(self, reason: str, path: str, message: str) -> None:
        """Mark the item as invalid; the first reason is kept."""
        self.fault = self.fault or ToolFault(index=self.index, reason=reason, path=path, message=message)

    def out(self) -> ImportedOut:
        """The item's API record."""
        if self.fault or self.found is None:
            errors = [self.fault] if self.fault else []
            name = self.qualified_name if self.found and self.server else None
            return ImportedOut(index=self.index, outcome="failed", qualified_name=name, version=None, errors=errors)
        return ImportedOut(
            index=self.index,
            outcome=self.outcome,
            qualified_name=self.qualified_name,
            version=self.version,
            losses=self.found.losses,
            warnings=self.found.warnings,
            replay=self.replay,
        )


@dataclass
class Batch:
    """An import, read and checked without the database."""

    dialect: Dialect
    items: list[Item]
    server: JsonObject | None = None
    """The server's fields in a manifest."""
    losses: list[Loss] = field(default_factory=list)

    @property
    def good(self) -> list[Item]:
        """The valid items."""
        return [item for item in self.items if item.fault is None]


def import_tools(actor: Actor | None, org_id: int, body: ImportIn) -> ToolImportOut:
    """Import tools into an org, for an actor or (None) for the operator.

    The handler of an existing tool is changed only if the actor may do that; otherwise it stays, with a warning.
    Raises `InvalidRequest` with `details.reason` and all errors if a tool is invalid and the import is not partial (C7
    to C12, C135), `Conflict` under `on_conflict: error` (C5), `Unauthorized` for a builtin server.
    """
    return told(carry_out(actor, org_id, body))


def carry_out(actor: Actor | None, org_id: int, body: ImportIn) -> Batch:
    """As `import_tools`, but returns the batch with what was read of each tool.

    A list without tools is refused here: only an MCP server may have none, and `checked` takes its list.
    """
    batch = checked(body)
    if body.tools == []:
        raise InvalidRequest("tools: must have at least 1 item")
    return keep(actor, org_id, body, batch)


def checked(body: ImportIn) -> Batch:
    """An import, read and checked. Call it outside of transactions: a check takes a second per 4,000 subschemas."""
    batch = _read(body)
    if not body.partial:
        _refuse_faults(batch)
    return batch


def keep(actor: Actor | None, org_id: int, body: ImportIn, batch: Batch) -> Batch:
    """Store a checked batch in one transaction."""
    user_id = actor.user_id if actor else None
    administers = actor is not None and orgs.administers(actor, org_id)
    with transaction.atomic():
        servers = _servers(org_id, user_id, batch, body)
        store(actor, servers, batch.good, body.on_conflict, administers=administers)
        if not body.partial:
            _refuse_conflicts(batch)
        if body.dry_run:
            transaction.set_rollback(True)
    if body.dry_run:
        _replay(actor, org_id, batch.good)
    return batch


def told(batch: Batch) -> ToolImportOut:
    """The API record of an import."""
    items = [item.out() for item in batch.items]
    counts = {outcome: sum(item.outcome == outcome for item in items) for outcome in OUTCOMES}
    return ToolImportOut(items=items, counts=counts, losses=batch.losses)


def one_by_one(body: ImportIn) -> list[Any]:
    """The raw tools of an import. Raises `InvalidRequest` if it has none."""
    try:
        return _values(dialects.dialect_named(body.dialect), body)[1]
    except ToolProblem as problem:
        raise refused(problem) from None


def _replay(actor: Actor | None, org_id: int, items: Sequence[Item]) -> None:
    """Check recorded calls against the new versions."""
    new = {item.qualified_name: item.said.content.input_schema for item in items if item.outcome == "new_version"}
    replays = replaying.replays(actor, org_id, new)
    for item in items:
        item.replay = replays.get(item.qualified_name)


def _read(body: ImportIn) -> Batch:
    try:
        dialect = dialects.dialect_named(body.dialect)
        batch, values = _values(dialect, body)
    except ToolProblem as problem:
        raise refused(problem) from None
    if len(values) > MAX_TOOLS:
        message = f"tools: {len(values)} are too many for one import (maximum {MAX_TOOLS})"
        raise InvalidRequest(message, details={"reason": "too_many_tools"})
    named = body.server if body.server is not None else (batch.server or {}).get("name", dialect.server)
    if named is not None and not naming.is_server(named):
        raise InvalidRequest(f"server: {_SERVER_RULE}", details={"reason": "invalid_server"})
    parts = 0
    for index, value in enumerate(values):
        item = _item(dialect, index, value, named)
        batch.items.append(item)
        # Counted beside the check, which looks at a schema before it finds a fault, so invalid tools count too.
        if item.found:
            parts += sum(parts_of(each) for each in item.found.content.schemas)
        if parts > MAX_PARTS:
            message = f"tools: the schemas together have more than {MAX_PARTS:,} subschemas"
            raise InvalidRequest(message, details={"reason": "too_many_subschemas"})
    _find_duplicates(batch.good)
    return batch


def _values(dialect: Dialect, body: ImportIn) -> tuple[Batch, list[Any]]:
    given = [name for name in ("tool", "tools", "manifest", "source") if getattr(body, name) is not None]
    if len(given) != 1:
        raise ToolProblem("invalid_request", "", "tool: give exactly one of tool, tools, manifest and source")
    if (given == ["source"]) != (dialect.name == python.NAME):
        raise ToolProblem("invalid_request", "", "source: only for the dialect python, which needs it")
    if "source" in body.options:
        raise ToolProblem("invalid_request", "/options/source", "is no option; style is the only one")
    if body.options and body.source is None:
        raise ToolProblem(
            "invalid_request", f"/options/{min(body.options)}"[:80], "only the dialect python has options"
        )
    if body.manifest is None:
        single = {"source": body.source, **body.options} if body.source is not None else body.tool
        return Batch(dialect, []), body.tools if body.tools is not None else [single]
    if dialect.name != convilyn.NAME:
        raise ToolProblem("invalid_request", "", f"manifest: {dialect.name} has no manifests")
    manifest = convilyn.read_manifest(body.manifest)
    return Batch(dialect, [], manifest.server, manifest.losses), manifest.tools


NEEDED = "is needed"
_SERVER_RULE = "must be lower-case letters and digits, joined by single - or _, at most 64 characters"


def _item(dialect: Dialect, index: int, value: Any, named: str | None) -> Item:
    item = Item(index)
    try:
        found = item.found = dialects.read(dialect, value)
        item.server = named or found.server or ""
        _check(item.server, found)
    except ToolProblem as problem:
        item.fail(problem.reason, problem.path, problem.message)
    return item


def _check(server: str, found: Imported) -> None:
    if not naming.is_server(server):
        raise ToolProblem("invalid_server", "/server", _SERVER_RULE if server else NEEDED)
    check_tool(found)


def check_tool(found: Imported) -> None:
    """Raise a `ToolProblem` if the name, texts or schemas of a tool are invalid, on a server or in a world."""
    # JSON bodies were checked; Python literals and lists of MCP servers may contain values that cannot be stored.
    if reason := problem_of([found.content.model_dump(), found.unversioned, found.spelled_out]):
        raise ToolProblem("invalid_tool", "", f"contains {reason}")
    if not naming.is_tool(found.name):
        raise ToolProblem("invalid_tool", "/name", "must be 1 to 128 letters, digits, _ . -, not beginning with . or -")
    if found.name == naming.RESERVED:
        raise ToolProblem("reserved_name", "/name", f"{found.name} is reserved for the runtime")
    content = found.content
    check_schema(content.input_schema, "/input_schema", is_input=True)
    if content.output_schema is not None:
        check_schema(content.output_schema, "/output_schema", is_input=False)


def _find_duplicates(items: Iterable[Item]) -> None:
    seen: set[tuple[str, str]] = set()
    for item in items:
        key = _key(item)
        if key in seen:
            item.fail("duplicate_name", "/name", f"{key[1]} occurs twice in this import")
        seen.add(key)


def _key(item: Item) -> tuple[str, str]:
    return naming.fold(item.server), item.said.name


def _refuse_faults(batch: Batch) -> None:
    faults = [item.fault for item in batch.items if item.fault]
    if not faults:
        return
    details = {"reason": faults[0].reason, "errors": [fault.model_dump() for fault in faults]}
    total = len(batch.items)
    message = f"{len(faults)} of {total} tools {'is' if len(faults) == 1 else 'are'} invalid"
    if total == 1:
        message = f"The tool is invalid: {faults[0].path or 'tool'}: {faults[0].message}"
    raise InvalidRequest(message, details=details)


def refused(problem: ToolProblem) -> InvalidRequest:
    """A tool's problem as an error of the whole request."""
    return InvalidRequest(str(problem), details={"reason": problem.reason})


def _servers(org_id: int, user_id: int | None, batch: Batch, body: ImportIn) -> dict[str, ToolServer]:
    """The servers of an import by folded name, locked in a fixed order, created if missing."""
    wanted = {naming.fold(item.server): item.server for item in reversed(batch.good)}
    if batch.server is not None:
        named = body.server or batch.server["name"]
        wanted.setdefault(naming.fold(named), named)
    for name in naming.BUILTIN & wanted.keys():
        raise Unauthorized(f"The server {name} is built in and read-only.")
    made = {"source_dialect": batch.dialect.name, "created_by_id": user_id, "modified_by_id": user_id}
    servers = {}
    for folded in sorted(wanted):
        server, is_new = ToolServer.objects.select_for_update().get_or_create(
            org_id=org_id, folded=folded, defaults={"name": wanted[folded], **made}
        )
        servers[folded] = server
        if batch.server is not None and (is_new or body.on_conflict == "new_version"):
            _describe(server, user_id, batch.server)
    return servers


def _describe(server: ToolServer, user_id: int | None, said: JsonObject) -> None:
    """Store the server's fields from a manifest (C18)."""
    fields = ("description", "version", "capabilities")
    if any(getattr(server, name) != said[name] for name in fields):
        for name in fields:
            setattr(server, name, said[name])
        server.changed_by(user_id)
        server.save(update_fields=[*fields, "modified", "modified_by"])


def store(
    actor: Actor | None,
    servers: Mapping[str, ToolServer],
    items: Sequence[Item],
    on_conflict: str,
    *,
    administers: bool = False,
) -> None:
    """Store tools on their servers, which the caller's transaction has locked; sets the outcome of each item.

    A handler is changed only if the actor may do that; `administers`: the actor is an admin of the org.
    """
    user_id = actor.user_id if actor else None
    tools = _existing(servers.values(), [item.said.name for item in items])
    created, changed, versions = [], [], []
    for item in items:
        server = servers[naming.fold(item.server)]
        item.server = server.name
        tool = tools.get((server.pk, item.said.name))
        if tool is not None and actor is not None:
            _leave_handler(item, tool, actor, administers=administers)
        _settle(item, tool, on_conflict)
        if tool is None:
            tool = Tool(org_id=server.org_id, server=server, name=item.said.name, created_by_id=user_id)
            tool.qualified_name = naming.join(server.name, tool.name)
            created.append(tool)
        elif item.outcome in ("new_version", "updated"):
            changed.append(tool)
        else:
            continue
        _apply(tool, item, user_id)
        if item.outcome != "updated":
            versions.append(_version(tool, item.said.content, user_id))
    Tool.objects.bulk_create(created, batch_size=500)
    Tool.objects.bulk_update(changed, CHANGED, batch_size=100)
    ToolVersion.objects.bulk_create(versions, batch_size=500)


def _existing(servers: Iterable[ToolServer], names: Sequence[str]) -> dict[tuple[int, str], Any]:
    present = ToolVersion.objects.filter(tool=OuterRef("pk"), version=OuterRef("version"))
    # Locked, because a user may be changing one of them concurrently.
    locked = Tool.objects.select_for_update(of=("self",)).order_by("pk")
    rows = locked.filter(server__in=list(servers), name__in=names).annotate(
        spec_hash=Subquery(present.values("spec_hash")[:1]), description=Subquery(present.values("description")[:1])
    )
    return {(tool.server_id, tool.name): tool for tool in rows}


def _leave_handler(item: Item, tool: Tool, actor: Actor, *, administers: bool) -> None:
    """Drop the handler from an import, with a warning, if the actor may not change it."""
    said = item.said.unversioned
    is_same = said.get("handler", tool.handler) == tool.handler
    if is_same or may_keep(actor, tool.created_by_id, administers=administers):
        return
    rest = {name: value for name, value in said.items() if name != "handler"}
    item.found = replace(item.said, unversioned=rest, warnings=[*item.said.warnings, HANDLER_STAYS])


def _settle(item: Item, tool: Any, on_conflict: str) -> None:
    """Decide the outcome of a tool. An identical tool is `unchanged` under every rule (C2)."""
    if tool is None:
        item.outcome, item.version = "created", 1
        return
    is_same = tool.spec_hash == item.said.content.spec_hash
    item.version = tool.version
    unversioned = {**item.said.unversioned, "spelled_out": item.said.spelled_out}
    if is_same and all(getattr(tool, name) == value for name, value in unversioned.items()):
        item.outcome = "unchanged"
    elif on_conflict == "skip":
        item.outcome = "skipped"
    elif on_conflict == "error":
        item.fail("conflict", "/name", f"{tool.qualified_name} already exists with other content")
    elif is_same:
        item.outcome = "updated"
    else:
        item.outcome, item.version = "new_version", tool.version + 1


def _refuse_conflicts(batch: Batch) -> None:
    taken = [item.fault for item in batch.items if item.fault]
    if taken:
        details = {"reason": "conflict", "errors": [fault.model_dump() for fault in taken]}
        raise Conflict(taken[0].message, details=details)


CHANGED = (
    "version", "tags", "visible", "deprecated", "deprecation_message", "spelled_out", "handler", "is_dispatchable",
    "source_dialect", "search", "modified", "modified_by",
)  # fmt: skip
"""Columns of an existing tool that an import may change."""


def _apply(tool: Tool, item: Item, user_id: int | None) -> None:
    assert item.version is not None
    tool.version = item.version
    tool.source_dialect = item.said.content.source_dialect
    tool.spelled_out = item.said.spelled_out
    for name, value in item.said.unversioned.items():
        setattr(tool, name, value)
    tool.run_by(tool.handler)
    tool.search = search_text(tool.name, item.said.content.description, tool.tags)
    tool.changed_by(user_id)


def search_text(name: str, description: str, tags: Sequence[str]) -> str:
    """The text that the list's search uses (C49, C133)."""
    return "\n".join([name, description, *tags]).casefold()


def _version(tool: Tool, content: Content, user_id: int | None) -> ToolVersion:
    fields = {**content.model_dump(), "spec_hash": content.spec_hash}
    return ToolVersion(tool=tool, version=tool.version, created_by_id=user_id, **fields)
