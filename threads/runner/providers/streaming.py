"""One streamed model request, through pydantic-ai's direct interface.

The runner is synchronous, like everything that touches the database. The request runs on one event loop thread a
process, which keeps the providers' connections open, and hands its events over through a queue. So the runner can wait
for the next event with a time limit, and store what it has when the model pauses.
"""

import asyncio
import json
import logging
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.tools import ToolDefinition

from threads.content import MessageSnapshot
from threads.profiles import SIMULATED, Profile
from threads.runner.providers import history, simulator
from threads.runner.providers.events import Broken, Finished, ModelEvent, TextFragment, ToolCall

logger = logging.getLogger("heddle.models")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is offered to a model. `example` is what the simulator calls it with."""

    name: str
    description: str
    input_schema: dict[str, Any]
    example: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that one request to a model depends on."""

    profile: Profile
    messages: Sequence[MessageSnapshot]
    tools: Sequence[Tool]
    instructions: str | None = None
    prompt: str | None = None


class Stream:
    """A running request. Close it, or the model goes on talking."""

    def __init__(self, request: ModelRequest) -> None:
        self._events: queue.SimpleQueue[ModelEvent] = queue.SimpleQueue()
        self._task: Future[None] = asyncio.run_coroutine_threadsafe(_talk(request, self._events), event_loop())

    def next(self, timeout: float | None) -> ModelEvent | None:
        """The next event, or None when none came within `timeout` seconds."""
        try:
            return self._events.get(timeout=timeout) if timeout is None or timeout > 0 else self._events.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """Stop the request if it still runs."""
        self._task.cancel()


async def _talk(request: ModelRequest, events: "queue.SimpleQueue[ModelEvent]") -> None:
    """Run the request and put its events; the last one is always `Finished` or `Broken`."""
    try:
        messages = history.of_thread(request.messages, instructions=request.instructions, prompt=request.prompt)
        parameters = ModelRequestParameters(function_tools=[_definition(tool) for tool in request.tools])
        async with model_request_stream(
            _model(request.profile), messages, model_request_parameters=parameters
        ) as stream:
            async for event in stream:
                if text := _text(event):
                    events.put(TextFragment(text))
            for part in stream.get().parts:
                if isinstance(part, ToolCallPart):
                    events.put(_call(part))
            events.put(Finished(stream.usage.input_tokens, stream.usage.output_tokens))
    except asyncio.CancelledError:
        events.put(Broken("cancelled", "The request was stopped."))
        raise
    except Exception as problem:  # providers raise many kinds, and none of them may leave the thread hanging
        logger.warning("model.broken", extra={"profile": request.profile.id, "kind": type(problem).__name__})
        events.put(_broken(problem))


def _text(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _call(part: ToolCallPart) -> ToolCall:
    """Arguments as an object where they are one; what else the model wrote is kept as it is."""
    arguments = part.args
    if isinstance(arguments, str):
        verbatim = arguments
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            return ToolCall(part.tool_name, None, verbatim)
        return ToolCall(part.tool_name, arguments if isinstance(arguments, dict) else None, verbatim)
    return ToolCall(part.tool_name, arguments or {})


def _definition(tool: Tool) -> ToolDefinition:
    metadata = {"example": tool.example} if tool.example is not None else None
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema, metadata=metadata
    )


def _model(profile: Profile) -> Model:
    return simulator.model() if profile.model == SIMULATED else infer_model(profile.model)


_CODES: tuple[tuple[type[Exception], str, str], ...] = (
    (simulator.SimulatedFailure, "simulated_failure", "The simulator was told to fail."),
    (exceptions.ModelRateLimitError, "rate_limited", "The model provider limits how often it is asked."),
    (exceptions.ModelAuthenticationError, "not_authorised", "The model provider refused the configured key."),
    (exceptions.ModelContextWindowExceededError, "context_too_long", "The thread is too long for this model."),
    (exceptions.ContentFilterError, "content_filtered", "The model provider refused this content."),
    (exceptions.ModelTimeoutError, "provider_timeout", "The model provider did not answer in time."),
    (exceptions.ModelConnectionError, "provider_unreachable", "The model provider cannot be reached."),
    (exceptions.ModelOverloadedError, "provider_overloaded", "The model provider is overloaded."),
    (exceptions.ModelHTTPError, "provider_error", "The model provider answered with an error."),
    (exceptions.UserError, "misconfigured", "This model profile is not configured rightly."),
    (ImportError, "misconfigured", "The package of this provider is not installed: `make providers` installs it."),
)


def _broken(problem: Exception) -> Broken:
    for kind, code, message in _CODES:
        if isinstance(problem, kind):
            return Broken(code, message)
    return Broken("generation_failed", "The model broke off in the middle of its answer.")


_thread_loop: asyncio.AbstractEventLoop | None = None
_lock = threading.Lock()


def event_loop() -> asyncio.AbstractEventLoop:
    """The process's event loop, on a thread of its own; made at first use, so after any fork."""
    global _thread_loop
    with _lock:
        if _thread_loop is None:
            _thread_loop = asyncio.new_event_loop()
            threading.Thread(target=_thread_loop.run_forever, name="models", daemon=True).start()
        return _thread_loop
