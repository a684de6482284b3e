"""Tools that do something outside of Heddle: each call appends a line to a file that no crash takes back."""

import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.apps import AppConfig

from catalogue.spec import ToolContext, ToolSpec

POST, STAMP = "chaos_post", "chaos_stamp"
FILE = "CHAOS_EFFECTS"


def leave_a_mark(arguments: Mapping[str, Any], context: ToolContext) -> Any:
    """One line in one write, some time after the call began and some time before it ends."""
    time.sleep(arguments["before"])
    line = os.open(os.environ[FILE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(line, f"{context.tool_use_id}\n".encode())
    finally:
        os.close(line)
    time.sleep(arguments["after"])
    return {"n": arguments["n"]}


def marks(file: Path) -> Counter[str]:
    """How often each tool use had its effect."""
    return Counter(file.read_text().split()) if file.exists() else Counter()


class Effects(AppConfig):
    """Offers both tools; only the second may be repeated."""

    name = "tests.chaos"
    label = "chaos"

    def ready(self) -> None:
        from catalogue import builtin  # which knows models, and this module is read before there are any

        schema = {"type": "object", "required": ["n", "before", "after"]}
        for name, may_repeat in ((POST, False), (STAMP, True)):
            spec = ToolSpec(name, "Leave a mark.", schema, leave_a_mark, is_idempotent=may_repeat)
            builtin.TOOLS[name] = spec
