"""A bare view, and one that measures the rate of tasks."""

import time

from django.http import HttpRequest, JsonResponse
from django.urls import path

from bench.floor import queue


def view(request: HttpRequest) -> JsonResponse:
    """Return a minimal response."""
    return JsonResponse({"ok": True})


def tasks(request: HttpRequest, count: int) -> JsonResponse:
    """Queue that many tasks and wait for their rows; returns tasks per second."""
    before, started = queue.stored(), time.perf_counter()
    for number in range(count):
        queue.commit_one.delay(number)
    while queue.stored() < before + count:
        time.sleep(0.002)
    return JsonResponse({"rate": count / (time.perf_counter() - started)})


urlpatterns = [path("", view), path("readyz", view), path("tasks/<int:count>", tasks)]
