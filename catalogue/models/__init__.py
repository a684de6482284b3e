"""The tables of the catalogue, one module a concept."""

from catalogue.models.call import Call, DataRef, DemoCount
from catalogue.models.connection import ToolConnection
from catalogue.models.skill import SHARED, Accessibility, Skill, SkillSubscription, SkillVersion
from catalogue.models.tool import Tool, ToolServer, ToolVersion
from catalogue.models.world import World, WorldAnswer, WorldEntity, WorldFixture, WorldTool

__all__ = [
    "SHARED",
    "Accessibility",
    "Call",
    "DataRef",
    "DemoCount",
    "Skill",
    "SkillSubscription",
    "SkillVersion",
    "Tool",
    "ToolConnection",
    "ToolServer",
    "ToolVersion",
    "World",
    "WorldAnswer",
    "WorldEntity",
    "WorldFixture",
    "WorldTool",
]
