"""Processes that hash texts in different ways, for what must not depend on the order of a set."""

import subprocess
import sys


def printed(code: str, *arguments: str) -> list[bytes]:
    """What the same code prints in each of two such processes."""
    return [
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
