"""Nothing lost: every invariant of a small chaos run, the same code as `make chaos`."""

from pathlib import Path

import pytest

from tests.chaos.play import WAYS, Plan, play, stage

pytestmark = pytest.mark.live
SMALL = Plan(seed="e", turns=20, clients=8, minutes=2, strikes=3)


@pytest.mark.parametrize("way", WAYS)
def test_whatever_falls_over_every_message_is_answered_once_and_nothing_is_done_twice(way: str, tmp_path: Path) -> None:
    """B79, B80, B86, B93, B162, 1.5, 4.4: twenty turns while workers, servers, broker and database go away."""
    with stage(way, tmp_path) as server:
        report = play(server, SMALL)
    assert report.strikes, report
    assert not report.has_losses, f"\n{report}"
    assert all(invariant.seen for invariant in report.invariants), f"\n{report}"
