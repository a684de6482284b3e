"""The world pages. They call the same functions as the REST routes (catalogue 3.8)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.authentication import page_actor
from accounts.naming import names_of
from accounts.pages import current_org, required_org, signed_in
from catalogue import browsing, dialects, fields, importing, pages_fixtures, results
from catalogue.detecting import body_of
from catalogue.fields import Form
from catalogue.models import World, WorldFixture, WorldTool
from catalogue.wire_worlds import LoggedOut, RecordedIn, WorldCallIn, WorldIn, WorldToolsIn
from catalogue.worlds import calling, failing, keeping, opening
from catalogue.worlds import fixtures as given
from core import bodies, forms, paging
from core.actor import Actor
from core.canonical import canonical_json, fingerprint
from core.errors import Conflict, DomainError, InvalidRequest, NoOrgProvided, NotFound
from core.payloads import json_html
from core.wording import one_line, share

PAGE = 50
LINES = 20
"""Maximum number of calls and of stored entities on a world's page."""
STATUSES = {"": "All", **dict(World.Status.choices)}
MODES = (
    ("stateful", "Stateful", "what you create can be found, changed and deleted"),
    ("examples", "Examples", "matching fixtures, else generated from fixtures"),
    ("schema_only", "Schema only", "generated from schemas"),
)
FIELDS = (
    "name",
    "mode",
    "seed",
    "tools",
    "own",
    "dialect",
    "failure_rate",
    "error_codes",
    "ttl_seconds",
    "strict_fixtures",
)
_NAMES = {
    "failure_profile.rate": "failure_rate",
    "failure_profile.codes": "error_codes",
    "failure_profile": "error_codes",
    "text": "own",
}


@signed_in
@require_GET
def worlds(request: HttpRequest) -> HttpResponse:
    """List the worlds of the org, newest first; the URL holds the filters."""
    org, status, after = current_org(request), request.GET.get("status", ""), request.GET.get("after", "")
    found = keeping.listed(org.pk, status or None, limit=PAGE, page_token=after or None) if org else None
    items = found.items if found else []
    context = {
        "items": items,
        "names": names_of(item.created_by for item in items),
        "next_url": paging.next_url(request.GET, found.next_token if found else None),
        "views": [(key, word, key == status) for key, word in STATUSES.items()],
        "first_run": not (status or after),
    }
    return render(request, "catalogue/worlds.html", context)


@signed_in
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Create a world with its tools and fixtures (C102, C106, C107, C116, C118)."""
    said = request.POST if request.method == "POST" else request.GET
    typed: dict[str, Any] = {name: forms.lines(said.get(name, "")) for name in FIELDS}
    typed |= {
        "error_codes": said.getlist("error_codes"),
        "servers": said.getlist("servers"),
        "picked": said.getlist("picked"),
        "rows": pages_fixtures.typed(said),
    }
    typed["mode"] = typed["mode"] or "stateful"
    if request.method == "GET" or said.get("verb") == "more":
        return _new(request, typed)
    try:
        org_id = required_org(request).pk
        body = bodies.parse(WorldIn, _asked(org_id, typed))
        own, given = _own(typed), pages_fixtures.read(typed["rows"])
        world = opening.open_stocked(page_actor(request), org_id, body, own=own, given=given)
    except (InvalidRequest, NotFound, NoOrgProvided) as problem:
        return _new(request, typed, problem)
    notes.success(request, f"Created a world with seed {world.seed}.")
    return redirect("catalogue:world", world.world_id)


def _new(request: HttpRequest, typed: dict[str, Any], problem: DomainError | None = None) -> HttpResponse:
    rows = pages_fixtures.marked(typed["rows"], problem)
    errors = {}
    if isinstance(problem, NotFound):
        errors = {"tools": problem.message}
    elif problem and not any(row.wrong for row in rows):
        errors = forms.reasons(problem, (*FIELDS, *_NAMES, "fixtures"), otherwise="form", names=_NAMES)
    if "error_codes" in errors and not typed["error_codes"]:
        errors["error_codes"] = "Choose at least one error code."
    org = current_org(request)
    names = browsing.names(org.pk) if org else []
    offered, left = browsing.offered(org.pk, names) if org else ({}, 0)
    context = {
        "typed": typed,
        "errors": errors,
        "rows": [*rows, pages_fixtures.Row()],
        "wrong": errors | pages_fixtures.wrong(rows),
        "modes": MODES,
        "codes": [*failing.CODES],
        "error_codes": [*results.CODES],
        "dialects": dialects.DIALECTS.values(),
        "servers": browsing.server_lines(org.pk) if org else [],
        "names": names,
        "offered": offered,
        "left": left,
    }
    return render(request, "catalogue/worlds_new.html", context, status=problem.status if problem else 200)


def _asked(org_id: int, typed: dict[str, Any]) -> dict[str, Any]:
    """The form as API input."""
    bodies.check_storable(typed["servers"])
    names = [
        *forms.listed("tools", typed["tools"]),
        *typed["picked"],
        *browsing.names(org_id, typed["servers"]),
    ]
    asked: dict[str, Any] = {
        "name": typed["name"].strip() or None,
        "mode": typed["mode"],
        "tools": list(dict.fromkeys(names)),
    }
    for name in ("seed", "ttl_seconds"):
        if typed[name].strip():
            asked[name] = forms.number_of(typed[name])
    rate = forms.number_of(typed["failure_rate"]) if typed["failure_rate"].strip() else 0
    if rate or typed["error_codes"]:
        asked["failure_profile"] = {"rate": rate, "codes": typed["error_codes"]}
    asked["strict_fixtures"] = typed["strict_fixtures"] == "true"
    bodies.check_storable(asked)
    return asked


def _own(typed: dict[str, Any]) -> list[WorldToolsIn]:
    """Pasted tools in any dialect, for this world only."""
    if not typed["own"].strip():
        return []
    found = body_of(typed["own"], typed["dialect"], "")
    tools = importing.one_by_one(found)
    if not all(isinstance(tool, dict) for tool in tools):
        raise InvalidRequest("own: contains something that is not a tool")
    return [bodies.parse(WorldToolsIn, {"dialect": found.dialect, "tool": tool}) for tool in tools]


@signed_in
@require_GET
def detail(request: HttpRequest, world_id: str) -> HttpResponse:
    """One world: tools, state, calls, and a form to call a tool; with `call` that call's result, and its arguments in
    the form.
    """
    actor = page_actor(request)
    world = keeping.world_for(actor, world_id)
    made = calling.called(actor, world, request.GET.get("call", ""))
    if made is None:
        return _detail(request, actor, world)
    line, called = made
    tool = _named(line.tool, world.tools.all())
    form = fields.form_of(tool.input_schema if tool else {}).filled(line.input)
    form = replace(form, is_whole=request.GET.get("as") == fields.WHOLE)
    return _detail(request, actor, world, {"tool": line.tool}, called=called, form=form if tool else None)


def _detail(
    request: HttpRequest,
    actor: Actor,
    world: World,
    typed: dict[str, str] | None = None,
    problem: DomainError | None = None,
    called: Any = None,
    form: Form | None = None,
    rows: list[pages_fixtures.Row] | None = None,
) -> HttpResponse:
    state, shown, log = keeping.state(world), keeping.world_out(world), calling.latest(actor, world, LINES)
    known_by = _known_by(log)
    stored, seen = pages_fixtures.stored(world)
    rows = pages_fixtures.marked(stored if rows is None else rows, problem)
    tools = sorted(world.tools.all(), key=lambda tool: tool.qualified_name)
    typed, errors = typed or {"tool": request.GET.get("tool", "")}, _errors(problem, rows)
    chosen = _named(typed["tool"], tools) or (tools[0] if tools else None)
    form = form or fields.form_of(chosen.input_schema if chosen else {})
    context = {
        "world": shown,
        "failing": share(shown.failure_profile.get("rate") or 0, 1) if shown.failure_profile else "",
        "mode": world.get_mode_display(),
        "names": names_of([shown.created_by, *(line.created_by for line in log)]),
        "tools": tools,
        "chosen": chosen,
        "form": replace(form, error=errors["input"]) if "input" in errors else form,
        "fixture_count": WorldFixture.objects.filter(world=world).count(),
        "rows": [*rows, pages_fixtures.Row()],
        "error_codes": [*results.CODES],
        "dialects": dialects.DIALECTS.values(),
        "is_wrong": pages_fixtures.wrong(rows),
        "is_editing": rows != stored or request.POST.get("verb") == "more",
        "seen": request.POST.get("seen") or seen,
        "entities": _remembered(state.entities, known_by),
        "stored": [f"{len(held)} {noun}" for noun, held in state.entities.items()],
        "history": [{**line, "id": known_by(line["id"])} for line in state.history[::-1]],
        "log": log,
        "typed": typed,
        "errors": errors,
        "called": called,
        "answer": json_html(called.output if called.result["success"] else called.result["error"]) if called else "",
    }
    return render(request, "catalogue/worlds_one.html", context, status=problem.status if problem else form.status)


def _named(name: str, tools: Iterable[WorldTool]) -> WorldTool | None:
    return next((tool for tool in tools if tool.qualified_name == name), None)


def _known_by(log: Sequence[LoggedOut]) -> Callable[[str | None], str | None]:
    """How to show an entity id: as call arguments if the id is their fingerprint, because no id was given."""
    asked = {fingerprint(line.input): f"arguments {one_line(canonical_json(line.input), 60)}" for line in log}
    return lambda entity_id: asked.get(entity_id, entity_id) if entity_id else entity_id


def _remembered(
    entities: dict[str, dict[str, Any]], known_by: Callable[[str | None], str | None]
) -> list[tuple[str, int, list[tuple[str | None, SafeString]]]]:
    """For each noun the number of entities and the first ones as HTML, at most `LINES` in total."""
    found, left = [], LINES
    for noun, held in entities.items():
        shown = [(known_by(entity_id), json_html(data)) for entity_id, data in islice(held.items(), left)]
        left -= len(shown)
        found.append((noun, len(held), shown))
    return found


def _errors(problem: DomainError | None, rows: list[pages_fixtures.Row]) -> dict[str, str]:
    if problem is None or any(row.wrong for row in rows):
        return {}
    return forms.reasons(problem, ("tool", "input", "tools", "own", "text"), otherwise="form", names={"text": "own"})


@signed_in
@require_POST
def tools(request: HttpRequest, world_id: str) -> HttpResponse:
    """Add tools from the catalogue or pasted ones to the world."""
    actor, world = _open(request, world_id)
    typed = {name: forms.lines(request.POST.get(name, "")) for name in ("tools", "own", "dialect")}
    try:
        names = forms.listed("tools", typed["tools"])
        bodies.check_storable({"tools": names})
        opening.stock(actor, world, [bodies.parse(WorldToolsIn, {"tools": names}), *_own(typed)])
    except (InvalidRequest, NotFound) as problem:
        shown = InvalidRequest(f"tools: {problem.message}") if isinstance(problem, NotFound) else problem
        return _detail(request, actor, world, {"tool": "", **typed}, shown)
    return redirect("catalogue:world", world.world_id)


@signed_in
@require_POST
def call(request: HttpRequest, world_id: str) -> HttpResponse:
    """Call a tool; the page that follows shows the result. Invalid arguments give an error result, unless a field
    cannot be parsed.
    """
    actor, world = _open(request, world_id)
    typed = {"tool": request.POST.get("tool", "")}
    tool = _named(typed["tool"], world.tools.all())
    form = fields.form_of(tool.input_schema if tool else {})
    if request.POST.get("verb") == fields.TURN:
        return _detail(request, actor, world, typed, form=fields.turned(form, request.POST))
    arguments, errors = fields.arguments_of(form, request.POST)
    form = fields.typed_again(form, request.POST).told(errors)
    if errors:
        return _detail(request, actor, world, typed, form=form)
    try:
        asked = {**typed, "input": arguments}
        bodies.check_storable(asked)
        called = calling.call(actor, world, bodies.parse(WorldCallIn, asked))
    except (InvalidRequest, Conflict) as problem:
        return _detail(request, actor, world, typed, problem, form=form)
    shown = {"call": called.call_id, **({"as": fields.WHOLE} if form.is_whole else {})}
    return redirect(f"{reverse('catalogue:world', args=[world.world_id])}?{urlencode(shown)}#answer")


@signed_in
@require_POST
def fixtures(request: HttpRequest, world_id: str) -> HttpResponse:
    """Replace all fixtures with the typed ones (C106, C107).

    `more` saves nothing: it adds a row for forms without scripts. A concurrent change by somebody else is not
    overwritten unseen.
    """
    actor, world = _open(request, world_id)
    rows, seen = pages_fixtures.typed(request.POST), request.POST.get("seen") or None
    if request.POST.get("verb") == "more":
        return _detail(request, actor, world, rows=rows)
    try:
        _say_count(request, given.replace(actor, world, pages_fixtures.read(rows), seen=seen))
    except (InvalidRequest, Conflict) as problem:
        return _detail(request, actor, world, problem=problem, rows=rows)
    return redirect("catalogue:world", world.world_id)


@signed_in
@require_POST
def recorded(request: HttpRequest, world_id: str) -> HttpResponse:
    """Create fixtures from recorded real calls."""
    actor, world = _open(request, world_id)
    _say_count(request, given.take_recorded(actor, world, RecordedIn()))
    return redirect("catalogue:world", world.world_id)


def _say_count(request: HttpRequest, count: int) -> None:
    notes.success(request, f"The world now has {count} fixture{'' if count == 1 else 's'}.")


@signed_in
@require_POST
def reset(request: HttpRequest, world_id: str) -> HttpResponse:
    """Reset the world to step 0 (C111)."""
    actor, world = _open(request, world_id)
    is_hard = request.POST.get("hard") == "true"
    keeping.reset(actor, world, hard=is_hard)
    notes.success(request, f"Reset {world.world_id} to step 0{' and deleted its state' if is_hard else ''}.")
    return redirect("catalogue:world", world.world_id)


@signed_in
@require_POST
def close(request: HttpRequest, world_id: str) -> HttpResponse:
    """Close the world (C117)."""
    actor = page_actor(request)
    world = keeping.world_for(actor, world_id)
    keeping.close(actor, world)
    notes.success(request, f"Closed {world.world_id}. Its log stays readable.")
    return redirect("catalogue:world", world.world_id)


def _open(request: HttpRequest, world_id: str) -> tuple[Actor, World]:
    """The actor and the world; raises `Expired` if it is closed or expired."""
    actor = page_actor(request)
    return actor, keeping.open_world(actor, world_id)
