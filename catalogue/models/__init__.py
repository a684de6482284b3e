"""The tables of the catalogue, one module a concept."""

from catalogue.models.call import Call
from catalogue.models.skill import SHARED, Accessibility, Skill, SkillSubscription, SkillVersion
from catalogue.models.tool import Tool, ToolServer, ToolVersion

__all__ = [
    "SHARED",
    "Accessibility",
    "Call",
    "Skill",
    "SkillSubscription",
    "SkillVersion",
    "Tool",
    "ToolServer",
    "ToolVersion",
]
