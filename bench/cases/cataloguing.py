"""The catalogue: import, validate and call tools; list thousands of them."""

from itertools import count
from typing import Any

from bench.figures import EMBEDDED, Measured, figure
from bench.houses import House
from bench.rounds import CLIENTS, Act, p50_alone, p50_beside, p50_in_views, rate_beside, rate_of
from catalogue import executing, validating
from catalogue.executing import Limits, Target
from catalogue.spec import ToolContext

TOOLS = "/v1/catalogue/tools"
MANY = 5_000
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ride": {"type": "string", "pattern": "^R-[0-9]{5}$", "description": "The number of the ride."},
        "kind": {"enum": ["refund", "complaint", "question"]},
        "hours": {"type": "integer", "minimum": 1, "maximum": 48, "default": 12},
        "bikes": {"type": "array", "items": {"type": "object", "properties": {"number": {"type": "integer"}}}},
    },
    "required": ["ride"],
}
_ARGUMENTS = {"ride": "R-20913", "kind": "refund", "bikes": [{"number": 1}, {"number": 2}]}
_servers = (f"bench{number}" for number in count())


@figure("import 500 tools, p50")
def import_500(house: House) -> Measured:
    return p50_alone(_importing(house), rounds=4, calls=1, warm=1)


@figure("import 500 tools that are there already, p50")
def import_again(house: House) -> Measured:
    return p50_alone(house.alice().prepared("POST", f"{TOOLS}/import", _body("again")), rounds=4, calls=1, warm=1)


@figure("check the arguments of a call, in process, p50", floor="bare", ways=(EMBEDDED,))
def check(house: House) -> Measured:
    return p50_beside(lambda: validating.check(_ARGUMENTS, _SCHEMA), _bare(), calls=200)


@figure("check, call and bring into shape, in process, p50", floor="bare", ways=(EMBEDDED,))
def execute(house: House) -> Measured:
    target = Target("bench", "look", 1, _SCHEMA, run=lambda arguments, context: dict(arguments), timeout_ms=None)
    context, limits = ToolContext("", ""), Limits()
    act: Act = lambda: executing.execute(target, executing.checked(target, dict(_ARGUMENTS)), context, limits)  # noqa: E731
    return p50_beside(act, _bare(), calls=200)


@figure("call a tool over REST, recorded, p50", floor="view")
def call(house: House) -> Measured:
    return p50_in_views(
        house, house.alice().prepared("POST", f"{TOOLS}/demo__echo/call", {"arguments": {"message": "x"}})
    )


@figure("call a tool in a world that makes answers up, p50", floor="view")
def play(house: House) -> Measured:
    return p50_in_views(house, _playing(house, "schema_only"))


@figure("call a tool in a world that remembers, p50", floor="view")
def play_on(house: House) -> Measured:
    return p50_in_views(house, _playing(house, "stateful"))


@figure("calls in worlds, 8 clients with a world each", floor="view")
def play_at_once(house: House) -> Measured:
    views = [house.view() for _ in range(CLIENTS)]
    return rate_beside([_playing(house, "schema_only") for _ in views], lambda: rate_of(views, 0.5))


@figure("page of tools, 50 of 5,000, p50", floor="view")
def page(house: House) -> Measured:
    _fill(house)
    return p50_in_views(house, house.browser().prepared("GET", "/catalogue/"), rounds=12, calls=4)


@figure("page of tools, a word in 5,000, p50", floor="view")
def search(house: House) -> Measured:
    _fill(house)
    return p50_in_views(house, house.browser().prepared("GET", "/catalogue/?q=t499+ride"), rounds=12, calls=4)


@figure("page of one tool, p50", floor="view")
def one(house: House) -> Measured:
    house.alice().call("POST", f"{TOOLS}/import", _body("again"))
    return p50_in_views(house, house.browser().prepared("GET", "/catalogue/tools/again__t1/"), rounds=12, calls=4)


def _importing(house: House) -> Act:
    """Import into a new server each time, so that every tool is new."""
    alice = house.alice()
    return lambda: alice.call("POST", f"{TOOLS}/import", _body(next(_servers)))


def _playing(house: House, mode: str) -> Act:
    """Calls in a world that read a ride, existing or generated."""
    alice, tool = house.alice(), {"name": "get_ride", "description": "Looks up a ride.", "inputSchema": _SCHEMA}
    alice.call("POST", f"{TOOLS}/import", {"dialect": "mcp", "server": "rides", "tools": [tool]})
    world = alice.call("POST", "/v1/catalogue/worlds", {"mode": mode, "seed": 7, "tools": ["rides__get_ride"]})
    path = f"/v1/catalogue/worlds/{world['world_id']}/call"
    return alice.prepared("POST", path, {"tool": "rides__get_ride", "input": _ARGUMENTS})


def _body(server: str) -> dict[str, Any]:
    tools = [{"name": f"t{n}", "description": f"Looks up ride {n}.", "inputSchema": _SCHEMA} for n in range(500)]
    return {"dialect": "mcp", "server": server, "tools": tools}


def _fill(house: House) -> None:
    """Fill the catalogue up to five thousand tools."""
    alice = house.alice()
    while sum(each["tool_count"] for each in alice.call("GET", "/v1/catalogue/servers")["items"]) < MANY:
        alice.call("POST", f"{TOOLS}/import", _body(next(_servers)))


def _bare() -> Act:
    """Validate with `jsonschema` alone, with one validator."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(_SCHEMA)
    return lambda: list(validator.iter_errors(_ARGUMENTS))
