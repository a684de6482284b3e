"""What operators and orchestrators ask: is it alive, is it ready, what are its figures."""

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from core.measures import Gauge
from feedback import measuring
from threads.models import Turn
from threads.status import TurnState


def livez(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers, and the queue where there is one; 503 names what does not."""
    found = checks()
    ok = all(found.values())
    return JsonResponse({"ok": ok, "checks": found}, status=200 if ok else 503)


def checks() -> dict[str, bool]:
    """What a process cannot work without, and whether it answers."""
    return {"database": _database(), "queue": _queue()}


def metrics(request: HttpRequest) -> HttpResponse:
    """Figures in the Prometheus text format."""
    states = (TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING)
    turns = {f'state="{state}"': Turn.objects.filter(state=state).count() for state in states}
    gauges = [
        Gauge("heddle_turns", "Open turns by state.", turns),
        *measuring.gauges(),
        Gauge("heddle_info", "What runs here.", {f'version="{settings.VERSION}"': 1}),
    ]
    return HttpResponse("".join(each.text for each in gauges), content_type="text/plain; version=0.0.4")


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _queue() -> bool:
    if not settings.HEDDLE.redis_url:
        return True
    import redis

    try:
        client = redis.Redis.from_url(settings.HEDDLE.redis_url, socket_connect_timeout=1, socket_timeout=1)
        return bool(client.ping())
    except redis.RedisError:
        return False
