"""The pipeline that docs/feedback.md prints, as somebody would paste it: bash, curl and python3 against a server."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.live import missing
from tests.sdk.callers import Caller

pytestmark = pytest.mark.live
GUIDE = (Path(__file__).parents[2] / "docs/feedback.md").read_text("utf-8")
[PIPELINE] = re.findall(r"```bash\n(set -eo pipefail\n.+?)```", GUIDE, re.DOTALL)


@pytest.fixture(autouse=True, scope="module")
def tools() -> None:
    """What the pipeline is made of."""
    for name in ("bash", "curl", "python3"):
        if shutil.which(name) is None:
            missing(name)


def run(
    admin: Caller, said: str, *, token: str | None = None, script: str = PIPELINE
) -> subprocess.CompletedProcess[str]:
    """The pipeline on the checks that `said` names, in place of all that a shared server has."""
    setting = f"""
        checks={admin.server.url}/v1/ai/admin/checks; json="Content-Type: application/json"
        auth="Authorization: Bearer {token or admin.server.token("admin")}"
    """
    pasted = setting + script.replace('{"skills": "latest"}', said)
    return subprocess.run(["bash", "-c", pasted], capture_output=True, text=True, timeout=60)


def kept(alice: Caller, admin: Caller, said: str, *expectations: Any) -> tuple[str, str]:
    thread = alice.talk(said)
    report = thread.submit_feedback(1, "negative", [], None)
    path = f"admin/feedback/{report.feedback_id}/check"
    status, content = admin.fetch(path, {"expectations": list(expectations)}, "PUT")
    assert status == 200, content
    return path, f'{{"check_ids": ["{content["data"]["check_id"]}"]}}'


def test_it_is_green_until_something_turns_failing(alice: Caller, admin: Caller) -> None:
    path, these = kept(alice, admin, "Where is it?", {"kind": "never_calls", "value": "refund"})
    for word in ("first result", "as before"):
        done = run(admin, these)
        assert (done.returncode, done.stdout) == (0, f"passing - {word} - Where is it?\n"), done.stderr
    admin.fetch(path, {"expectations": [{"kind": "calls", "value": "refund"}]}, "PUT")
    (latest, *_) = admin.get(path)["runs"]
    admin.fetch(f"admin/checks/runs/{latest['run_id']}/verdict", {"verdict": "passed"}, "PUT")
    done = run(admin, these)
    assert (done.returncode, done.stdout) == (1, "failing - turned - Where is it?\n"), done.stderr
    done = run(admin, these)
    assert (done.returncode, done.stdout) == (0, "failing - as before - Where is it?\n"), done.stderr


def test_a_check_that_never_passed_is_green_unless_the_pipeline_is_strict(alice: Caller, admin: Caller) -> None:
    """A check for a complaint that nobody has mended yet starts failing."""
    _, these = kept(alice, admin, "Where is it?", {"kind": "calls", "value": "refund"})
    done = run(admin, these)
    assert (done.returncode, done.stdout) == (0, "failing - first result - Where is it?\n"), done.stderr
    [switch] = re.findall(r"To be strict.+? add `(or .+?)` in the last line", GUIDE)
    done = run(admin, these, script=PIPELINE.replace("))' <<<", f" {switch}))' <<<"))
    assert (done.returncode, done.stdout) == (1, "failing - as before - Where is it?\n"), done.stderr


def test_what_people_judge_is_green_and_waits_for_them(alice: Caller, admin: Caller) -> None:
    """Otherwise every build would be red until somebody has looked."""
    _, these = kept(alice, admin, "Is it kind?")
    done = run(admin, these)
    first, second = done.stdout.splitlines()
    assert (done.returncode, first) == (0, "undecided - first result - Is it kind?"), done.stderr
    assert re.fullmatch(r"to judge: 1 in /feedback/checks/batches/bat_\w+", second)
    [switch] = re.findall(r"until people have judged, `(or .+?)`", GUIDE)
    assert run(admin, these, script=PIPELINE.replace("))' <<<", f" {switch}))' <<<")).returncode == 1


def test_what_broke_is_not_green(alice: Caller, admin: Caller) -> None:
    _, these = kept(alice, admin, "[[fail]] Where is it?", {"kind": "never_calls", "value": "refund"})
    done = run(admin, these)
    assert (done.returncode, done.stdout) == (1, "undecided - first result - [[fail]] Where is it?\n"), done.stderr


@pytest.mark.parametrize(
    ("said", "token", "reason"),
    [
        ('{"skills": "latest"}', "nobodys", "RobotoUnauthorizedException"),
        ('{"check_ids": ["chk_nothing"]}', None, "chk_nothing"),
    ],
)
def test_what_is_refused_ends_it_with_the_reason(admin: Caller, said: str, token: str | None, reason: str) -> None:
    done = run(admin, said, token=token)
    assert done.returncode == 1 and reason in done.stderr and "Traceback" not in done.stderr
