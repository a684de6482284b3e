"""What differs between two versions of an agent, by the fields of its form."""

from collections.abc import Iterator
from dataclasses import dataclass

from core import forms
from core.actor import Actor
from core.differences import Difference, Work, compared
from threads import drafting
from threads.models import AgentVersion

_LABELS = {
    "name": "Name",
    "description": "Description",
    "text": "Request",
    "messages": "Messages",
    "system_prompt": "System prompt",
    "model_profile": "Model profile",
    "invoke_skills": "Preloaded skills",
    "available_skills": "Skills it may load",
    "goals": "Goals",
    "variables": "Variables",
    "client_tools": "Client tools",
    "start_time": "Scope from",
    "end_time": "Scope to",
    "visibility": "Default visibility",
    "client_context": "On screen",
    "world_id": "World",
}
"""The fields in the order of the form, as it names them."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A field that differs: its name, its label, and how."""

    name: str
    label: str
    difference: Difference


def changes(actor: Actor, old: AgentVersion, new: AgentVersion) -> list[Changed]:
    """The fields that differ, as the actor's form shows them."""
    return list(_changes(_texts(actor, old), _texts(actor, new)))


def _changes(before: dict[str, str], after: dict[str, str]) -> Iterator[Changed]:
    work = Work()
    for name, label in _LABELS.items():
        if before[name] != after[name]:
            yield Changed(name, label, compared(before[name], after[name], work))


def _texts(actor: Actor, version: AgentVersion) -> dict[str, str]:
    fields = drafting.typed_of(actor, version).fields
    if fields["available"] == "subscribed":
        fields["available_skills"] = "those that its user subscribed to"
    template = version.request_template
    return fields | {
        "goals": forms.json_typed(template.get("goals") or None),
        "variables": forms.json_typed(version.variables or None),
        "world_id": template.get("world_id") or "",
    }
