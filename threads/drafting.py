"""The agent form: converts a template to form fields and back without loss (G1, G5, G7)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.http import QueryDict

from catalogue import skills
from core import bodies, forms
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from threads import draft_rows, instants
from threads.draft_rows import Rows
from threads.models import Agent, AgentVersion

SKILLS = ("invoke_skills", "available_skills")
RARE = ("client_tools", "start_time", "end_time", "visibility", "client_context", "messages")
"""Fields that are folded while empty."""
SCOPE = ("analysis_scope.start_time", "analysis_scope.end_time", "analysis_scope")
FIELDS = (
    "name",
    "description",
    "text",
    "messages",
    "model_profile",
    "system_prompt",
    "invoke_skills",
    "available_skills",
    "goals",
    "client_tools",
    "variables",
    "variables_json",
    "client_context",
    "visibility",
    *SCOPE,
)
"""The paths in the request that an error can name."""
TYPED_AS = {
    "analysis_scope.start_time": "start_time",
    "analysis_scope.end_time": "end_time",
    "analysis_scope": "start_time",
}
"""The form field for a path, if the names differ."""
_JSON = ("messages", "client_tools", "client_context")
_IN_ROWS = ("goals", "variables", "variables_json")
SAMPLES: Mapping[str, Any] = {
    "goals": {
        "output_schema": {"type": "object", "required": ["docks"], "properties": {"docks": {"type": "integer"}}},
        "instruction": "The figures for {{station}}.",
    },
    "client_tools": [
        {
            "name": "show_on_map",
            "description": "Show stations on the map that the person has open.",
            "input_schema": {
                "type": "object",
                "required": ["stations"],
                "properties": {"stations": {"type": "array", "items": {"type": "string"}}},
            },
        }
    ],
    "variables_json": [{"name": "flights", "type": "collection_id", "collection_content_type": "dataset"}],
    "client_context": {"view_ids": ["stations-near-stadium"], "misc_context": {"floor": 2}},
    "messages": [
        {"role": "user", "content": [{"text": "What is wrong at {{station}}?"}]},
        {"role": "assistant", "content": [{"text": "Two docks do not answer."}]},
        {"role": "user", "content": [{"text": "Then write the repair order."}]},
    ],
}
"""An example for each JSON field."""
_VALUE = "value."

Typed = dict[str, str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of an agent form: its fields and its rows."""

    fields: Typed
    rows: Rows


def typed(data: QueryDict) -> Draft:
    """The content of a sent form. Ticked skills come before typed ones."""
    single = (field for field in FIELDS if "." not in field and field not in _IN_ROWS)
    names = (*single, "start_time", "end_time", "available")
    found = {name: forms.lines(data.get(name, "")) for name in names}
    for name in SKILLS:
        found[name] = "\n".join([*data.getlist(f"{name}_ticked"), *([found[name]] if found[name] else [])])
    return Draft(found, draft_rows.typed(data))


@dataclass(frozen=True, slots=True)
class Picks:
    """Skills as checkboxes, ticked ones first, and the lines that no checkbox can express."""

    offered: list[str]
    ticked: list[str]
    others: str


def picks(lines: str, names: Sequence[str]) -> Picks:
    """Turn leading lines that are plain names into ticks; from the first other line on, lines stay text, in order."""
    rows = list(_written(lines))
    ticked = list(takewhile(lambda row: row in names and rows.count(row) == 1, rows))
    others = "\n".join(rows[len(ticked) :])
    return Picks([*ticked, *(name for name in names if name not in ticked)], ticked, others)


def blank() -> Draft:
    """An empty form."""
    draft = typed(QueryDict())
    return Draft(draft.fields | {"available": "subscribed"}, draft.rows)


def typed_of(actor: Actor, agent: Agent | AgentVersion) -> Draft:
    """An agent, or a version of one, as form content."""
    template, scope = agent.request_template, agent.request_template.get("analysis_scope") or {}
    text = _single_text(template.get("messages") or [])
    available = template.get("available_skills")
    names = _names(actor, agent)
    fields = {
        "name": agent.name,
        "description": agent.description or "",
        "text": text or "",
        "messages": "" if text is not None else forms.json_typed(template.get("messages") or None),
        "model_profile": template.get("model_profile") or "",
        "system_prompt": template.get("system_prompt") or "",
        "invoke_skills": _skill_lines(template.get("invoke_skills") or [], names),
        "available": "subscribed" if available is None else "listed",
        "available_skills": _skill_lines(available or [], names),
        "client_tools": forms.json_typed(template.get("client_tools") or None),
        "start_time": instants.instant(scope.get("start_time")),
        "end_time": instants.instant(scope.get("end_time")),
        "client_context": forms.json_typed(template.get("client_context")),
        "visibility": template.get("visibility") or "",
    }
    return Draft(fields, draft_rows.typed_of(agent.variables, template.get("goals") or []))


def body_of(actor: Actor, org_id: int, draft: Draft) -> dict[str, Any]:
    """The request body of a form; raises `InvalidRequest` with all errors at once."""
    reading, form = _Reading(), draft.fields
    read = {name: reading.of(forms.json_of, name, form[name]) for name in _JSON}
    template: dict[str, Any] = {name: read[name] for name in _JSON if read[name] is not None}
    filled = [row for row in draft.rows.goals if not row.is_blank]
    if filled:
        template["goals"] = [reading.of(draft_rows.goal_value, f"goals.{at}", row) for at, row in enumerate(filled)]
    variables = reading.of(lambda _, rows: draft_rows.variable_values(rows), "", draft.rows)
    if form["text"].strip():
        if "messages" in template:
            reading.refuse("messages: the request above is filled in too; use one of the two")
        template["messages"] = [{"role": "user", "content": [{"text": form["text"]}]}]
    for name in ("model_profile", "visibility"):
        if form[name].strip():
            template[name] = form[name].strip()
    if form["system_prompt"]:
        template["system_prompt"] = form["system_prompt"]
    if invoked := reading.of(_skills_typed, "invoke_skills", form["invoke_skills"], actor, org_id):
        template["invoke_skills"] = invoked
    if form["available"] == "listed":
        given = reading.of(_skills_typed, "available_skills", form["available_skills"], actor, org_id)
        template["available_skills"] = given
    if scope := _scope(reading, form):
        template["analysis_scope"] = scope
    plain = {"name": form["name"].strip(), "description": form["description"] or None}
    reading.of(lambda _, value: bodies.check_storable(value), "", {**plain, **template, "variables": variables})
    reading.end()
    return {**plain, "request_template": template, "variables": variables}


@dataclass(frozen=True, slots=True)
class Blank:
    """A variable as a field of the launch form."""

    name: str
    type: str
    description: str
    value: str
    is_required: bool
    error: str = ""

    @property
    def field(self) -> str:
        """The name of the form field."""
        return _VALUE + self.name


def blanks(agent: Agent, data: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None) -> list[Blank]:
    """The fields of the launch form, with the typed values or the defaults."""
    return [
        Blank(
            name=variable["name"],
            type=variable["type"],
            description=variable.get("description") or "",
            value=(data or {}).get(_VALUE + variable["name"], variable.get("default") or ""),
            is_required=variable.get("required", True),
            error=(errors or {}).get(f"values.{variable['name']}", ""),
        )
        for variable in agent.variables
    ]


def launch_body(agent: Agent, data: Mapping[str, str]) -> dict[str, Any]:
    """The request body of a launch (G7). A required value that is blank counts as missing; others are sent as typed."""
    reading = _Reading()
    values = {
        variable["name"]: forms.lines(data[_VALUE + variable["name"]])
        for variable in agent.variables
        if _VALUE + variable["name"] in data
    }
    for variable in agent.variables:
        if variable.get("required", True) and not values.get(variable["name"], "").strip():
            reading.refuse(f"values.{variable['name']}: is required")
    body: dict[str, Any] = {"values": values, "visibility": data.get("visibility", "org")}
    if scope := _scope(reading, data):
        body["analysis_scope"] = scope
    reading.of(lambda _, value: bodies.check_storable(value), "", body)
    reading.end()
    return body


class _Reading:
    """Collects the errors of several fields, so that a form can show all of them at once."""

    def __init__(self) -> None:
        self.problems: list[InvalidRequest] = []

    def of(self, read: Callable[..., Any], field: str, *given: Any) -> Any:
        try:
            return read(field, *given)
        except InvalidRequest as problem:
            self.problems.append(problem)
            return None

    def refuse(self, message: str) -> None:
        self.problems.append(InvalidRequest(message))

    def end(self) -> None:
        if self.problems:
            raise forms.together(self.problems)


def _scope(reading: _Reading, form: Mapping[str, str]) -> dict[str, int]:
    ends = {end: reading.of(_instant, end, form.get(end, "")) for end in ("start_time", "end_time")}
    return {end: value for end, value in ends.items() if value is not None}


def _instant(field: str, text: str) -> int | None:
    if not text.strip():
        return None
    try:
        return instants.nanoseconds(text)
    except (ValueError, OverflowError):
        raise InvalidRequest(
            f"analysis_scope.{field}: is not a time; write 2026-05-12T08:00Z, or nanoseconds since 1970"
        ) from None


def _single_text(messages: list[Any]) -> str | None:
    """The text of a template whose only message is one text from the user; None for any other."""
    if len(messages) != 1 or messages[0]["role"] != "user" or len(messages[0]["content"]) != 1:
        return None
    block = messages[0]["content"][0]
    is_plain = set(messages[0]) == {"role", "content"} and set(block) <= {"text", "content_type"} and "text" in block
    text: str = block["text"] if is_plain else ""
    # A browser drops carriage returns and a leading newline.
    return text if is_plain and "\r" not in text and not text.startswith("\n") else None


def _skills_typed(field: str, text: str, actor: Actor, org_id: int) -> list[dict[str, Any]]:
    return [_skill_typed(f"{field}.{at}", line, actor, org_id) for at, line in enumerate(_written(text))]


def _written(text: str) -> Iterator[str]:
    yield from (line.strip() for line in text.split("\n") if line.strip())


def _skill_typed(field: str, line: str, actor: Actor, org_id: int) -> dict[str, Any]:
    """Parse `name` or `name 2`; an id or a placeholder may replace the name."""
    name, _, last = line.rpartition(" ")
    number = bodies.number(last) if name else None
    name = (line if number is None else name).strip()
    version = {} if number is None else {"version": number}
    if name.startswith("sk_") or "{{" in name:
        return {"skill_id": name, **version}
    try:
        bodies.check_storable(name)
        return {"skill_id": skills.skill_named(actor, org_id, name).skill_id, **version}
    except (NotFound, InvalidRequest):
        raise InvalidRequest(f"{field}: there is no skill {name[:80]!r} that you can see") from None


def _skill_lines(wanted: list[dict[str, Any]], names: Mapping[str, str]) -> str:
    rows = ((names.get(each["skill_id"], each["skill_id"]), each.get("version")) for each in wanted)
    return "\n".join(f"{name} {version}" if version else name for name, version in rows)


def _names(actor: Actor, agent: Agent | AgentVersion) -> dict[str, str]:
    """Names by id, for the skills that these names resolve to for the reader."""
    template = agent.request_template
    wanted = [*(template.get("invoke_skills") or []), *(template.get("available_skills") or [])]
    known = skills.known(actor, [each["skill_id"] for each in wanted])
    meant = skills.skills_named(actor, agent.org_id, [skill.name for skill in known])
    return {skill.skill_id: skill.name for skill in known if meant.get(skill.name) == skill}
