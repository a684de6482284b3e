"""The form for comments of an open report, and the buttons of one's own."""

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.text import get_text_list

from accounts.authentication import admin_actor
from accounts.models import User
from accounts.pages import local, signed_in
from core import bodies
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from feedback import commenting
from feedback.models import Comment
from feedback.pages_desk import hold_undo, posted, refused
from feedback.wire_desk import CommentIn, CommentPatch, SeenIn


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
    comment_id, seen = form.get("comment_id", ""), form.get("seen")
    match form.get("verb", ""):
        case "comment":
            body = bodies.parse(CommentIn, {"text": _addressed(form), "seen": seen})
            return _told(commenting.add(actor, feedback_id, body))
        case "acknowledge":
            commenting.acknowledge(actor, feedback_id, SeenIn(seen=seen))
            return "Acknowledged."
        case "edit":
            commenting.edit(actor, feedback_id, comment_id, bodies.parse(CommentPatch, {"text": _text(form)}))
            return "Comment saved."
        case "delete":
            commenting.delete(actor, feedback_id, comment_id)
            return "Comment deleted."
        case "restore":
            commenting.restore(actor, feedback_id, comment_id)
            return "Comment restored."
    raise InvalidRequest("verb: must be comment, acknowledge, edit, delete or restore")


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


def _told(comment: Comment) -> str:
    asked = [each.person.display_name for each in comment.mentions.all()]
    return f"Commented, and asked {get_text_list(asked, 'and')}." if asked else "Commented."
