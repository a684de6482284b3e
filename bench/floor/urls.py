"""A bare view, and one that tells how quickly tasks are done."""

import time

from django.http import HttpRequest, JsonResponse
from django.urls import path

from bench.floor import queue


def view(request: HttpRequest) -> JsonResponse:
    """As little as an answer can be."""
    return JsonResponse({"ok": True})


def tasks(request: HttpRequest, count: int) -> JsonResponse:
    """Queue that many tasks and wait for their rows; the answer is their rate a second."""
    before, started = queue.stored(), time.perf_counter()
    for number in range(count):
        queue.commit_one.delay(number)
    while queue.stored() < before + count:
        time.sleep(0.002)
    return JsonResponse({"rate": count / (time.perf_counter() - started)})


urlpatterns = [path("", view), path("readyz", view), path("tasks/<int:count>", tasks)]
