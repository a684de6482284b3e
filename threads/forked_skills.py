"""Which skills of a thread are copied into a fork: somebody else gets only what they may read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from catalogue import skills
from catalogue.skills import SkillText
from core.actor import Actor
from threads.content import LOAD_SKILL, BlockDict

Texts = dict[str, SkillText]
"""By skill id."""
_TEXT = TypeAdapter(SkillText)


@dataclass(frozen=True, slots=True)
class Skills:
    """`offered`: skills that the agent could load itself, or did; `invoked`: skills that requests loaded for it."""

    offered: Texts = field(default_factory=dict)
    invoked: Texts = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """The ids of all of them."""
        return [*self.offered, *self.invoked]

    def told_by(self, versions: Iterable[SkillText]) -> "Skills":
        """The same skills, replaced by these versions where there is one."""
        words = {text.skill_id: text for text in versions}
        offered, invoked = (
            {skill_id: words.get(skill_id, text) for skill_id, text in texts.items()}
            for texts in (self.offered, self.invoked)
        )
        return Skills(offered, invoked)


def kept(frozen: Iterable[dict[str, Any]]) -> Texts:
    """The skills that are frozen into a thread."""
    return {skill["skill_id"]: SkillText(**skill) for skill in frozen}


def shown(blocks: Iterable[BlockDict]) -> Skills:
    """The skills whose text appears in some blocks, with that text. Calls made for an invoked skill name a version.

    An imported result of that tool name may hold anything else and is then ignored.
    """
    found = Skills()
    wishes: dict[str, Any] = {}
    for block in blocks:
        if block.get("tool_name") != LOAD_SKILL:
            continue
        if block["content_type"] == "tool_use":
            wishes[block["tool_use_id"]] = block["input"] or {}
        elif block["status"] == "success" and (text := _text(block["payload"])):
            texts = found.invoked if "version" in wishes.get(block["tool_use_id"], {}) else found.offered
            texts[text.skill_id] = text
    return found


def lent(actor: Actor, had: Skills, transcript: Skills) -> Skills:
    """The skills of another user's thread that the actor may have: those they can see, and others only as far as the
    transcript already shows their text. Platform admins get all of them.
    """
    if actor.is_admin:
        return had
    seen = {skill.skill_id for skill in skills.known(actor, had.ids)}

    def readable(texts: Texts, words: Texts) -> Texts:
        found = {skill_id: text if skill_id in seen else words.get(skill_id) for skill_id, text in texts.items()}
        return {skill_id: text for skill_id, text in found.items() if text is not None}

    offered = readable(had.offered, {**transcript.invoked, **transcript.offered})
    return Skills(offered, readable(had.invoked, transcript.invoked))


def _text(payload: object) -> SkillText | None:
    try:
        return _TEXT.validate_python(payload)
    except ValidationError:
        return None
