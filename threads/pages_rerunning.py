"""The page that reruns an answer, with what its agent was given as a form."""

from contextlib import suppress

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import local, signed_in
from accounts.rights import Right
from core import bodies, forms
from core.actor import Actor
from core.errors import InvalidRequest, NotFound, Unauthorized
from core.markdown import opening
from threads import agents, forks, hooks, profiles, reading, reruns
from threads.access import thread_for
from threads.models import Thread
from threads.wire import RerunIn

_REQUEST_LENGTH = 300
_CHOSEN = ("skills", "tools", "model_profile")


@signed_in
@require_http_methods(["GET", "POST"])
def rerun(request: HttpRequest, thread_id: str) -> HttpResponse:
    """The form (GET); rerun the request of an answer in a fork, and open the fork at the new answer, or the page that a
    local address `next` with the fork's id at its end names (POST).
    """
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.FORK)
    if request.method == "GET":
        return render(request, "threads/rerun.html", _context(actor, thread, request.GET))
    form = request.POST
    try:
        bodies.check_storable(form.dict())
        made = reruns.rerun(actor, thread, bodies.parse(RerunIn, _asked(thread, form)))
    except InvalidRequest as problem:
        if "system_prompt" not in form:
            raise
        typed = {"prompt": form["system_prompt"], "wrong": forms.reason(problem), "agent": "", "unknown": ()}
        context = {**_context(actor, thread, form), **typed}
        return render(request, "threads/rerun.html", context, status=400)
    if form.get("next"):
        return redirect(local(request, form["next"] + made.thread_id, otherwise="threads:list"))
    notes.success(request, "This private fork is yours. The same request is being rerun.", extra_tags="running")
    place = f"#m{made.forked_from_message_sequence_num}"
    return redirect(reverse("threads:detail", args=[made.thread_id]) + place)


def _asked(thread: Thread, form: QueryDict) -> dict[str, object]:
    asked: dict[str, object] = {name: form[name] for name in _CHOSEN if form.get(name)}
    asked["message_sequence_num"] = bodies.number(form.get("message_sequence_num", ""))
    prompt = forms.lines(form.get("system_prompt", ""))
    # A browser drops a line feed at the beginning of a field, and that is no change.
    if "system_prompt" in form and prompt.strip() != (thread.system_prompt or "").strip():
        asked["system_prompt"] = prompt
    return asked


def _prompt_tried(actor: Actor, thread: Thread, like: str) -> str:
    """The prompt to begin with: that of an earlier rerun, if there is one, else the thread's own."""
    if like:
        with suppress(NotFound, Unauthorized):
            tried = thread_for(actor, like)
            if tried.forked_from_id == thread.pk:
                return tried.system_prompt or ""
    return thread.system_prompt or ""


def _context(actor: Actor, thread: Thread, given: QueryDict) -> dict[str, object]:
    """What the form shows of the answer at `message_sequence_num`, by default the last; raises `InvalidRequest` if that
    answers nothing.
    """
    index = bodies.number(given.get("message_sequence_num", str(thread.message_count - 1)))
    if index is None:
        raise InvalidRequest("message_sequence_num: must be the index of a message")
    upto = forks.request_of(thread, index)
    [asked] = reading.snapshots(thread.pk, between=(upto, upto))
    report = hooks.feedback.report(actor, thread.pk, index)
    prompt = _prompt_tried(actor, thread, given.get("like", ""))
    now = None
    with suppress(NotFound, InvalidRequest):
        now = agents.prompt_now(thread)
    unknown = now.unknown if now else ()
    is_latest = now is not None and not unknown and given.get("prompt") == "latest"
    return {
        "thread_id": thread.thread_id,
        "title": thread.title or "Untitled",
        "index": index,
        "request_index": upto,
        "asked": opening("\n".join(block.get("text") or "" for block in asked.blocks), _REQUEST_LENGTH),
        "report": report,
        "prompt": now.text if now and is_latest else prompt,
        "agent": now.agent.name if now and not unknown and now.text.strip() != prompt.strip() else "",
        "unknown": unknown[:1],
        "is_latest": is_latest,
        "profiles": profiles.all_profiles(),
        "own_profile": profiles.own_in_words(thread.model_profile),
        "next": given.get("next", ""),
        "chosen": {name: given.get(name, "") for name in _CHOSEN},
    }
