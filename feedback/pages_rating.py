"""Pages for rating an answer and retracting the rating, on top of `feedback.capture`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.contrib import messages as notes
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from accounts.authentication import page_actor
from accounts.pages import signed_in
from accounts.rights import Right
from core import bodies, forms, problems, zones
from core.actor import Actor
from core.errors import InvalidRequest
from core.templatetags.ui import at_message
from core.wording import isolated, one_line
from feedback import capture, marking
from feedback.models import UserFeedback
from feedback.presenting.rating import RateForm, checksum
from feedback.taxonomy import Category, fitting
from feedback.wire import FeedbackIn
from threads import finding, screens
from threads.access import MessageStanding, Standing, thread_for
from threads.models import Thread


@signed_in
@problems.stands_alone
@require_http_methods(["GET", "POST"])
def rate(request: HttpRequest, thread_id: str, index: int) -> HttpResponse:
    """Rate an answer: a form under the message, or a page of its own without scripts."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.RATE)
    message = MessageStanding.of(Standing.of(thread), index)
    capture.require_rateable(message)
    form = _form(actor, thread, index, request.GET.get("sentiment", ""))
    if request.method == "POST":
        return _submitted(request, actor, thread, message, form)
    if HtmxDetails(request):
        return render(request, "feedback/_form.html", {"form": form})
    return _message_page(request, actor, thread, form)


@signed_in
@require_http_methods(["GET", "POST"])
def retract(request: HttpRequest, thread_id: str, index: int) -> HttpResponse:
    """Retract the actor's rating. With scripts it takes one click, and its text stays in the form, unsent."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.RATE)
    if request.method == "POST" and HtmxDetails(request) and not _has_own(actor, thread, index):
        return render(request, "feedback/_rated.html", _rated(request, actor, thread, index))  # done in another tab
    capture.require_rated(actor, thread, index)
    form = _form(actor, thread, index)
    if request.method == "GET":
        return _message_page(request, actor, thread, form, template="feedback/retract.html")
    capture.retract(actor, thread, index)
    if HtmxDetails(request):
        rated = _rated(request, actor, thread, index)
        return render(
            request,
            "feedback/_rated.html",
            {**rated, "form": replace(form, is_taken_back=True, is_change=False, seen="")},
        )
    notes.success(request, "Rating retracted.")
    return redirect(form.back)


def _form(actor: Actor, thread: Thread, index: int, sentiment: str = "") -> RateForm:
    return RateForm.of(
        marking.message_marks(actor, thread).get(index) if _has_own(actor, thread, index) else None,
        index=index,
        action=reverse("feedback:rate", args=[thread.thread_id, index]),
        back=f"{reverse('threads:detail', args=[thread.thread_id])}{at_message(index)}",
        sentiment=sentiment,
    )


def _submitted(
    request: HttpRequest, actor: Actor, thread: Thread, message: MessageStanding, form: RateForm
) -> HttpResponse:
    sentiment = request.POST.get("sentiment", "")
    given = {
        "sentiment": sentiment,
        "categories": list(fitting(sentiment, request.POST.getlist("categories"))),
        "notes": forms.lines(request.POST.get("notes", "")),
    }
    is_partial = bool(HtmxDetails(request))
    try:
        bodies.check_storable(given)
        body = bodies.parse(FeedbackIn, given)
        _require_seen(form, request.POST.get("seen"), given)
        capture.submit(actor, message, body)
    except InvalidRequest as problem:
        refused = _refused(form, given, problem)
        if is_partial:
            mark = marking.message_marks(actor, thread).get(form.index)
            here = reverse("threads:detail", args=[thread.thread_id])
            context = {"index": form.index, "mark": mark, "form": refused, "here": here}
            return render(request, "feedback/_mark.html", context, status=400)
        return _message_page(request, actor, thread, refused, status=400)
    done = "Saved" if form.is_change else "Sent"
    if not is_partial:
        notes.success(request, f"Rating {done.lower()}.")
        return redirect(form.back)
    return render(request, "feedback/_rated.html", {**_rated(request, actor, thread, form.index), "done": done})


def _require_seen(form: RateForm, seen: str | None, given: Mapping[str, Any]) -> None:
    """Refuse to replace a rating that another tab sent since this form was opened, unless it is the same, and to bring
    one back that it retracted.
    """
    if seen not in (None, form.seen) and (not form.is_change or checksum(**given) != form.seen):
        raise InvalidRequest.of("seen", "is not the rating that stands")


def _rated(request: HttpRequest, actor: Actor, thread: Thread, index: int) -> dict[str, Any]:
    """The thread page's context after a rating, with the article and the thumbs that show it."""
    page = dict(parse_qsl(urlsplit(HtmxDetails(request).current_url or "").query))
    at, asked = bodies.number(page.get("at", "")), finding.sought(page.get("q", "")).line
    context = screens.context(actor, thread, tz=zones.of(request), places=[index, at], asked=asked)
    article = next((article for article in context["articles"] if index in article.covers), None)
    acts = next((acts for acts in article.all_acts if acts.index == index), None) if article else None
    return {**context, "at": at, "index": index, "mark": acts and acts.mark, "turn": article, "acts": acts}


def _refused(form: RateForm, given: dict[str, Any], problem: InvalidRequest) -> RateForm:
    errors = forms.reasons(problem, ("sentiment", "categories", "notes", "seen"), otherwise="sentiment")
    if "seen" in errors:
        about = f" ({', '.join(Category(each).label.lower() for each in form.categories)})" if form.categories else ""
        said = f" “{isolated(one_line(form.notes, 80))}”" if form.notes else ""
        errors["seen"] = _CHANGED.format(form.sentiment, about + said) if form.is_change else _RETRACTED
    if "sentiment" in errors:
        errors["sentiment"] = "Choose positive or negative."
    return replace(form, **{**given, "categories": tuple(given["categories"])}, errors=errors)


def _message_page(
    request: HttpRequest,
    actor: Actor,
    thread: Thread,
    form: RateForm,
    *,
    status: int = 200,
    template: str = "feedback/rate.html",
) -> HttpResponse:
    """The message and its rating form, as a page of its own."""
    stretch = screens.stretch(thread, form.index)
    shown = screens.screen(actor, thread, tz=zones.of(request), between=stretch)
    context = {
        "form": form,
        "thread_title": thread.title or "",
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "turn": next((article for article in shown.articles() if form.index in article.covers), None),
    }
    return render(request, template, context, status=status)


_CHANGED = "You rated this in another tab meanwhile: {}{}. Save to replace that rating with this one."
_RETRACTED = "You retracted this rating in another tab meanwhile. Send to rate the answer anew."


def _has_own(actor: Actor, thread: Thread, index: int) -> bool:
    own = Q(thread=thread, message_sequence_num=index, created_by=actor.user_id)
    return UserFeedback.objects.filter(own).exists()
