"""The sweep of single-process mode: work left by a dead process is freed once, this process's own work is not."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config import embedded
from feedback import bulk_work
from feedback.checks import running
from feedback.webhooks import sending
from tests import make
from threads.models import Turn
from threads.runner import claims
from threads.status import TurnState

pytestmark = pytest.mark.django_db
LEASE = timedelta(seconds=30)


class Over(BaseException):
    """Raised to end the sweep loop."""


@pytest.fixture
def rounds(monkeypatch):
    """`rounds(between, ...)`: sweep, and call each of these in the pause after a round."""

    def sweep(*between):
        pauses = iter(between)

        def pause(seconds):
            do = next(pauses, None)
            if do is None:
                raise Over
            do()

        monkeypatch.setattr(embedded, "give_connection_back", lambda: None)
        with pytest.raises(Over):
            embedded._sweep(pause)

    return sweep


def taken_up(turn):
    Turn.objects.filter(pk=turn.pk).update(
        state=TurnState.RUNNING, attempt=1, lease_until=timezone.now() + LEASE, worker="here"
    )


def is_held(turn):
    return Turn.objects.get(pk=turn.pk).lease_until > timezone.now()


def raising(*_, **__):
    raise RuntimeError("one run cannot be judged")


def test_what_a_process_that_died_was_at_is_free_at_once(who, rounds):
    turn = Turn.objects.get(thread=make.thread(who.alice, run=False))
    taken_up(turn)
    rounds()
    assert not is_held(turn)


@pytest.mark.parametrize(("of", "name"), [(running, "go_on"), (bulk_work, "sweep"), (sending, "sweep")])
def test_a_turn_that_runs_here_is_never_free_whatever_else_fails(who, rounds, monkeypatch, of, name):
    turn = Turn.objects.get(thread=make.thread(who.alice, run=False))
    monkeypatch.setattr(of, name, raising)
    rounds(lambda: taken_up(turn), lambda: None)
    assert is_held(turn)


def test_each_kind_is_freed_until_that_was_done_once_and_none_waits_for_another(rounds, monkeypatch):
    seen = {}

    def noting(module):
        def sweep(*, orphans=False):
            seen.setdefault(module.__name__, []).append(orphans)
            if module is claims and len(seen[module.__name__]) == 1:
                raise RuntimeError("the database is away")

        return sweep

    for module in (claims, bulk_work, sending):
        monkeypatch.setattr(module, "sweep", noting(module))
    monkeypatch.setattr(running, "go_on", raising)
    rounds(lambda: None)
    assert seen["threads.runner.claims"] == [True, False, True, False]
    assert seen["feedback.bulk_work"] == seen["feedback.webhooks.sending"] == [True, False, False]
