"""The demo's data files: JSON that reads like a conversation, with times relative to now.

`@{-71m:time}` in a thread is replaced by the time of day 71 minutes before its start. Units are m, h and d; formats are
`time`, `date`, `day`, `month` and `weekday`, by default ISO 8601.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from catalogue.wire_skills import SkillIn, VersionIn
from catalogue.wire_tools import ImportIn, ToolPatch
from catalogue.wire_worlds import FixtureIn, WorldCallIn, WorldIn, WorldToolsIn
from feedback.wire import FeedbackIn, TriageIn
from feedback.wire_checks import CheckIn, RunIn, Verdict
from feedback.wire_desk import CommentIn
from threads import content
from threads.content import BlockDict, JsonObject, ResultStatus
from threads.wire import SendIn, StartIn

FOLDER = Path(__file__).parent
_MOMENT = re.compile(r"@\{(-?\d+)([mhd])(?::(\w+))?\}")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_WAYS = {None: "%Y-%m-%dT%H:%M:00Z", "date": "%Y-%m-%d", "month": "%Y-%m", "time": "%H:%M", "weekday": "%A"}
Model = TypeVar("Model", bound=BaseModel)
Text = Annotated[str, BeforeValidator(lambda said: "\n".join(said) if isinstance(said, list) else said)]


class _Written(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Report(FeedbackIn):
    """A rating, hours after its answer, and its triage, hours after that."""

    model_config = ConfigDict(extra="forbid", strict=False)

    by: str
    hours: float
    changed_hours: float = 0
    triage: list[tuple[float, TriageIn]] = []
    in_the_end: str | None = None
    """What its notes become after all triage, which its submitter has read."""


class Call(_Written):
    """A tool use and its result."""

    tool: str
    input: JsonObject
    output: Any
    status: ResultStatus = "success"
    ms: int
    raw: JsonObject | None = None


class Line(_Written):
    """One message. An agent's calls are answered before the next line."""

    user: Text | None = None
    agent: Text | None = None
    calls: list[Call] = []
    reports: list[Report] = []

    @property
    def pause(self) -> timedelta:
        """Time since the previous line."""
        if self.user is not None:
            return timedelta(seconds=25 + len(self.user) // 8)
        return timedelta(seconds=2 + len(self.agent or "") // 100)


class Fork(_Written):
    """A fork after line `upto`, hours later, and what its owner wrote in it."""

    by: str
    upto: int
    hours: float
    title: str
    then: list[str]


class Story(_Written):
    """An imported thread."""

    name: str
    begins: datetime
    days_ago: int
    at: time
    title: str
    by: str
    org: str = "acme"
    visibility: Literal["private", "org"] = "org"
    agent: str | None = None
    metadata: JsonObject = {}
    about: dict[str, str] = {}
    pinned_by: list[str] = []
    messages: list[Line]
    forks: list[Fork] = []


class LiveReport(Report):
    """A report on the agent's message number `answer`, negative from the end."""

    answer: int


class Live(_Written):
    """A thread answered by the simulator."""

    name: str
    by: str
    minutes_ago: int
    start: StartIn
    then: list[SendIn] = []
    is_cancelled: bool = False
    pinned_by: list[str] = []
    reports: list[LiveReport] = []


class Written(VersionIn):
    """A version of a skill."""

    body: Text


class Shelved(_Written):
    """A skill, its later versions, and which version each user pinned; null is a subscription without a pin."""

    class Skill(SkillIn):
        body: Text

    by: str
    days_ago: float
    next_days_ago: float
    skill: Skill
    then: list[Written]
    pins: dict[str, int | None]


class Launched(_Written):
    """A thread launched from an agent."""

    by: str
    minutes_ago: int
    values: dict[str, str]
    reports: list[LiveReport] = []


class Changed(_Written):
    """A later version of an agent: what its system prompt became."""

    by: str
    days_ago: float
    system_prompt: str


class Template(_Written):
    """An agent; it names its skills. Threads are launched from it before and after it was changed."""

    by: str
    days_ago: float
    agent: JsonObject
    before: list[Launched] = []
    then: list[Changed] = []
    launches: list[Launched] = []


class Published(_Written):
    """Imported tools, and later edits by tool name."""

    by: str
    days_ago: float
    tools: ImportIn = Field(alias="import")
    after: dict[str, ToolPatch] = {}


class Act(_Written):
    """A triage action, hours after the report whose notes begin with `report`."""

    report: str
    hours: float
    verb: str
    arguments: JsonObject = {}
    until_hours: float | None = None
    """For a snooze: its length in hours."""
    same_as: str | None = None
    """For a duplicate: how the notes of the original begin."""


class Kept(CheckIn):
    """A check, created hours after the report whose notes begin with `report`."""

    report: str
    hours: float


class Run(_Written):
    """A run of the check with that title: its answer, and the verdict of a person if there is one."""

    check: str
    lines: list[Line]
    verdict: Verdict | None = None


class Batch(_Written):
    """Runs that were requested together; those of one check in the order in which they ran."""

    hours_ago: float
    options: RunIn
    runs: list[Run]


class Remark(CommentIn):
    """A comment, made hours after the report whose notes begin with `report`."""

    report: str
    hours: float


class Played(_Written):
    """A world, calls made in it by hand, and the request of a thread in it."""

    by: str
    hours_ago: float
    world: WorldIn
    own: list[WorldToolsIn] = []
    fixtures: list[FixtureIn] = []
    calls: list[WorldCallIn]
    thread: str | None = None


class Tried(_Written):
    """A tool call made by hand."""

    by: str
    hours_ago: float
    tool: str
    arguments: JsonObject


class Told(NamedTuple):
    """A line with its message index, the index of its last message (tool results), and its time."""

    line: Line
    idx: int
    last_idx: int
    at: datetime


def written(now: datetime) -> list[Story]:
    """All imported threads, oldest first, with times before `now`."""
    stories = [_story(path, now) for path in sorted(FOLDER.glob("threads/*.json"))]
    return sorted(stories, key=lambda story: story.begins)


def live() -> list[Live]:
    """All threads answered by the simulator, oldest first."""
    return sorted(_all(Live, "live"), key=lambda each: -each.minutes_ago)


def skills() -> list[Shelved]:
    """All skills, oldest first."""
    return _all(Shelved, "skills")


def templates() -> list[Template]:
    """All agents, oldest first."""
    return _all(Template, "templates")


def tools() -> list[Published]:
    """All tool imports, oldest first."""
    return _all(Published, "tools")


def acts() -> list[Act]:
    """All triage actions, in order."""
    return _all(Act, "desk")


def remarks() -> list[Remark]:
    """All comments, in order."""
    return _all(Remark, "comments")


def checks() -> list[Kept]:
    """All checks, in order."""
    return _all(Kept, "checks")


def batches() -> list[Batch]:
    """All batches of checks, oldest first."""
    return _all(Batch, "batches")


def worlds() -> list[Played]:
    """All worlds, oldest first."""
    return _all(Played, "worlds")


def tried() -> list[Tried]:
    """All calls made by hand, oldest first."""
    return _all(Tried, "calls")


def _all(model: type[Model], name: str) -> list[Model]:
    return [model.model_validate(each) for each in json.loads((FOLDER / f"{name}.json").read_text("utf-8"))]


def told(story: Story) -> list[Told]:
    """The lines of a story with their indexes and times."""
    return _told(story.messages, story.begins)


def answered(name: str, lines: Sequence[Line], begins: datetime) -> list[JsonObject]:
    """Lines of an agent as messages with their results; `name` makes the ids of their tool uses unique."""
    return [message for each in _told(lines, begins) for message in _messages(name, each)]


def _told(lines: Sequence[Line], begins: datetime) -> list[Told]:
    found: list[Told] = []
    idx, at = 0, begins
    for line in lines:
        at += line.pause
        last_idx = idx + bool(line.calls)
        found.append(Told(line, idx, last_idx, at))
        idx, at = last_idx + 1, at + timedelta(milliseconds=sum(call.ms for call in line.calls))
    return found


def conversation(story: Story) -> JsonObject:
    """A story as an importable conversation (spec 9) in the format `roboto`."""
    prompts = json.loads((FOLDER / "agents.json").read_text("utf-8"))
    return {
        "id": story.name,
        "title": story.title,
        "created": story.begins.isoformat(),
        "system": prompts[story.agent] if story.agent else None,
        "metadata": story.metadata,
        "messages": [message for each in told(story) for message in _messages(story.name, each)],
    }


def _story(path: Path, now: datetime) -> Story:
    raw = path.read_text("utf-8")
    frame = json.loads(raw)
    day = now.astimezone(UTC).date() - timedelta(days=frame["days_ago"])
    begins = datetime.combine(day, time.fromisoformat(frame["at"]), tzinfo=UTC)
    said = _MOMENT.sub(lambda found: _moment(begins, found), raw)
    return Story.model_validate({**json.loads(said), "name": path.stem, "begins": begins})


def _moment(begins: datetime, found: re.Match[str]) -> str:
    at = begins + timedelta(**{_UNITS[found[2]]: int(found[1])})
    return f"{at.day} {at:%B}" if found[3] == "day" else at.strftime(_WAYS[found[3]])


def _messages(name: str, each: Told) -> Iterator[JsonObject]:
    line = each.line
    role, words = ("user", line.user) if line.user is not None else ("assistant", line.agent)
    said: list[BlockDict] = [content.text(words)] if words else []
    use_ids = [f"tu_{name}_{each.idx}_{place}" for place in range(len(line.calls))]
    uses = [content.tool_use(call.tool, use_id, call.input) for call, use_id in zip(line.calls, use_ids, strict=True)]
    yield {"role": role, "content": [*said, *uses], "created": each.at.isoformat()}
    if line.calls:
        yield {"role": "roboto", "content": _results(line.calls, use_ids), "created": each.at.isoformat()}


def _results(calls: Sequence[Call], use_ids: Sequence[str]) -> list[BlockDict]:
    return [
        content.tool_result(call.tool, use_id, call.status, call.output, runtime_ms=call.ms, raw=call.raw)
        for call, use_id in zip(calls, use_ids, strict=True)
    ]
