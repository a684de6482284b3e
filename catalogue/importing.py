"""Importing tools from any dialect: all or none, unless the caller takes what is good (catalogue 1.1, C1 to C15).

An import is one transaction that holds its servers, so two imports of one server follow each other. A dry run is the
same work rolled back: what it tells is what would happen, and which recorded calls a new version would refuse.
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
from catalogue.schema_rules import check_schema
from catalogue.wire_tools import OUTCOMES, ImportedOut, ImportIn, Outcome, ReplayOut, ToolFault, ToolImportOut
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, Unauthorized

MAX_TOOLS = 500
HANDLER_STAYS = "who runs it stays as it was: only who made it, admins of its org and platform admins may change that"


@dataclass
class Item:
    """One tool of an import, from what was sent to what became of it."""

    index: int
    server: str = ""
    found: Imported | None = None
    fault: ToolFault | None = None
    outcome: Outcome = "failed"
    version: int | None = None
    replay: ReplayOut | None = None

    @property
    def said(self) -> Imported:
        """What was read of it, where nothing is wrong with it."""
        assert self.found is not None
        return self.found

    @property
    def qualified_name(self) -> str:
        """`<server>__<name>`, of the same."""
        return naming.join(self.server, self.said.name)

    def fail(self, reason: str, path: str, message: str) -> None:
        """Note why it is not valid; the first reason stays."""
        self.fault = self.fault or ToolFault(index=self.index, reason=reason, path=path, message=message)

    def out(self) -> ImportedOut:
        """What the caller is told of it."""
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
    """An import, read and checked, before the database is looked at."""

    dialect: Dialect
    items: list[Item]
    server: JsonObject | None = None
    """What a manifest says of its server."""
    losses: list[Loss] = field(default_factory=list)

    @property
    def good(self) -> list[Item]:
        """The items that nothing is wrong with."""
        return [item for item in self.items if item.fault is None]


def import_tools(actor: Actor | None, org_id: int, body: ImportIn) -> ToolImportOut:
    """Import tools into an org for a person, or for the operator where there is none.

    Who runs a tool that is there already is changed for its keepers alone; else that stays, with a warning.
    Raises `InvalidRequest` with `details.reason` and every fault where a tool is not valid and the import is not
    partial (C7 to C12, C135), `Conflict` under `on_conflict: error` (C5), `Unauthorized` for a builtin server.
    """
    return told(carry_out(actor, org_id, body))


def carry_out(actor: Actor | None, org_id: int, body: ImportIn) -> Batch:
    """The same, with all that was read of each tool beside what became of it."""
    return keep(actor, org_id, body, checked(body))


def checked(body: ImportIn) -> Batch:
    """An import, read and checked. For before any transaction: schemas take a second for half a megabyte."""
    batch = _read(body)
    if not body.partial:
        _refuse_faults(batch)
    return batch


def keep(actor: Actor | None, org_id: int, body: ImportIn, batch: Batch) -> Batch:
    """Store what was checked, in one transaction."""
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
        _replay(org_id, user_id, batch.good)
    return batch


def told(batch: Batch) -> ToolImportOut:
    """What the caller is told of an import."""
    items = [item.out() for item in batch.items]
    counts = {outcome: sum(item.outcome == outcome for item in items) for outcome in OUTCOMES}
    return ToolImportOut(items=items, counts=counts, losses=batch.losses)


def one_by_one(body: ImportIn) -> list[Any]:
    """The tools of an import as they are written, unread. Raises `InvalidRequest` where there are none in it."""
    try:
        return _values(dialects.dialect_named(body.dialect), body)[1]
    except ToolProblem as problem:
        raise refused(problem) from None


def _replay(org_id: int, user_id: int | None, items: Sequence[Item]) -> None:
    """Hold recorded calls against what would be the new versions."""
    new = {item.qualified_name: item.said.content.input_schema for item in items if item.outcome == "new_version"}
    replays = replaying.replays(org_id, user_id, new)
    for item in items:
        item.replay = replays.get(item.qualified_name)


def _read(body: ImportIn) -> Batch:
    try:
        dialect = dialects.dialect_named(body.dialect)
        batch, values = _values(dialect, body)
    except ToolProblem as problem:
        raise refused(problem) from None
    if len(values) > MAX_TOOLS:
        message = f"tools: {len(values)} are more than the {MAX_TOOLS} that one import may hold"
        raise InvalidRequest(message, details={"reason": "too_many_tools"})
    named = body.server if body.server is not None else (batch.server or {}).get("name", dialect.server)
    if named is not None and not naming.is_server(named):
        raise InvalidRequest(f"server: {_SERVER_RULE}", details={"reason": "invalid_server"})
    batch.items = [_item(dialect, index, value, named) for index, value in enumerate(values)]
    _find_duplicates(batch.good)
    return batch


def _values(dialect: Dialect, body: ImportIn) -> tuple[Batch, list[Any]]:
    given = [name for name in ("tool", "tools", "manifest", "source") if getattr(body, name) is not None]
    if len(given) != 1:
        raise ToolProblem("invalid_request", "", "Exactly one of tool, tools, manifest and source has to be given")
    if (given == ["source"]) != (dialect.name == python.NAME):
        raise ToolProblem("invalid_request", "", "source: is what the dialect python takes, and nothing else takes it")
    if body.manifest is None:
        single = {"source": body.source, **body.options} if body.source is not None else body.tool
        return Batch(dialect, []), body.tools if body.tools is not None else [single]
    if dialect.name != convilyn.NAME:
        raise ToolProblem("invalid_request", "", f"manifest: {dialect.name} has none")
    manifest = convilyn.read_manifest(body.manifest)
    return Batch(dialect, [], manifest.server, manifest.losses), manifest.tools


NEEDED = "is needed"
_SERVER_RULE = "must be small letters and digits, joined by single - or _, at most 64 characters"


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
    if found.name == naming.RESERVED:
        raise ToolProblem("reserved_name", "/name", f"{found.name} is answered by the runtime itself")
    check_tool(found)


def check_tool(found: Imported) -> None:
    """Raise a `ToolProblem` for what cannot be a tool, on a server or in a world: its name, its texts, its schemas."""
    # A body of JSON is clean; a literal in Python, or what a server lists, may be nothing that can be stored.
    if reason := problem_of([found.content.model_dump(), found.unversioned]):
        raise ToolProblem("invalid_tool", "", f"holds {reason}")
    if not naming.is_tool(found.name):
        raise ToolProblem("invalid_tool", "/name", "must be 1 to 128 letters, digits, _ . -, not beginning with . or -")
    content = found.content
    check_schema(content.input_schema, "/input_schema", is_input=True)
    if content.output_schema is not None:
        check_schema(content.output_schema, "/output_schema", is_input=False)


def _find_duplicates(items: Iterable[Item]) -> None:
    seen: set[tuple[str, str]] = set()
    for item in items:
        key = _key(item)
        if key in seen:
            item.fail("duplicate_name", "/name", f"{key[1]} is in this import already")
        seen.add(key)


def _key(item: Item) -> tuple[str, str]:
    return naming.fold(item.server), item.said.name


def _refuse_faults(batch: Batch) -> None:
    faults = [item.fault for item in batch.items if item.fault]
    if not faults:
        return
    details = {"reason": faults[0].reason, "errors": [fault.model_dump() for fault in faults]}
    total = len(batch.items)
    message = f"{len(faults)} of {total} tools {'is' if len(faults) == 1 else 'are'} not valid"
    if total == 1:
        message = f"The tool is not valid: {faults[0].path or 'tool'}: {faults[0].message}"
    raise InvalidRequest(message, details=details)


def refused(problem: ToolProblem) -> InvalidRequest:
    """A tool's problem as a refusal of the whole request."""
    return InvalidRequest(str(problem), details={"reason": problem.reason})


def _servers(org_id: int, user_id: int | None, batch: Batch, body: ImportIn) -> dict[str, ToolServer]:
    """The servers of an import by folded name, locked in one order, made where they are missing."""
    wanted = {naming.fold(item.server): item.server for item in reversed(batch.good)}
    if batch.server is not None:
        named = body.server or batch.server["name"]
        wanted.setdefault(naming.fold(named), named)
    for name in naming.BUILTIN & wanted.keys():
        raise Unauthorized(f"The server {name} belongs to everybody and is read-only.")
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
    """Take over what a manifest says of its server (C18)."""
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
    """Store read tools on their servers, which the caller's transaction holds; each item learns what became of it.

    What is said of who runs a tool counts for its keepers: `administers` is whether the actor does so with the org.
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
    # Locked, because a person may be changing one of them in place at this moment.
    locked = Tool.objects.select_for_update(of=("self",)).order_by("pk")
    rows = locked.filter(server__in=list(servers), name__in=names).annotate(
        spec_hash=Subquery(present.values("spec_hash")[:1]), description=Subquery(present.values("description")[:1])
    )
    return {(tool.server_id, tool.name): tool for tool in rows}


def _leave_handler(item: Item, tool: Tool, actor: Actor, *, administers: bool) -> None:
    """What an import says of who runs a tool counts for its keepers alone, as it does where it is changed in place."""
    said = item.said.unversioned
    is_same = said.get("handler", tool.handler) == tool.handler
    if is_same or may_keep(actor, tool.created_by_id, administers=administers):
        return
    rest = {name: value for name, value in said.items() if name != "handler"}
    item.found = replace(item.said, unversioned=rest, warnings=[*item.said.warnings, HANDLER_STAYS])


def _settle(item: Item, tool: Any, on_conflict: str) -> None:
    """Decide what becomes of a tool. What is stored already as it was sent is unchanged, whatever the rule (C2)."""
    if tool is None:
        item.outcome, item.version = "created", 1
        return
    is_same = tool.spec_hash == item.said.content.spec_hash
    item.version = tool.version
    if is_same and all(getattr(tool, name) == value for name, value in item.said.unversioned.items()):
        item.outcome = "unchanged"
    elif on_conflict == "skip":
        item.outcome = "skipped"
    elif on_conflict == "error":
        item.fail("conflict", "/name", f"{tool.qualified_name} is there already, with other content")
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
    "version", "tags", "visible", "deprecated", "deprecation_message", "handler", "is_dispatchable", "source_dialect",
    "search", "modified", "modified_by",
)  # fmt: skip
"""What an import may change of a tool that is there."""


def _apply(tool: Tool, item: Item, user_id: int | None) -> None:
    assert item.version is not None
    tool.version = item.version
    tool.source_dialect = item.said.content.source_dialect
    for name, value in item.said.unversioned.items():
        setattr(tool, name, value)
    tool.run_by(tool.handler)
    tool.search = search_text(tool.name, item.said.content.description, tool.tags)
    tool.changed_by(user_id)


def search_text(name: str, description: str, tags: Sequence[str]) -> str:
    """What the list's search looks in (C49, C133)."""
    return "\n".join([name, description, *tags]).casefold()


def _version(tool: Tool, content: Content, user_id: int | None) -> ToolVersion:
    fields = {**content.model_dump(), "spec_hash": content.spec_hash}
    return ToolVersion(tool=tool, version=tool.version, created_by_id=user_id, **fields)
