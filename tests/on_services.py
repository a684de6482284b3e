"""Run the tests once more on PostgreSQL and Redis, where they are found: `python -m tests.on_services`.

Django settles its database at start, so the other way of running is another run and not another fixture.
"""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import redis

POSTGRES = os.environ.get("HEDDLE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("HEDDLE_TEST_REDIS_URL", "redis://127.0.0.1:6379/9")
PURE = ("architecture", "contract", "feedback", "providers", "threads")
"""Folders whose tests say the same whatever the database is."""
LIVE = ("chaos", "crash", "e2e", "sdk")
"""Folders whose tests drive servers of both ways, in the first run already."""


def missing(queue: str = REDIS) -> str:
    """What is not there, or nothing."""
    try:
        psycopg.connect(POSTGRES, connect_timeout=2).close()
    except psycopg.Error:
        return "PostgreSQL"
    try:
        redis.Redis.from_url(queue, socket_connect_timeout=2).ping()
    except redis.RedisError:
        return "Redis"
    return ""


def main() -> int:
    if what := missing():
        print(f"The run on PostgreSQL and Redis is skipped: {what} was not found.")
        return int(os.environ.get("HEDDLE_REQUIRE_SERVICES") == "1")
    env = {**os.environ, "DATABASE_URL": POSTGRES, "REDIS_URL": REDIS, "HEDDLE_QUEUE_PREFIX": f"test-{os.getpid()}"}
    # Nothing here survives its test, so no commit needs to wait for the disk.
    env.setdefault("PGOPTIONS", "-c synchronous_commit=off")
    # Nothing in these would be chosen, and reading them is half of what a worker does before its first test.
    passed_over = [f"--ignore=tests/{folder}" for folder in (*PURE, *LIVE)]
    command = [sys.executable, "-m", "pytest", "-n", "2", "-m", "not live and not pure", *passed_over, *sys.argv[1:]]
    return subprocess.call(command, cwd=Path(__file__).parent.parent, env=env)


if __name__ == "__main__":
    sys.exit(main())
