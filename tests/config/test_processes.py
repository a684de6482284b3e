"""Processes beside the server: a worker and the clock share a queue with it, or do not start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.pure
@pytest.mark.parametrize("arguments", [("worker", "--pool", "threads", "--concurrency", "1"), ("beat",)])
def test_where_nobody_shares_a_queue_neither_worker_nor_clock_starts(tmp_path, arguments):
    """The queue would be one inside the process, and wait for ever."""
    ours = ("HEDDLE_", "DATABASE_URL", "REDIS_URL")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    run = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "config.celery", *arguments],
        cwd=ROOT,
        env={**env, "HEDDLE_DATA_DIR": str(tmp_path), "C_FORCE_ROOT": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "DATABASE_URL and REDIS_URL are not set" in run.stderr
    assert "Traceback" not in run.stderr
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("beat")]
