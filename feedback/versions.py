"""Versions of a report, to detect concurrent changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.actor import Actor
from core.errors import InvalidRequest, Stale
from core.prepared import PreparedRow
from core.versions import tags
from feedback.models import TriageChange, UserFeedback


@dataclass(frozen=True, slots=True)
class Version:
    """A report's version: the row id of its last triage change, and when its submitter last changed it."""

    change: int
    modified: int

    def __str__(self) -> str:
        return f"{self.change}-{self.modified}"

    @classmethod
    def read(cls, text: str) -> "Version":
        """The inverse of `str`; raises `InvalidRequest`."""
        change, _, modified = text.strip().partition("-")
        if not (change.isascii() and change.isdigit() and modified.isascii() and modified.isdigit()):
            raise InvalidRequest("version: is not a version of a report")
        if len(change) > 18 or len(modified) > 18:
            raise InvalidRequest("version: is not a version of a report")
        return cls(int(change), int(modified))


def of(report: UserFeedback) -> Version:
    """The version of a report in the database. One query.

    Read it before the data that it describes, so that a change made in between does not count as seen.
    """
    last = TriageChange.objects.filter(feedback=report).order_by("-id").values_list("pk", flat=True).first()
    return Version(last or 0, moment(report))


def moment(report: UserFeedback) -> int:
    """When its submitter last changed it, in microseconds."""
    return int(report.modified.timestamp() * 1_000_000)


def require(report: UserFeedback, expected: str | None) -> None:
    """Raise `Stale` if the report has none of the versions in an If-Match; `*` and None match any."""
    if expected is None or expected.strip() == "*":
        return
    if str(of(report)) not in tags(expected):
        raise Stale("This report has changed since that version.")


class Overtaken(Stale):
    """Somebody else was first: `change` is the unseen change, None if the submitter changed the rating."""

    def __init__(self, message: str, *, columns: Sequence[str], change: TriageChange | None = None) -> None:
        super().__init__(message, columns=columns)
        self.change = change


def require_unseen(
    actor: Actor,
    report: UserFeedback,
    seen: str | None,
    columns: Iterable[str],
    *,
    is_of_words: bool = False,
    is_of_draft: bool = False,
) -> None:
    """Raise `Overtaken` if one of these columns was changed since the version that the actor saw.

    With `is_of_words` also if the submitter changed the rating, because the decision was about it. With `is_of_draft`
    what the actor changed does not count: it may be an earlier part of the same text.
    """
    if not seen:
        return
    version = Version.read(seen)
    if is_of_words and moment(report) != version.modified:
        raise Overtaken("The submitter changed the rating while you were reading.", columns=["notes"])
    written = set(columns)
    for change in changes_since(report, version):
        if both := sorted(written.intersection(change.after)):
            is_own = change.actor_id == actor.user_id
            if is_own and is_of_draft:
                continue
            who = f"{change.actor.display_name} has changed this report meanwhile."
            said = "You changed this in another window." if is_own else who
            raise Overtaken(said, columns=both, change=change)


def changes_since(report: UserFeedback, version: Version) -> list[TriageChange]:
    """The triage changes of a report after a version, newest first."""
    return _SINCE.all(report.pk, version.change)


_SINCE = PreparedRow(
    lambda report, change: TriageChange.objects.filter(feedback=report, pk__gt=change).order_by("-id"),
    TriageChange,
    int,
    int,
)
