"""Laws of synthetic worlds (C102 to C119): the seed decides, schemas are kept, memory is memory, a reset is a reset."""

import json
from itertools import count

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalogue.sampling import making, matching
from catalogue.sampling.drawing import Source
from catalogue.sampling.merging import Unmakeable
from catalogue.wire_worlds import FixturesIn, WorldCallIn, WorldIn, WorldToolsIn
from catalogue.worlds import calling, fixtures, keeping
from core import bodies
from tests import hashing

law = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
pure = settings(law, max_examples=60)
NAMES = st.sampled_from(["id", "name", "user_id", "email", "status", "items", "created_at", "count", "a b", "é"])


def bounded(lower, upper, low, high, **more):
    """Two bounds, the lower not above the upper."""
    pair = st.tuples(st.integers(low, high), st.integers(low, high)).map(sorted)
    return pair.map(lambda each: {lower: each[0], upper: each[1], **more})


SCALARS = st.one_of(
    st.just({}),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": ["string", "null"]}),
    st.just({"const": {"x": [1, None]}}),
    st.lists(st.one_of(st.integers(), st.text(max_size=5), st.none()), min_size=1, max_size=4).map(
        lambda e: {"enum": e}
    ),
    bounded("minLength", "maxLength", 0, 40, type="string"),
    st.sampled_from(["date", "date-time", "email", "uri", "uuid"]).map(lambda f: {"type": "string", "format": f}),
    st.sampled_from([r"^[A-Z]{3}-\d{4}$", r"(foo|ba[rz])+", r"^\S+@x\.[a-z]{2,3}$", r"^#(?:[0-9a-f]{3}){1,2}$"]).map(
        lambda pattern: {"type": "string", "pattern": pattern}
    ),
    bounded("minimum", "maximum", -50, 50, type="integer"),
    bounded("minimum", "maximum", -50, 50, type="number"),
    st.integers(1, 9).map(lambda step: {"type": "integer", "multipleOf": step, "minimum": 1}),
    st.just({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001}),
    st.just({"$ref": "#/$defs/node"}),
)


def _grown(inner):
    objects = st.dictionaries(NAMES, inner, max_size=4).flatmap(
        lambda declared: st.lists(st.sampled_from(sorted(declared) or ["extra"]), unique=True, max_size=3).map(
            lambda required: {"type": "object", "properties": declared, "required": required}
        )
    )
    arrays = st.tuples(inner, st.integers(0, 2), st.integers(2, 4)).map(
        lambda each: {"type": "array", "items": each[0], "minItems": each[1], "maxItems": each[2]}
    )
    any_of = st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each})
    all_of = inner.map(lambda each: {"allOf": [each, {"description": "also"}]})
    return st.one_of(objects, arrays, any_of, all_of)


NODE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
    "required": ["name"],
}
SCHEMAS = st.recursive(SCALARS, _grown, max_leaves=8).map(lambda schema: {**schema, "$defs": {"node": NODE}})


@pure
@given(schema=SCHEMAS, seed=st.integers(0, 2**53))
def test_what_is_made_fits_its_schema_and_is_made_again_C102_C103(schema, seed):
    value = making.made(schema, Source(seed))
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)
    assert json.dumps(value) == json.dumps(making.made(schema, Source(seed)))


@pure
@given(
    pattern=st.from_regex(r"\A(\^?([a-c]|\\d|\[a-f\]|\(x\|yz\)|\.)([?*+]|\{1,3\})?){1,5}\$?\Z"), seed=st.integers(0, 99)
)
def test_a_text_is_one_that_its_pattern_finds(pattern, seed):
    """C103: patterns are kept."""
    try:
        value = making.made({"type": "string", "pattern": pattern}, Source(seed))
    except Unmakeable:
        assume("^" in pattern[1:])  # a beginning in the middle is found in nothing
        return
    Draft202012Validator({"pattern": pattern}).validate(value)
    with pytest.raises(matching.NoText):
        matching.text_found_by("(" * 3, Source(seed))


def test_no_order_of_hashes_and_no_clock_takes_part_C102():
    """The same in processes that hash texts in other ways."""
    told = (
        "from catalogue.sampling import making; from catalogue.sampling.drawing import Source; import json;"
        "s = {'type': 'object', 'properties': {n: {'type': 'string', 'pattern': '[^a]{8}[A-Z]+'} for n in ('a', 'b')},"
        " 'patternProperties': {'^x': {'type': 'integer'}}, 'required': ['xa', 'xb']};"
        "print(json.dumps(making.made(s, Source(1))))"
    )
    said = hashing.printed(told)
    assert said[0] == said[1] != b""


USER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["id", "name", "age"],
}
FIELDS = {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}
SPECS = [
    ("create_user", {"type": "object", "properties": FIELDS}, USER),
    ("get_user", {"type": "object", "properties": {"user_id": {"type": "string"}}, "required": ["user_id"]}, USER),
    ("update_user", {"type": "object", "properties": {**FIELDS, "user_id": {"type": "string"}}}, USER),
    ("delete_user", {"type": "object", "properties": {"user_id": {"type": "string"}}}, {"type": "object"}),
    ("list_users", {"type": "object"}, {"type": "array", "items": USER}),
]
VALUES = st.fixed_dictionaries(
    {}, optional={"name": st.text(st.characters(codec="ascii", categories=["L"])), "age": st.integers(0, 99)}
)
STEPS = st.lists(st.tuples(st.sampled_from([name for name, _, _ in SPECS]), st.integers(0, 3), VALUES), max_size=12)
_seeds = count()


class Stage:
    """A world with those tools, made and played through the verbs that REST calls."""

    def __init__(self, who, mode, seed, **body):
        self.actor = who.alice.actor
        self.world = keeping.create(
            self.actor, who.acme.pk, bodies.parse(WorldIn, {"mode": mode, "seed": seed, **body})
        )
        for name, parameters, returns in SPECS:
            tool = {"name": name, "description": "", "parameters": parameters, "returns": returns}
            keeping.add_tools(self.actor, self.world, WorldToolsIn(dialect="rdk", tool=tool))

    def call(self, tool, arguments):
        return calling.call(self.actor, self.world, WorldCallIn(tool=tool, input=arguments))

    def play(self, steps):
        """Each step with the id of something that was there before, so far as anything was."""
        ids, told = ["u-before"], []
        for tool, place, values in steps:
            named = {} if tool in ("create_user", "list_users") else {"user_id": ids[place % len(ids)]}
            changed = values if tool in ("create_user", "update_user") else {}
            answer = self.call(tool, {**named, **changed})
            if tool == "create_user" and answer.output:
                ids.append(answer.output["id"])
            told.append(json.dumps([answer.output, answer.result, answer.source, answer.step_count]))
        return told


@pytest.mark.django_db
@law
@given(steps=STEPS, seed=st.integers(0, 2**40), rate=st.sampled_from([0, 0.3]))
def test_a_world_played_again_says_the_same_and_a_hard_reset_begins_again_C102_C111_C113_C118(who, steps, seed, rate):
    profile = {"failure_profile": {"rate": rate, "codes": ["timeout", "not_found"]}}
    one, other = (Stage(who, "stateful", seed, **profile) for _ in range(2))
    first = one.play(steps)
    assert other.play(steps) == first
    keeping.reset(one.actor, one.world, hard=True)
    assert one.play(steps) == first


@pytest.mark.django_db
@law
@given(steps=STEPS)
def test_memory_is_a_dictionary_C108_C109(who, steps):
    """Beside a model of plain dictionaries: what was created, changed and deleted is what is read and listed."""
    stage, model, dropped = Stage(who, "stateful", next(_seeds)), {}, set()
    ids = ["u-before"]
    for tool, place, values in steps:
        user_id = ids[place % len(ids)]
        match tool:
            case "create_user":
                made = stage.call(tool, values).output
                assert {**made, **values} == made
                model[made["id"]] = made
                ids.append(made["id"])
            case "list_users":
                assert stage.call(tool, {}).output == list(model.values())
            case _:
                arguments = {"user_id": user_id, **(values if tool == "update_user" else {})}
                answer = stage.call(tool, arguments)
                if user_id in dropped:
                    assert answer.result["error"]["code"] == "NOT_FOUND"
                elif tool == "delete_user":
                    assert answer.result["success"]
                    model.pop(user_id, None)
                    dropped.add(user_id)
                elif tool == "get_user":
                    assert answer.output == model.setdefault(user_id, answer.output)
                else:
                    known = model.get(user_id, answer.output)
                    model[user_id] = {**known, **values}
                    assert answer.output == model[user_id]


@pytest.mark.django_db
@law
@given(
    inputs=st.lists(st.dictionaries(NAMES, st.integers(0, 3), max_size=2), min_size=1, max_size=6),
    asked=st.integers(0, 5),
)
def test_a_strict_world_says_what_it_was_given_and_nothing_else_C106(who, inputs, asked):
    stage = Stage(who, "examples", 1, strict_fixtures=True)
    given_ = [{"tool": "list_users", "input": each, "output": []} for each in inputs]
    fixtures.replace(stage.actor, stage.world, FixturesIn.model_validate({"fixtures": given_}).fixtures)
    known = inputs[asked % len(inputs)]
    assert stage.call("list_users", dict(reversed(known.items()))).output == []
    answer = stage.call("list_users", {**known, "other": True})
    assert answer.result["error"]["details"] == {"reason": "no_fixture"}
