"""Client tools: tools that the client of a thread declares and runs itself (spec 3.6)."""

from collections.abc import Sequence, Set

from catalogue import calls, offering, schemas
from catalogue.schema_rules import parts_of
from catalogue.worlds import in_threads as playing
from core.canonical import size_of
from core.errors import InvalidRequest
from core.wording import limit_text
from threads import goals
from threads.content import LOAD_SKILL
from threads.models import ClientTool, Thread
from threads.wire import MAX_CLIENT_TOOLS, MAX_SCHEMA_PARTS, MAX_SCHEMAS_BYTES, ClientToolIn

RESERVED = frozenset({LOAD_SKILL})


def names_of(thread: Thread) -> frozenset[str]:
    """The names of the client tools declared so far."""
    return frozenset(ClientTool.objects.filter(thread=thread).values_list("name", flat=True))


def descriptions_of(thread: Thread) -> dict[str, str]:
    """The descriptions of the declared client tools, by name."""
    return dict(ClientTool.objects.filter(thread=thread).values_list("name", "description"))


def checked(tools: Sequence[ClientToolIn] | None, thread: Thread | None = None) -> list[ClientToolIn]:
    """Check tools before anything is stored (B18); of several with one name the last one counts.

    A template has no thread yet; conflicts with the tools offered to a thread are checked at launch. Call this before
    the thread is locked: checking large schemas takes time.
    """
    if not tools:
        return []
    if sum(size_of(tool.input_schema) for tool in tools) > MAX_SCHEMAS_BYTES:
        most = limit_text(MAX_SCHEMAS_BYTES)
        raise InvalidRequest(f"client_tools: the input schemas together have more than {most}")
    if sum(parts_of(tool.input_schema) for tool in tools) > MAX_SCHEMA_PARTS:
        raise InvalidRequest(f"client_tools: the input schemas together have more than {MAX_SCHEMA_PARTS:,} subschemas")
    found: dict[str, ClientToolIn] = {}
    taken = RESERVED | calls.tool_names() | _offered(thread, {tool.name for tool in tools})
    for place, tool in enumerate(tools):
        if tool.name in taken or goals.is_tool_name(tool.name):
            raise InvalidRequest(f"client_tools.{place}.name: the name {tool.name} is taken by a server tool")
        if problem := schemas.problem_of_schema(tool.input_schema, is_input=True):
            raise InvalidRequest(f"client_tools.{place}.input_schema: {problem}")
        found[tool.name] = tool
    return list(found.values())


def _offered(thread: Thread | None, wanted: Set[str]) -> Set[str]:
    """The wanted names that belong to server tools offered to a thread, those of its org or of its world.

    A name that the client declared first stays the client's, even if the org publishes a tool with that name later.
    """
    if thread is None:
        return frozenset()
    offered = offering.names(thread.org_id) if thread.world_id is None else playing.names(thread.world_id)
    taken = wanted & offered
    return taken - names_of(thread) if taken and thread.pk else taken


def declare(thread: Thread, tools: Sequence[ClientToolIn]) -> None:
    """Add tools, or replace them by name, for this and every later turn (B47, B48). The caller holds the thread."""
    if not tools:
        return
    if len(names_of(thread) | {tool.name for tool in tools}) > MAX_CLIENT_TOOLS:
        raise InvalidRequest(f"client_tools: a thread can have at most {MAX_CLIENT_TOOLS} client tools")
    rows = [
        ClientTool(thread_id=thread.pk, name=tool.name, description=tool.description, input_schema=tool.input_schema)
        for tool in tools
    ]
    ClientTool.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["thread", "name"],
        update_fields=["description", "input_schema"],
    )
