"""Labels: the words that admins put on reports, and the rows that follow the one text in which the wire keeps them."""

from django.db import IntegrityError, transaction
from django.db.models import Count

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from feedback.deciding import labels_of
from feedback.models import Label, Labelled, UserFeedback

MOST = 500
"""Labels that the desk offers and lists."""


def follow(actor: Actor, report: UserFeedback) -> None:
    """Let a report's label rows say what its `admin_label` says; labels that are new are made. Runs under its lock."""
    names = labels_of(report.admin_label)
    wanted = {_label(actor, name).pk for name in names}
    held = set(Labelled.objects.filter(feedback=report).values_list("label", flat=True))
    if gone := held - wanted:
        Labelled.objects.filter(feedback=report, label__in=gone).delete()
    Labelled.objects.bulk_create([Labelled(feedback=report, label_id=pk) for pk in sorted(wanted - held)])


def listed(actor: Actor) -> list[Label]:
    """All labels with how many reports carry each (`report_count`), by name. One query."""
    require_admin(actor)
    counted = Label.objects.annotate(report_count=Count("labelled"))
    return list(counted.order_by("folded")[:MOST])


def names(actor: Actor) -> list[str]:
    """The labels that may be chosen, by name. One query."""
    require_admin(actor)
    return list(Label.objects.order_by("folded").values_list("name", flat=True)[:MOST])


def describe(actor: Actor, name: str, description: str) -> Label:
    """Say what a label is for, for those who choose one."""
    require_admin(actor)
    found = _named(name)
    found.description = _description(description)
    found.save(update_fields=["description"])
    return found


def make(actor: Actor, name: str, description: str = "") -> Label:
    """A new label; one that is there is a conflict."""
    require_admin(actor)
    wanted = labels_of(name)
    if len(wanted) != 1 or wanted[0] != " ".join(name.split()):
        raise InvalidRequest("name: must be 1 to 60 characters without a comma")
    try:
        return _made(actor, wanted[0], _description(description))
    except IntegrityError:
        raise Conflict(f"There is a label {wanted[0]} already.") from None


def drop(actor: Actor, name: str) -> None:
    """Take a label out of the choice. Only one that no report carries: the wire's text would still name it."""
    require_admin(actor)
    found = _named(name)
    if carried := Labelled.objects.filter(label=found).count():
        raise Conflict(f"{carried} reports carry the label {found.name}: take it off first.")
    found.delete()


def _description(text: str) -> str:
    clean = text.strip()
    if len(clean) > 200:
        raise InvalidRequest("description: must have at most 200 characters")
    return clean


def _named(name: str) -> Label:
    found = Label.objects.filter(folded=name.strip().casefold()).first()
    if found is None:
        raise NotFound(f"There is no label {name[:60]}.")
    return found


def _label(actor: Actor, name: str) -> Label:
    """The label with that name; of two admins who make it at once, the second takes the first's."""
    found = Label.objects.filter(folded=name.casefold()).first()
    if found is not None:
        return found
    try:
        return _made(actor, name)
    except IntegrityError:
        return Label.objects.get(folded=name.casefold())


def _made(actor: Actor, name: str, description: str = "") -> Label:
    with transaction.atomic():
        return Label.objects.create(
            name=name, folded=name.casefold(), description=description, created_by_id=actor.user_id
        )
