"""What the feedback app stores."""

from feedback.models.answer import RatedAnswer, RatedTool, Reworded, Undigested
from feedback.models.check import Check, CheckBatch, CheckRun
from feedback.models.comment import Comment, Mention
from feedback.models.report import Reply, Retraction, UserFeedback
from feedback.models.tally import Tally, Untallied
from feedback.models.triage import Bulk, BulkFailure, Label, Labelled, Lease, SavedView, Triage, TriageChange
from feedback.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookTold

__all__ = [
    "Bulk",
    "BulkFailure",
    "Check",
    "CheckBatch",
    "CheckRun",
    "Comment",
    "Label",
    "Labelled",
    "Lease",
    "Mention",
    "RatedAnswer",
    "RatedTool",
    "Reply",
    "Retraction",
    "Reworded",
    "SavedView",
    "Tally",
    "Triage",
    "TriageChange",
    "Undigested",
    "Untallied",
    "UserFeedback",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookTold",
]
