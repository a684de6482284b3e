"""Tools that the driver of a thread brings along and answers (spec 3.6)."""

from collections.abc import Sequence, Set

from catalogue import calls, offering, schemas
from catalogue.worlds import in_threads as playing
from core.canonical import size_of
from core.errors import InvalidRequest
from threads.content import LOAD_SKILL
from threads.models import ClientTool, Thread
from threads.wire import MAX_CLIENT_TOOLS, MAX_SCHEMAS_BYTES, ClientToolIn

RESERVED_PREFIXES = ("achieve_",)
RESERVED = frozenset({LOAD_SKILL})


def names_of(thread: Thread) -> frozenset[str]:
    """The names declared so far."""
    return frozenset(ClientTool.objects.filter(thread=thread).values_list("name", flat=True))


def descriptions_of(thread: Thread) -> dict[str, str]:
    """What each of them was said to do, by name."""
    return dict(ClientTool.objects.filter(thread=thread).values_list("name", "description"))


def checked(tools: Sequence[ClientToolIn] | None, thread: Thread | None = None) -> list[ClientToolIn]:
    """The tools, if they may be declared; refused before anything is stored (B18). The last of a name counts.

    Of a template, which has no thread yet, what a thread is offered is checked at its launch. To be called before the
    thread is locked: a check takes as long as the schemas are large.
    """
    if not tools:
        return []
    if sum(size_of(tool.input_schema) for tool in tools) > MAX_SCHEMAS_BYTES:
        raise InvalidRequest(f"client_tools: their input schemas have together more than {MAX_SCHEMAS_BYTES >> 10} KiB")
    found: dict[str, ClientToolIn] = {}
    taken = RESERVED | calls.tool_names() | _offered(thread, {tool.name for tool in tools})
    for place, tool in enumerate(tools):
        if tool.name in taken or tool.name.startswith(RESERVED_PREFIXES):
            raise InvalidRequest(f"client_tools.{place}.name: a tool of the server is called {tool.name}")
        if problem := schemas.problem_of_schema(tool.input_schema, is_input=True):
            raise InvalidRequest(f"client_tools.{place}.input_schema: {problem}")
        found[tool.name] = tool
    return list(found.values())


def _offered(thread: Thread | None, wanted: Set[str]) -> Set[str]:
    """Those of these names that tools bear which the server offers to a thread: its org's, or its world's.

    A name that the thread's client had first stays the client's, whatever its org publishes later.
    """
    if thread is None:
        return frozenset()
    offered = offering.names(thread.org_id) if thread.world_id is None else playing.names(thread.world_id)
    taken = wanted & offered
    return taken - names_of(thread) if taken and thread.pk else taken


def declare(thread: Thread, tools: Sequence[ClientToolIn]) -> None:
    """Add tools, or replace them by name, for this and every later turn (B47, B48). The thread is the caller's."""
    if not tools:
        return
    if len(names_of(thread) | {tool.name for tool in tools}) > MAX_CLIENT_TOOLS:
        raise InvalidRequest(f"client_tools: a thread has at most {MAX_CLIENT_TOOLS} of them")
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
