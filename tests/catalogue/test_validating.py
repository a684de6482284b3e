"""Checking arguments: every mistake with its place and code, and nothing that a schema or a value can hold up."""

import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from catalogue import patterns, schemas, validating
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


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": {"a": False}}, "a"),
        ({"patternProperties": {"^a": False}}, "a"),
        ({"properties": {"a": {"items": {"properties": {"b": False}}}}}, "a[0].b"),
        ({"properties": {"a": {"prefixItems": [False]}}}, "a[0]"),
    ],
)
def test_what_is_not_allowed_at_all_has_a_place_too_C57(schema, place):
    assert codes({"a": [{"b": 1}]}, schema) == {place: "CONSTRAINT_VIOLATION"}


@pytest.mark.parametrize(
    ("step", "fitting", "others"),
    [
        (0.01, [19.99, 0.29, -1.1, 5, 1e300, 0], [0.001, 19.995]),
        (0.1, [0.3, 1.1, 7], [0.35]),
        (3, [9, 9.0, 10**400 * 3], [10, 9.5]),
        (5e-324, [1e308], []),
        (1e308, [0, 1e308], [1, 5e-324, 10**5]),
        (0.1, [10**3000], []),
    ],
)
def test_a_multiple_is_one_in_decimals_C53_C55(step, fitting, others):
    schema = {"properties": {"a": {"multipleOf": step}}}
    assert [value for value in fitting if codes({"a": value}, schema)] == []
    assert [value for value in others if codes({"a": value}, schema) != {"a": "CONSTRAINT_VIOLATION"}] == []


def test_defaults_are_filled_into_a_copy_C58():
    given = {"user_id": 1, "passengers": [{"dob": "2000-01-01"}]}
    filled = validating.check(given, PROFILE).arguments
    assert filled == {"user_id": 1, "flag": False, "passengers": [{"dob": "2000-01-01", "seat": "any"}]}
    assert given == {"user_id": 1, "passengers": [{"dob": "2000-01-01"}]}


DEEP = {"n": {"default": 1}}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"default": {"n": 2}}}},
        {"properties": {"a": {"allOf": [{}, {"allOf": [{"default": {"n": 2}}, {"default": 3}]}]}}},
        {"properties": {"a": {"default": {"n": 2}, "$ref": "#/$defs/A"}}, "$defs": {"A": {"default": 3}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#b"}}, "b": {}, "c": {"$ref": "#b"}}},
         "definitions": {"b": {"$anchor": "b", "default": {"n": 2}}}},
        {"allOf": [{"properties": {"a": {"type": "object"}}}, {"properties": {"a": {"default": {"n": 2}}}}]},
    ],
)  # fmt: skip
def test_a_default_is_filled_wherever_it_surely_applies_C58(schema):
    assert validating.check({}, schema).arguments == {"a": {"n": 2}}


def test_what_grows_too_large_by_its_defaults_is_refused_C58():
    """Each of many small objects may get a large default: the limit is that of what a tool receives."""
    schema = {
        "properties": {"a": {"items": {"$ref": "#/$defs/each"}}},
        "$defs": {"each": {"properties": {"d": {"default": [0] * 5_000}}}},
    }
    assert validating.check({"a": [{}] * 50}, schema).arguments["a"][49]["d"] == [0] * 5_000
    many = {"a": [{}] * 300}
    refused = validating.check(many, schema)
    assert [(each["code"], each["message"]) for each in refused.errors] == [
        ("INVALID_INPUT", "is larger than 1 MiB with the schema's defaults")
    ]
    assert validating.check({"a": [{"d": 1}] * 300}, schema).errors == []


def test_defaults_inside_of_what_is_there_are_filled_wherever_they_apply_C58():
    schema = {"allOf": [{"properties": {"a": {"$ref": "#n"}, "b": {"prefixItems": [{"$ref": "#n"}]}}}],
              "$defs": {"N": {"$anchor": "n", "allOf": [{"properties": DEEP}]}}}  # fmt: skip
    filled = validating.check({"a": {}, "b": [{}, {}]}, schema).arguments
    assert filled == {"a": {"n": 1}, "b": [{"n": 1}, {}]}
    assert validating.check({"a": {}}, {"properties": {"a": {"$ref": "#/properties/a"}}}).arguments == {"a": {}}


GOOD = {
    "date": ["2024-02-29"],
    "date-time": [
        "2024-02-29T23:59:60Z",
        "2024-01-01T00:00:00.123456789+23:59",
        "2016-12-31T15:59:60.123456789012-08:00",
        "2017-01-01T00:59:60+01:00",
    ],
    "email": ["a.b+c@example.com"],
    "uri": ["https://example.com:8080/a?b=c#d", "urn:isbn:1", "mailto:a@b.c"],
    "uuid": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"],
}
BAD = {
    "date": ["2023-02-29", "20240229", "2024-2-9", "2024-W01-1", ""],
    "date-time": [
        "2024-02-29",
        "2024-02-29T00:00:00",
        "2024-02-30T00:00:00Z",
        "2024-02-29T00:00:00+99:00",
        "2024-02-29T12:30:60Z",
        "2024-02-29T23:59:60+01:00",
        "2024-02-29T00:00:0\u0661Z",
    ],
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


@pytest.mark.parametrize("is_at_the_root", [False, True])
def test_definitions_of_one_name_in_two_properties_are_two_C131(is_at_the_root):
    """T12: the nearest ones count; those of the root come first, as the pointer says."""
    inner = {
        name: {"properties": {"x": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": {"type": kind}}}
        for name, kind in (("a", "integer"), ("b", "string"))
    }
    schema = {"properties": inner, **({"$defs": {"Q": {"type": "null"}}} if is_at_the_root else {})}
    assert codes({"a": {"x": 1}, "b": {"x": "s"}}, schema) == (
        {"a.x": "TYPE_ERROR", "b.x": "TYPE_ERROR"} if is_at_the_root else {}
    )
    assert codes({"a": {"x": "s"}, "b": {"x": None}}, schema).keys() == {"a.x", *([] if is_at_the_root else ["b.x"])}


@pytest.mark.parametrize(
    ("reference", "definitions"),
    [
        ("#/$defs/a%20b", {"a b": {"type": "integer"}}),
        ("#/$defs/a%2525b", {"a%25b": {"type": "integer"}}),
        ("#/$defs/a~1b~0/items", {"a/b~": {"items": {"type": "integer"}}}),
        ("#/$defs/é", {"é": {"type": "integer"}}),
        ("#/$defs/x/allOf/1", {"x": {"allOf": [True, {"type": "integer"}]}}),
        ("#n", {"x": {"$anchor": "n", "type": "integer"}}),
        ("#n", {"x": {"$dynamicAnchor": "n", "type": "integer"}}),
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_leads_to_its_place_by_pointer_and_by_anchor_C131(keyword, reference, definitions):
    schema = {"properties": {"a": {keyword: reference}}, "$defs": definitions}
    assert schemas.problem_of_schema(schema) is None
    assert codes({"a": 1}, schema) == {} and codes({"a": "s"}, schema) == {"a": "TYPE_ERROR"}


def test_a_schema_with_an_id_inside_another_refers_to_itself_C131():
    inner = {"$id": "http://x/y", "properties": {"b": {"$ref": "#/$defs/z"}}, "$defs": {"z": {"type": "integer"}}}
    schema = {"properties": {"a": inner}, "$defs": {"z": {"type": "string"}}}
    assert codes({"a": {"b": 1}}, schema) == {} and codes({"a": {"b": "s"}}, schema) == {"a.b": "TYPE_ERROR"}


def unhurried(arguments: Any, schema: Any) -> tuple[float, dict[str, str]]:
    started = time.monotonic()
    found = codes(arguments, schema)
    return time.monotonic() - started, found


@pytest.mark.parametrize(
    ("pattern", "found", "not_found"),
    [
        ("^a+$", ["a", "aa"], ["a\n", "\na", "a\nb"]),
        ("^(a|b$)", ["ac", "b"], ["bc", "b\n"]),
        (r"^\d+$", ["09"], ["٣", "1٣", "1\n"]),
        (r"^\D$", ["٣", "x"], ["1"]),
        (r"^\w{2}$", ["a_", "Z9"], ["é1", "٣a"]),
        (r"^\W$", ["é", "-"], ["a", "_"]),
        (r"\ba", ["éa", " a"], ["ba"]),
        (r"\Ba", ["ba"], ["éa"]),
        (r"^[\w.-]+$", ["a.b-c"], ["é", "a\n"]),
        (r"^[\w-.]+$", ["a.b-c"], ["é", ","]),
        (r"^[.-\w]+$", ["a.b-c"], ["é", "+"]),
        (r"^[^\W_]+$", ["a9"], ["a_", "é"]),
        (r"^[\D]$", ["٣", "a"], ["1"]),
        (r"^[$\d]+$", ["$1"], ["٣"]),
        (r"\$$", ["5$"], ["5", "$\n"]),
        (r"^\s$", [" ", "\u2003", "\u00a0"], ["a"]),
        (r"^\p{L}+$", ["é", "Ω"], ["1"]),
        ("(?m)^a$", ["a\nb"], ["ab"]),
        ("^[$]$", ["$"], ["", "a"]),
        ("^[[:alpha:]]$", ["a"], ["1"]),
    ],
)
def test_a_pattern_is_that_of_ecma_262_C55(pattern, found, not_found):
    """JSON Schema recommends it: `$` is the very end, and digits, words and their bounds are those of ASCII."""
    by_value = {"properties": {"a": {"pattern": pattern}}}
    by_key = {"patternProperties": {pattern: False}}
    for text in found:
        assert codes({"a": text}, by_value) == {} and codes({text: 1}, by_key) == {text: "CONSTRAINT_VIOLATION"}
    for text in not_found:
        assert codes({"a": text}, by_value) == {"a": "CONSTRAINT_VIOLATION"} and codes({text: 1}, by_key) == {}


PIECES = (
    r"a b - . $ ^ \d \D \w \W \b \B \s \\ \$ \[ \- [\d] [^\w] [\w.-] [a-c\d] [\W-] [-\D] [$\d] [\d$-] []\w] (?:\d|$) "
    r"(?=\w) {2} * ?"
)


@settings(max_examples=300)
@given(pieces=some.lists(some.sampled_from(PIECES.split()), max_size=5), text=some.text("ab1-$_. [\\\n", max_size=6))
def test_of_ascii_text_a_pattern_of_ecma_262_says_what_pythons_does(pieces, text):
    """But for a line feed at the end."""
    pattern = "".join(pieces)
    try:
        expected = patterns.matches(pattern, text.rstrip("\n"))
    except patterns.PatternRefused:
        with pytest.raises(patterns.PatternRefused):
            patterns.compiled(pattern, ecma=True)
    else:
        assert patterns.matches(pattern, text.rstrip("\n"), ecma=True) == expected


def test_a_pattern_that_is_refused_is_told_of_as_it_was_written():
    for pattern in (r"\d+\d+(", r"[\w", "a$$)"):
        told = []
        for ecma in (False, True):
            with pytest.raises(patterns.PatternRefused) as caught:
                patterns.compiled(pattern, ecma=ecma)
            told.append(str(caught.value))
        assert told[0] == told[1]


def test_a_pattern_that_would_not_come_to_an_end_is_given_up():
    endless = "^(a|aa)+$"
    schema = {"properties": {"a": {"pattern": endless}, "b": {"patternProperties": {endless: {}}}}}
    for arguments in ({"a": "a" * 60 + "!"}, {"b": {"a" * 60 + "!": 1}}):
        took, found = unhurried(arguments, schema)
        assert took < 2 and found == {"": "CONSTRAINT_VIOLATION"}


def test_searches_of_other_threads_do_not_count_C55():
    """The package `regex` counts the processor time of the whole process."""
    slow, text, is_over = "^(a|aa)+$", "a" * 27 + "!", threading.Event()

    def work() -> None:
        while not is_over.is_set():
            with suppress(patterns.SearchTooLong):
                patterns.matches(slow, "a" * 60 + "!")

    started = time.thread_time()
    assert not patterns.matches(slow, text, seconds=60)
    needed = time.thread_time() - started
    threads = [threading.Thread(target=work) for _ in range(5)]
    for each in threads:
        each.start()
    try:
        assert not patterns.matches(slow, text, seconds=3 * needed)
        with pytest.raises(patterns.SearchTooLong):
            patterns.matches(slow, text, seconds=needed / 3)
    finally:
        is_over.set()
        for each in threads:
            each.join()


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?:a{1000}){1000}){1000}",
        "(",
        "a{30000}",
        "(?#c)a",
        "(?x)a {9}",
        "(?V1)[[a]]",
        "a" * 2001,
        r"\\(?x)a",
        r"[\\](?x)a",
        "(?i-s:(?mx)a)",
        r"(?#[)(?x)a]",
        "(?:(?R)?(?R)?)a",
        "(a(?1)?)b",
        "(a(?-1)?)b",
        "(?P<x>a(?&x)?)b",
        "(?P<x>a(?P>x)?)b",
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern):
    with pytest.raises(patterns.PatternRefused):
        patterns.compiled(pattern)
    assert codes({"a": "b"}, {"properties": {"a": {"pattern": pattern}}}) == {"": "CONSTRAINT_VIOLATION"}


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(?=.*[A-Z])(?<word>\p{L}+)$",
        "^[a-z]{1,255}@[^]{]{1,255}$",
        r"^\{a{2}\}$",
        "a{}b{,}",
        r"^\d+\(?ext\.?\d+$",
        "[(?#x]",
        r"[^](?x)]",
        r"\(?#",
        r"[\](?V1)]",
    ],
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


@pytest.mark.parametrize("keyword", ["not", "unevaluatedItems", "unevaluatedProperties", "allOf", "contains", "if"])
@pytest.mark.parametrize("wrapped", range(9))
def test_a_schema_that_refers_to_itself_is_given_up_at_any_depth(wrapped, keyword):
    """C10, 6.1: the error is ours, and not that of a library at the end of the stack."""
    again: Any = {"$ref": "#/$defs/r"}
    if keyword == "allOf":
        again = [again]
    inner = {keyword: again} if not keyword.startswith("unevaluated") else {keyword: False, **again}
    outer: Any = {"$ref": "#/$defs/r"}
    for _ in range(wrapped):
        outer = {"allOf": [outer]}
    schema = {"allOf": [outer], "$defs": {"r": inner}}
    value = {"a": [1]}
    if keyword in ("contains", "unevaluatedItems"):
        schema = {"properties": {"a": outer}, "$defs": {"r": {**inner, "contains": {"$ref": "#"}}}}
    assert codes(value, schema) in ({}, {"": "CONSTRAINT_VIOLATION"})
    assert codes({}, {"$ref": "#"}) == {"": "CONSTRAINT_VIOLATION"}


def test_a_value_as_deep_as_a_body_may_be_is_checked():
    """A recursive schema is no infinite one."""
    tree = {"properties": {"inner": {"items": {"$ref": "#"}}, "n": {"type": "integer"}}}
    value: Any = {"n": "x"}
    for _ in range(45):
        value = {"inner": [value]}
    assert list(codes(value, tree).values()) == ["TYPE_ERROR"]


def test_no_subschema_leaves_the_limits_by_naming_its_draft():
    for draft in ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"):
        schema = {"properties": {"a": {"$schema": draft, "pattern": "^(a|aa)+$"}}}
        took, found = unhurried({"a": "a" * 36 + "!"}, schema)
        assert took < 10 and found == {"": "CONSTRAINT_VIOLATION"}


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


@settings(max_examples=60)
@given(value=JSON, schema=JSON)
def test_nothing_that_a_schema_or_value_holds_is_an_accident(value, schema):
    """The types are JSON Schema's own, everything else may be anything."""
    keywords = {"properties": {"a": {}}, "required": [], "uniqueItems": True, "default": schema, "enum": [schema]}
    checked = validating.check({"a": value}, {"properties": {"a": keywords}})
    assert checked.arguments == {"a": value}
    assert all({"field", "code", "message"} <= error.keys() for error in checked.errors)
