"""Feedback: submitting it, triaging it, reading the desk."""

from itertools import count

from bench.figures import EMBEDDED, FULL, Measured, figure
from bench.houses import House
from bench.lines import Caller
from bench.rounds import CLIENTS, Act, in_turn, p50_in_views, rate_beside, rate_of

_NEGATIVE = {"sentiment": "negative", "categories": ["incorrect"], "notes": "Twelve, not ten."}
_DESK = "/v1/ai/admin/feedback?sentiment=negative&limit=50"


@figure("submit feedback, one client, p50", floor="view", at_most={EMBEDDED: 4, FULL: 6})
def submit(house: House) -> Measured:
    return p50_in_views(house, _submitting(house, house.alice(), first=1), rounds=40)


@figure("submit feedback, 8 clients", floor="view", at_most=6)
def submit_at_once(house: House) -> Measured:
    views = [house.view() for _ in range(CLIENTS)]
    clients = [_submitting(house, house.alice(), first=2001 + 1000 * place) for place in range(CLIENTS)]
    return rate_beside(clients, lambda: rate_of(views, 0.5))


@figure("a triage action, p50", floor="view", at_most=5)
def triage(house: House) -> Measured:
    admin = house.admin()
    ids = [each["feedback_id"] for each in admin.call("GET", _DESK)["items"]]
    bodies = ({"resolved": True}, {"admin_note": "Seen."}, {"resolved": False}, {"admin_note": None})
    return p50_in_views(
        house,
        in_turn(admin.prepared("PUT", f"/v1/ai/admin/feedback/{each}", body) for body in bodies for each in ids),
        rounds=40,
    )


@figure("desk as JSON, 50 negative of 10,000, p50", floor="view", at_most=6)
def desk(house: House) -> Measured:
    return p50_in_views(house, house.admin().prepared("GET", _DESK))


def _submitting(house: House, caller: Caller, *, first: int) -> Act:
    """Rate the next answer of a long thread each time, so that every call stores a new report."""
    path, numbers = f"/v1/ai/threads/{house.thread(10_000)}/messages", count(first, 2)
    return lambda: caller.line.ask(caller.request("POST", f"{path}/{next(numbers) % 10_000}/feedback", _NEGATIVE))
