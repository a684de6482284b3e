"""The page that starts a thread."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.models import Org
from accounts.pages import current_org, required_org, signed_in
from catalogue import skills
from catalogue.skills import SkillText
from catalogue.worlds import choosing
from core import bodies, forms, ids
from core.actor import Actor
from core.errors import DomainError, Expired, InvalidRequest, NotFound
from threads import editing, profiles, screens, turns
from threads.wire import StartIn

_START_FIELDS = {"model_profile", "visibility", "invoke_skills", "world_id", "system_prompt"}


@signed_in
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """The form for a new thread."""
    said = request.POST if request.method == "POST" else request.GET
    like = said.get("like", "")
    begun = editing.start_of(page_actor(request), like) if like else editing.Earlier()
    form: dict[str, Any] = {
        "text": request.POST.get("text", begun.text),
        "system_prompt": request.POST.get("system_prompt", begun.system_prompt),
        "model_profile": request.POST.get("model_profile", begun.model_profile),
        "visibility": request.POST.get("visibility", "private"),
        "world": said.get("world", begun.world_id),
        "like": like,
        "left_out": begun.left_out,
        "errors": {},
    }
    wanted = {"skill_id": said.get("skill", ""), "version": bodies.number(said.get("version", ""))}
    if form["world"] and not ids.key_of(form["world"], ids.WORLD):
        raise NotFound("There is no such world.")
    problem: DomainError | None = None
    if request.method == "POST":
        try:
            started = _started(request, begun.org or required_org(request), form, wanted)
            return redirect(screens.to_write_in(started))
        except (InvalidRequest, Expired) as refusal:
            problem = refusal
            about = {wrong["field"].partition(".")[0] for wrong in problem.by_field[:1]}
            field = next(iter(about & _START_FIELDS), "text")
            form["errors"] = {"world_id" if isinstance(problem, Expired) else field: forms.reason(problem)}
    org = begun.org or current_org(request)
    invoked = _invoked(page_actor(request), org, wanted) if "invoke_skills" not in form["errors"] else None
    worlds = choosing.choices(org.pk, chosen=form["world"]) if org is not None else []
    kept_by = screens.kept_by(org)
    offered = {
        "profiles": profiles.all_profiles(),
        "worlds": worlds,
        "invoked": invoked,
        "kept_by": kept_by,
        "org": org,
    }
    return render(request, "threads/start.html", {"form": form, **offered}, status=400 if problem else 200)


def _invoked(actor: Actor, org: Org | None, wanted: dict[str, Any]) -> SkillText | None:
    """The skill that a new thread of an org, or one still to be chosen, begins with, if any; raises `NotFound` if the
    actor cannot use it there.
    """
    if not wanted["skill_id"]:
        return None
    org_id = org.pk if org else skills.skill_for(actor, wanted["skill_id"]).org_id
    try:
        return skills.texts(actor, org_id, [(wanted["skill_id"], wanted["version"])], "skill")[0]
    except InvalidRequest as problem:
        raise NotFound(forms.reason(problem)) from None


def _started(request: HttpRequest, org: Org, form: dict[str, Any], wanted: dict[str, Any]) -> str:
    text = form["text"]
    message = {"role": "user", "content": [{"text": forms.lines(text)}]}
    prompt = forms.lines(form["system_prompt"])
    bodies.check_storable(message)
    bodies.check_storable(wanted | {"world_id": form["world"], "system_prompt": prompt})
    invoked = [wanted] if wanted["skill_id"] else []
    said = [message] if text.strip() or not invoked else []
    optional = {"model_profile": form["model_profile"], "world_id": form["world"], "system_prompt": prompt.strip()}
    optional = {name: value or None for name, value in optional.items()}
    asked = {"messages": said, "invoke_skills": invoked, "visibility": form["visibility"], **optional}
    body = bodies.parse(StartIn, asked)
    return turns.start(page_actor(request), org.pk, body).thread_id
