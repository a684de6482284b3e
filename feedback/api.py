"""The feedback routes of the wire (T7, H5 to H8)."""

from collections.abc import Sequence

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.rights import Right, require_admin
from core import bodies, paging
from core.api import Endpoint, data, describe, record, tagged
from core.errors import InvalidRequest
from core.prepared import Question
from feedback import access, capture, lists, projecting, taxonomy, triage, versions
from feedback.wire import FeedbackIn, FeedbackPageOut, FullFeedbackOut, ReplyOut, TriageIn, UserFeedbackOut
from threads.access import message_questions_of, message_standing_for
from threads.api import SdkEndpoint, ThreadEndpoint

FILTERS = ("thread_id", "org_id", "sentiment", "category", "resolved")


class MessageFeedback(SdkEndpoint):
    def next_questions(self) -> Sequence[Question]:
        thread_id = self.kwargs["thread_id"]
        return [*message_questions_of(thread_id, _index(self.kwargs["index"])), *capture.questions_of(thread_id)]

    @describe(takes=FeedbackIn, gives=UserFeedbackOut, summary="Rate a message (T7)")
    def post(self, request: Request, thread_id: str, index: str) -> HttpResponse:
        message = message_standing_for(self.actor, thread_id, _index(index), Right.RATE)
        return self.answer(capture.submit(self.actor, message, self.parse(FeedbackIn)))

    @describe(summary="Retract your rating of a message")
    def delete(self, request: Request, thread_id: str, index: str) -> HttpResponse:
        message = message_standing_for(self.actor, thread_id, _index(index), Right.RATE)
        capture.retract(self.actor, message.thread, message.idx)
        return data(None)


class OwnFeedback(ThreadEndpoint):
    @describe(gives=UserFeedbackOut, many=True, summary="List your own reports in a thread (H5)")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        return self.answers(capture.own(self.actor, self.thread()))


class OwnReplies(ThreadEndpoint):
    @describe(gives=ReplyOut, many=True, summary="List the replies to your own reports in a thread")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        return self.answers(capture.replies(self.actor, self.thread()))


class AllFeedback(Endpoint):
    @describe(
        gives=FeedbackPageOut,
        query=(*FILTERS, "q", "limit", "page_token"),
        choices={"sentiment": taxonomy.Sentiment.values, "category": taxonomy.Category.values},
        summary="List reports, for admins (H6)",
    )
    def get(self, request: Request) -> HttpResponse:
        require_admin(self.actor)
        filters = {name: self.query(name) for name in FILTERS}
        limit = paging.limit_of(self.query("limit"))
        page_token, q = self.query("page_token"), self.query("q")
        return record(lists.listed(self.actor, filters, limit=limit, page_token=page_token, q=q))


class OneFeedback(Endpoint):
    @describe(gives=FullFeedbackOut, has_etag=True, summary="Get a report (H7)")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        report = access.report_for(self.actor, feedback_id)
        version = versions.of(report)
        return tagged(record(projecting.full_record_of(report.pk)), str(version))

    @describe(takes=TriageIn, gives=FullFeedbackOut, has_version=True, summary="Triage a report (H8)")
    def put(self, request: Request, feedback_id: str) -> HttpResponse:
        try:
            body = self.parse(TriageIn)
        except InvalidRequest:
            access.report_for(self.actor, feedback_id)  # report a missing right or report before an invalid body
            raise
        return record(triage.update(self.actor, feedback_id, body, expected=request.headers.get("If-Match")))


def _index(value: str) -> int:
    """The message number in a URL; -1, which no message has, for anything that is not a number (B121)."""
    number = bodies.number(value)
    return -1 if number is None else number
