"""Reports as a file, from a browser."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from feedback import exporting


@signed_in
@require_GET
def export(request: HttpRequest) -> HttpResponseBase:
    """What the desk's query `q` means, as a download."""
    actor = admin_actor(request)
    return exporting.download(actor, {name: request.GET.get(name) for name in exporting.PARAMETERS})
