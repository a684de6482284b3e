"""Checking arguments: every mistake with its place and code, and nothing that a schema or a value can hold up."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from catalogue import patterns, validating
from catalogue.formats import FORMATS

PROFILE = {
    "type": "object",
    "properties": {
        "user_id": {"type": "integer", "minimum": 1},
        "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
        "mood": {"enum": ["calm", "loud"]},
        "flag": {"type": "boolean", "default": False},
        "passengers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"dob": {"type": "string", "format": "date"}, "seat": {"default": "any"}},
                "required": ["dob"],
            },
        },
    },
    "required": ["user_id"],
}


def codes(arguments: Any, schema: Any = PROFILE) -> dict[str, str]:
    return {error["field"]: error["code"] for error in validating.check(arguments, schema).errors}


def test_a_missing_argument_is_named_C53():
    assert codes({}) == {"user_id": "MISSING_REQUIRED"}
    assert codes({"user_id": 1, "passengers": [{"dob": "2000-01-01"}, {}]}) == {"passengers[1].dob": "MISSING_REQUIRED"}


def test_everything_wrong_is_told_and_the_first_kind_gives_the_code_C53():
    checked = validating.check({"name": 5, "mood": "sad", "passengers": [{}]}, PROFILE)
    assert checked.code == "MISSING_REQUIRED"
    assert {error["field"]: error["code"] for error in checked.errors} == {
        "user_id": "MISSING_REQUIRED",
        "name": "TYPE_ERROR",
        "mood": "CONSTRAINT_VIOLATION",
        "passengers[0].dob": "MISSING_REQUIRED",
    }
    assert validating.check({"user_id": "3", "mood": "sad"}, PROFILE).code == "TYPE_ERROR"


@pytest.mark.parametrize(("value", "is_integer"), [(True, False), (3.0, True), ("3", False), (3, True), (3.5, False)])
def test_types_are_not_coerced_C54(value, is_integer):
    assert codes({"user_id": value}) == ({} if is_integer else {"user_id": "TYPE_ERROR"})


@pytest.mark.parametrize("bad", [{"mood": "x"}, {"user_id": 0}, {"name": "abcdef"}, {"name": "A"}])
def test_constraints_C55(bad):
    assert set(codes({"user_id": 1, **bad}).values()) == {"CONSTRAINT_VIOLATION"}


def test_what_was_received_and_expected_stands_beside_a_mistake():
    [error] = validating.check({"user_id": 0}, PROFILE).errors
    assert (error["received"], error["expected"]) == (0, 1)
    [error] = validating.check({"user_id": "x" * 500}, PROFILE).errors
    assert "received" not in error and error["expected"] == "integer"


def test_unknown_arguments_are_refused_only_where_the_schema_says_so_C56():
    assert codes({"user_id": 1, "else": 1}) == {}
    closed = {**PROFILE, "additionalProperties": False}
    assert codes({"user_id": 1, "else": 1, "other": 2}, closed) == {"else": "INVALID_INPUT", "other": "INVALID_INPUT"}


def test_a_nested_place_is_written_with_brackets_C57():
    assert codes({"user_id": 1, "passengers": [{"dob": 1}]}) == {"passengers[0].dob": "TYPE_ERROR"}


def test_defaults_are_filled_into_a_copy_C58():
    given = {"user_id": 1, "passengers": [{"dob": "2000-01-01"}]}
    filled = validating.check(given, PROFILE).arguments
    assert filled == {"user_id": 1, "flag": False, "passengers": [{"dob": "2000-01-01", "seat": "any"}]}
    assert given == {"user_id": 1, "passengers": [{"dob": "2000-01-01"}]}


GOOD = {
    "date": ["2024-02-29"],
    "date-time": ["2024-02-29T23:59:60Z", "2024-01-01T00:00:00.123456789+23:59"],
    "email": ["a.b+c@example.com"],
    "uri": ["https://example.com:8080/a?b=c#d", "urn:isbn:1", "mailto:a@b.c"],
    "uuid": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"],
}
BAD = {
    "date": ["2023-02-29", "20240229", "2024-2-9", "2024-W01-1", ""],
    "date-time": ["2024-02-29", "2024-02-29T00:00:00", "2024-02-30T00:00:00Z", "2024-02-29T00:00:00+99:00"],
    "email": ["a", "a@", "@b.cd", "a b@c.de"],
    "uri": ["example.com", "http://", "http://a b", "http://a:99999/", "http://[::1", "//a/b"],
    "uuid": ["6ba7b8109dad11d180b400c04fd430c8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c}", "x" * 36],
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_five_formats_are_enforced_C55(name):
    schema = {"properties": {"a": {"format": name}}}
    assert [text for text in GOOD[name] if codes({"a": text}, schema)] == []
    assert [text for text in BAD[name] if not codes({"a": text}, schema)] == []
    assert codes({"a": 1}, schema) == {}


def test_definitions_inside_of_a_property_are_found_C131():
    inner = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}, "required": ["n"]}
    schema = {"properties": {"a": {"$ref": "#/$defs/Inner", "$defs": {"Inner": inner}}}}
    assert codes({"a": {"n": "1"}}, schema) == {"a.n": "TYPE_ERROR"}
    assert validating.check({"a": {}}, schema).arguments == {"a": {"n": 1}}


def unhurried(arguments: Any, schema: Any) -> tuple[float, dict[str, str]]:
    started = time.monotonic()
    found = codes(arguments, schema)
    return time.monotonic() - started, found


def test_a_pattern_that_would_not_come_to_an_end_is_given_up():
    endless = "^(a|aa)+$"
    schema = {"properties": {"a": {"pattern": endless}, "b": {"patternProperties": {endless: {}}}}}
    for arguments in ({"a": "a" * 60 + "!"}, {"b": {"a" * 60 + "!": 1}}):
        took, found = unhurried(arguments, schema)
        assert took < 2 and found == {"": "CONSTRAINT_VIOLATION"}


@pytest.mark.parametrize(
    "pattern", ["(?:(?:a{1000}){1000}){1000}", "(", "a{30000}", "(?#c)a", "(?x)a {9}", "(?V1)[[a]]", "a" * 2001]
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern):
    with pytest.raises(patterns.PatternRefused):
        patterns.compiled(pattern)
    assert codes({"a": "b"}, {"properties": {"a": {"pattern": pattern}}}) == {"": "CONSTRAINT_VIOLATION"}


@pytest.mark.parametrize(
    "pattern",
    [r"^\d{4}-\d{2}-\d{2}$", r"^(?=.*[A-Z])(?<word>\p{L}+)$", "^[a-z]{1,255}@[^]{]{1,255}$", r"^\{a{2}\}$", "a{}b{,}"],
)
def test_ordinary_patterns_are_usable(pattern):
    assert patterns.compiled(pattern)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_nothing_is_ever_fetched(keyword, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *request, **_: asked.append(request))
    schema = {"$id": "http://127.0.0.1:9/", "properties": {"a": {keyword: "http://127.0.0.1:9/else"}}}
    assert codes({"a": 1}, schema) == {"": "CONSTRAINT_VIOLATION"} and asked == []
    assert codes({"a": 1}, {"$id": "http://127.0.0.1:9/", "properties": {"a": {"$ref": "b"}}}) and asked == []


def test_the_one_pair_of_keywords_that_knows_no_limit_is_not_checked():
    hidden = {"else": {"patternProperties": {"^(a|aa)+$": True}}, "$ref": "#/else", "unevaluatedProperties": False}
    took, found = unhurried({"a" * 60 + "!": 1}, hidden)
    assert took < 1 and found == {"": "CONSTRAINT_VIOLATION"}


def test_a_schema_that_doubles_with_each_reference_is_given_up(monkeypatch):
    monkeypatch.setattr(validating, "CHECK_SECONDS", 0.2)
    doubling = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    took, found = unhurried({}, {"$ref": "#/$defs/a0", "$defs": {**doubling, "a40": {}}})
    assert took < 2 and found == {"": "CONSTRAINT_VIOLATION"}


def test_a_schema_that_refers_to_itself_is_given_up():
    assert codes({}, {"$ref": "#"}) == {"": "CONSTRAINT_VIOLATION"}


def test_many_items_are_told_apart_quickly():
    schema = {"properties": {"a": {"uniqueItems": True}}}
    took, found = unhurried({"a": [{"n": n} for n in range(30_000)]}, schema)
    assert took < 2 and found == {}
    assert codes({"a": [1, 1.0]}, schema) == codes({"a": [{"b": 1, "c": 2}, {"c": 2, "b": 1}]}, schema) != {}
    assert codes({"a": [1, True, "1", [1], None, 0, False, ""]}, schema) == {}


def test_a_flood_of_mistakes_is_cut():
    assert (
        len(validating.check({"a": ["x"] * 5000}, {"properties": {"a": {"items": {"type": "integer"}}}}).errors) == 100
    )


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(value=JSON, schema=JSON)
def test_nothing_that_a_schema_or_value_holds_is_an_accident(value, schema):
    """The types are JSON Schema's own, everything else may be anything."""
    keywords = {"properties": {"a": {}}, "required": [], "uniqueItems": True, "default": schema, "enum": [schema]}
    checked = validating.check({"a": value}, {"properties": {"a": keywords}})
    assert checked.arguments == {"a": value}
    assert all({"field", "code", "message"} <= error.keys() for error in checked.errors)
