"""What an answer must do: expectations held against a transcript. Nothing is asked of a model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.utils.text import Truncator, get_text_list

from catalogue import patterns
from core.canonical import canonical_json
from feedback.checks.wire import OF_WORDS
from threads import goals, reading
from threads.content import LOAD_SKILL, BlockDict
from threads.models import Goal, Thread, Turn
from threads.status import GoalStatus, TurnState

WORDS = {
    "says": "says",
    "never_says": "never says",
    "matches": "matches",
    "never_matches": "never matches",
    "calls": "calls",
    "calls_once": "calls once",
    "never_calls": "never calls",
    "no_tool_errors": "no tool errors",
    "achieves_goals": "achieves its goals",
}
"""The kinds, for people."""
_SHOWN = 200
_SECONDS = 2.0
_A_MOMENT = 0.01


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said and done for one request, up to the next one."""

    words: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed_tools: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    """Tools that a rerun did not call, because nothing like it is on record."""
    goals: tuple[str, ...] = ()
    """The state of each goal that was declared with the request."""
    turn: Turn | None = None
    """The one that wrote it."""
    is_whole: bool = True
    """Whether it came to an end by itself: not stopped, not broken off, not waiting for a client that nobody drives."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an expectation held, and what was found."""

    holds: bool
    found: str = ""


def answer_of(thread: Thread, upto: int) -> Answer:
    """What came of the request at `upto`, which is followed by its answer. Two queries, one for the goals and one for
    the turn.

    Skills that were taken up for the agent are no calls of its own, and attempts at goals no calls of tools.
    """
    turn = Turn.objects.filter(thread=thread, answer_idx__gt=upto).order_by("pk").first()
    declared = goals.named(Goal.objects.filter(turn=turn).order_by("pk")) if turn else {}
    words: list[str] = []
    calls: list[tuple[str, Mapping[str, Any]]] = []
    failed: list[str] = []
    not_made: list[str] = []
    for message in reading.snapshots(thread.pk, between=(upto + 1, thread.message_count)):
        if message.role == "user":
            break
        said = "".join(block["text"] for block in message.blocks if block["content_type"] == "text")
        words += [said] if said and message.role == "assistant" else []
        for block in message.blocks:
            match block["content_type"]:
                case "tool_use" | "tool_result" if block["tool_name"] in declared:
                    pass
                case "tool_use" if not _is_taken_up(block):
                    calls.append((block["tool_name"], block["input"] or {}))
                case "tool_result" if block["status"] != "success":
                    (not_made if block.get("answered_by") == "nobody" else failed).append(block["tool_name"])
    return Answer(
        words="\n\n".join(words),
        calls=tuple(calls),
        failed_tools=tuple(failed),
        not_made=tuple(not_made),
        goals=tuple(goal.status for goal in declared.values()),
        turn=turn,
        is_whole=turn is not None and turn.state == TurnState.DONE,
    )


def _is_taken_up(use: BlockDict) -> bool:
    """Whether a call stands there because somebody invoked a skill: only such a one names a version."""
    return use["tool_name"] == LOAD_SKILL and "version" in (use["input"] or {})


def deadline() -> float:
    """Until when one evaluation may search for its expressions."""
    return monotonic() + _SECONDS


def findings(expectations: Sequence[Mapping[str, Any]], answer: Answer, *, until: float | None = None) -> list[Finding]:
    """One finding for each expectation, in their order, by a `deadline`.

    Behind that each expression still has the moment that a sane one needs, so that none is lost by its neighbours.
    """
    until = deadline() if until is None else until
    return [_finding(each, answer, until) for each in expectations]


def spelled(expectation: Mapping[str, Any]) -> str:
    """An expectation in one line, for people: `never calls refund {"amount": 20}`."""
    parts = [WORDS[expectation["kind"]]]
    if expectation["kind"] in OF_WORDS:
        parts.append(f"\u201c{expectation['value']}\u201d")
    elif expectation.get("value"):
        parts.append(expectation["value"])
    if expectation.get("input") is not None:
        parts.append(canonical_json(expectation["input"]))
    return " ".join(parts)


def _finding(expectation: Mapping[str, Any], answer: Answer, until: float) -> Finding:
    kind, value = expectation["kind"], expectation.get("value", "")
    match kind:
        case "says" | "never_says":
            is_said = _says(answer.words, value)
            return Finding(is_said == (kind == "says"), "" if is_said else _cut(answer.words) or "It says nothing.")
        case "matches" | "never_matches":
            return _matching(value, answer.words, until, is_wanted=kind == "matches")
        case "calls" | "calls_once" | "never_calls":
            made = [given for name, given in answer.calls if name == value]
            fitting = [given for given in made if _has(given, expectation.get("input") or {})]
            holds = {"calls": bool(fitting), "calls_once": len(fitting) == 1, "never_calls": not fitting}[kind]
            return Finding(holds, _told_of_calls(fitting or made, value, answer))
        case "no_tool_errors":
            return Finding(
                not answer.failed_tools,
                _listed(answer.failed_tools, "failed") or _listed(answer.not_made, "not called:"),
            )
        case "achieves_goals":
            if not answer.goals:
                return Finding(False, "No goal was declared.")
            missed = sum(status != GoalStatus.ACHIEVED for status in answer.goals)
            return Finding(not missed, f"{missed} of {len(answer.goals)} not achieved" if missed else "")
    raise ValueError(kind)


def _matching(pattern: str, words: str, until: float, *, is_wanted: bool) -> Finding:
    seconds = min(patterns.SEARCH_SECONDS, max(_A_MOMENT, until - monotonic()))
    try:
        is_found = patterns.matches(pattern, words, seconds=seconds)
    except patterns.SearchTooLong:
        return Finding(False, "The expression does not come to an end with this answer.")
    return Finding(is_found == is_wanted, _cut(words) or "It says nothing.")


def _told_of_calls(made: Sequence[Mapping[str, Any]], name: str, answer: Answer) -> str:
    if made:
        return _cut("; ".join(f"{name} {canonical_json(given)}" for given in made))
    return _listed([each for each, _ in answer.calls], "called") or "It called no tool."


def _listed(names: Sequence[str], word: str) -> str:
    return f"{word} {get_text_list(list(dict.fromkeys(names)), 'and')}" if names else ""


def _has(given: Any, wanted: Any) -> bool:
    """Whether all that is wanted stands in what is given: objects by their keys, anything else as it is."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(key in given and _has(given[key], wanted[key]) for key in wanted)
    return canonical_json(given) == canonical_json(wanted)


def _says(words: str, value: str) -> bool:
    """Whether words stand in others. A number is meant whole: 5.2 stands neither in 15.2 nor in 5.25."""
    wanted = re.escape(_folded(value))
    before = r"(?<![0-9])(?<![0-9][.,])" if value[:1].isdigit() else ""
    after = r"(?![0-9])(?![.,][0-9])" if value[-1:].isdigit() else ""
    return re.search(before + wanted + after, _folded(words)) is not None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _cut(text: str) -> str:
    return Truncator(" ".join(text.split())).chars(_SHOWN)
