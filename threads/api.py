"""The REST routes for threads (spec 2.1, 2.8); the work is done by the modules they call."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.cache import add_never_cache_headers
from pydantic import BaseModel
from rest_framework.request import Request

from accounts.api import OrgEndpoint
from accounts.rights import Right
from core import paging
from core.api import Endpoint, data, describe, record, records, when_sent
from core.prepared import Question
from core.wire import Nothing
from threads import dialects, finding, forks, importing, lists, profiles, reading, reruns, sharing, titles, turns
from threads.access import questions_of, standing_for, standing_questions_of, thread_for
from threads.models import Thread
from threads.wire import (
    MAX_SUBJECTS,
    DeltaOut,
    ForkIn,
    PinIn,
    ProfileOut,
    RerunIn,
    SearchIn,
    SendIn,
    StartIn,
    StatusOut,
    SubjectIn,
    SubjectOut,
    ThreadOut,
    ThreadPageOut,
    TitlePatch,
    ToolDetailOut,
    ToolResultsIn,
    VisibilityIn,
)
from threads.wire_importing import ConversationsIn, ExportOut, ImportOut

KNOWN_VERSIONS = frozenset({
    "2025-01-01", "2025-07-14", "2026-01-02", "2026-02-02", "2026-02-11", "2026-03-13", "2026-05-20",
    "2026-07-05", "2026-08-10", "2026-08-27", "2026-09-30", "2026-10-02", "2026-10-05", "2026-10-06",
})  # fmt: skip
SESSION_NAMES_BEFORE = "2026-05-20"
_VERSION_HEADER = "HTTP_X_ROBOTO_API_VERSION"


class ThreadEndpoint(Endpoint):
    """Base of the routes for one thread or for all threads."""

    def thread(self, right: Right = Right.READ) -> Thread:
        """The thread of the URL, if the caller has the right."""
        return thread_for(self.actor, self.kwargs["thread_id"], right)

    def next_questions(self) -> Sequence[Question]:
        return questions_of(self.kwargs.get("thread_id", ""))

    @property
    def api_version(self) -> str:
        """The client's API version; empty for none or an unknown one, which means the latest (spec 1.6)."""
        version = str(self.request.META.get(_VERSION_HEADER, ""))
        return version if version in KNOWN_VERSIONS else ""

    @property
    def names_version(self) -> bool:
        """Whether the client sent an API version, even an unknown one, as the SDK always does."""
        return bool(self.request.META.get(_VERSION_HEADER))

    def answer(self, model: BaseModel) -> HttpResponse:
        """The response with a record, using the key names that older clients expect (spec 1.6)."""
        return data(_with_session_names(model.model_dump(mode="json"))) if self._says_session else record(model)

    def answers(self, models: list[Any]) -> HttpResponse:
        """The response with a list of records, as `answer`."""
        if not self._says_session:
            return records(models)
        return data([_with_session_names(model.model_dump(mode="json")) for model in models])

    @property
    def _says_session(self) -> bool:
        return "" < self.api_version < SESSION_NAMES_BEFORE


class SdkEndpoint(ThreadEndpoint):
    """A URL that the public SDK calls; its versions differ in what they send (B20)."""

    has_exact_query = False


def _with_session_names(value: Any) -> Any:
    older = {"thread_id": "session_id", "forked_from_thread_id": "forked_from_session_id"}
    if isinstance(value, dict) and "thread_id" in value:
        return {older.get(key, key): each for key, each in value.items()}
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        return {**value, "items": [_with_session_names(item) for item in value["items"]]}
    return value


class Threads(SdkEndpoint, OrgEndpoint):
    methods_without_org = frozenset({"GET"})
    """The list shows the caller's own threads in every org."""

    @describe(
        gives=ThreadPageOut,
        query=("q", "limit", "page_token"),
        summary="List own and pinned threads (H1), optionally narrowed by a query",
    )
    def get(self, request: Request) -> HttpResponse:
        limit, page_token = paging.limit_of(self.query("limit")), self.query("page_token")
        narrowed, order = finding.understood(self.actor, self.query("q"))
        order = order.of_query(self.query("q"))
        found = lists.own_threads(self.actor, limit=limit, page_token=page_token, narrowed=narrowed, order=order)
        return self.answer(found)

    @describe(takes=StartIn, gives=ThreadOut, summary="Start a thread (T1)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        return self.answer(turns.start(self.actor, org_id, self.parse(StartIn), api_version=self.api_version))


class Search(ThreadEndpoint, OrgEndpoint):
    reads = Endpoint.reads | {"POST"}

    @describe(
        takes=SearchIn,
        gives=ThreadPageOut,
        summary="Search readable threads (H2), in all orgs or the one that is named",
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.parse(SearchIn)
        narrowed, order = finding.understood(self.actor, body.q)
        found = lists.search(self.actor, body, narrowed=narrowed, order=order, org_id=self.named_org())
        return self.answer(found)


class OneThread(SdkEndpoint):
    @describe(gives=ThreadOut, query=("load_messages",), summary="Read a thread (T2)")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread()
        load_messages = self.query_bool("load_messages", True)
        return self.answer(reading.record(thread, load_messages=load_messages, api_version=self.api_version))

    @describe(takes=TitlePatch, gives=ThreadOut, summary="Rename a thread (H11)")
    def patch(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.DESCRIBE)
        titles.retitle(self.actor, thread, self.parse(TitlePatch).title)
        return self.answer(reading.record(thread, load_messages=False, api_version=self.api_version))


class Delta(SdkEndpoint):
    def next_questions(self) -> Sequence[Question]:
        return standing_questions_of(self.kwargs["thread_id"])

    @describe(gives=DeltaOut, query=("next_token",), summary="Get changes since a token (T3)")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        token = self.request.query_params.get("next_token")  # an empty one is malformed, not absent
        standing = standing_for(self.actor, thread_id)
        return record(reading.delta(self.actor, standing, token, api_version=self.api_version))


class Messages(SdkEndpoint):
    @describe(takes=SendIn, gives=StatusOut, summary="Send a message (T4)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.SEND)
        body = self.parse(SendIn)
        sent = turns.Request.of("send", self.raw_body())
        response = self.answer(turns.send(self.actor, thread, body, request=sent))
        return when_sent(response, lambda: turns.told(thread.pk, sent))


class ToolResults(SdkEndpoint):
    @describe(takes=ToolResultsIn, gives=StatusOut, summary="Submit results of client tools (T5)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.SEND)
        body = self.parse(ToolResultsIn)
        sent = turns.Request.of("tool-results", self.raw_body())
        response = self.answer(turns.submit_tool_results(self.actor, thread, body, request=sent))
        return when_sent(response, lambda: turns.told(thread.pk, sent))


class Fork(SdkEndpoint):
    @describe(takes=ForkIn, gives=ThreadOut, summary="Fork a thread at a message (T6)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.FORK)
        body = self.parse(ForkIn)
        bound = body.message_sequence_num
        world_id = body.world_id if "world_id" in body.model_fields_set else forks.SAME_WORLD
        forked = forks.fork(self.actor, thread, bound, world_id=world_id, api_version=self.api_version)
        return self.answer(forked)


class Rerun(ThreadEndpoint):
    @describe(takes=RerunIn, gives=ThreadOut, summary="Rerun the request of an answer in a private fork")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.FORK)
        return self.answer(reruns.rerun(self.actor, thread, self.parse(RerunIn), api_version=self.api_version))


class VisibilityOf(SdkEndpoint):
    @describe(takes=VisibilityIn, gives=StatusOut, summary="Change who can read a thread (T8)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        # Only ownership is checked here. The org's policy is checked after the body, by the function called (spec 1.4).
        thread = self.thread(Right.DESCRIBE)
        sharing.set_visibility(self.actor, thread, self.parse(VisibilityIn).visibility)
        return self.answer(reading.status(thread))


class PinOf(SdkEndpoint):
    @describe(takes=PinIn, gives=StatusOut, summary="Pin or unpin a thread (T9)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.PIN)
        sharing.pin(self.actor, thread, pinned=self.parse(PinIn).pinned)
        return self.answer(reading.status(thread))


class Cancel(ThreadEndpoint):
    @describe(takes=Nothing, gives=StatusOut, summary="Cancel the running turn (H3)")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.CANCEL)
        self.parse(Nothing)
        return self.answer(turns.cancel(self.actor, thread))


class Again(ThreadEndpoint):
    @describe(takes=Nothing, gives=StatusOut, summary="Retry the last request")
    def post(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.SEND)
        self.parse(Nothing)
        return self.answer(turns.again(self.actor, thread))


class ToolDetail(ThreadEndpoint):
    @describe(gives=ToolDetailOut, summary="Get a tool use and its result with raw payloads (H4)")
    def get(self, request: Request, thread_id: str, tool_use_id: str) -> HttpResponse:
        return record(reading.tool_detail_out(self.thread(Right.RAW), tool_use_id))


class Subjects(ThreadEndpoint):
    @describe(gives=SubjectOut, many=True, summary="List the subjects of a thread (H10)")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        return records(reading.subjects_of(self.thread()))

    @describe(
        takes=SubjectIn,
        at_most=MAX_SUBJECTS,
        gives=SubjectOut,
        many=True,
        summary="Replace the subjects of a thread (H10)",
    )
    def put(self, request: Request, thread_id: str) -> HttpResponse:
        thread = self.thread(Right.DESCRIBE)
        sharing.set_subjects(self.actor, thread, self.parse_list(SubjectIn, at_most=MAX_SUBJECTS))
        return records(reading.subjects_of(thread))


class ModelProfiles(ThreadEndpoint):
    @describe(gives=ProfileOut, many=True, summary="List model profiles (H9)")
    def get(self, request: Request) -> HttpResponse:
        return records(
            [
                ProfileOut(id=each.id, label=each.label, description=each.description, is_default=each.is_default)
                for each in profiles.all_profiles()
            ]
        )


class Import(OrgEndpoint):
    body_limit = settings.IMPORT_BODY_BYTES

    @describe(takes=ConversationsIn, gives=ImportOut, summary="Import conversations (spec 9)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        body = self.parse(ConversationsIn, apart="conversations")
        owner_id = importing.owner_for(self.actor, body.owner, org_id)
        done = importing.import_conversations(body.format, body.conversations, owner_id, org_id, body.visibility)
        return record(importing.record(done))


class Export(ThreadEndpoint):
    @describe(
        gives=ExportOut,
        query=("format",),
        choices={"format": dialects.FORMATS},
        summary="Export a thread in another system's format (spec 9)",
    )
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        response = record(importing.export(self.actor, self.thread(), self.query("format") or "roboto"))
        add_never_cache_headers(response)
        return response
