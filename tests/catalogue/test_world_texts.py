"""Texts of worlds for schemas whose keywords limit each other (catalogue 3.8, C103), and examples of CTP (1.4)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from catalogue import validating
from catalogue.sampling import making
from catalogue.sampling.drawing import Source
from tests import hashing
from tests.api.test_worlds import Played
from tests.conftest import data_of


def text(**keywords: Any) -> dict[str, Any]:
    return {"type": "string", **keywords}


COMMON = [
    text(pattern=r"^[A-Z]+$", minLength=8),
    text(pattern=r"^[a-z]+$", maxLength=2),
    text(pattern=r"^[a-z]*$", minLength=7, maxLength=7),
    text(pattern=r"^\w+$", minLength=40),
    text(pattern=r"^\w+$", minLength=2_000),
    text(pattern=r"^[a-z]+(-[a-z]+)*$", minLength=20, maxLength=22),
    text(pattern=r"^(abc)+$", minLength=7, maxLength=9),
    text(pattern=r"^(a|bcd)+$", minLength=30, maxLength=30),
    text(pattern=r"^(\w+) \1$", minLength=25),
    text(pattern=r"[0-9]", minLength=12),
    text(pattern=r"[A-Z]$", minLength=12),
    text(pattern=r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,}$", maxLength=12),
    text(pattern=r"^(?=.{30,40}$)[a-z]+$"),
    text(format="uri", maxLength=20),
    text(format="uri", maxLength=8),
    text(format="uri", minLength=300),
    text(format="uri", pattern=r"^http://"),
    text(format="uri", pattern=r"^https?://.+$"),
    text(format="uri", pattern=r"^https://acme\.com/", maxLength=20),
    text(format="uri", pattern=r"^https://acme\.com/", minLength=80),
    text(format="uri", pattern=r"\.pdf$"),
    text(format="email", maxLength=6),
    text(format="email", maxLength=15),
    text(format="email", minLength=60),
    text(format="email", minLength=100, maxLength=120),
    text(format="email", pattern=r"^\S+@\S+\.\S+$"),
    text(format="email", pattern=r"^[^@]+@[^@]+$", maxLength=10),
    text(format="email", pattern=r"@acme\.com$", maxLength=12),
    text(format="email", pattern=r"@acme\.com$", minLength=50),
    text(format="date", pattern=r"^\d{4}-\d{2}-\d{2}$"),
    text(format="date", pattern=r"^2025-"),
    text(format="date", pattern=r"^1999-"),
    text(format="date", pattern=r"-12-25$"),
    text(format="date", pattern=r"^1999-\d\d-\d\d$"),
    text(format="date-time", pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"),
    text(format="date-time", pattern=r"\.\d{3}Z$"),
    text(format="date-time", minLength=24),
    text(format="uuid", pattern=r"^[0-9a-f-]+$"),
]
MANY_KEYS = {
    "type": "object",
    "patternProperties": {"^[a-z]{2,5}$": {"type": "integer"}, "^X-": {"type": "string", "pattern": "^v[0-9]+$"}},
    "additionalProperties": False,
    "minProperties": 5,
}


@pytest.mark.parametrize("schema", COMMON, ids=lambda schema: json.dumps(schema)[19:90])
def test_a_text_keeps_pattern_format_and_length_at_once_C103(schema):
    for seed in range(6):
        made = making.made(schema, Source(seed))
        assert validating.problems(made, schema) == []
        assert made == making.made(schema, Source(seed))


def test_many_such_texts_in_one_value_are_found_together_C103():
    schema = {
        "type": "object",
        "properties": {str(place): each for place, each in enumerate(COMMON)},
        "required": [str(place) for place in range(len(COMMON))],
    }
    assert making.made(schema, Source(1)).keys() == schema["properties"].keys()


def test_keys_are_made_of_the_patterns_that_they_have_to_match_C103():
    for seed in range(6):
        made = making.made(MANY_KEYS, Source(seed))
        assert len(made) == 5 and validating.problems(made, MANY_KEYS) == []
    named = {"type": "object", "propertyNames": {"pattern": "^[a-z]{6}$"}, "minProperties": 3}
    assert all(len(key) == 6 for key in making.made(named, Source(1)))


def test_names_that_no_other_property_may_have_are_not_made_up_C103():
    denied = {**MANY_KEYS, "patternProperties": {"^a": False, "^b": {}}, "minProperties": 3}
    assert all(key.startswith("b") for key in making.made(denied, Source(1)))
    one = {**MANY_KEYS, "patternProperties": {"^x-": {}}, "minProperties": 1}
    assert len(next(iter(making.made(one, Source(1))))) > 4, "x- alone would be a poor name"
    with pytest.raises(making.Unmakeable):
        making.made({**MANY_KEYS, "patternProperties": {"^[ab]$": {}}}, Source(1))


def test_arguments_are_still_repeated_where_texts_are_hard_to_make_C105():
    schema = {"type": "object", "properties": {"code": COMMON[0], "name": text()}, "required": ["code", "name"]}
    made = making.made(schema, Source(1), making.Hints(echo={"name": "Ann"}))
    assert made["name"] == "Ann"


def test_a_world_answers_with_such_texts_C103(api):
    returns = {"type": "object", "properties": {"code": COMMON[0], "keys": MANY_KEYS}, "required": ["code", "keys"]}
    played = Played(api("alice"), {"mode": "schema_only", "seed": 3})
    tool = {"name": "scan", "description": "", "parameters": {}, "returns": returns}
    data_of(api("alice").post(f"{played.path}/tools", {"dialect": "rdk", "tool": tool}))
    answer = data_of(api("alice").post(f"{played.path}/call", {"tool": "scan"}))
    assert answer["result"]["success"] and answer["validation"] == {"valid": True, "errors": []}


def test_a_ctp_export_has_an_example_of_such_texts(api):
    """Catalogue 1.4: the example is generated; it was empty."""
    schema = {"type": "object", "properties": {"code": COMMON[0], "day": COMMON[29]}, "required": ["code", "day"]}
    tool = {"name": "scan", "description": "Scans.", "input_schema": schema}
    sent = {"dialect": "anthropic", "server": "srv", "tool": tool}
    data_of(api("alice").post("/v1/catalogue/tools/import", sent))
    written = data_of(api("alice").get("/v1/catalogue/tools/srv__scan?dialect=ctp"))["tool"]
    assert validating.problems(written["example"]["input"], schema) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": r"^[\uD83D][\uDE00]$"},
        {"type": "string", "maxLength": 30.0},
        {"type": "array", "minItems": 2.0, "maxItems": 2.0},
        {"type": "object", "minProperties": 2.0, "maxProperties": 2.0},
        {"type": "array", "contains": {}, "minContains": 7.0},
    ],
)
def test_an_example_that_is_hard_to_make_fails_no_export_and_no_check_C41_C103(api, schema):
    """C41, C103: counts may be written as floats; an example that cannot be stored is none."""
    both = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    tool = {"name": "scan", "description": "Scans.", "parameters": both, "returns": both}
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "rdk", "server": "srv", "tool": tool}))
    written = data_of(api("alice").get("/v1/catalogue/tools/srv__scan?dialect=ctp"))["tool"]
    for example in (written["example"]["input"], written["example"]["output"]["data"]):
        assert example == {} if "pattern" in schema else validating.problems(example, both) == []
    assert data_of(api("alice").post("/v1/catalogue/compliance", {"server": "srv"}))["results"]


def test_a_text_that_would_be_huge_is_not_made_C103():
    schema = {"type": "object", "properties": {"a": text(pattern="^a", minLength=10**8)}, "required": ["a"]}
    with pytest.raises(making.Unmakeable):
        making.made(schema, Source(0, "x"))


def test_the_values_of_schemas_that_never_needed_this_are_what_they_were_C102():
    """Answers stay the same for years (decision 012): also those that only a later draw found."""
    told = {
        "IN": text(pattern="^[A-Z]+$", maxLength=2),
        "gvO8X": text(pattern=r"^\w+$", minLength=5),
        "mill.quartz@example.co": text(format="email", maxLength=22),
    }
    assert {making.made(schema, Source(6)): schema for schema in told.values()} == told


def test_no_order_of_hashes_takes_part_in_such_texts_C102():
    said = (
        "from catalogue.sampling import making; from catalogue.sampling.drawing import Source; import json, sys;"
        "print(json.dumps([making.made(each, Source(1)) for each in json.loads(sys.argv[1])]))"
    )
    answers = hashing.printed(said, json.dumps([*COMMON, MANY_KEYS]))
    assert answers[0] == answers[1] != b""


PIECES = {
    r"[A-Z]+": (1, None),
    r"\d*": (0, None),
    "-": (1, 1),
    "[a-c]{2,5}": (2, 5),
    "(?:xy|z)": (1, 2),
    r"\w?": (0, 1),
}


@some.composite
def patterned(draw: some.DrawFn) -> dict[str, Any]:
    """A pattern of a few pieces, anchored or not, and bounds that some of its texts keep."""
    pieces = draw(some.lists(some.sampled_from(sorted(PIECES)), min_size=1, max_size=4))
    low = sum(PIECES[each][0] for each in pieces)
    highs = [PIECES[each][1] for each in pieces]
    high = low + 60 if None in highs else sum(each or 0 for each in highs)
    least = draw(some.integers(0, high))
    most = draw(some.integers(max(least, low), high))
    start, end = draw(some.sampled_from([("^", "$"), ("^", ""), ("", "$"), ("", "")]))
    return text(pattern=f"{start}{''.join(pieces)}{end}", minLength=least, maxLength=most)


@settings(max_examples=150)
@given(schema=patterned(), seed=some.integers(0, 2**53))
def test_a_pattern_and_bounds_that_go_together_always_have_a_text_C103(schema, seed):
    made = making.made(schema, Source(seed))
    assert validating.problems(made, schema) == []
    assert made == making.made(schema, Source(seed))
