"""The built-in model: deterministic, streaming, and controlled by directives in the last user message
(`threads.directives`). The same thread gets the same answer. Of a system prompt and of skills it follows one directive.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import cache

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from threads.content import LOAD_SKILL
from threads.directives import Directives, parse, told_to_say, without
from threads.runner.prompts import is_reprompt
from threads.runner.providers.history import LOOKING_AT

MAX_SECONDS = 600.0
FRAGMENT_WORDS = 6
Piece = str | dict[int, DeltaToolCall]


class SimulatedFailure(Exception):
    """The failure that `[[fail]]` asks for."""


@cache
def model() -> FunctionModel:
    """The simulator as a pydantic-ai model."""
    return FunctionModel(stream_function=_answer, model_name="simulated")


async def _answer(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Piece]:
    """First the requested calls, then the goals, then the text."""
    asked, since = _last_words(messages)
    directives = parse(asked)
    said = " ".join(without(asked.partition(LOOKING_AT)[0]).split())
    asked_for = [_call(name, arguments) for name, arguments in directives.calls]
    called = [
        [_call(part.tool_name, part.args_as_json_str()) for part in each.tool_calls]
        for each in since
        if isinstance(each, ModelResponse)
    ]
    if asked_for and asked_for not in called:
        yield _calls(directives.calls)
        return
    goals = [] if directives.refuse_goals else _open_goals(info, since)
    if goals:
        yield _calls(goals)
        return
    await asyncio.sleep(min(directives.sleep, MAX_SECONDS))
    if directives.fail:
        raise SimulatedFailure
    # A stream must have something in it, even if nothing is said.
    says = [*_told_to_say(messages, info), *directives.says]
    for fragment in [*fragments(_text(directives, said, since, says))] or [""]:
        yield fragment
        if directives.pace:
            await asyncio.sleep(min(directives.pace, MAX_SECONDS))


def _bare(name: str) -> str:
    """A tool's name without its server, whose stored spelling may differ from the one in the directive."""
    return re.split("__|:", name, maxsplit=1)[-1]


def _call(name: str, arguments: str) -> tuple[str, bool]:
    """What tells a call from another kind of call: an invoked skill is one too, but says its version and is not what
    a directive asks for.
    """
    return _bare(name), name == LOAD_SKILL and '"version"' in arguments


def _last_words(messages: Sequence[ModelMessage]) -> tuple[str, Sequence[ModelMessage]]:
    """The last user text and everything after it; corrective prompts of the runner do not count.

    "After" includes the rest of the same request: results of an earlier unfinished turn (in a fork or after a
    cancellation) are in that request before the text, and achieve no goal of this turn.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, ModelRequest):
            for at in range(len(message.parts) - 1, -1, -1):
                part = message.parts[at]
                if isinstance(part, UserPromptPart) and isinstance(part.content, str) and not is_reprompt(part.content):
                    return part.content, [replace(message, parts=message.parts[at + 1 :]), *messages[place + 1 :]]
    return "", messages


def _open_goals(info: AgentInfo, since: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    """The offered achieve tools without a successful call yet, each with a valid input."""
    achieved = {
        part.tool_name
        for message in since
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.outcome == "success"
    }
    return [
        (tool.name, json.dumps((tool.metadata or {})["example"]))
        for tool in info.function_tools
        if "example" in (tool.metadata or {}) and tool.name not in achieved
    ]


def _calls(calls: Sequence[tuple[str, str]]) -> dict[int, DeltaToolCall]:
    return {place: DeltaToolCall(name=name, json_args=arguments) for place, (name, arguments) in enumerate(calls)}


def _told_to_say(messages: Sequence[ModelMessage], info: AgentInfo) -> Iterator[str]:
    """What the system prompt and the skills loaded so far add to each answer."""
    yield from told_to_say(info.instructions or "")
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, ToolReturnPart) and part.tool_name == LOAD_SKILL:
                    yield from told_to_say(part.model_response_str(wrap_if_error=False))


def _text(directives: Directives, said: str, since: Sequence[ModelMessage], says: Sequence[str]) -> str:
    if directives.words is not None:
        return " ".join(_WORDS[place % len(_WORDS)] for place in range(directives.words))
    seed = hashlib.sha256(said.encode()).digest()
    opening = _OPENINGS[seed[0] % len(_OPENINGS)]
    closing = _CLOSINGS[seed[1] % len(_CLOSINGS)]
    about = f" You wrote: “{_short(said)}”." if said else ""
    unread = [f"I could not read `{_short(each)}`." for each in directives.unread]
    return " ".join([f"{opening}{about}{''.join(_on_results(since))}", *unread, *says, closing])


def _on_results(since: Sequence[ModelMessage]) -> Iterator[str]:
    """One sentence per tool result, to show that results reach the model."""
    for message in since:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    verb = "answered" if part.outcome == "success" else "did not work out, it said"
                    said = _short(part.model_response_str(wrap_if_error=False), 160)
                    yield f"\n\n`{part.tool_name}` {verb} `{said}`."


def _short(text: str, length: int = 120) -> str:
    text = text.replace("`", "'")
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def fragments(text: str) -> Iterator[str]:
    """The text in pieces of a few words."""
    words = re.findall(r"\s*\S+", text)
    for place in range(0, len(words), FRAGMENT_WORDS):
        yield "".join(words[place : place + FRAGMENT_WORDS])


_OPENINGS = (
    "Here is what I can tell you.",
    "I looked into this for you.",
    "Good question, let me take it step by step.",
    "This is a simulated answer, and the same words will get it again.",
)
_CLOSINGS = (
    "Tell me if you want me to go deeper into any part of it.",
    "If something in this is not what you expected, rate the answer and say why.",
    "Nothing outside this machine was asked to produce it.",
    "Ask again in other words and you will see another answer.",
)
_WORDS = tuple(
    re.findall(
        r"\w+",
        "the warp holds while the weft goes through and every thread keeps its place so that what was woven "
        "can be read again line by line by anybody who wants to know how it came about",
    )
)
