"""The page on which tools are pasted: looked at first, then imported (C1 to C15)."""

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
from catalogue import dialects, importing, planning
from catalogue.detecting import body_of
from catalogue.wire_tools import ToolImportOut
from core import forms
from core.canonical import fingerprint
from core.errors import Conflict, InvalidRequest, NoOrgProvided, Unauthorized
from core.rendering import size_text

FIELDS = ("text", "dialect", "server")


@signed_in
@require_http_methods(["GET", "POST"])
def import_tools(request: HttpRequest) -> HttpResponse:
    """Paste or upload tools in any dialect. The first press tells what would happen, the second does it.

    An import is made only of what was looked at: a text that changed since is looked at again.
    """
    typed = {name: forms.lines(request.POST.get(name, "")).strip() for name in FIELDS}
    if request.method == "GET":
        return _page(request, {**typed, "server": request.GET.get("server", "")})
    try:
        typed["text"] = _uploaded(request) or typed["text"]
        org_id, user_id = required_org(request).pk, page_actor(request).user_id
        is_seen = request.POST.get("seen") == fingerprint(typed)
        if request.POST.get("verb") == "import" and is_seen:
            done = importing.import_tools(org_id, user_id, _body(typed, partial=True))
            return _done(request, done)
        plan = planning.plan(org_id, user_id, _body(typed, partial=True, dry_run=True))
    except (InvalidRequest, Conflict, Unauthorized, NoOrgProvided) as problem:
        return _page(request, typed, status=problem.status, errors=forms.reasons(problem, FIELDS, otherwise="form"))
    return _page(request, typed, plan=plan, seen=fingerprint(typed), has_changed=bool(request.POST.get("seen")))


def _body(typed: dict[str, str], **more: Any) -> Any:
    return body_of(typed["text"], typed["dialect"], typed["server"], **more)


def _uploaded(request: HttpRequest) -> str:
    """The text of a file that was chosen, which then stands where it would have been pasted; nothing without one."""
    file = request.FILES.get("file")
    if file is None:
        return ""
    if (file.size or 0) > settings.TOOL_IMPORT_BYTES:
        raise InvalidRequest(f"text: the file is larger than {size_text(settings.TOOL_IMPORT_BYTES)}")
    try:
        return forms.lines(file.read().decode("utf-8-sig")).strip()
    except UnicodeDecodeError:
        raise InvalidRequest("text: the file is no text in UTF-8") from None


def _done(request: HttpRequest, done: ToolImportOut) -> HttpResponse:
    """To the tool that came of it; to its server where there are several."""
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
    context = {"typed": typed, "dialects": list(dialects.DIALECTS), "errors": {}, **more}
    return render(request, "catalogue/import.html", context, status=status)
