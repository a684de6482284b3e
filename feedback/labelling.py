"""Labels of reports. The wire stores them as one text (`admin_label`); the rows here follow that text."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.rights import require_admin
from core import grammar, paging
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, InvalidRequest, NotFound
from core.wording import isolated
from feedback.deciding import RENAME
from feedback.label_text import labels_of, plain
from feedback.models import Bulk, Label, Labelled, UserFeedback
from feedback.presenting.words import many_reports

MOST = 500
"""Most labels that the desk suggests."""
_PLACES = paging.Places("labels", (str,))


def follow(actor: Actor, report: UserFeedback) -> None:
    """Make a report's label rows match its `admin_label`, creating new labels. Call it under the report's lock."""
    names = {name.casefold(): name for name in labels_of(report.admin_label)}
    there = dict(Label.objects.filter(folded__in=names).values_list("folded", "pk"))
    wanted = {there.get(folded) or _get_or_insert(actor, name).pk for folded, name in names.items()}
    held = set(Labelled.objects.filter(feedback=report).values_list("label", flat=True))
    if gone := held - wanted:
        Labelled.objects.filter(feedback=report, label__in=gone).delete()
    Labelled.objects.bulk_create([Labelled(feedback=report, label_id=pk) for pk in sorted(wanted - held)])


def listed(actor: Actor, *, limit: int, page_token: str | None) -> tuple[list[Label], str | None]:
    """A page of labels with their number of reports (`report_count`), by name, and the token of the next page. One
    query.
    """
    require_admin(actor)
    return _PLACES.page(_counted(), limit=limit, page_token=page_token, by="folded", ascending=True)


def counted(actor: Actor, label: Label) -> Label:
    """A label, read again, with its `report_count`."""
    require_admin(actor)
    return _counted().get(pk=label.pk)


def _counted() -> QuerySet[Label]:
    # One index lookup per label is three times faster than a join with all labelled reports.
    of_one = Labelled.objects.filter(label=OuterRef("pk")).order_by().values("label").annotate(count=Count("*"))
    return Label.objects.annotate(report_count=Coalesce(Subquery(of_one.values("count")), 0))


def names(actor: Actor, containing: Sequence[str] = ()) -> list[str]:
    """The first `MOST` names of labels that contain all these words, ignoring case, sorted. One query."""
    require_admin(actor)
    wanted = Q(*(Q(folded__contains=word.casefold()) for word in containing))
    return list(Label.objects.filter(wanted).order_by("folded").values_list("name", flat=True)[:MOST])


def meant(names: Iterable[str]) -> list[str]:
    """Expand typed names: a prefix of exactly one label means that label, unless it is quoted."""
    return [_meant(name) for name in names]


def _meant(name: str) -> str:
    if quoted := re.fullmatch(f'["{grammar.OPENING}](.+)["{grammar.CLOSING}]', name):
        return quoted[1]
    found = Label.objects.filter(folded__startswith=name.casefold()).values_list("name", flat=True)[:2]
    return found[0] if len(found) == 1 else name


def forget(names: Iterable[str], *, by: int, since: datetime) -> None:
    """Delete labels created by an action that is undone, except those still in use or with a description."""
    folded = [name.casefold() for name in names]
    _drop_unused(Label.objects.filter(folded__in=folded, created_by=by, created__gte=since, description=""))


def made_since(names: Iterable[str], since: datetime) -> set[str]:
    """The folded names of those labels that were created since then."""
    folded = [name.casefold() for name in names]
    return set(Label.objects.filter(folded__in=folded, created__gte=since).values_list("folded", flat=True))


def make(actor: Actor, name: str, description: str = "") -> Label:
    """Create a label; raises `Conflict` if it exists."""
    require_admin(actor)
    wanted = new_name(name)
    try:
        return insert(actor, wanted, clean_description(description))
    except IntegrityError:
        there = Label.objects.filter(folded=wanted.casefold()).values_list("name", flat=True).first()
        raise Conflict(f"name: label {isolated(there or wanted)} already exists") from None


def new_name(name: str) -> str:
    """A valid label name with whitespace collapsed; raises `InvalidRequest`."""
    wanted = labels_of(name)
    if len(wanted) != 1 or wanted[0] != plain(name):
        raise InvalidRequest("name: must be 1 to 60 characters without a comma")
    return wanted[0]


@anew
def drop(actor: Actor, name: str) -> None:
    """Delete a label that is on no report; otherwise raises `Conflict`, because the wire's text would still name it.
    So it does for one that is being renamed.
    """
    require_admin(actor)
    with transaction.atomic():
        found = named(name, lock=True)  # locked, or a report labelled at this moment would lose it
        if count := carried(found):
            raise Conflict(f"Label {isolated(found.name)} is on {many_reports(count)}. Remove it from them first.")
        require_at_rest(found.folded)
        found.delete()


def require_at_rest(*folded: str) -> None:
    """Refuse if one of these labels is being renamed, or filled by that: reports could be left half renamed."""
    for arguments in Bulk.objects.filter(verb=RENAME.name, state__in=Bulk.OPEN).values_list("arguments", flat=True):
        for each in (arguments["label"], arguments["to"]):
            if each.casefold() in folded:
                raise Conflict(f"Label {isolated(each)} is already being renamed; the desk shows the progress.")


def forget_unused(name: str) -> bool:
    """Delete a label if it is on no report; returns whether it is gone."""
    rows = Label.objects.filter(folded=name.casefold())
    _drop_unused(rows)
    return not rows.exists()


def _drop_unused(rows: QuerySet[Label]) -> None:
    """Delete unused labels. They are locked first, so no report gets one before the commit."""
    with transaction.atomic():
        held = list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
        Label.objects.filter(~Exists(Labelled.objects.filter(label=OuterRef("pk"))), pk__in=held).delete()


def carried(label: Label) -> int:
    """The number of reports with a label."""
    return Labelled.objects.filter(label=label).count()


def clean_description(text: str) -> str:
    """A label's description, stripped; raises `InvalidRequest` if it is too long."""
    clean = text.strip()
    if len(clean) > 200:
        raise InvalidRequest("description: must have at most 200 characters")
    return clean


def named(name: str, *, lock: bool = False) -> Label:
    """The label with that name, ignoring case; raises `NotFound`. `lock` locks it until the commit."""
    rows = Label.objects.select_for_update() if lock else Label.objects.all()
    found = rows.filter(folded=plain(name).casefold()).first()
    if found is None:
        raise NotFound.of("label", isolated(name[:60]))
    return found


def _get_or_insert(actor: Actor, name: str) -> Label:
    """Create a label, or get it if another admin created it at the same moment, who may also have deleted it since."""
    try:
        return insert(actor, name)
    except IntegrityError:
        return Label.objects.filter(folded=name.casefold()).first() or insert(actor, name)


def insert(actor: Actor, name: str, description: str = "") -> Label:
    """Insert a label row; raises `IntegrityError` if it exists, without breaking the caller's transaction."""
    with transaction.atomic():
        return Label.objects.create(
            name=name, folded=name.casefold(), description=description, created_by_id=actor.user_id
        )
