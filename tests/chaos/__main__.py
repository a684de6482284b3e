"""The chaos run as a command: `make chaos`, or `make chaos ARGS="--seed 7 --turns 500 --way full"`."""

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.chaos.play import WAYS, Plan, play, stage


def main() -> int:
    """Play each way once; exit code 1 on any loss."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", default=secrets.token_hex(3), help="the same seed plans the same run")
    parser.add_argument("--turns", type=int, default=Plan.turns, help="turns a way")
    parser.add_argument("--clients", type=int, default=Plan.clients)
    parser.add_argument("--minutes", type=float, default=Plan.minutes, help="a run that is not over by then has lost")
    parser.add_argument("--way", choices=WAYS, action="append", help="one of the two ways; both if left out")
    parser.add_argument("--keep", type=Path, help="keep logs, effects and SQLite in this folder")
    asked = parser.parse_args()
    plan = Plan(seed=asked.seed, turns=asked.turns, clients=asked.clients, minutes=asked.minutes)
    has_losses = False
    for way in asked.way or WAYS:
        with tempfile.TemporaryDirectory() as passing:
            folder = (asked.keep or Path(passing)) / f"{way}-{plan.seed}"
            folder.mkdir(parents=True)
            with stage(way, folder) as server:
                report = play(server, plan)
        print(report, flush=True)
        has_losses |= report.has_losses
    return int(has_losses)


if __name__ == "__main__":
    sys.exit(main())
