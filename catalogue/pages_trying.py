"""Trying a tool from its page: a real call, made and recorded like every other (catalogue 3.1, C53 to C60, C134)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import required_org, signed_in
from catalogue import browsing, calling, fields, tools
from catalogue.fields import Form
from catalogue.models import Tool, ToolVersion
from catalogue.pages_tools import NEW_WORLD, called, number_of, show
from catalogue.wire_calls import CallIn, ValidateIn
from catalogue.wire_worlds import WorldIn
from catalogue.worlds import keeping
from core import bodies
from core.errors import InvalidRequest

FIELDS = "fields"
"""Pressed to see what was typed as JSON in the fields; `fields.WHOLE` is the way back."""


@signed_in
@require_http_methods(["GET", "POST"])
def try_it(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """Call a tool with what was typed, and show the call as it was recorded.

    What the schema refuses is told beside its field and nothing is called. A tool that destroys is really called only
    where the person said so. `check` calls nothing. A new world is made for the tool where one is chosen. What a form
    that was refused left in the address leads back to the tool.
    """
    actor, org_id = page_actor(request), required_org(request).pk
    found = tools.tool_for(org_id, qualified_name)
    if request.method == "GET":
        return redirect(f"{reverse('catalogue:tool', args=[found.qualified_name])}?{request.GET.urlencode()}#try")
    version = tools.version_of(found, number_of(request.POST.get("version")))
    form = fields.form_of(version.input_schema)
    typed, verb = fields.typed_again(form, request.POST), request.POST.get("verb")
    if verb in (fields.WHOLE, FIELDS):
        return _turned(request, found, version, form, as_whole=verb == fields.WHOLE)
    arguments, errors = fields.arguments_of(form, request.POST)
    if not errors:
        errors = _wrong(found, version.version, arguments)
    if errors:
        return show(request, found, version, typed.told(errors), status=400)
    if verb == "check":
        return show(request, found, version, typed, said="These arguments are valid. Nothing was called.")
    world = request.POST.get("world") or None
    if world == NEW_WORLD:
        world = keeping.create(actor, org_id, WorldIn(mode="stateful", tools=[found.qualified_name])).world_id
    elif not world and browsing.asks_first(version) and request.POST.get("sure") != "yes":
        return show(request, found, version, typed, status=400, unsure=True)
    sent = {"arguments": arguments, "version": version.version, "world_id": world}
    made = calling.call(actor, org_id, found, bodies.parse(CallIn, sent))
    query: dict[str, Any] = {"call": made.call_id}
    if version.version != found.version:
        query["version"] = version.version
    if world:
        query["world"] = world
    return redirect(f"{reverse('catalogue:tool', args=[found.qualified_name])}?{urlencode(query)}#run")


def _turned(request: HttpRequest, found: Tool, version: ToolVersion, form: Form, *, as_whole: bool) -> HttpResponse:
    """What was typed, in the other form; as it was with the reason where the other one would not hold it."""
    run = called(page_actor(request), found, request.POST.get("call"))
    arguments, errors = fields.arguments_of(form, request.POST)
    if not (errors or as_whole):
        errors = fields.unshown(form, arguments)
    if errors:
        return show(request, found, version, fields.typed_again(form, request.POST).told(errors), status=400, run=run)
    return show(request, found, version, form.filled(arguments), as_whole=as_whole, run=run)


def _wrong(found: Any, version: int, arguments: Any) -> list[dict[str, Any]]:
    """What is wrong with the arguments of a call that nobody makes; whatever cannot be looked at is about no field."""
    try:
        bodies.check_storable(arguments)
        return calling.validate(found, bodies.parse(ValidateIn, {"arguments": arguments, "version": version})).errors
    except InvalidRequest as problem:
        return [{"field": "", "code": "INVALID_INPUT", "message": problem.message}]
