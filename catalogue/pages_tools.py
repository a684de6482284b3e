"""The tool pages: list, detail, compare, export, change (C13, C49 to C52, C93)."""

import json
from dataclasses import replace
from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from accounts.authentication import page_actor
from accounts.naming import names_of
from accounts.pages import current_org, required_org, signed_in
from accounts.rights import require_maker
from catalogue import browsing, calling, dialects, fields, hooks, naming, servers, tools, usage
from catalogue.changes import changes
from catalogue.compliance import own
from catalogue.compliance.subject import Checked
from catalogue.fields import Form
from catalogue.models import Tool, ToolVersion
from catalogue.pages_compliance import grouped
from catalogue.record import Loss, ToolProblem
from catalogue.tabulating import table
from catalogue.wire_calls import RecordedCallOut
from catalogue.wire_tools import ServerOut, ServerPatch, ToolPatch
from catalogue.worlds import choosing
from core import bodies, differences, forms, ids, paging
from core.actor import Actor
from core.errors import Conflict, DomainError, InvalidRequest, NotFound, Stale, Unauthorized
from core.payloads import json_html
from core.versions import seen_by

PAGE = 50
VERSIONS = 10
"""Number of versions listed with their changes."""
NEW_WORLD = "new"
"""Form value for "create a new world for the call"; never a world id."""


@signed_in
@require_GET
def tool_list(request: HttpRequest) -> HttpResponse:
    """List the tools of the org and the built-in ones, by server (C49); the URL holds the filters.

    `describe` opens the form for the description of the server that the list is limited to.
    """
    return _listed(request, request.GET.get("q", ""), is_describing="describe" in request.GET)


def _listed(request: HttpRequest, line: str, *, status: int = 200, **more: Any) -> HttpResponse:
    """The list for a search query; `more` is for the form of the server's description."""
    org, after = current_org(request), request.GET.get("after", "")
    shelves: list[browsing.Shelf] = []
    links: list[tuple[str, str, int | None, bool]] = []
    next_token = server = None
    if org is not None:
        bodies.check_storable({"q": line})
        filters = browsing.filters_of(line[: browsing.MAX_LINE])
        shelves, next_token = browsing.shelves(org.pk, filters, limit=PAGE, page_token=after or None)
        links = _sieve(line[: browsing.MAX_LINE], filters.server, browsing.server_lines(org.pk))
        server = _server(org.pk, filters.server) if filters.server else None
    context = {
        "shelves": shelves,
        "shown": sum(len(shelf.tools) for shelf in shelves),
        "servers": links,
        "server": server,
        "next_url": paging.next_url(request.GET, next_token),
        "q": line,
        **more,
    }
    return render(request, "catalogue/tools.html", context, status=status)


def _server(org_id: int, name: str) -> ServerOut | None:
    try:
        return servers.server_out(servers.server_for(org_id, name))
    except NotFound:
        return None


@signed_in
@require_POST
def describe(request: HttpRequest, server: str) -> HttpResponse:
    """Change a server's description (C18)."""
    actor, found = page_actor(request), servers.server_for(required_org(request).pk, server)
    servers.require_own(found)
    typed = {"description": forms.lines(request.POST.get("description", "")).strip()}
    line = f"server:{found.name}"
    try:
        bodies.check_storable(typed)
        servers.patch(actor, found, bodies.parse(ServerPatch, typed))
    except InvalidRequest as problem:
        return _listed(request, line, status=problem.status, typed=typed, wrong=forms.reason(problem))
    notes.success(request, "Saved.")
    return redirect(f"{reverse('catalogue:tools')}?{urlencode({'q': line})}")


def _sieve(line: str, chosen: str | None, found: list[browsing.ServerLine]) -> list[tuple[str, str, int | None, bool]]:
    """Links to filter by server, if there are several or one is chosen; each keeps the other search terms."""
    if len(found) < 2 and not chosen:
        return []
    here = reverse("catalogue:tools")
    named = [("", "All servers", None), *((each.name, each.name, each.count) for each in found)]
    lines = [(browsing.narrowed(line, name), word, count, name == (chosen or "")) for name, word, count in named]
    return [(f"{here}?{urlencode({'q': q})}" if q else here, word, count, at) for q, word, count, at in lines]


@signed_in
@require_GET
def tool(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """One tool, by default in its current version, with a recorded call or `arguments` (JSON) to try, if any."""
    actor, found = page_actor(request), tools.tool_for(required_org(request).pk, qualified_name)
    version = tools.version_of(found, number_of(request.GET.get("version")))
    form, run = fields.form_of(version.input_schema), called(actor, found, request.GET.get("call"))
    if run:
        form = form.filled(run.arguments)
    elif given := request.GET.get("arguments"):
        form = fields.showing(form, forms.json_of("arguments", given))
    is_whole = form.is_whole or request.GET.get("as") == fields.WHOLE
    return show(request, found, version, replace(form, is_whole=is_whole), run=run)


def called(actor: Actor, found: Tool, call_id: str | None) -> RecordedCallOut | None:
    """The call of this tool to show next to it, None if none is requested."""
    if not call_id:
        return None
    run = calling.recorded(actor, call_id)
    if run.qualified_name != found.qualified_name:
        raise NotFound.of("call", call_id[:80], f"of {found.qualified_name}")
    return run


def show(
    request: HttpRequest, found: Tool, version: ToolVersion, form: Form, *, status: int = 200, **more: Any
) -> HttpResponse:
    """Render a tool's page with its try-it form; `run` is a call to show."""
    actor, org_id = page_actor(request), required_org(request).pk
    run = more.get("run")
    where = _world_of(request)
    used = usage.of_tool(actor, org_id, found)
    exports = _exports(found, version)
    context = {
        "tool": found,
        "version": version,
        "hints": browsing.hints_of(version),
        "unsaid": browsing.unsaid_by(version),
        "title": version.annotations.get("title"),
        "input": table(version.input_schema),
        "input_json": json_html(version.input_schema),
        "output": table(version.output_schema) if version.output_schema else None,
        "output_json": json_html(version.output_schema) if version.output_schema else "",
        "neighbours": browsing.neighbours(found),
        "usage": used,
        "is_called": any(line.version == version.version for line in used.versions),
        "versions": _versions(found),
        "in_threads": f"tool:{found.qualified_name}",
        "mentions": hooks.feedback.mentions(actor, org_id, {found.name, found.qualified_name}),
        "exports": exports,
        "tolls": [each for each in exports if each.get("toll")],
        "verdict": grouped(own.findings(Checked(found, version, tools.stored(found, version)))),
        "typed": _typed(found),
        "may_change": found.org_id is not None,
        "may_delete": _may_delete(actor, found),
        "form": form,
        "asks_first": found.is_dispatchable and browsing.asks_first(version),
        "where": where,
        "worlds": choosing.choices(org_id, found, chosen="" if where == NEW_WORLD else where),
        "names": names_of([run.created_by]) if run else {},
        "result_json": json_html(run.result) if run else "",
        "arguments_json": json_html(run.arguments) if run else "",
        **more,
        "seen": seen_by(request.POST.get("seen"), found, more.get("problem")),
    }
    return render(request, "catalogue/tool.html", context, status=status)


def _world_of(request: HttpRequest) -> str:
    """The world to call the tool in: empty, `NEW_WORLD` or a world's id; raises `NotFound` for any other text."""
    where = request.POST.get("world") or request.GET.get("world", "")
    if where not in ("", NEW_WORLD) and not ids.key_of(where, ids.WORLD):
        raise NotFound("There is no such world.")
    return where


def _typed(found: Tool) -> dict[str, Any]:
    """The stored settings as the form shows them."""
    named = {name: getattr(found, name) for name in ("visible", "deprecated", "deprecation_message")}
    return {**named, "tags": forms.listing(found.tags)}


def _versions(found: Tool) -> list[dict[str, Any]]:
    """The latest versions, each with its changes from the previous one."""
    rows = list(found.versions.select_related("created_by").order_by("-version")[: VERSIONS + 1])
    before = [*rows[1:], None]
    told = [{"row": row, "changes": changes(old, row) if old else []} for row, old in zip(rows, before, strict=True)]
    return told[:VERSIONS]


def _exports(found: Tool, version: ToolVersion) -> list[dict[str, Any]]:
    """Every export dialect with what the tool loses there, or why it cannot be exported (C46)."""
    stored, told = tools.stored(found, version), []
    for each in dialects.DIALECTS.values():
        if each.write is not None:
            try:
                losses = dialects.write(each, stored).losses
                told.append({"name": each.name, "title": each.title, "toll": _toll(losses), "places": _places(losses)})
            except ToolProblem as problem:
                told.append({"title": each.title, "problem": str(problem)})
    return told


def _toll(losses: list[Loss]) -> str:
    """The number of lost and changed fields: `1 lost, 3 changed`."""
    return ", ".join(f"{len(places)} {word}" for word, places in _places(losses).items())


def _places(losses: list[Loss]) -> dict[str, list[str]]:
    """The paths of lost and changed fields."""
    places: dict[str, list[str]] = {"lost": [], "changed": []}
    for loss in losses:
        places["lost" if loss.is_gone else "changed"].append(loss.path.strip("/") or "the tool")
    return {word: found for word, found in places.items() if found}


def _may_delete(actor: Actor, found: Tool) -> bool:
    try:
        tools.require_own(found)
        require_maker(actor, found.created_by_id)
    except Unauthorized:
        return False
    return True


@signed_in
@require_GET
def compare(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """Compare two versions, in sentences and line by line; by default the current one with the one before."""
    found = tools.tool_for(required_org(request).pk, qualified_name)
    before, to = (number_of(request.GET.get(key) or None) for key in ("from", "to"))
    new = tools.version_of(found, to)
    old = tools.version_of(found, max(1, new.version - 1) if before is None else before)
    texts = [
        (word, *(_pretty(getattr(row, field)) for row in (old, new)))
        for word, field in (("Description", "description"), ("Input", "input_schema"), ("Output", "output_schema"))
    ]
    context = {
        "tool": found,
        "old": old,
        "new": new,
        "changes": changes(old, new) if old.spec_hash != new.spec_hash else [],
        "texts": [(word, differences.compared(before, after)) for word, before, after in texts if before != after],
        "versions": found.versions.order_by("-version").values_list("version", flat=True)[:200],
    }
    return render(request, "catalogue/tool_compare.html", context)


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else forms.json_typed(value)


@signed_in
@require_GET
def export(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """A tool in a dialect with its losses, to copy or to download (C3, C46)."""
    found = tools.tool_for(required_org(request).pk, qualified_name)
    version = tools.version_of(found, number_of(request.GET.get("version")))
    exported = tools.in_dialect(found, version, request.GET.get("dialect", ""))
    if request.GET.get("download"):
        text = json.dumps(exported.tool, ensure_ascii=False, indent=2) + "\n"
        name = f"{found.qualified_name}.{exported.dialect}.json"
        disposition = f'attachment; filename="{name}"'
        return HttpResponse(text, content_type="application/json", headers={"Content-Disposition": disposition})
    offered = [each for each in dialects.DIALECTS.values() if each.write]
    shown = {
        "exported": exported,
        "label": dialects.DIALECTS[exported.dialect].title,
        "toll": _toll(exported.losses),
        "html": json_html(exported.tool),
        "dialects": offered,
    }
    return render(request, "catalogue/tool_export.html", {"tool": found, "version": version, **shown})


@signed_in
@require_POST
def change(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """Show, hide, tag or deprecate a tool (C51); creates no version.

    A change that somebody else saved meanwhile is not overwritten unseen.
    """
    actor, found = page_actor(request), tools.tool_for(required_org(request).pk, qualified_name)
    tools.require_own(found)
    message = forms.lines(request.POST.get("deprecation_message", "")).strip()
    typed: dict[str, Any] = {
        "visible": request.POST.get("visible") == "true",
        "deprecated": request.POST.get("deprecated") == "true",
        "deprecation_message": message or None,
        "tags": request.POST.get("tags", ""),
    }
    seen = request.POST.get("seen") or None
    try:
        body = typed | {"tags": forms.listed("tags", typed["tags"])}
        bodies.check_storable(body)
        tools.patch(actor, found, bodies.parse(ToolPatch, body), seen=seen)
    except (InvalidRequest, Conflict) as problem:
        return _unsaved(request, found, typed, problem)
    notes.success(request, "Saved. No new version.")
    return redirect("catalogue:tool", found.qualified_name)


def _unsaved(request: HttpRequest, found: Tool, typed: dict[str, Any], problem: DomainError) -> HttpResponse:
    """The tool as it is stored, with the form as it was typed: after a conflict, saving again overwrites the former."""
    version = tools.version_of(found)
    return show(
        request,
        found,
        version,
        fields.form_of(version.input_schema),
        status=problem.status,
        wrong=forms.reasons(problem, tuple(typed), otherwise="form"),
        typed=typed,
        is_behind=isinstance(problem, Stale),
        problem=problem,
    )


@signed_in
@require_POST
def delete(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """Delete a tool with its versions (C51)."""
    actor, found = page_actor(request), tools.tool_for(required_org(request).pk, qualified_name)
    tools.delete(actor, found)
    notes.success(request, f"Deleted {found.qualified_name}. Call records stay.")
    return redirect("catalogue:tools")


def number_of(text: str | None) -> int | None:
    """A version number from the URL, None if there is none."""
    return None if text is None else naming.version_number(text)
