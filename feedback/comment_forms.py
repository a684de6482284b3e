"""What the buttons for comments do: those of the report's form, and those of one's own comment."""

from django.db import transaction
from django.http import QueryDict
from django.utils.text import get_text_list

from accounts.models import User
from core import bodies
from core.actor import Actor
from core.db import anew
from core.errors import InvalidRequest
from core.wording import isolated
from feedback import access, commenting, desk_forms, triage
from feedback.models import Comment
from feedback.wire_desk import CommentIn, CommentPatch, SeenIn

OF_THE_REPORT = frozenset({"comment", "acknowledge"})
"""Verbs of the report's form that are no triage."""


@anew
def apply_to_report(actor: Actor, feedback_id: str, form: QueryDict) -> str:
    """Comment, or acknowledge what waits for the actor; returns what to say of it. As with any button of the report, a
    typed note is saved: both, or neither.
    """
    if not desk_forms.has_typed_note(form):
        return _apply(actor, feedback_id, form)
    with access.named_reports_stay(), transaction.atomic():
        triage.act(actor, feedback_id, desk_forms.note_step(form), **desk_forms.seen(form))
        return f"{_apply(actor, feedback_id, form)} The note was saved, too."


def _apply(actor: Actor, feedback_id: str, form: QueryDict) -> str:
    seen = form.get("comments_seen")
    if form.get("verb") == "acknowledge":
        commenting.acknowledge(actor, feedback_id, SeenIn(seen=seen))
        return "Dismissed."
    text = _addressed(form)
    comment = commenting.add(actor, feedback_id, bodies.parse(CommentIn, {"text": text, "seen": seen}))
    return _message(comment, commenting.strangers(text))


def apply_to_own(actor: Actor, feedback_id: str, form: QueryDict) -> str:
    """Edit, delete or restore the actor's own comment; returns what to say of it."""
    comment_id = form.get("comment_id", "")
    match form.get("verb", ""):
        case "edit":
            body = bodies.parse(CommentPatch, {"text": _text(form)})
            commenting.edit(actor, feedback_id, comment_id, body, read=form.get("read"))
            return "Comment saved."
        case "delete":
            commenting.delete(actor, feedback_id, comment_id)
            return "Comment deleted."
        case "restore":
            commenting.restore(actor, feedback_id, comment_id)
            return "Comment restored."
    raise InvalidRequest("verb: must be edit, delete or restore")


def _text(form: QueryDict) -> str:
    return form.get("comment", "").replace("\r\n", "\n")


def _addressed(form: QueryDict) -> str:
    """The typed text; the admin chosen in the menu is named first, unless the text names them itself."""
    text, asked = _text(form), form.get("asked", "")
    if not asked or not text.strip() or commenting.names(text) & {asked, asked.partition("@")[0]}:
        return text
    if not User.objects.admins().filter(email=asked).exists():
        raise InvalidRequest(f"text: nobody was asked, because {asked[:80]} is not an admin")
    return f"@{asked} {text}"


def _message(comment: Comment, strangers: list[str]) -> str:
    asked = [each.person.display_name for each in comment.mentions.all() if not each.is_answer]
    said = f"Commented, and asked {get_text_list(asked, 'and')}." if asked else "Commented."
    unknown = get_text_list([isolated(each[:40]) for each in strangers[:3]], "or")
    return f"{said} No admin is called {unknown}." if unknown else said
