"""The tools of a turn, and who answers each call: the server, a goal, or the client."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.authentication import actor_of_user
from catalogue import calls, naming, offering, schemas, skills
from catalogue.spec import ToolContext, ToolSpec
from catalogue.worlds.in_threads import Stage
from core.prepared import PreparedRow
from threads import goals, transcript
from threads.content import LOAD_SKILL, BlockDict, tool_result, tool_use
from threads.models import ClientTool, Goal, Thread, Turn
from threads.runner.providers.events import Tool, ToolCall
from threads.runner.recorded import NOT_RECORDED, Recorded
from threads.status import GoalStatus
from threads.transcript import Fence, Transcript

INTERRUPTED = (
    "The worker died before the result of this call was stored. It is not known whether the call had an effect; "
    "it was not repeated."
)

_OF_RECORD = "A tool of the recorded conversation: it answers the calls that were made there."

_CLIENT_TOOLS = PreparedRow(lambda thread: ClientTool.objects.filter(thread=thread), ClientTool, int)
_GOALS = PreparedRow(lambda turn: Goal.objects.filter(turn=turn).order_by("id"), Goal, int)


class Toolbox:
    """The tools of one turn, as of when the worker claimed it."""

    def __init__(self, thread: Thread, turn: Turn) -> None:
        self.thread = thread
        self.goals: dict[str, Goal] = goals.by_tool(_GOALS.all(turn.pk))
        self.client = {tool.name: tool for tool in _CLIENT_TOOLS.all(thread.pk)}
        self.skills = _available_skills(thread, turn)
        self._asker_id = turn.requested_by_id
        self._made: dict[str, calls.Made] = {}
        self._stage = None if thread.world_id is None else Stage(thread.world_id)
        self._server = self._server_tools()
        self._by_name: dict[str, ToolSpec | None] = {}
        self._declared = frozenset(self.client) | frozenset(self.goals) | {LOAD_SKILL}
        # A world has no outside effects, so every call is simulated there.
        self._recorded = Recorded(thread, self._one_name) if turn.replays_calls and self._stage is None else None
        self._of_record = self._recorded_tools()

    def _server_tools(self) -> Mapping[str, ToolSpec]:
        """The tools that the server runs; in a world only the simulated ones."""
        found = offering.specs(self.thread.org_id) if self._stage is None else self._stage.specs
        return {name: spec for name, spec in found.items() if name not in self.client}

    def _recorded_tools(self) -> Mapping[str, Tool]:
        """The tools that answered in a conversation that is rerun and are not here, as those of an imported one: by the
        catalogue's description, else by the fields that they were called with.
        """
        found: dict[str, Tool] = {}
        for name, given in self._recorded.tools.items() if self._recorded is not None else ():
            if name in self._declared or naming.is_of_runtime(name) or self._spec(name) is not None:
                continue
            if described := offering.described(self.thread.org_id, name):
                found[name] = Tool(name, described.description, described.input_schema)
            else:
                fields: dict[str, Any] = {field: {} for arguments in given for field in arguments}
                found[name] = Tool(name, _OF_RECORD, {"type": "object", "properties": fields})
        return found

    def offers(self) -> list[Tool]:
        """Everything the model may call: server tools, client tools, and a tool for each pending goal."""
        server = [Tool(name, spec.description, spec.input_schema) for name, spec in self._server.items()]
        client = [Tool(tool.name, tool.description, tool.input_schema) for tool in self.client.values()]
        if self.skills:
            server.append(_skill_offer(self.skills))
        return [
            *server,
            *self._of_record.values(),
            *client,
            *(_goal_offer(name, goal) for name, goal in self.pending_goals().items()),
        ]

    def pending_goals(self) -> Mapping[str, Goal]:
        """The pending goals, by the name of their tool."""
        return {name: goal for name, goal in self.goals.items() if goal.status == GoalStatus.PENDING}

    def use_block(self, call: ToolCall, use_id: str) -> tuple[BlockDict, BlockDict | None]:
        """The block of a call, and its error result if the server refuses it (spec 4.5).

        The block has one name for a tool, however the model wrote it, so that checks, searches and reruns find it.
        """
        call = replace(call, name=self._one_name(call.name))
        reason = self._refusal(call)
        raw = {"arguments": call.verbatim} if call.arguments is None else None
        use = tool_use(call.name, use_id, call.arguments, raw=raw, refused=reason is not None)
        if self._recorded is not None:
            self._recorded.called(use)
        if reason is None:
            return use, None
        refused = tool_result(call.name, use_id, "error", {"error": reason})
        is_told = call.name in self.client or call.name == LOAD_SKILL
        return use, {**refused, "answered_by": "refusal"} if is_told else refused

    def is_clients(self, use: BlockDict) -> bool:
        """Whether the client answers this call."""
        return use["tool_name"] in self.client and not (self._recorded and self._recorded.has(use))

    def answer(self, use: BlockDict, fence: Fence) -> BlockDict:
        """The result of a call that the server or a goal answers. Call it outside of any transaction.

        A catalogue tool may have outside effects: its call is recorded before it is made, and a call that was begun
        before is repeated only if that is harmless (spec 4.4). Raises `LeaseLost` if another worker has the turn.
        """
        name, use_id = use["tool_name"], use["tool_use_id"]
        if name in self.goals:
            return self._attempt(self.goals[name], use)
        if name == LOAD_SKILL:
            return _loaded(self.skills.get(_wanted(use["input"] or {})), use_id)
        if self._recorded is not None and (result := self._recorded.result_of(use)):
            return result
        thread, arguments = self.thread, use["input"] or {}
        if self._stage is not None and self._stage.has(name):
            return self._played(self._stage, use, fence)
        context = ToolContext(thread.thread_id, use_id, thread.analysis_scope, thread.org_id, self._asker_id)
        spec = self._spec(name)
        if self._recorded is not None and not (spec and spec.is_read_only):
            return {**tool_result(name, use_id, "error", {"error": NOT_RECORDED}), "answered_by": "nobody"}
        with transcript.holding(thread.pk, fence):
            call_id = calls.begin(name, spec, arguments, context)
        if call_id is None:
            return tool_result(name, use_id, "error", {"error": INTERRUPTED})
        made = self._made[use_id] = calls.call(name, spec, arguments, replace(context, call_id=call_id))
        return _timed(tool_result(name, use_id, made.status, made.payload, runtime_ms=made.runtime_ms, raw=made.raw))

    def record(self, writer: Transcript, use: BlockDict, result: BlockDict) -> None:
        """Store the outcome of a call, or whether it achieved its goal (spec 4.3), together with its result."""
        goal = self.goals.get(use["tool_name"])
        made = self._made.pop(use["tool_use_id"], None)
        if made is not None:
            calls.finish(use["tool_use_id"], made)
        elif goal is not None and goal.status == GoalStatus.PENDING:
            writer.goals_changed(achieved=_conclude(goal, use, result["status"] == "success"))

    def _refusal(self, call: ToolCall) -> str | None:
        if call.arguments is None:
            return "The arguments are not a JSON object."
        if call.name in self.goals:
            return None
        if call.name == LOAD_SKILL:
            wanted = _wanted(call.arguments)
            return None if wanted in self.skills else f"There is no skill “{wanted[:120]}” to load."
        if call.name in self.client:
            return _client_refusal(self.client[call.name], call.arguments)
        if self._stage is not None and self._stage.has(call.name):
            return None  # the world checks the arguments itself, after its random failures
        spec = self._spec(call.name)
        if spec is None:
            return None if call.name in self._of_record else f"There is no tool {call.name}."
        return calls.refusal(spec, call.arguments)

    def _one_name(self, name: str) -> str:
        """The name under which the called tool is offered; for one that is not, its qualified name (catalogue 3.5)."""
        if name in self._declared or name in self._server:
            return name
        if self._stage is not None:
            return self._stage.only(name) or name
        spec = self._spec(name)
        if spec is None:
            return name
        wanted = spec.qualified_name
        offered = (own for own, other in self._server.items() if other.qualified_name == wanted)
        one = next(offered, wanted)
        return name if one in self._declared else one

    def _spec(self, name: str) -> ToolSpec | None:
        """The server tool with this name, offered or not (catalogue 3.5); a world has only those that it offers."""
        if name in self._server or self._stage is not None:
            return self._server.get(name)
        if name not in self._by_name:
            self._by_name[name] = offering.named(self.thread.org_id, name)
        return self._by_name[name]

    def _played(self, stage: Stage, use: BlockDict, fence: Fence) -> BlockDict:
        """The result from the world. The tool use id is the key, so a second worker gets the first one's result.

        It is made before the thread is locked, and stored under the claim: whoever lost the turn meanwhile stores
        nothing.
        """
        name, use_id, thread = use["tool_name"], use["tool_use_id"], self.thread
        within = partial(transcript.holding, thread.pk, fence)
        made = stage.call(name, use["input"] or {}, thread.thread_id, use_id, self._asker_id, within)
        return tool_result(name, use_id, made.status, made.payload, runtime_ms=made.runtime_ms, raw=made.raw)

    def _attempt(self, goal: Goal, use: BlockDict) -> BlockDict:
        started = time.perf_counter()
        name, use_id = use["tool_name"], use["tool_use_id"]
        is_first = goal.status == GoalStatus.PENDING
        try:
            found = goals.check_attempt(goal.goal_data, use["input"])
        except goals.GoalRefused as refused:
            status, payload = "error", {"achieved": False, "error": str(refused)}
        else:
            status, payload = "success", {"achieved": True}
            if is_first:
                goal.result = found
            else:
                payload["note"] = "It was already achieved."
        runtime_ms = round((time.perf_counter() - started) * 1000)
        return _timed(tool_result(name, use_id, status, payload, runtime_ms=runtime_ms))


def _timed(result: BlockDict) -> BlockDict:
    """Mark a result as measured here, so that a runtime of 0 is real and not missing as in imports."""
    return {**result, "answered_by": "server"}


def _available_skills(thread: Thread, turn: Turn) -> dict[str, Mapping[str, Any]]:
    """The skills that the agent may load, by name (spec 4.2): those frozen at start, else the user's subscriptions.

    Two skills may have the same name (one private, one shared); the second gets a number appended.
    """
    frozen = thread.available_skills
    if frozen is None and not skills.subscribes(turn.requested_by_id):
        return {}
    if frozen is None:
        asker = actor_of_user(turn.requested_by)
        frozen = [skill.as_data() for skill in skills.subscribed_texts(asker, thread.org_id)]
    named: dict[str, Mapping[str, Any]] = {}
    for skill in frozen:
        name, count = skill["name"], 1
        while name in named:
            count += 1
            name = f"{skill['name']}_{count}"
        named[name] = skill
    return named


def _skill_offer(available: Mapping[str, Mapping[str, Any]]) -> Tool:
    listed = "; ".join(f"{name}: {skill['description']}" for name, skill in available.items())
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": list(available)}},
        "required": ["name"],
    }
    return Tool(LOAD_SKILL, f"Load a skill before doing what it is about. Skills: {listed}", schema)


def _wanted(arguments: Mapping[str, Any]) -> str:
    """The skill name in a call; empty, which is never a skill's name, if the model wrote anything but text."""
    name = arguments.get("name")
    return name if isinstance(name, str) else ""


def _loaded(skill: Mapping[str, Any] | None, use_id: str) -> BlockDict:
    """The result with the skill's text, or an error if the skill is gone when a second worker answers."""
    if skill is None:
        gone = tool_result(LOAD_SKILL, use_id, "error", {"error": "This skill is no longer available."})
        return {**gone, "answered_by": "refusal"}
    return {**tool_result(LOAD_SKILL, use_id, "success", dict(skill)), "answered_by": "skill"}


def _conclude(goal: Goal, use: BlockDict, is_success: bool) -> int:
    goal.achieve_tool_use_id = use["tool_use_id"]
    goal.attempt_count += 1
    if is_success:
        goal.status, goal.concluded_at = GoalStatus.ACHIEVED, timezone.now()
    goal.save(update_fields=["achieve_tool_use_id", "attempt_count", "status", "concluded_at", "result"])
    return int(is_success)


def _goal_offer(name: str, goal: Goal) -> Tool:
    kind = goals.REGISTRY[goal.goal_type]
    data = goal.goal_data
    return Tool(name, kind.instruction(data), kind.input_schema(data), kind.example(data))


def _client_refusal(tool: ClientTool, arguments: dict[str, Any]) -> str | None:
    return schemas.problem_of_value(arguments, tool.input_schema, "input")
