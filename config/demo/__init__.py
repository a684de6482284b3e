"""The demo: two orgs, four users, their threads and ratings, all written for this project."""

from config.demo.loading import load
from config.demo.people import PEOPLE, credentials

__all__ = ["PEOPLE", "credentials", "load"]
