"""Skills through the SDK: its own class for them, and turns that use them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from roboto.ai.agent_thread import AgentMessage
from roboto.ai.agent_thread.event import AgentToolResultEvent, AgentToolUseEvent
from roboto.ai.agent_thread.record import AgentThreadStatus, AvailableSkillSpec, InvokeSkillSpec
from roboto.domain.skills import (
    CreateSkillVersionRequest,
    Skill,
    SkillAccessibility,
    SkillListScope,
    UpdateSkillMetadataRequest,
    UpdateSkillVersionRequest,
)
from roboto.exceptions import (
    RobotoConflictException,
    RobotoInvalidRequestException,
    RobotoNotFoundException,
    RobotoUnauthorizedException,
)

from tests import live
from tests.sdk.callers import Caller, blocks, calls, follow, held, kinds, roles, run, text_of

pytestmark = pytest.mark.live


def write(author: Caller, name: str, body: str = "What to do.", **more: Any) -> Skill:
    return Skill.create(name, f"When {name}.", body, roboto_client=author.client, **more)


def seen_by(reader: Caller, skill: Skill) -> Skill:
    return Skill.from_id(skill.skill_id, roboto_client=reader.client)


def loaded(thread: Any) -> list[tuple[str, int, str]]:
    """Name, version and body of every skill in a transcript, in order."""
    results = [block for message in thread.messages for block in blocks(message) if "runtime_ms" in block]
    return [(block["payload"]["name"], block["payload"]["version"], block["payload"]["body"]) for block in results]


def test_a_skill_from_its_creation_to_its_deletion(alice: Caller) -> None:
    """K1 to K4, K7 to K13."""
    skill = write(alice, "whole-life", tags=["b", "a"], relevant_topics=["/imu"])
    assert skill.skill_id.startswith("sk_")
    assert (skill.org_id, skill.created_by) == (alice.server.who["org_id"], alice.email)
    assert (skill.accessibility, skill.tags) == (SkillAccessibility.Private, ["a", "b"])
    assert seen_by(alice, skill) == skill == Skill.from_name("whole-life", roboto_client=alice.client)

    skill.update_metadata(UpdateSkillMetadataRequest(name="new-name", put_tags=["c"], remove_tags=["a", "absent"]))
    assert (skill.name, skill.tags, skill.accessibility) == ("new-name", ["b", "c"], SkillAccessibility.Private)
    skill.update_metadata(UpdateSkillMetadataRequest(accessibility=SkillAccessibility.Org))
    assert (skill.name, skill.tags, skill.accessibility) == ("new-name", ["b", "c"], SkillAccessibility.Org)
    assert skill.refresh() == seen_by(alice, skill)

    second = skill.create_version(CreateSkillVersionRequest(description="Second.", body="Two."))
    assert (second.version, second.relevant_topics) == (2, [])
    first = skill.update_version(1, UpdateSkillVersionRequest(body="One, edited."))
    assert (first.description, first.body, first.relevant_topics) == ("When whole-life.", "One, edited.", ["/imu"])
    first = skill.update_version(1, UpdateSkillVersionRequest(relevant_topics=[]))
    assert (first.body, first.relevant_topics) == ("One, edited.", [])
    assert skill.list_versions() == [second, first]
    assert skill.get_version(2) == second
    skill.delete_version(1)
    with pytest.raises(RobotoNotFoundException):
        skill.get_version(1)
    skill.delete_version(2)
    with pytest.raises(RobotoNotFoundException):
        skill.refresh()


def test_subscriptions_and_the_summary(alice: Caller, bob: Caller) -> None:
    """K3, K14 to K16."""
    skill = write(alice, "subscribed-to", accessibility=SkillAccessibility.Org)
    summary = Skill.get_summary(skill.skill_id, roboto_client=alice.client)
    assert (summary.skill, summary.latest_version) == (skill.record, skill.get_version(1))
    assert summary.subscription is not None and summary.subscription.ai_version == 1

    mine = seen_by(bob, skill)
    first = mine.subscribe()
    assert (first.user_id, first.skill_id, first.ai_version) == (bob.email, skill.skill_id, None)
    assert mine.set_ai_version(1).ai_version == 1
    assert mine.subscribe() == first.model_copy(update={"ai_version": 1})
    assert mine.set_ai_version(None) == first
    with pytest.raises(RobotoInvalidRequestException, match="ai_version"):
        mine.set_ai_version(2)
    mine.unsubscribe()
    mine.unsubscribe()
    assert Skill.get_summary(skill.skill_id, roboto_client=bob.client).subscription is None


def test_lists_and_tags_of_an_org(alice: Caller, bob: Caller, eve: Caller) -> None:
    """K5, K6: in an org of its own, so that its lists hold nothing else."""
    org = {"caller_org_id": alice.server.who["orgs"]["generous"]}
    shared = {**org, "accessibility": SkillAccessibility.OrgEditable}
    write(alice, "listed-1", tags=["hers"], **org)
    for number in range(2, 53):
        write(bob, f"listed-{number}", tags=["shared"], **shared)

    def names(caller: Caller, scope: SkillListScope | None = None) -> list[str]:
        found = Skill.list_for_org(scope, roboto_client=caller.client, **org)
        return [summary.skill.name for summary in found]

    newest_first = [f"listed-{number}" for number in range(52, 0, -1)]
    assert names(alice) == newest_first  # over two pages
    assert names(alice, SkillListScope.Org) == newest_first[:-1]
    assert names(alice, SkillListScope.Personal) == ["listed-1"]
    assert names(bob) == names(bob, SkillListScope.Personal) == newest_first[:-1]
    assert Skill.list_known_tags(roboto_client=alice.client, **org) == ["hers", "shared"]
    assert Skill.list_known_tags(roboto_client=bob.client, **org) == ["shared"]
    with pytest.raises(RobotoUnauthorizedException):
        names(eve)


def test_who_sees_and_who_edits(alice: Caller, bob: Caller, eve: Caller, admin: Caller) -> None:
    """K2, K7, K8: invisible is not found, visible without the right is unauthorized."""
    skill = write(alice, "guarded")
    for caller in (bob, eve, admin):
        with pytest.raises(RobotoNotFoundException):
            seen_by(caller, skill)
    skill.update_metadata(UpdateSkillMetadataRequest(accessibility=SkillAccessibility.OrgEditable))
    with pytest.raises(RobotoNotFoundException):
        seen_by(eve, skill)
    his = seen_by(bob, skill)
    rename = UpdateSkillMetadataRequest(name="guarded-by-bob")
    with pytest.raises(RobotoUnauthorizedException):
        his.update_metadata(rename)
    his.subscribe()
    assert his.update_metadata(rename).name == "guarded-by-bob"
    with pytest.raises(RobotoUnauthorizedException):
        his.delete()
    with pytest.raises(RobotoConflictException):
        write(bob, "guarded-by-bob", accessibility=SkillAccessibility.Org)


def at_once(count: int, act: Any) -> list[Any]:
    """Do something many times at the same time."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(act, range(count)))


def test_of_many_who_take_a_name_at_once_one_gets_it(alice: Caller, bob: Caller) -> None:
    """K1, K7: the others are told of a conflict, and nothing of theirs is stored."""

    def create(number: int) -> int:
        body = {"name": "wanted", "description": "", "body": "", "accessibility": ("org", "org-editable")[number % 2]}
        token = alice.server.token((alice, bob)[number % 2].name)
        return live.fetch(f"{alice.server.url}/v1/skills/create", token, body)[0]

    assert sorted(at_once(8, create)) == [200, *[409] * 7]
    found = [each.skill.name for each in Skill.list_for_org(roboto_client=alice.client)]
    assert found.count("wanted") == 1


def test_versions_added_and_tags_put_at_once_are_all_kept(alice: Caller) -> None:
    """K7, K11: numbers follow one another, tags are merged."""
    skill = write(alice, "crowded")

    def add(number: int) -> int:
        skill_ = seen_by(alice, skill)
        skill_.update_metadata(UpdateSkillMetadataRequest(put_tags=[f"t{number}"]))
        return skill_.create_version(CreateSkillVersionRequest(description="", body=str(number))).version

    assert sorted(at_once(6, add)) == [2, 3, 4, 5, 6, 7]
    assert skill.refresh().tags == [f"t{number}" for number in range(6)]


def test_invoked_skills_come_before_the_answer_in_their_order(alice: Caller, bob: Caller) -> None:
    """B150 to B154."""
    one = write(bob, "invoked-1", "First body.", accessibility=SkillAccessibility.Org)
    two = write(alice, "invoked-2", "Old body.")
    two.create_version(CreateSkillVersionRequest(description="", body="New body."))
    specs = [InvokeSkillSpec(skill_id=two.skill_id), InvokeSkillSpec(skill_id=one.skill_id, version=1),
             InvokeSkillSpec(skill_id=two.skill_id, version=1)]  # fmt: skip
    thread = run(alice.start("Go.", invoke_skills=specs))
    assert roles(thread) == ["user", *["assistant", "roboto"] * 3, "assistant"]
    assert loaded(thread) == [
        ("invoked-2", 2, "New body."),
        ("invoked-1", 1, "First body."),
        ("invoked-2", 1, "Old body."),
    ]
    assert held(thread) == held(alice.thread(thread))

    run(thread.invoke_skill(one.skill_id))
    assert roles(thread)[8:] == ["user", "assistant", "roboto", "assistant"]
    run(thread.send(AgentMessage.text("Again."), invoke_skills=specs[:1]))
    assert roles(thread)[12:] == ["user", "assistant", "roboto", "assistant"]
    assert text_of(thread.messages[12]) == "Again."
    assert held(thread) == held(alice.thread(thread))

    before = held(thread)
    for spec in (InvokeSkillSpec(skill_id="sk_nobody"), InvokeSkillSpec(skill_id=one.skill_id, version=2)):
        with pytest.raises(RobotoInvalidRequestException, match=r"invoke_skills\.0"):
            thread.send(AgentMessage.text("No."), invoke_skills=[spec])
    with pytest.raises(RobotoInvalidRequestException):
        bob.start("No.", invoke_skills=[InvokeSkillSpec(skill_id=two.skill_id)])
    assert held(thread.refresh()) == before


def test_skills_alone_start_a_thread_and_are_told_as_events_only_when_new(alice: Caller) -> None:
    """B5, B60: the pairs stand in the record of a start, and in the deltas of a send."""
    skill = write(alice, "alone", "Body alone.")
    thread = alice.start(invoke_skills=[InvokeSkillSpec(skill_id=skill.skill_id)])
    assert roles(thread) == ["user", "assistant", "roboto"]
    assert kinds(follow(thread)) == ["StartText", "TextDelta", "TextEnd"]
    events = follow(thread.invoke_skill(skill.skill_id))
    assert kinds(events) == ["ToolUse", "ToolResult", "StartText", "TextDelta", "TextEnd"]
    use, result = events[:2]
    assert isinstance(use, AgentToolUseEvent) and isinstance(result, AgentToolResultEvent)
    assert (use.name, use.input) == ("load_skill", {"name": "alone", "version": 1})
    assert (result.success, result.output["body"]) == (True, "Body alone.")
    assert thread.status == AgentThreadStatus.USER_TURN
    assert held(thread) == held(alice.thread(thread))


def test_what_was_loaded_stays_as_it_was(alice: Caller) -> None:
    """B155."""
    skill = write(alice, "fleeting", "As it was.")
    thread = run(alice.start("Go.", invoke_skills=[InvokeSkillSpec(skill_id=skill.skill_id)]))
    skill.update_version(1, UpdateSkillVersionRequest(body="Edited."))
    assert loaded(alice.thread(thread)) == [("fleeting", 1, "As it was.")]
    skill.delete()
    assert loaded(alice.thread(thread)) == [("fleeting", 1, "As it was.")]


def test_what_the_agent_may_load_by_itself(alice: Caller, bob: Caller) -> None:
    """B156, B157: null is the pinned subscriptions, [] nothing, a list exactly that, frozen at start."""
    pinned = write(bob, "pinned", "The pinned body.", accessibility=SkillAccessibility.Org)
    listed = write(bob, "listed", "The listed body.", accessibility=SkillAccessibility.Org)
    seen_by(alice, pinned).set_ai_version(1)
    ask = calls(("load_skill", {"name": "pinned"}), ("load_skill", {"name": "listed"}))
    only = [AvailableSkillSpec(skill_id=listed.skill_id)]

    def answered(thread: Any) -> list[tuple[bool, Any]]:
        events = follow(thread)
        results = {event.tool_use_id: event for event in events if isinstance(event, AgentToolResultEvent)}
        asked = [results[event.tool_use_id] for event in events if isinstance(event, AgentToolUseEvent)]
        return [(event.success, (event.output or {}).get("body")) for event in asked]

    no = (False, None)
    assert answered(alice.start(ask)) == [(True, "The pinned body."), no]
    assert answered(alice.start(ask, available_skills=[])) == [no, no]
    thread = alice.start(ask, available_skills=only)
    assert answered(thread) == [no, (True, "The listed body.")]
    listed.delete()
    assert answered(thread.send_text(ask)) == [no, (True, "The listed body.")]
    with pytest.raises(RobotoInvalidRequestException, match=r"available_skills\.0"):
        alice.start(ask, available_skills=only)
