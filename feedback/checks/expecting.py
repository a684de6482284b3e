"""Evaluates expectations on a transcript, without asking a model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.utils.text import Truncator, get_text_list

from catalogue import patterns
from core.canonical import canonical_json
from core.wording import composed
from feedback.wire_checks import OF_WORDS
from threads import goals, pending, reading
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
"""The kinds of expectations, for people."""
_SHOWN = 200
_SECONDS = 2.0
_A_MOMENT = 0.01


@dataclass(frozen=True, slots=True)
class Answer:
    """The texts and calls that answered one request, up to the next request."""

    words: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed_tools: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    """Tools that a rerun did not call, because no such call is recorded."""
    goals: tuple[str, ...] = ()
    """The status of each goal declared with the request."""
    turn: Turn | None = None
    """The turn that wrote the answer."""
    is_whole: bool = True
    """Whether it ended by itself: not cancelled, not failed, not waiting for a client tool that nobody answers."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an expectation is met, and what was found."""

    holds: bool
    found: str = ""


def answer_of(thread: Thread, upto: int) -> Answer:
    """The answer to the request at `upto`. Three queries besides the messages: for its end, the goals and the turn.

    Preloaded skills do not count as calls by the agent, and goal attempts do not count as tool calls.
    """
    following = pending.next_request(thread.pk, upto)
    upper = {"answer_idx__lt": following} if following else {}
    turn = Turn.objects.filter(thread=thread, answer_idx__gt=upto, **upper).order_by("pk").first()
    declared = goals.by_tool(Goal.objects.filter(turn=turn).order_by("pk")) if turn else {}
    words: list[str] = []
    calls: list[tuple[str, Mapping[str, Any]]] = []
    failed: list[str] = []
    not_made: list[str] = []
    for message in reading.snapshots(thread.pk, between=(upto + 1, (following or thread.message_count) - 1)):
        said = "".join(block["text"] for block in message.blocks if block["content_type"] == "text")
        words += [said] if said and message.role == "assistant" else []
        for block in message.blocks:
            match block["content_type"]:
                case "tool_use" | "tool_result" if block["tool_name"] in declared:
                    pass
                case "tool_use" if not _is_invoked_skill(block):
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


def _is_invoked_skill(use: BlockDict) -> bool:
    """Whether a call is there because somebody invoked a skill: only such calls name a version."""
    return use["tool_name"] == LOAD_SKILL and "version" in (use["input"] or {})


def deadline() -> float:
    """Until when one evaluation may search with its regular expressions."""
    return monotonic() + _SECONDS


def findings(expectations: Sequence[Mapping[str, Any]], answer: Answer, *, until: float | None = None) -> list[Finding]:
    """One finding per expectation, in their order, before a `deadline`.

    After it, each expression still gets the short time that a normal one needs, so that a slow one does not fail
    others.
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
            return Finding(is_said == (kind == "says"), "" if is_said else _cut(answer.words) or "The answer is empty.")
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
        return Finding(False, "The expression takes too long on this answer.")
    return Finding(is_found == is_wanted, _cut(words) or "The answer is empty.")


def _told_of_calls(made: Sequence[Mapping[str, Any]], name: str, answer: Answer) -> str:
    if made:
        return _cut("; ".join(f"{name} {canonical_json(given)}" for given in made))
    return _listed([each for each, _ in answer.calls], "called") or "No tool was called."


def _listed(names: Sequence[str], word: str) -> str:
    return f"{word} {get_text_list(list(dict.fromkeys(names)), 'and')}" if names else ""


def _has(given: Any, wanted: Any) -> bool:
    """Whether `given` contains `wanted`: objects may have more keys, anything else must be equal."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(key in given and _has(given[key], wanted[key]) for key in wanted)
    return canonical_json(given) == canonical_json(wanted)


def _says(words: str, value: str) -> bool:
    """Whether a text contains a value. Numbers match as a whole: 5.2 is found neither in 15.2 nor in 5.25."""
    wanted = re.escape(_folded(value))
    before = r"(?<![0-9])(?<![0-9][.,])" if value[:1].isdigit() else ""
    after = r"(?![0-9])(?![.,][0-9])" if value[-1:].isdigit() else ""
    return re.search(before + wanted + after, _folded(words)) is not None


def _folded(text: str) -> str:
    return " ".join(composed(text.casefold()).split())


def _cut(text: str) -> str:
    return Truncator(" ".join(text.split())).chars(_SHOWN)
