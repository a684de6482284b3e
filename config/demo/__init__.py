"""The demo: two orgs, four people, and what they said to an agent and of its answers, all made for this project."""

from config.demo.loading import load
from config.demo.people import PEOPLE, credentials

__all__ = ["PEOPLE", "credentials", "load"]
