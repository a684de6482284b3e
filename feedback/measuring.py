"""Metrics of webhooks and the desk, for operators: a fixed number of queries, each using an index."""

from datetime import timedelta

from django.db.models import Count, Min, Q
from django.utils import timezone

from core.measures import Gauge
from feedback.models import UserFeedback, WebhookDelivery, WebhookEndpoint
from feedback.webhooks import settling

State = WebhookDelivery.State
_LATELY = timedelta(hours=1)
_AGES = (0, 1, 7, 30)


def gauges() -> list[Gauge]:
    """The current metrics."""
    return [*_webhooks(), _desk()]


def _webhooks() -> list[Gauge]:
    now = timezone.now()
    settled = WebhookDelivery.objects.filter(settled_at__gte=now - _LATELY).values_list("state")
    outcomes = dict(settled.annotate(count=Count("*")).order_by())
    pending = WebhookDelivery.objects.filter(state=State.PENDING, endpoint__is_enabled=True)
    waiting = pending.aggregate(count=Count("pk"), oldest=Min("created"))
    age = max(0.0, (now - waiting["oldest"]).total_seconds()) if waiting["oldest"] else 0
    endpoints = WebhookEndpoint.objects.aggregate(
        well=Count("pk", filter=Q(is_enabled=True, failing_since=None)),
        failing=Count("pk", filter=Q(is_enabled=True, failing_since__isnull=False)),
        disabled=Count("pk", filter=Q(is_enabled=False)),
    )
    kinds = [rows.order_by("due_at") for rows in settling.due_events()]
    due = sum(rows.count() for rows in kinds)
    # The first of each kind's index: an aggregate would read all that a bulk has left.
    oldest = [found for rows in kinds for found in rows.values_list("due_at", flat=True)[:1]]
    due_for = max(0.0, (now - min(oldest)).total_seconds()) if oldest else 0
    return [
        Gauge(
            "heddle_webhook_settled",
            "Webhook deliveries of the last hour, by outcome.",
            {f'outcome="{each}"': outcomes.get(each, 0) for each in (State.DELIVERED, State.FAILED, State.DROPPED)},
        ),
        Gauge("heddle_webhook_pending", "Pending webhook deliveries.", {"": waiting["count"]}),
        Gauge("heddle_webhook_oldest_pending_seconds", "Age in seconds of the oldest pending delivery.", {"": age}),
        Gauge("heddle_webhook_events_due", "Webhook events that are due and not settled.", {"": due}),
        Gauge("heddle_webhook_oldest_due_seconds", "Seconds since the oldest such event was due.", {"": due_for}),
        Gauge(
            "heddle_webhook_endpoints",
            "Webhooks by state; well means enabled and not failing.",
            {f'state="{state}"': count for state, count in endpoints.items()},
        ),
    ]


def _desk() -> Gauge:
    now = timezone.now()
    older = {f"d{days}": Count("pk", filter=Q(created__lte=now - timedelta(days=days))) for days in _AGES}
    counts = UserFeedback.objects.filter(resolved=False).aggregate(**older)
    return Gauge(
        "heddle_reports_open",
        "Open reports by age.",
        {f'older_than="{days}d"': counts[f"d{days}"] for days in _AGES},
    )
