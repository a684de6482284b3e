"""The demo: two orgs, four users, their threads and ratings, all written for this project."""

from config.demo.loading import load
from config.demo.people import PEOPLE, credentials, with_known_password

__all__ = ["PEOPLE", "credentials", "load", "with_known_password"]
