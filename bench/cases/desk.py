"""The desk at three sizes: list, queries, completion, similar reports. Slow, because it loads the reports first."""

from functools import partial
from urllib.parse import quote

from bench.cases import rating
from bench.figures import Measure, Measured, figure
from bench.houses import House
from bench.rounds import p50_in_views

SIZES = (10_000, 100_000, 1_000_000)
_LIST = "/v1/ai/admin/feedback"
_QUERIES = {
    "unclaimed": "is:open -has:owner -is:snoozed",
    "negative open": "is:open sentiment:negative",
    "resolved this week": "resolved:<7d",
    "a common word": "refund",
    "rare words side by side": '"canoe walnut"',
    "a tool and a label": 'tool:calculate label:"tool bug" is:open',
    "an error of long ago": "error:provider_timeout created:>200d",
}


def filled(house: House, size: int) -> None:
    """Load varied reports, in addition to the simple ones of every instance."""
    rows = house.sql()
    [(found,)] = rows.all("SELECT count(*) FROM feedback_userfeedback WHERE key LIKE 'seedr%'")
    if found < size:
        house.served.manage("seed_load", f"--reports={size - found}", f"--seed={size}", "-v0", at_most=3600)


@figure("desk as JSON, 50 negative of 1,000,000, p50", floor="of 10,000", at_most=1.5, is_slow=True, house="a million")
def negative_of_many(house: House) -> Measured:
    few = rating.desk(house)
    filled(house, SIZES[-1])
    return Measured(rating.desk(house).value, "ms", few.value)


def _asking(size: int, path: str) -> Measure:
    def measure(house: House) -> Measured:
        filled(house, size)
        return p50_in_views(house, house.admin().prepared("GET", path), rounds=8, calls=4)

    return measure


def _similar(size: int) -> Measure:
    def measure(house: House) -> Measured:
        filled(house, size)
        admin = house.admin()
        newest = admin.call("GET", f"{_LIST}?limit=1")["items"][0]["feedback_id"]
        return p50_in_views(house, admin.prepared("GET", f"{_LIST}/{newest}/similar"), rounds=8, calls=4)

    return measure


for _size in SIZES:
    _of = f"of {_size:,}"
    _figure = partial(figure, floor="view", is_slow=True, house="desk")
    _figure(f"desk {_of}: list, p50")(_asking(_size, _LIST))
    for _name, _q in _QUERIES.items():
        _figure(f"desk {_of}: {_name}, p50")(_asking(_size, f"{_LIST}?q={quote(_q)}"))
    _figure(f"desk {_of}: terms, p50")(_asking(_size, f"{_LIST}/terms"))
    _figure(f"desk {_of}: similar reports, p50")(_similar(_size))
