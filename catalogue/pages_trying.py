"""Try a tool on its page: a call recorded like any other (catalogue 3.1, C53 to C60, C134)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import required_org, signed_in
from catalogue import browsing, calling, fields, tools
from catalogue.pages_tools import NEW_WORLD, called, number_of, show
from catalogue.wire_calls import CallIn, ValidateIn
from catalogue.wire_worlds import WorldIn
from catalogue.worlds import keeping
from core import bodies
from core.errors import InvalidRequest


@signed_in
@require_http_methods(["GET", "POST"])
def try_it(request: HttpRequest, qualified_name: str) -> HttpResponse:
    """Call a tool with the typed arguments and show the recorded call.

    Invalid arguments are shown by field and nothing is called. A destructive tool needs a confirmation for a real call.
    `check` only validates. The world `new` is created for the call. A GET, which a failed form leaves in the URL,
    redirects to the tool.
    """
    actor, org_id = page_actor(request), required_org(request).pk
    found = tools.tool_for(org_id, qualified_name)
    if request.method == "GET":
        return redirect(f"{reverse('catalogue:tool', args=[found.qualified_name])}?{request.GET.urlencode()}#try")
    version = tools.version_of(found, number_of(request.POST.get("version")))
    form = fields.form_of(version.input_schema)
    typed, verb = fields.typed_again(form, request.POST), request.POST.get("verb")
    if verb == fields.TURN:
        turned, run = fields.turned(form, request.POST), called(actor, found, request.POST.get("call"))
        return show(request, found, version, turned, status=turned.status, run=run)
    arguments, errors = fields.arguments_of(form, request.POST)
    if not errors:
        errors = _wrong(found, version.version, arguments)
    if errors:
        return show(request, found, version, typed.told(errors), status=400)
    if verb == "check":
        return show(request, found, version, typed, said="The arguments are valid. Nothing was called.")
    world = request.POST.get("world") or None
    if world == NEW_WORLD:
        world = keeping.create(actor, org_id, WorldIn(mode="stateful", tools=[found.qualified_name])).world_id
    elif not world and browsing.asks_first(version) and request.POST.get("sure") != "yes":
        return show(request, found, version, typed, status=400, unsure=True)
    # A world answers with the version that it holds, which the call then names.
    sent = {"arguments": arguments, "version": None if world else version.version, "world_id": world}
    made = calling.call(actor, org_id, found, bodies.parse(CallIn, sent))
    query: dict[str, Any] = {"call": made.call_id}
    if version.version != found.version:
        query["version"] = version.version
    if world:
        query["world"] = world
    return redirect(f"{reverse('catalogue:tool', args=[found.qualified_name])}?{urlencode(query)}#run")


def _wrong(found: Any, version: int, arguments: Any) -> list[dict[str, Any]]:
    """The errors of arguments without calling the tool; input that cannot be validated is reported without a field."""
    try:
        bodies.check_storable(arguments)
        return calling.validate(found, bodies.parse(ValidateIn, {"arguments": arguments, "version": version})).errors
    except InvalidRequest as problem:
        return [{"field": "", "code": "INVALID_INPUT", "message": problem.message}]
