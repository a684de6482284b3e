"""What an answer must do: expectations held against a transcript. Nothing is asked of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import Truncator, get_text_list

from core.canonical import canonical_json
from threads import reading
from threads.models import Goal, Thread
from threads.status import GoalStatus

WORDS = {
    "says": "says",
    "never_says": "never says",
    "calls": "calls",
    "never_calls": "never calls",
    "no_tool_errors": "no tool errors",
    "achieves_goals": "achieves its goals",
}
"""The kinds, for people."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said and done for one request, up to the next one."""

    words: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    failed_tools: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    """The states of the goals that were declared with the request."""
    error: str = ""
    """The code of what ended it; empty where it came to an end by itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an expectation held, and what was found."""

    holds: bool
    found: str = ""


def answer_of(thread: Thread, upto: int) -> Answer:
    """What came of the request at `upto`, which is followed by its answer. Two queries and one for the goals."""
    words, calls, failed, error = [], [], [], ""
    for message in reading.snapshots(thread.pk, between=(upto + 1, thread.message_count)):
        if message.role == "user":
            break
        said = "".join(block["text"] for block in message.blocks if block["content_type"] == "text")
        words += [said] if said and message.role == "assistant" else []
        for block in message.blocks:
            match block["content_type"]:
                case "tool_use":
                    calls.append((block["tool_name"], block["input"] or {}))
                case "tool_result" if block["status"] != "success":
                    failed.append(block["tool_name"])
                case "error":
                    error = block["error_code"] or "error"
    goals = Goal.objects.filter(thread=thread, message_sequence_num=upto).values_list("status", flat=True)
    return Answer("\n\n".join(words), tuple(calls), tuple(failed), tuple(goals), error)


def findings(expectations: Sequence[Mapping[str, Any]], answer: Answer) -> list[Finding]:
    """One finding for each expectation, in their order."""
    return [_finding(each, answer) for each in expectations]


def spelled(expectation: Mapping[str, Any]) -> str:
    """An expectation in one line, for people: `never calls refund {"amount": 20}`."""
    parts = [WORDS[expectation["kind"]]]
    if expectation["kind"] in ("says", "never_says"):
        parts.append(f"\u201c{expectation['value']}\u201d")
    elif expectation.get("value"):
        parts.append(expectation["value"])
    if expectation.get("input") is not None:
        parts.append(canonical_json(expectation["input"]))
    return " ".join(parts)


def _finding(expectation: Mapping[str, Any], answer: Answer) -> Finding:
    kind, value = expectation["kind"], expectation.get("value", "")
    match kind:
        case "says" | "never_says":
            is_said = _folded(value) in _folded(answer.words)
            return Finding(is_said == (kind == "says"), "" if is_said else _cut(answer.words) or "It says nothing.")
        case "calls" | "never_calls":
            made = [given for name, given in answer.calls if name == value]
            fitting = [given for given in made if _has(given, expectation.get("input") or {})]
            return Finding(bool(fitting) == (kind == "calls"), _told_of_calls(fitting or made, value, answer))
        case "no_tool_errors":
            return Finding(not answer.failed_tools, _listed(answer.failed_tools, "failed"))
        case "achieves_goals":
            missed = sum(status != GoalStatus.ACHIEVED for status in answer.goals)
            return Finding(not missed, f"{missed} of {len(answer.goals)} not achieved" if missed else "")
    raise ValueError(kind)


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


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _cut(text: str) -> str:
    return Truncator(" ".join(text.split())).chars(_SHOWN)
