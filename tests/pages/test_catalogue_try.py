"""Trying a tool from its page: a form made from its schema, a real call, its record (C53 to C60, C134)."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalogue import fields
from catalogue.models import Call, Tool, ToolVersion
from tests.pages.dom import Node, dom, get, submit
from tests.pages.test_catalogue import path, publish, tool  # noqa: F401

EVERY = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "maxLength": 20, "description": "One word."},
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
        "share": {"type": "number"},
        "is_sure": {"type": "boolean"},
        "mood": {"enum": ["calm", "loud", 3, None]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    },
    "required": ["word"],
}


def form_of(page: Node) -> Node:
    return page.id("try-form")


def test_every_simple_type_has_its_field(browser_of, publish):  # noqa: F811
    publish(tool("every", schema=EVERY))
    form = form_of(get(browser_of("alice"), path("bikes__every")))
    fields_by_name = {label.words.split()[0]: form.id(label["for"]) for label in form.all("label", for_=True)}
    assert fields_by_name.pop("Run").tag == "select"
    assert list(fields_by_name) == list(EVERY["properties"])
    assert fields_by_name["word"].tag == "input" and fields_by_name["word"]["aria-required"] == "true"
    assert fields_by_name["text"].tag == "textarea"
    count = fields_by_name["count"]
    assert (count["type"], count["min"], count["max"], count["placeholder"]) == ("number", "1", "5", "2")
    assert fields_by_name["share"]["step"] == "any"
    assert [each["value"] for each in fields_by_name["is_sure"].all("option")] == ["", "true", "false"]
    assert [each["value"] for each in fields_by_name["mood"].all("option")] == ["", '"calm"', '"loud"', "3", "null"]
    assert fields_by_name["rows"].tag == "textarea"


def test_c58_c134_a_call_is_made_and_shown_as_it_was_recorded(browser_of, who):
    alice = browser_of("alice")
    form = form_of(get(alice, path("demo__echo")))
    sent = submit(alice, form, "call", f0="hello", f2='"loud"')
    assert sent.status_code == 302, dom(sent, 400).one("aside").words
    made = Call.objects.get()
    assert made.arguments == {"message": "hello", "mood": "loud"} and made.created_by == who.alice.user
    assert sent["Location"] == f"/catalogue/tools/demo__echo/?call={made.call_id}#run"
    page = get(alice, sent["Location"].partition("#")[0])
    run = page.id("run")
    assert "success" in run.words and made.call_id in run.words
    assert '"length": 5' in run.one("pre").text if len(run.all("pre")) == 1 else '"length": 5' in run.all("pre")[0].text
    assert form_of(page).id("f0").text == "hello" or form_of(page).id("f0").get("value") == "hello"
    assert form_of(page).one("option", selected=True)["value"] == '"loud"'


def test_c53_to_c57_what_is_wrong_stands_beside_its_field_and_nothing_is_called(browser_of):
    alice = browser_of("alice")
    form = form_of(get(alice, path("demo__echo")))
    page = dom(submit(alice, form, "call", f1="9", f3="nobody"), 400)
    wrong = {each["id"]: each.words for each in page.all("span", class_="wrong")}
    assert set(wrong) == {"f0-wrong", "f1-wrong", "f3-wrong"}, wrong
    assert wrong["f0-wrong"] == "It is missing." and page.id("f1")["value"] == "9"
    assert page.id("f1")["aria-invalid"] == "true"
    [told] = [each.words for each in page.all(role="alert")]
    assert told == "Nothing was called. To fix: message, repeat, email."
    page = dom(submit(alice, form, "call", f0="x", f1="many"), 400)
    assert page.id("f1-wrong").words == "It is not a number."
    assert not Call.objects.exists()


def test_a_pattern_is_told_as_it_is_written(browser_of, publish):  # noqa: F811
    pattern = "^[0-9]{1,3}\\.[0-9]{2}$"
    schema = {"type": "object", "properties": {"amount": {"type": "string", "pattern": pattern}}}
    publish(tool("priced", schema=schema))
    alice = browser_of("alice")
    page = dom(submit(alice, form_of(get(alice, path("bikes__priced"))), "call", f0="ten"), 400)
    assert page.id("f0-wrong").words == f"Does not match {pattern}."


def test_only_checking_calls_nothing(browser_of):
    alice = browser_of("alice")
    page = dom(submit(alice, form_of(get(alice, path("demo__counter"))), "check"))
    assert "The arguments are valid. Nothing was called." in page.one("aside").words
    assert not Call.objects.exists()


def test_what_destroys_is_asked_about_first(browser_of, publish):  # noqa: F811
    publish(tool("wipe", schema={"type": "object"}, annotations={"destructiveHint": True}))
    Tool.objects.filter(name="wipe").update(is_dispatchable=True)
    alice = browser_of("alice")
    form = form_of(get(alice, path("bikes__wipe")))
    page = dom(submit(alice, form, "call"), 400)
    assert page.one("input", name="sure")["aria-invalid"] == "true" and not Call.objects.exists()
    assert submit(alice, form, "call", sure="yes").status_code == 302
    assert Call.objects.get().tool == "wipe"
    assert submit(alice, form, "call", world="new").status_code == 302, "a world has nothing to destroy"


def test_what_nothing_runs_is_played_and_not_run(browser_of, publish):  # noqa: F811
    publish(tool("look", schema={"type": "object"}))
    alice = browser_of("alice")
    page = get(alice, path("bikes__look"))
    form = form_of(page)
    assert "This tool has no handler" in page.one("aside").words
    assert [each.words for each in form.all("button")] == ["Simulate", "Validate"]
    assert [each.words for each in form.id("world").all("option")] == ["a new world"]
    sent = submit(alice, form, "call", world="")
    page = get(alice, sent["Location"].partition("#")[0])
    assert "NOT_FOUND" in page.id("run").words, "a call by hand is answered as on the wire"
    assert "Run" in form_of(get(alice, path("demo__echo"))).words


def test_all_arguments_can_be_typed_as_json(browser_of):
    alice = browser_of("alice")
    form = form_of(get(alice, path("demo__echo", "?as=whole")))
    page = dom(submit(alice, form, "call", whole='{"message": 7}'), 400)
    assert "message" in form_of(page).one("div", role="alert").words and page.id("whole").text == '{"message": 7}'
    page = dom(submit(alice, form, "call", whole='{"message": '), 400)
    assert "JSON" in form_of(page).one("div", role="alert").words and page.id("whole").text == '{"message": '
    assert submit(alice, form, "call", whole='{"message": "x"}').status_code == 302


def test_what_was_typed_goes_along_between_fields_and_json(browser_of, publish):  # noqa: F811
    publish(tool("every", schema=EVERY))
    alice = browser_of("alice")
    form = form_of(get(alice, path("bikes__every")))
    page = dom(submit(alice, form, "turn", f0="one", f2="3", f5='"loud"', f6='[{"n": 1}]', world="new"))
    given = {"word": "one", "count": 3, "mood": "loud", "rows": [{"n": 1}]}
    assert json.loads(page.id("whole").text) == given
    form = form_of(page)
    assert form.id("world").one("option", selected=True)["value"] == "new"
    form = form_of(dom(submit(alice, form, "turn", whole=json.dumps({**given, "text": "a\nb"}))))
    assert (form.id("f0")["value"], form.id("f1").text, form.id("f2")["value"]) == ("one", "a\nb", "3")
    assert form.id("f5").one("option", selected=True)["value"] == '"loud"' and form.none(id="whole")
    assert not Call.objects.exists()


@pytest.mark.parametrize(
    ("whole", "words"),
    [
        ("[1]", "It must be a JSON object to show it as fields."),
        ('{"word": ', "JSON"),
        ('{"word": "one", "other": 1}', "other: has no field, so this stays JSON."),
        ('{"count": "many"}', "count: It cannot be shown in its field, so this stays JSON."),
        ('{"word": "two\\nlines"}', "word: It cannot be shown in its field"),
        ('{"mood": "sad"}', "mood: It cannot be shown in its field"),
    ],
)
def test_json_that_no_field_can_show_stays_as_it_was_typed(browser_of, publish, whole, words):  # noqa: F811
    publish(tool("every", schema=EVERY))
    alice = browser_of("alice")
    form = form_of(get(alice, path("bikes__every", "?as=whole")))
    page = dom(submit(alice, form, "turn", whole=whole), 400)
    assert page.id("whole").text == whole and page.id("whole")["aria-invalid"] == "true"
    assert words in page.id(page.id("whole")["aria-describedby"]).words


def test_what_a_field_cannot_read_stays_in_its_field(browser_of):
    alice = browser_of("alice")
    page = dom(submit(alice, form_of(get(alice, path("demo__echo"))), "turn", f0="x", f1="many"), 400)
    assert page.id("f1")["value"] == "many" and page.id("f1-wrong").words == "It is not a number."


def test_a_call_that_is_shown_stays_beside_the_form_that_is_turned(browser_of):
    alice = browser_of("alice")
    sent = submit(alice, form_of(get(alice, path("demo__echo"))), "call", f0="hello")
    form = form_of(get(alice, sent["Location"].partition("#")[0]))
    page = dom(submit(alice, form, "turn"))
    assert (
        Call.objects.get().call_id in page.id("run").words and json.loads(page.id("whole").text)["message"] == "hello"
    )


def test_the_address_that_a_refused_form_left_leads_back_to_the_tool(browser_of):
    answer = browser_of("alice").get(path("demo__echo", "try/?world=new&as=whole"))
    assert answer.status_code == 302 and answer["Location"] == path("demo__echo", "?world=new&as=whole#try")
    get(browser_of("alice"), path("nope__nope", "try/"), 404)


def test_an_older_version_is_tried_as_it_was(browser_of, publish):  # noqa: F811
    publish(tool("every", schema={"type": "object", "properties": {"only": {"type": "integer"}}}))
    publish(tool("every", schema=EVERY))
    alice = browser_of("alice")
    form = form_of(get(alice, path("bikes__every", "?version=1")))
    sent = submit(alice, form, "call", f0="3", world="")
    assert sent["Location"].endswith("&version=1#run") and Call.objects.get().version == 1
    assert alice.post(path("bikes__every", "try/"), {"version": "7"}).status_code == 404


@pytest.mark.parametrize("schema", [{"type": "object"}, {"anyOf": [{"required": ["a"]}]}, {"properties": {}}])
def test_a_schema_without_fields_is_typed_as_json(browser_of, publish, schema):  # noqa: F811
    publish(tool("odd", schema=schema))
    assert form_of(get(browser_of("alice"), path("bikes__odd"))).id("whole").text.strip() == "{}"


VALUES = st.fixed_dictionaries(
    {"word": st.text(min_size=1, max_size=20).filter(lambda text: text.strip() and "\r" not in text)},
    optional={
        "count": st.integers(-9, 9),
        "share": st.floats(allow_nan=False, allow_infinity=False),
        "is_sure": st.booleans(),
        "mood": st.sampled_from(["calm", "loud", 3, None]),
        "rows": st.lists(st.fixed_dictionaries({"n": st.integers(-5, 5)}), max_size=3),
    },
)


@given(VALUES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_what_a_form_shows_is_what_it_sends_back(arguments: dict[str, Any]):
    """Filling a form with arguments and sending it unchanged gives the same arguments."""
    form = fields.form_of(EVERY).filled(arguments)
    sent = {field.name: field.typed for field in form.fields}
    read, errors = fields.arguments_of(form, sent)
    assert (read, errors) == (arguments, [])


def test_names_of_a_schema_are_never_names_of_the_form(browser_of, publish):  # noqa: F811
    hostile = {"type": "object", "properties": {'"><b>': {"type": "string"}, "csrfmiddlewaretoken": {"type": "string"},
               "verb: x": {"type": "object"}, "version": {"type": "integer"}}}  # fmt: skip
    publish(tool("odd", schema=hostile))
    alice = browser_of("alice")
    form = form_of(get(alice, path("bikes__odd")))
    assert {"f0", "f1", "f2", "f3"} < set(form.fields())
    page = dom(submit(alice, form, "check", f2="{", f3="x"), 400)
    assert "JSON" in page.id("f2-wrong").words and page.id("f3-wrong").words == "It is not a number."
    assert Tool.objects.filter(name="odd").exists() and ToolVersion.objects.filter(tool__name="odd").count() == 1


def test_a_call_in_a_world_that_is_not_there_is_made_nowhere(browser_of):
    alice = browser_of("alice")
    form = form_of(get(alice, path("demo__echo", "?world=wld_nothing")))
    assert form.id("world").one("option", selected=True)["value"] == "wld_nothing"
    assert submit(alice, form, "call", f0="x").status_code == 404
    assert not Call.objects.exists()


@pytest.mark.parametrize("world", ["a/b", "../..", "nonsense", "wld_a/b", "wld_"])
def test_what_is_no_id_of_a_world_is_not_found(browser_of, world):
    alice = browser_of("alice")
    get(alice, path("demo__echo", f"?world={world}"), 404)
    form = form_of(get(alice, path("demo__echo")))
    for verb in ("call", "check", "turn"):
        assert submit(alice, form, verb, f0="x", world=world).status_code == 404
    assert not Call.objects.exists()


def test_a_tool_that_only_says_what_it_does_is_played_in_a_world_of_its_own(browser_of, publish):  # noqa: F811
    """C102: pasted a moment ago and run by nobody, it answers by its output schema."""
    counted = {"type": "object", "properties": {"left": {"type": "integer"}}, "required": ["left"]}
    publish(tool("look", schema={"type": "object"}, outputSchema=counted))
    alice = browser_of("alice")
    sent = submit(alice, form_of(get(alice, path("bikes__look"))), "call")
    page = get(alice, sent["Location"].partition("#")[0])
    assert "left" in page.id("run").words and page.id("world").one("option", selected=True)["value"].startswith("w")
    assert Call.objects.get().world is not None


def test_a_world_answers_with_its_own_version_and_the_page_says_which(browser_of, publish):  # noqa: F811
    """C134: also where the form is that of a newer one."""
    alice = browser_of("alice")
    publish(tool("look", schema={"type": "object"}))
    world = submit(alice, form_of(get(alice, path("bikes__look"))), "call")["Location"].partition("#")[0]
    publish(tool("look", schema={"type": "object", "properties": {"far": {"type": "boolean"}}}))
    form = form_of(get(alice, world))
    assert form.fields()["version"] == ["2"]
    page = get(alice, submit(alice, form, "call")["Location"].partition("#")[0])
    assert "version 1" in page.id("run").words
