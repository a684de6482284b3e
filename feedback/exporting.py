"""Exports any number of reports as a file, in the order of their query; rows are read in chunks and streamed."""

import csv
import io
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, Literal, get_args

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone

from accounts.authentication import actor_again
from accounts.rights import require_admin
from core import bodies, ids
from core.actor import Actor
from core.db import give_connection_back
from core.errors import DomainError, InvalidRequest
from feedback import digesting, projecting, quoting
from feedback.label_text import written_labels
from feedback.models import Comment, Reply, UserFeedback
from feedback.querying import Order, Position, matching, parse, row_ids
from feedback.wire_desk import ExportedOut, QuotedOut, SaidOut

Format = Literal["jsonl", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
PARAMETERS = ("format", "q", "bom", "conversation")
CONTENT_TYPES: dict[Format, str] = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
FIRST, CHUNK = 100, 2_000
"""Reports in the first chunk, small so that the download starts at once, and in later ones."""
_BESIDE = {
    "owner": "triage__owner__email",
    "outcome": "triage__outcome",
    "duplicate_of": "triage__duplicate_of__key",
    "snoozed_until": "triage__snoozed_until",
    "snoozed_until_again": "triage__snoozed_until_again",
    "proof": "triage__proof",
    "public_status": "reply__public_status",
    "public_reply": "reply__public_reply",
    "replied_at": "reply__replied_at",
}
_COLUMNS = (*projecting.FULL_COLUMNS, *_BESIDE.values())
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters by which spreadsheets recognize a formula; the last four are full-width forms."""
_INNER_FORMULA = re.compile('([;\\t\\r\\n])(?="*[=+\\-@\uff1d\uff0b\uff0d\uff20])')
"""A formula after something at which some spreadsheets split a cell; quotes between them would be taken away."""
BOM = b"\xef\xbb\xbf"


def format_of(value: str | None) -> Format:
    """The format with that name, by default JSONL; raises `InvalidRequest`."""
    for known in FORMATS:
        if known == (value or "jsonl"):
            return known
    raise InvalidRequest(f"format: must be one of {', '.join(FORMATS)}")


def export(
    actor: Actor,
    query: str,
    form: Format,
    *,
    bom: bool = False,
    conversation: bool = False,
    again: Callable[[], Actor] | None = None,
) -> Iterator[bytes]:
    """The reports that match a query as an iterator of bytes, read from the database chunk by chunk.

    Right and query are checked first: raises `Unauthorized` and `InvalidRequest`. The right is checked again before
    each further chunk, for the actor that `again` finds, by default the same user; once it is gone, the file ends. No
    report appears twice, and none that matches all the time is missing; a report that changes meanwhile is exported as
    it is when it is read, at the place it had at the start. `bom` begins a CSV with a byte order mark, which some
    spreadsheets need. With `conversation`, each report includes request and answer.
    """
    asked = parse(query)
    require_admin(actor)
    if asked.is_digested:
        digesting.finish()
    may_still = partial(_may_still, again or partial(actor_again, actor))
    stretches = _stretches(matching(actor, asked), asked.order, may_still, conversation=conversation)
    model = QuotedOut if conversation else ExportedOut
    return _csv(stretches, model, bom) if form == "csv" else _jsonl(stretches)


def download(actor: Actor, given: Mapping[str, str | None], again: Callable[[], Actor]) -> StreamingHttpResponse:
    """`export` as an HTTP download, for page and API; `given` holds their text parameters, by the names in
    `PARAMETERS`, and `again` finds the current actor.
    """
    chosen = format_of(given["format"])
    flags = {name: bodies.flag(name, given[name]) for name in ("bom", "conversation")}
    pieces = export(actor, given["q"] or "", chosen, again=again, **flags)
    response = StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[chosen])
    name = f"feedback-{'with-answers-' if flags['conversation'] else ''}{timezone.now():%Y-%m-%d}.{chosen}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "private, no-store"
    return response


def neutral(cell: str) -> str:
    """Prevent spreadsheets from reading a cell, or a part of it, as a formula: such get an apostrophe in front.

    Where the comma is in numbers, as in German, spreadsheets split a file at semicolons, or at tabs. To them a quote
    that does not begin a cell is a letter, so quoting a cell does not keep it together, not even at its line breaks.
    """
    cell = _INNER_FORMULA.sub(r"\1'", cell)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _jsonl(stretches: Iterable[list[ExportedOut]]) -> Iterator[bytes]:
    for records in stretches:
        yield b"".join(each.__pydantic_serializer__.to_json(each) + b"\n" for each in records)


def _csv(stretches: Iterable[list[ExportedOut]], model: type[ExportedOut], bom: bool) -> Iterator[bytes]:
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\r\n")
    rows.writerow(model.model_fields)
    if bom:
        yield BOM
    for records in stretches:
        rows.writerows([_cell(value) for value in each.model_dump(mode="json").values()] for each in records)
        yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    written = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return written


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case [dict(), *_]:
            return neutral("\n".join(f"{said['author']}: {said['text']}" for said in value))
        case list():
            return neutral(", ".join(value))
    return neutral(str(value))


def _quoted(pks: Sequence[int], records: Sequence[ExportedOut]) -> list[ExportedOut]:
    found = quoting.quoted(pks)
    return [
        QuotedOut.trusted({**record.__dict__, **found[pk]._asdict()}) for pk, record in zip(pks, records, strict=True)
    ]


def _may_still(again: Callable[[], Actor]) -> bool:
    try:
        require_admin(again())
    except DomainError:
        give_connection_back()
        return False
    return True


def _stretches(
    rows: QuerySet[UserFeedback], order: Order, may_still: Callable[[], bool], *, conversation: bool
) -> Iterator[list[ExportedOut]]:
    """Read reports in chunks, with a few queries per chunk: their row ids, then the rows with triage data.

    An open cursor would hold a connection for as long as the client downloads. So each chunk is a new query, and the
    connection is released while the client reads.
    """
    chunk = CHUNK // 10 if conversation else CHUNK  # answers may be long, so hold fewer at a time
    for pks in _chunks(rows, order, chain((FIRST,), repeat(chunk))):
        values = {pk: rest for pk, *rest in UserFeedback.objects.filter(pk__in=pks).values_list("pk", *_COLUMNS)}
        found = [pk for pk in pks if pk in values]
        comments = _comments(found)
        records = [_record(values[pk], comments[pk]) for pk in found]
        if conversation:
            records = _quoted(found, records)
        give_connection_back()
        if records:
            yield records
        # The client decides how long this takes. The file ends as if complete: a broken-off response would be an error
        # in the log, and whoever lost the right has no use for the rest.
        if not may_still():
            return


def _chunks(rows: QuerySet[UserFeedback], order: Order, sizes: Iterator[int]) -> Iterator[list[int]]:
    """The row ids in chunks of these sizes.

    A timestamp may change during the download; paging by it would repeat reports and miss others. So the reports that
    have one are listed first, all at once, and the others are found by row id, which never changes.
    """
    timed = order.timed(rows)
    told, size = 0, next(sizes)
    while told < len(timed):
        chunk = timed[told : told + size]
        matching_still = set(rows.filter(pk__in=chunk).values_list("pk", flat=True))
        yield [pk for pk in chunk if pk in matching_still]
        told, size = told + size, next(sizes)
    known = array("q", sorted(timed))
    last: Position | None = None
    while positions := order.by_birth(rows, last, size):
        yield [pk for pk in row_ids(positions) if not _holds(known, pk)]
        if len(positions) < size:
            return
        last, size = positions[-1], next(sizes)


def _holds(known: "array[int]", pk: int) -> bool:
    place = bisect_left(known, pk)
    return place < len(known) and known[place] == pk


def _comments(pks: Sequence[int]) -> dict[int, list[SaidOut]]:
    found: dict[int, list[SaidOut]] = {pk: [] for pk in pks}
    rows = Comment.objects.filter(feedback__in=pks, deleted_at=None).order_by("pk")
    for pk, author, created, text in rows.values_list("feedback_id", "author__email", "created", "text"):
        found[pk].append(SaidOut(author=author, created=created, text=text))
    return found


def _record(values: Sequence[Any], comments: list[SaidOut]) -> ExportedOut:
    width = len(projecting.FULL_COLUMNS)
    full = projecting.full_record(values[:width])
    beside = dict(zip(_BESIDE, values[width:], strict=True))
    if beside["duplicate_of"]:
        beside["duplicate_of"] = ids.FEEDBACK + beside["duplicate_of"]
    return ExportedOut.trusted(
        {
            **full.__dict__,
            "labels": written_labels(full.admin_label),
            **beside,
            "snoozed_until_again": bool(beside["snoozed_until_again"]),
            "public_status": beside["public_status"] or Reply.Status.RECEIVED.value,
            "replied_at": beside["replied_at"] if projecting.is_told(beside["public_status"]) else None,
            "comments": comments,
        }
    )
