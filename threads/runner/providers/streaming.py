"""Streamed model requests through pydantic-ai's direct interface.

The runner is synchronous, like all code that uses the database. Requests run on one event loop thread per process,
which keeps the providers' connections open, and pass their events through a queue. So the runner can wait for the next
event with a timeout, and store what it has when the model pauses.
"""

import asyncio
import json
import logging
import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponse as Response
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.tools import ToolDefinition

from core.bodies import check_storable
from core.errors import InvalidRequest
from threads.content import MessageSnapshot
from threads.profiles import Profile
from threads.runner.providers import building, failures, history
from threads.runner.providers.events import Broken, Finished, ModelEvent, TextFragment, Tool, ToolCall, Usage

logger = logging.getLogger("heddle.models")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The input of one model request."""

    profile: Profile
    messages: Sequence[MessageSnapshot]
    tools: Sequence[Tool]
    instructions: str | None = None
    prompt: str | None = None


class Stream:
    """A running request. It must be closed, or it keeps running."""

    def __init__(self, request: ModelRequest) -> None:
        self._events: queue.SimpleQueue[ModelEvent] = queue.SimpleQueue()
        self._task: Future[None] | None = None
        try:
            # Not on the event loop: the first call imports the provider's package, which would block other streams.
            model = building.model_of(request.profile)
        except Exception as problem:
            self._events.put(_broken(request.profile, problem, None))
            return
        self._task = asyncio.run_coroutine_threadsafe(_talk(model, request, self._events), event_loop())

    def next(self, timeout: float | None) -> ModelEvent | None:
        """The next event, or None if there is none within `timeout` seconds."""
        try:
            return self._events.get(timeout=timeout) if timeout is None or timeout > 0 else self._events.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """Stop the request if it is still running."""
        if self._task is not None:
            self._task.cancel()


async def _talk(model: Model, request: ModelRequest, events: "queue.SimpleQueue[ModelEvent]") -> None:
    """Run the request and put its events into the queue; the last one is always `Finished` or `Broken`.

    One timeout covers the connection, the first fragment and every pause; each event restarts it.
    """
    profile, limit = request.profile, request.profile.silence_limit
    usage: Usage | None = None
    try:
        messages = history.of_thread(request.messages, instructions=request.instructions, prompt=request.prompt)
        parameters = ModelRequestParameters(function_tools=[_definition(tool) for tool in request.tools])
        async with (
            asyncio.timeout(limit) as silence,
            model_request_stream(
                model,
                messages,
                model_settings=building.settings_of(profile),
                model_request_parameters=parameters,
            ) as stream,
        ):
            async for event in stream:
                # Set only now: the first thing to arrive may be an error, before any part of an answer.
                usage = _used(stream)
                if limit is not None:
                    silence.reschedule(asyncio.get_running_loop().time() + limit)
                if text := _text(event):
                    events.put(TextFragment(text))
        for ending in _ending(profile, stream.get()):
            events.put(ending)
    except asyncio.CancelledError:
        events.put(Broken("cancelled", "The request was stopped."))
        raise
    except Exception as problem:  # providers raise many kinds of errors, and none may leave the thread hanging
        events.put(_broken(profile, problem, usage))


def _broken(profile: Profile, problem: Exception, usage: Usage | None) -> Broken:
    broken = failures.of_exception(problem, usage)
    logger.warning("model.broken", extra={"profile": profile.id, "kind": type(problem).__name__, "code": broken.code})
    return broken


def _used(stream: StreamedResponse) -> Usage:
    """The usage of an interrupted answer, as far as the provider reported it. The cost is unknown."""
    return Usage(stream.usage.input_tokens, stream.usage.output_tokens, stream.model_name)


def _ending(profile: Profile, response: Response) -> Iterator[ModelEvent]:
    """The calls and the end of an answer, or its error. Calls of an incomplete answer are never made."""
    cost = building.cost_of(profile, response)
    usage = Usage(response.usage.input_tokens, response.usage.output_tokens, response.model_name or "", cost)
    has_reason = response.finish_reason == "content_filter" or (response.provider_details or {}).get("finish_reason")
    if building.tells_its_end(profile) and not has_reason:
        yield failures.of_exception(failures.BrokenOff(), replace(usage, cost=None))
    elif broken := failures.of_response(response, usage):
        yield broken
    else:
        yield from (_call(part) for part in response.parts if isinstance(part, ToolCallPart))
        yield Finished(usage)


def _text(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _call(part: ToolCallPart) -> ToolCall:
    """A call with its arguments as an object if they are one that can be stored; anything else is kept verbatim.

    Half of a surrogate pair would make the thread unreadable, and NaN cannot be stored: a request body may not hold
    them, and neither may a model's call.
    """
    given = part.args or {}
    verbatim = given if isinstance(given, str) else json.dumps(given)
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
        check_storable(arguments)
    except (ValueError, RecursionError, InvalidRequest):
        return ToolCall(part.tool_name, None, verbatim)
    return ToolCall(part.tool_name, arguments if isinstance(arguments, dict) else None, verbatim)


def _definition(tool: Tool) -> ToolDefinition:
    metadata = {"example": tool.example} if tool.example is not None else None
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema, metadata=metadata
    )


_thread_loop: asyncio.AbstractEventLoop | None = None
_lock = threading.Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """The process's event loop on its own thread, created at first use and so after any process fork."""
    global _thread_loop
    with _lock:
        if _thread_loop is None:
            _thread_loop = asyncio.new_event_loop()
            threading.Thread(target=_thread_loop.run_forever, name="models", daemon=True).start()
        return _thread_loop
