"""Labels: the words that admins put on reports, and the rows that follow the one text in which the wire keeps them."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from accounts.rights import require_admin
from core.actor import Actor
from core.db import anew
from core.errors import Conflict, InvalidRequest, NotFound
from core.rendering import isolated
from feedback.label_text import labels_of
from feedback.models import Label, Labelled, UserFeedback
from feedback.presenting import many_reports

MOST = 500
"""Labels that the desk offers and lists."""


def follow(actor: Actor, report: UserFeedback) -> None:
    """Let a report's label rows say what its `admin_label` says; labels that are new are made. Runs under its lock."""
    names = {name.casefold(): name for name in labels_of(report.admin_label)}
    there = dict(Label.objects.filter(folded__in=names).values_list("folded", "pk"))
    wanted = {there.get(folded) or _get_or_insert(actor, name).pk for folded, name in names.items()}
    held = set(Labelled.objects.filter(feedback=report).values_list("label", flat=True))
    if gone := held - wanted:
        Labelled.objects.filter(feedback=report, label__in=gone).delete()
    Labelled.objects.bulk_create([Labelled(feedback=report, label_id=pk) for pk in sorted(wanted - held)])


def listed(actor: Actor) -> list[Label]:
    """All labels with how many reports carry each (`report_count`), by name. One query."""
    require_admin(actor)
    return list(_counted().order_by("folded")[:MOST])


def counted(actor: Actor, label: Label) -> Label:
    """A label as it is now, with its `report_count`."""
    require_admin(actor)
    return _counted().get(pk=label.pk)


def _counted() -> QuerySet[Label]:
    # One by one along their index, which is three times quicker than a join of all reports that carry any.
    of_one = Labelled.objects.filter(label=OuterRef("pk")).order_by().values("label").annotate(count=Count("*"))
    return Label.objects.annotate(report_count=Coalesce(Subquery(of_one.values("count")), 0))


def names(actor: Actor) -> list[str]:
    """The labels that may be chosen, by name. One query."""
    require_admin(actor)
    return list(Label.objects.order_by("folded").values_list("name", flat=True)[:MOST])


def meant(names: Iterable[str]) -> list[str]:
    """Typed names as labels: one that only one label begins with is that label, unless it stands in quotes."""
    return [_meant(name) for name in names]


def _meant(name: str) -> str:
    if quoted := re.fullmatch(r'"(.+)"', name):
        return quoted[1]
    found = Label.objects.filter(folded__startswith=name.casefold()).values_list("name", flat=True)[:2]
    return found[0] if len(found) == 1 else name


def forget(names: Iterable[str], *, by: int, since: datetime) -> None:
    """Drop labels that an action made, now that it is taken back: unless a report has one, or it is described."""
    folded = [name.casefold() for name in names]
    _drop_unused(Label.objects.filter(folded__in=folded, created_by=by, created__gte=since, description=""))


def made_since(names: Iterable[str], since: datetime) -> set[str]:
    """Which of these labels are no older than that, folded."""
    folded = [name.casefold() for name in names]
    return set(Label.objects.filter(folded__in=folded, created__gte=since).values_list("folded", flat=True))


def make(actor: Actor, name: str, description: str = "") -> Label:
    """A new label; one that is there is a conflict."""
    require_admin(actor)
    wanted = new_name(name)
    try:
        return insert(actor, wanted, clean_description(description))
    except IntegrityError:
        raise Conflict(f"There is a label {isolated(wanted)} already.") from None


def new_name(name: str) -> str:
    """A name that a label may have, its blanks single; raises `InvalidRequest` for any other."""
    wanted = labels_of(name)
    if len(wanted) != 1 or wanted[0] != " ".join(name.split()):
        raise InvalidRequest("name: must be 1 to 60 characters without a comma")
    return wanted[0]


@anew
def drop(actor: Actor, name: str) -> None:
    """Take a label out of the choice. Only one that no report carries: the wire's text would still name it."""
    require_admin(actor)
    with transaction.atomic():
        found = named(name, lock=True)  # or a report that gets it just now would lose it with its row
        if count := carried(found):
            verb = "carries" if count == 1 else "carry"
            raise Conflict(f"{many_reports(count)} {verb} the label {isolated(found.name)}: take it off first.")
        found.delete()


def forget_unused(name: str) -> bool:
    """Drop a label that no report carries any more; whether it is gone."""
    rows = Label.objects.filter(folded=name.casefold())
    _drop_unused(rows)
    return not rows.exists()


def _drop_unused(rows: QuerySet[Label]) -> None:
    """Those that no report carries, looked at under their locks: until the commit no report gets one of them."""
    with transaction.atomic():
        held = list(rows.select_for_update().order_by("pk").values_list("pk", flat=True))
        Label.objects.filter(~Exists(Labelled.objects.filter(label=OuterRef("pk"))), pk__in=held).delete()


def carried(label: Label) -> int:
    """How many reports carry a label."""
    return Labelled.objects.filter(label=label).count()


def clean_description(text: str) -> str:
    """What a label is for, without the blanks around it; raises `InvalidRequest` where it is too long."""
    clean = text.strip()
    if len(clean) > 200:
        raise InvalidRequest("description: must have at most 200 characters")
    return clean


def named(name: str, *, lock: bool = False) -> Label:
    """The label with that name, capitals aside; raises `NotFound`. `lock` holds it until the commit."""
    rows = Label.objects.select_for_update() if lock else Label.objects.all()
    found = rows.filter(folded=name.strip().casefold()).first()
    if found is None:
        raise NotFound.of("label", isolated(name[:60]))
    return found


def _get_or_insert(actor: Actor, name: str) -> Label:
    """A new label with that name; of two admins who make it at once, the second takes the first's."""
    try:
        return insert(actor, name)
    except IntegrityError:
        return Label.objects.get(folded=name.casefold())


def insert(actor: Actor, name: str, description: str = "") -> Label:
    """A label row; raises `IntegrityError` where there is one, and leaves the caller's transaction whole."""
    with transaction.atomic():
        return Label.objects.create(
            name=name, folded=name.casefold(), description=description, created_by_id=actor.user_id
        )
