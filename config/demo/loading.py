"""Loads the demo through the same functions as users' requests, then backdates the rows."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import BaseModel

from accounts.rights import Right
from catalogue import skills
from catalogue.models import Skill, SkillSubscription
from config.demo import cataloguing, people, proving, stories
from config.demo.backdating import put_back
from config.demo.stories import (
    Fork,
    Launched,
    Live,
    LiveReport,
    Played,
    Report,
    Shelved,
    Story,
    Template,
    Told,
)
from core import bodies, ids
from core.actor import Actor
from feedback import capture, commenting, triage
from feedback.checks import keeping
from feedback.deciding import UPDATE, Verb, spelled, verb_named
from feedback.models import Comment, Reply, Triage, TriageChange, UserFeedback
from feedback.wire_checks import CheckIn
from feedback.wire_desk import CommentIn
from threads import agents, forks, importing, sharing, titles, turns
from threads.access import message_standing_for, thread_for
from threads.content import JsonObject, TextBlock
from threads.models import Agent, Message, Thread, Turn
from threads.runner import loop
from threads.status import TurnState
from threads.wire import SendIn, SentMessageIn, StartIn, SubjectIn
from threads.wire_agents import AgentIn, AgentPatch, LaunchIn


def load() -> bool:
    """Load everything in one transaction, so that a killed load leaves nothing; False if it is already loaded."""
    with transaction.atomic():
        if people.are_here():
            return False
        stage = _Stage(people.gather(), timezone.now())
        for published in stories.tools():
            cataloguing.publish(stage.cast, published, stage.now)
        for story in stories.written(stage.now):
            stage.tell(story)
        for live in stories.live():
            stage.play(live)
        for tried in stories.tried():
            cataloguing.try_out(stage.cast, tried, stage.now)
        for played in stories.worlds():
            stage.simulate(played)
        for skill in stories.skills():
            stage.shelve(skill)
        for template in stories.templates():
            stage.offer(template)
        stage.rate()
        stage.work_at_the_desk()
        stage.comment()
        stage.keep_checks()
        for batch in stories.batches():
            proving.prove(stage.cast.actors["admin"], batch, stage.now)
        stage.reconsider()
    return True


@dataclass(frozen=True, slots=True)
class _Rating:
    """A report with its answer and its time."""

    thread_id: str
    idx: int
    at: datetime
    report: Report


@dataclass
class _Stage:
    """State of a load: users, current time, reports to submit after all threads, and skills by name."""

    cast: people.Cast
    now: datetime
    ratings: list[_Rating] = field(default_factory=list)
    shelf: dict[str, str] = field(default_factory=dict)

    def tell(self, story: Story) -> None:
        """Import a story with its pins, forks and reports."""
        actor = self.cast.actors[story.by]
        item = importing.import_one(
            "roboto", stories.conversation(story), actor.user_id, self.cast.orgs[story.org], story.visibility
        )
        if item.thread_id is None:
            raise ValueError(f"{story.name}: {item.errors}")
        thread = thread_for(actor, item.thread_id)
        about = [SubjectIn(association_id=entity, note=note) for entity, note in story.about.items()]
        sharing.set_subjects(actor, thread, about)
        self._pin(thread, story.pinned_by)
        told = stories.told(story)
        # The story is that it was written here.
        Thread.objects.filter(pk=thread.pk).update(import_id=None, modified=told[-1].at)
        cataloguing.record(thread, told)
        for each in told:
            for report in each.line.reports:
                self._hold(thread, each.idx, each.at, report)
        for fork in story.forks:
            self._fork(thread, fork, told[fork.upto])

    def play(self, live: Live) -> None:
        """Start a thread, let the simulator answer, and backdate it."""
        actor = self.cast.actors[live.by]
        org_id = next(iter(actor.orgs.values()))
        thread = thread_for(actor, turns.start(actor, org_id, live.start).thread_id)
        _advance(thread)
        for body in live.then:
            turns.send(actor, thread, body, echo=False)
            if live.is_cancelled and body is live.then[-1]:
                turns.cancel(actor, thread)
            _advance(thread)
        put_back(thread, self.now - timedelta(minutes=live.minutes_ago))
        self._pin(thread, live.pinned_by)
        self._hold_all(thread, live.reports)

    def simulate(self, played: Played) -> None:
        """Make a world, make its calls, and start its thread."""
        actor = self.cast.actors[played.by]
        org_id = next(iter(actor.orgs.values()))
        at = self.now - timedelta(hours=played.hours_ago)
        world = cataloguing.make_world(actor, org_id, played)
        if played.thread is not None:
            said = SentMessageIn(role="user", content=[TextBlock(text=played.thread)])
            body = StartIn(messages=[said], world_id=world.world_id, visibility="org")
            thread = thread_for(actor, turns.start(actor, org_id, body).thread_id)
            _advance(thread)
            put_back(thread, at + timedelta(minutes=30))
        cataloguing.put_back(world, at)

    def shelve(self, shelved: Shelved) -> None:
        """Create a skill with its versions, and pin it for its users."""
        author = self.cast.actors[shelved.by]
        skill = skills.create(author, next(iter(author.orgs.values())), shelved.skill)
        for version in shelved.then:
            skills.add_version(author, skill, version)
        for name, number in shelved.pins.items():
            skills.pin_version(self.cast.actors[name], skill, number)
        began, went_on = (self.now - timedelta(days=days) for days in (shelved.days_ago, shelved.next_days_ago))
        Skill.objects.filter(pk=skill.pk).update(created=began, modified=went_on)
        SkillSubscription.objects.filter(skill=skill).update(subscribed=went_on)
        skill.versions.filter(version=1).update(created=began, modified=began)
        skill.versions.exclude(version=1).update(created=went_on, modified=went_on)
        self.shelf[skill.name] = skill.skill_id

    def offer(self, template: Template) -> None:
        """Create an agent and launch its threads."""
        author = self.cast.actors[template.by]
        body = bodies.parse(AgentIn, self._with_ids(template.agent))
        agent = agents.create(author, next(iter(author.orgs.values())), body)
        at = self.now - timedelta(days=template.days_ago)
        Agent.objects.filter(pk=agent.pk).update(created=at)
        agent.versions.update(created=at)
        self._launch(agent, template.before)
        for change in template.then:
            request = {**agent.request_template, "system_prompt": change.system_prompt}
            agent = agents.update(self.cast.actors[change.by], agent, AgentPatch(request_template=request))
            at = self.now - timedelta(days=change.days_ago)
            agent.versions.filter(version=agent.version).update(created=at)
        Agent.objects.filter(pk=agent.pk).update(modified=at)
        self._launch(agent, template.launches)

    def _launch(self, agent: Agent, launches: list[Launched]) -> None:
        for each in launches:
            actor = self.cast.actors[each.by]
            thread = thread_for(actor, agents.launch(actor, agent, LaunchIn(values=each.values)).thread_id)
            _advance(thread)
            put_back(thread, self.now - timedelta(minutes=each.minutes_ago))
            self._hold_all(thread, each.reports)

    def _with_ids(self, agent: JsonObject) -> JsonObject:
        request = agent["request_template"]
        named = {
            field: [{**each, "skill_id": self.shelf[each["skill_id"]]} for each in request[field]]
            for field in ("invoke_skills", "available_skills")
            if field in request
        }
        return {**agent, "request_template": {**request, **named}}

    def rate(self) -> None:
        """Submit the reports in order of time, because the desk lists them in order of creation."""
        for rating in sorted(self.ratings, key=lambda rating: rating.at):
            actor = self.cast.actors[rating.report.by]
            message = message_standing_for(actor, rating.thread_id, rating.idx, Right.RATE)
            feedback_id = capture.submit(actor, message, rating.report).feedback_id
            changed_at = rating.at + timedelta(hours=rating.report.changed_hours)
            _report(feedback_id).update(created=rating.at, modified=changed_at)
            for hours, body in rating.report.triage:
                _triage(self.cast.actors["admin"], feedback_id, UPDATE, body, changed_at + timedelta(hours=hours))

    def work_at_the_desk(self) -> None:
        """Apply the triage actions of desk.json; reports are found by how their notes begin."""
        for act in stories.acts():
            arguments, report = dict(act.arguments), _beginning(act.report)
            if act.until_hours is not None:
                arguments["until"] = self.now + timedelta(days=1)
            if act.same_as is not None:
                arguments["duplicate_of"] = _beginning(act.same_as).feedback_id
            verb, at = verb_named(act.verb), report.created + timedelta(hours=act.hours)
            until = None if act.until_hours is None else at + timedelta(hours=act.until_hours)
            _triage(self.cast.actors["admin"], report.feedback_id, verb, bodies.parse(verb.takes, arguments), at, until)

    def comment(self) -> None:
        """Comment on some reports."""
        for remark in stories.remarks():
            report = _beginning(remark.report)
            said = commenting.add(self.cast.actors["admin"], report.feedback_id, CommentIn(text=remark.text))
            Comment.objects.filter(pk=said.pk).update(created=report.created + timedelta(hours=remark.hours))

    def keep_checks(self) -> None:
        """Create checks from some reports."""
        for kept in stories.checks():
            report = _beginning(kept.report)
            body = CheckIn(title=kept.title, expectations=kept.expectations)
            check = keeping.keep(self.cast.actors["admin"], report.feedback_id, body)
            check.created = check.modified = report.created + timedelta(hours=kept.hours)
            check.save(update_fields=["created", "modified"])

    def reconsider(self) -> None:
        """Change the ratings whose submitters come back after the desk is done with them."""
        for rating in self.ratings:
            if rating.report.in_the_end is None:
                continue
            actor = self.cast.actors[rating.report.by]
            message = message_standing_for(actor, rating.thread_id, rating.idx, Right.RATE)
            body = rating.report.model_copy(update={"notes": rating.report.in_the_end})
            found = _report(capture.submit(actor, message, body).feedback_id)
            resolved_at = found.get().resolved_at
            found.update(modified=(resolved_at or rating.at) + timedelta(hours=1))

    def _hold_all(self, thread: Thread, reports: list[LiveReport]) -> None:
        answers = list(Message.objects.filter(thread=thread, role="assistant").order_by("idx"))
        for report in reports:
            answer = answers[report.answer]
            self._hold(thread, answer.idx, answer.created, report)

    def _hold(self, thread: Thread, idx: int, said_at: datetime, report: Report) -> None:
        self.ratings.append(_Rating(thread.thread_id, idx, said_at + timedelta(hours=report.hours), report))

    def _pin(self, thread: Thread, names: list[str]) -> None:
        for name in names:
            sharing.pin(self.cast.actors[name], thread, pinned=True)

    def _fork(self, source: Thread, fork: Fork, after: Told) -> None:
        actor = self.cast.actors[fork.by]
        source = thread_for(actor, source.thread_id, Right.FORK)
        thread = thread_for(actor, forks.fork(actor, source, after.last_idx).thread_id)
        titles.retitle(actor, thread, fork.title)
        for words in fork.then:
            said = SentMessageIn(role="user", content=[TextBlock(text=words)])
            turns.send(actor, thread, SendIn(message=said), echo=False)
            _advance(thread)
        put_back(thread, after.at + timedelta(hours=fork.hours), since=after.last_idx + 1)


def _advance(thread: Thread) -> None:
    """Run the thread's queued turns, because no worker is running while the demo is loaded."""
    for turn_id in Turn.objects.filter(thread=thread, state=TurnState.QUEUED).values_list("pk", flat=True):
        loop.advance(turn_id)


def _triage(
    admin: Actor, feedback_id: str, verb: Verb, body: BaseModel, at: datetime, until: datetime | None = None
) -> None:
    """Act now, and backdate it; a snooze must end in the future, so its end is set afterwards."""
    triage.act(admin, feedback_id, (verb, body))
    report = _report(feedback_id)
    last = TriageChange.objects.filter(feedback__in=report).latest("id")
    after = last.after | ({"snoozed_until": spelled(until)} if until else {})
    TriageChange.objects.filter(pk=last.pk).update(at=at, after=after)
    if last.after.get("resolved"):
        report.update(resolved_at=at)
    if until:
        Triage.objects.filter(feedback__in=report).update(snoozed_until=until)
    if "public_status" in last.after:
        Reply.objects.filter(feedback__in=report).update(replied_at=at)


def _beginning(words: str) -> UserFeedback:
    """The report whose notes begin with these words."""
    return UserFeedback.objects.get(notes__startswith=words)


def _report(feedback_id: str) -> QuerySet[UserFeedback]:
    return UserFeedback.objects.filter(key=ids.key_of(feedback_id, ids.FEEDBACK))
