"""The form for comments of an open report, and the buttons of one's own."""

from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from accounts.authentication import admin_actor
from accounts.pages import local, signed_in
from core import bodies
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from feedback import commenting
from feedback.pages_desk import hold_undo, posted, refused
from feedback.wire_desk import CommentIn


@signed_in
@posted
def comments(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Comment on a report or, with `verb=acknowledge`, say that it needs no answer.

    With a comment's id in `comment_id`, the buttons of one's own comment: `edit`, `delete` or `restore`.
    """
    actor, form = admin_actor(request), request.POST
    try:
        bodies.check_storable(form.dict())
        said = _pressed(actor, feedback_id, form)
    except DomainError as problem:
        return refused(request, actor, problem, item=feedback_id, part="comment")
    hold_undo(request)
    notes.success(request, said)
    return redirect(local(request, form.get("here", ""), otherwise="feedback:desk"))


def _pressed(actor: Actor, feedback_id: str, form: QueryDict) -> str:
    """Apply the pressed button; returns what to say of it."""
    comment_id = form.get("comment_id", "")
    match form.get("verb", ""):
        case "comment":
            return _told(commenting.add(actor, feedback_id, _words(form)))
        case "acknowledge":
            commenting.acknowledge(actor, feedback_id)
            return "Acknowledged."
        case "edit":
            commenting.edit(actor, feedback_id, comment_id, _words(form))
            return "Comment saved."
        case "delete":
            commenting.delete(actor, feedback_id, comment_id)
            return "Comment deleted. Restore brings it back."
        case "restore":
            commenting.restore(actor, feedback_id, comment_id)
            return "Comment restored."
    raise InvalidRequest("verb: must be comment, acknowledge, edit, delete or restore")


def _words(form: QueryDict) -> Any:
    """The typed text; the admin chosen in the menu is named first, unless the text names them itself."""
    text, asked = form.get("comment", "").replace("\r\n", "\n"), form.get("asked", "")
    is_named = f"@{asked}" in text or f"@{asked.partition('@')[0]}" in text
    return bodies.parse(CommentIn, {"text": text if not asked or is_named else f"@{asked} {text}"})


def _told(comment: Any) -> str:
    asked = [each.person.display_name for each in comment.mentions.all()]
    return f"Commented, and asked {', '.join(asked)}." if asked else "Commented."
