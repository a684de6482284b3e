"""The page to import tools: preview first, then import (C1 to C15)."""

from typing import Any

from django.conf import settings
from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import required_org, signed_in
from catalogue import dialects, importing, planning, tools
from catalogue.detecting import body_of
from catalogue.models import Tool
from catalogue.wire_tools import ToolImportOut
from core import forms
from core.canonical import fingerprint
from core.errors import Conflict, InvalidRequest, NoOrgProvided, Unauthorized
from core.wording import size_text

FIELDS = ("text", "dialect", "server")


@signed_in
@require_http_methods(["GET", "POST"])
def import_tools(request: HttpRequest) -> HttpResponse:
    """Paste or upload tools in any dialect. The first submit shows a preview, the second imports.

    Only previewed text is imported: a text changed since gets a new preview. `tool` fills the form with that tool.
    """
    typed = {name: forms.lines(request.POST.get(name, "")).strip() for name in FIELDS}
    if request.method == "GET":
        if name := request.GET.get("tool"):
            return _of_tool(request, tools.tool_for(required_org(request).pk, name))
        return _page(request, {**typed, "server": request.GET.get("server", "")})
    try:
        typed["text"] = _uploaded(request) or typed["text"]
        actor, org_id = page_actor(request), required_org(request).pk
        is_seen = request.POST.get("seen") == fingerprint(typed)
        if request.POST.get("verb") == "import" and is_seen:
            done = importing.import_tools(actor, org_id, _body(typed, partial=True))
            return _done(request, done)
        plan = planning.plan(actor, org_id, _body(typed, partial=True, dry_run=True))
        errors = _about_fields(plan)
    except (InvalidRequest, Conflict, Unauthorized, NoOrgProvided) as problem:
        return _page(request, typed, status=problem.status, errors=forms.reasons(problem, FIELDS, otherwise="form"))
    has_changed = bool(request.POST.get("seen"))
    return _page(request, typed, plan=plan, errors=errors, seen=fingerprint(typed), has_changed=has_changed)


def _of_tool(request: HttpRequest, found: Tool) -> HttpResponse:
    """The form with the current version of a tool, to make the next one of it."""
    tools.require_own(found)
    dialect, written = dialects.definition(tools.stored(found, tools.version_of(found)))
    typed = {"text": forms.json_typed(written), "dialect": dialect.name, "server": found.server.name}
    return _page(request, typed, tool=found)


def _about_fields(plan: planning.Plan) -> dict[str, str]:
    """The errors of a plan that concern form fields: unreadable source, missing server names.

    Raises `InvalidRequest` if the plan has nothing else, because no tool could be checked.
    """
    faults = [error for each in plan.tools for error in each.item.errors]
    if unread := next((fault for fault in faults if fault.path == "/source"), None):
        raise InvalidRequest(f"text: {unread.message}")
    lacking = [fault for fault in faults if fault.reason == "invalid_server"]
    if not lacking:
        return {}
    is_named = lacking[0].message != importing.NEEDED
    reason = f"the name in the text {lacking[0].message}" if is_named else "the text names none"
    if len(lacking) == len(plan.tools):
        raise InvalidRequest(f"server: {reason}, so name one")
    return {"server": forms.sentence(f"{reason} for {len(lacking)} of the {len(plan.tools)} tools, so name one")}


def _body(typed: dict[str, str], **more: Any) -> Any:
    return body_of(typed["text"], typed["dialect"], typed["server"], **more)


def _uploaded(request: HttpRequest) -> str:
    """The text of the uploaded file, which replaces pasted text; empty without a file."""
    file = request.FILES.get("file")
    if file is None:
        return ""
    if (file.size or 0) > settings.TOOL_IMPORT_BYTES:
        raise InvalidRequest(f"text: the file is larger than {size_text(settings.TOOL_IMPORT_BYTES)}")
    try:
        return forms.lines(file.read().decode("utf-8-sig")).strip()
    except UnicodeDecodeError:
        raise InvalidRequest("text: the file is not UTF-8 text") from None


def _done(request: HttpRequest, done: ToolImportOut) -> HttpResponse:
    """Redirect to the imported tool, or to the server if there are several."""
    counts = {word: done.counts[word] for word in ("created", "new_version", "updated", "unchanged", "failed")}
    told = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counts.items() if count)
    notes.success(request, f"Imported: {told}.")
    names = [item.qualified_name for item in done.items if item.qualified_name and item.outcome != "failed"]
    if len(names) == 1:
        return redirect("catalogue:tool", names[0])
    servers = {name.partition("__")[0] for name in names}
    query = f"?{urlencode({'q': f'server:{servers.pop()}'})}" if len(servers) == 1 else ""
    return redirect(reverse("catalogue:tools") + query)


def _page(request: HttpRequest, typed: dict[str, str], *, status: int = 200, **more: Any) -> HttpResponse:
    errors = more.get("errors") or {}
    first_wrong = next((name for name in FIELDS if name in errors), "")
    context = {
        "typed": typed,
        "dialects": dialects.DIALECTS.values(),
        **more,
        "errors": errors,
        "first_wrong": first_wrong,
    }
    return render(request, "catalogue/import.html", context, status=status)
