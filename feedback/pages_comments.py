"""The buttons of one's own comment. New ones are sent with the report's form (`feedback.pages_desk`)."""

from urllib.parse import parse_qsl, urlsplit

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.authentication import admin_actor
from accounts.pages import local, signed_in
from core import bodies
from core.errors import DomainError
from feedback import comment_forms
from feedback.desk_answers import posted, refused
from feedback.desk_session import hold_undo
from feedback.presenting.links import href


@signed_in
@posted
def comments(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Edit, delete or restore one's own comment. After a deletion, its button to restore it has the focus."""
    actor, form = admin_actor(request), request.POST
    try:
        bodies.check_storable(form.dict())
        said = comment_forms.apply_to_own(actor, feedback_id, form)
    except DomainError as problem:
        return refused(request, actor, problem, item=feedback_id, part="comment")
    hold_undo(request)
    notes.success(request, said)
    to = urlsplit(local(request, form.get("here", ""), otherwise="feedback:desk"))
    at = form.get("comment_id", "") if form.get("verb") == "delete" else ""
    return redirect(to.path + href({**dict(parse_qsl(to.query, keep_blank_values=True)), "comment": at}))
