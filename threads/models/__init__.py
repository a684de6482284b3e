"""The models of the threads app."""

from threads.models.agent import Agent, AgentVersion
from threads.models.goal import ClientTool, Goal
from threads.models.index import Unindexed, UsedTool
from threads.models.message import Block, Message
from threads.models.thread import Pin, Rewind, Subject, Thread
from threads.models.turn import Turn

__all__ = [
    "Agent",
    "AgentVersion",
    "Block",
    "ClientTool",
    "Goal",
    "Message",
    "Pin",
    "Rewind",
    "Subject",
    "Thread",
    "Turn",
    "Unindexed",
    "UsedTool",
]
