"""From bytes to a checked body: what is accepted, what is refused, and what the refusal says."""

import contextlib
import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from core import bodies
from core.errors import InvalidRequest
from core.wire import Body, Patch

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


class Inner(Body):
    name: str
    size: Annotated[int, Field(ge=0)] = 0


class Outer(Body):
    kind: Literal["a", "b"]
    inner: list[Inner] = []

    @model_validator(mode="after")
    def _named(self) -> "Outer":
        if self.kind == "b" and not self.inner:
            raise ValueError("inner: is needed with the kind b")
        return self


class Spoken(Body):
    words: Annotated[str, StringConstraints(min_length=1, max_length=3)] = "x"
    parts: Annotated[list[int], Field(max_length=1)] = []
    until: Annotated[AwareDatetime, Field(strict=False)] | None = None
    is_so: bool = False
    inner: Inner | None = None


class Change(Patch):
    name: str | None = None


def refusal(call, *given):
    with pytest.raises(InvalidRequest) as caught:
        call(*given)
    return caught.value


@given(value=values)
def test_whatever_json_can_say_is_read_as_it_is(value):
    assert bodies.read_json(json.dumps(value).encode()) == value
    assert bodies.read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(raw=st.binary(max_size=40))
def test_any_bytes_at_all_are_read_or_refused(raw):
    """Nothing but a refusal ever comes out beside a value."""
    with contextlib.suppress(InvalidRequest):
        bodies.read_json(raw)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {"b": ["x", "y\x00"]}}, "a.b.1"),
        ([{"k": "\ud800"}], "0.k"),
        ({"a": [1.5, float("inf")]}, "a.1"),
        ({"a": float("nan")}, "a"),
        ("\x00", "body"),
    ],
)
def test_what_cannot_be_stored_is_named_by_its_path(value, path):
    assert refusal(bodies.check_storable, value).message.startswith(f"{path}: ")


def test_a_hundred_levels_are_kept_and_one_more_is_refused():
    for levels, is_kept in ((100, True), (101, False), (100_000, False)):
        value: object = "x"
        for _ in range(levels):
            value = [value]
        if is_kept:
            bodies.check_storable(value)
        else:
            assert "100 levels" in refusal(bodies.check_storable, value).message


def test_a_refusal_names_the_field_and_counts_the_rest():
    refused = refusal(bodies.parse, Outer, {"kind": "c", "inner": [{"name": "x"}, {"size": -1}]})
    assert refused.message == "kind: must be 'a' or 'b' (and 2 more)"
    assert [(each["field"], each["reason"]) for each in refused.details] == [
        ("kind", "must be 'a' or 'b'"),
        ("inner.1.name", "is missing"),
        ("inner.1.size", "must be at least 0"),
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"words": "four"}, "words: must have at most 3 characters, not 4"),
        ({"words": ""}, "words: must have at least 1 character"),
        ({"words": 5}, "words: must be text"),
        ({"parts": [1, 2]}, "parts: must have at most 1 item"),
        ({"parts": {}}, "parts: must be a list"),
        ({"parts": ["x"]}, "parts.0: must be a whole number"),
        ({"until": "2026-05-01T12:00:00"}, "until: must say its time zone, as 2026-05-01T12:00:00Z does"),
        ({"until": "soon"}, "until: must be a time like 2026-05-01T12:00:00Z"),
        ({"until": []}, "until: must be a time like 2026-05-01T12:00:00Z"),
        ({"is_so": "yes"}, "is_so: must be true or false"),
        ({"is_so": True, "other": {}, "inner": []}, "inner: must be a JSON object"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_house(value, reason):
    assert refusal(bodies.parse, Spoken, value).message == reason


def test_a_rule_over_several_fields_names_the_one_it_is_about():
    refused = refusal(bodies.parse, Outer, {"kind": "b"})
    assert refused.message == "inner: is needed with the kind b"
    assert refused.details == [{"field": "inner", "reason": "is needed with the kind b"}]


def test_a_place_inside_a_larger_body_stands_before_the_field():
    assert refusal(bodies.parse, Outer, {"kind": 5}, "goals.3").message.startswith("goals.3.kind: ")
    assert refusal(bodies.parse, Outer, [], "goals.3").message == "goals.3: must be a JSON object"


def test_whatever_a_key_is_called_the_field_is_told_apart_from_the_reason():
    [wrong] = refusal(bodies.check_storable, {"metadata": {"my key: old": "\x00"}}).by_field
    assert wrong["field"] == "metadata.my key: old" and wrong["reason"].startswith("contains a NUL")


def test_a_long_key_does_not_make_a_long_refusal():
    refused = refusal(bodies.check_storable, {"k" * 10_000: {"x": "\x00"}})
    assert len(refused.message) < 300


def test_a_thousand_mistakes_do_not_make_a_long_answer():
    refused = refusal(bodies.parse, Outer, {"kind": "a", "inner": [{}] * 1000})
    assert len(refused.details) == 20
    assert refused.message.endswith("(and 999 more)")


def test_types_are_not_coerced():
    for wrong in ("1", 1.0, True, None):
        refusal(bodies.parse, Inner, {"name": "x", "size": wrong})


def test_a_change_tells_absent_from_null_B127():
    assert bodies.parse(Change, {}).changes() == {}
    assert bodies.parse(Change, {"name": None}).changes() == {"name": None}
    assert bodies.parse(Change, {"name": "x"}).changes() == {"name": "x"}
    assert refusal(bodies.parse, Change, {"nmae": "x"}).message.startswith("nmae: ")


def test_a_number_in_an_address_is_whole_short_and_of_ascii_digits():
    assert [bodies.number(text) for text in ("0", "007", "999999999")] == [0, 7, 999_999_999]
    for wrong in ("", " 1", "-1", "+1", "1.0", "1_0", "٣", "²", "1" * 10):
        assert bodies.number(wrong) is None
