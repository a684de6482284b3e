"""Reading: deltas, records, pages, forks."""

from bench.figures import Measured, figure
from bench.houses import House
from bench.rounds import Act, p50_alone, p50_beside, p50_in_views


@figure("delta with nothing new, p50", floor="view", at_most=1.5)
def idle_delta(house: House) -> Measured:
    alice, path = house.alice(), f"/v1/ai/threads/{house.thread(50)}"
    token = alice.call("GET", path)["continuation_token"]
    return p50_in_views(house, alice.prepared("GET", f"{path}/delta?next_token={token}"), rounds=40)


@figure("read a thread of 50 messages as JSON, p50", floor="view", at_most=5)
def record_of_50(house: House) -> Measured:
    return p50_in_views(house, house.alice().prepared("GET", f"/v1/ai/threads/{house.thread(50)}"))


@figure("read a thread of 500 messages as JSON, p50", floor="view")
def record_of_500(house: House) -> Measured:
    return p50_in_views(house, house.alice().prepared("GET", f"/v1/ai/threads/{house.thread(500)}"), calls=4)


@figure("page of a thread of 50 messages, p50", floor="view")
def page_of_50(house: House) -> Measured:
    return p50_in_views(house, house.browser().prepared("GET", f"/threads/{house.thread(50)}/"), calls=2)


@figure("page of a thread of 500 messages, p50", at_most=200)
def page_of_500(house: House) -> Measured:
    return p50_alone(house.browser().prepared("GET", f"/threads/{house.thread(500)}/"), calls=2)


@figure("page of a thread of 50 messages, over the wire")
def page_bytes(house: House) -> Measured:
    page = house.browser("br, gzip").prepared("GET", f"/threads/{house.thread(50)}/")
    return Measured(len(page()) / 1000, "kB")


@figure("list of 50 threads as JSON, p50", floor="view")
def list_of_threads(house: House) -> Measured:
    return p50_in_views(house, house.alice().prepared("GET", "/v1/ai/threads?limit=50"), calls=4)


@figure("fork of 50 messages, p50", floor="view", at_most=12)
def fork_of_50(house: House) -> Measured:
    return p50_in_views(house, _fork(house, 50), calls=4)


@figure("fork of 10,000 messages, answer included, p50", floor="copy", at_most=2)
def fork_of_10_000(house: House) -> Measured:
    return p50_beside(_fork(house, 10_000), _copy(house, 10_000), rounds=8, calls=1)


@figure("read a thread of 10,000 messages as JSON, p50")
def record_of_10_000(house: House) -> Measured:
    return p50_alone(house.alice().prepared("GET", f"/v1/ai/threads/{house.thread(10_000)}"), rounds=4, calls=2, warm=1)


def _fork(house: House, length: int) -> Act:
    body = {"message_sequence_num": length - 1}
    return house.alice().prepared("POST", f"/v1/ai/threads/{house.thread(length)}/fork", body)


def _copy(house: House, length: int) -> Act:
    """Copy a fork's rows with bare statements, into a new thread each time."""
    sql, source = house.sql(), house.filled["threads"][str(length)]["pk"]
    spare = (row[0] for row in sql.all(_WITHOUT_MESSAGES))

    def act() -> None:
        target = next(spare)
        sql.together(*(_copied(table, columns, source, target) for table, columns in _COLUMNS.items()))

    return act


_WITHOUT_MESSAGES = "SELECT id FROM threads_thread WHERE id NOT IN (SELECT thread_id FROM threads_message) ORDER BY id"
_COLUMNS = {
    "threads_message": "idx, role, status, created, author_id, first_revision, revision, block_count",
    "threads_block": "idx, position, revision, kind, text, data, raw, outcome, tool_use_id",
}


def _copied(table: str, columns: str, source: int, target: int) -> str:
    rows = f"SELECT {target}, {columns} FROM {table} WHERE thread_id = {source}"  # noqa: S608
    return f"INSERT INTO {table} (thread_id, {columns}) {rows}"
