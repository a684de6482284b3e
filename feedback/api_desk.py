"""The desk's own routes: verbs with undo, bulk, leases, views, labels. Admins only, every one of them."""

from django.http import HttpResponse, HttpResponseBase
from rest_framework.request import Request

from accounts.rights import require_admin
from core import bodies, ids
from core.api import Endpoint, data, describe, record, records
from core.wire import Exact, Nothing
from feedback import bulk, desk_records, exporting, labelling, leasing, saved_views, triage
from feedback.deciding import Verb, verb_named
from feedback.models import Bulk
from feedback.wire_desk import (
    ActedOut,
    ActIn,
    BulkIn,
    BulkOut,
    ChangedLabelOut,
    ChangeOut,
    DeskRecordOut,
    LabelNameIn,
    LabelOut,
    LabelPatch,
    LeaseOut,
    UndoIn,
    ViewIn,
    ViewOut,
    ViewPatch,
)


class DeskEndpoint(Endpoint):
    """A route of the desk: who is no admin learns nothing but that."""

    def admit(self, request: Request) -> None:
        if request.method in self.allowed_methods:  # one that is not possible here is refused to anybody as such
            require_admin(self.actor)


class Triage(DeskEndpoint):
    @describe(gives=DeskRecordOut, summary="A report with all that admins keep beside it")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        found = desk_records.desk_record(triage.report_for(self.actor, feedback_id))
        return _tagged(record(found), found)


class History(DeskEndpoint):
    @describe(gives=ChangeOut, many=True, summary="What was done to a report")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        return records(desk_records.history(triage.report_for(self.actor, feedback_id)))


class Actions(DeskEndpoint):
    @describe(takes=ActIn, gives=ActedOut, has_version=True, summary="Do one thing to a report")
    def post(self, request: Request, feedback_id: str) -> HttpResponse:
        triage.report_for(self.actor, feedback_id)
        asked = self.parse(ActIn)
        verb, body = _spelled_out(asked)
        expected = request.headers.get("If-Match")
        report, action = triage.act(self.actor, feedback_id, (verb, body), expected=expected)
        found = desk_records.desk_record(report)
        return _tagged(record(ActedOut(action_id=ids.ACTION + action if action else None, report=found)), found)


class Bulks(DeskEndpoint):
    @describe(takes=BulkIn, gives=BulkOut, summary="Do one thing to many reports")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(BulkIn)
        verb, body = _spelled_out(asked)
        return _bulk(bulk.act_on_all(self.actor, verb, body, feedback_ids=asked.feedback_ids, query=asked.query))


class OneBulk(DeskEndpoint):
    @describe(gives=BulkOut, summary="How far it is")
    def get(self, request: Request, bulk_id: str) -> HttpResponse:
        return _bulk(bulk.bulk_for(self.actor, bulk_id))


class CancelBulk(DeskEndpoint):
    @describe(takes=Nothing, gives=BulkOut, summary="Stop it; what it did stays")
    def post(self, request: Request, bulk_id: str) -> HttpResponse:
        bulk.bulk_for(self.actor, bulk_id)
        self.parse(Nothing)
        return _bulk(bulk.cancel(self.actor, bulk_id))


class Undo(DeskEndpoint):
    @describe(takes=UndoIn, gives=BulkOut, summary="Take an action back within 30 minutes")
    def post(self, request: Request) -> HttpResponse:
        action = ids.key_of(self.parse(UndoIn).action_id, ids.ACTION) or ""
        return _bulk(bulk.undo(self.actor, action))


class OneLease(DeskEndpoint):
    @describe(takes=Nothing, gives=LeaseOut, summary="Say that one has a report open, for two minutes")
    def put(self, request: Request, feedback_id: str) -> HttpResponse:
        triage.report_for(self.actor, feedback_id)
        self.parse(Nothing)
        return record(LeaseOut(held_by=leasing.hold(self.actor, feedback_id)))

    @describe(summary="Say that one has left it")
    def delete(self, request: Request, feedback_id: str) -> HttpResponse:
        leasing.release(self.actor, feedback_id)
        return data(None)


class Views(DeskEndpoint):
    @describe(gives=ViewOut, many=True, summary="Views, those that are built in first")
    def get(self, request: Request) -> HttpResponse:
        built_in = [desk_records.built_in_record(view, self._count(view.query)) for view in saved_views.BUILT_IN]
        saved = [desk_records.view_record(view, self._count(view.query)) for view in saved_views.listed(self.actor)]
        return records([*built_in, *saved])

    def _count(self, query: str) -> int | None:
        return saved_views.count(self.actor, query)

    @describe(takes=ViewIn, gives=ViewOut, summary="Keep a query under a name")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(ViewIn)
        view = saved_views.save(self.actor, asked.name, asked.query, is_shared=asked.is_shared)
        return record(desk_records.view_record(view, saved_views.count(self.actor, view.query)))


class OneView(DeskEndpoint):
    @describe(takes=ViewPatch, gives=ViewOut, summary="Change one's own view")
    def patch(self, request: Request, view_id: str) -> HttpResponse:
        view = saved_views.change(self.actor, view_id, **self.parse(ViewPatch).changes())
        return record(desk_records.view_record(view, saved_views.count(self.actor, view.query)))

    @describe(summary="Delete one's own view")
    def delete(self, request: Request, view_id: str) -> HttpResponse:
        saved_views.drop(self.actor, view_id)
        return data(None)


class Export(DeskEndpoint):
    @describe(
        files=tuple(exporting.CONTENT_TYPES.values()),
        query=exporting.PARAMETERS,
        summary="Reports as a file, newest first unless the query says otherwise, all or those that it means",
    )
    def get(self, request: Request) -> HttpResponseBase:
        return exporting.download(self.actor, {name: self.query(name) for name in exporting.PARAMETERS})


class Labels(DeskEndpoint):
    @describe(gives=LabelOut, many=True, summary="All labels")
    def get(self, request: Request) -> HttpResponse:
        return records([desk_records.label_record(label) for label in labelling.listed(self.actor)])

    @describe(takes=LabelNameIn, gives=LabelOut, summary="A new label")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(LabelNameIn)
        return record(desk_records.label_record(labelling.make(self.actor, asked.name, asked.description)))


class OneLabel(DeskEndpoint):
    @describe(takes=LabelPatch, gives=ChangedLabelOut, summary="Rename a label, merge it into another, or describe it")
    def patch(self, request: Request, name: str) -> HttpResponse:
        asked = self.parse(LabelPatch)
        begun, renaming = bulk.change_label(
            self.actor, name, to=asked.name, merge=asked.merge, description=asked.description
        )
        return record(desk_records.changed_label_record(labelling.counted(self.actor, begun.into), renaming))

    @describe(summary="Delete a label that no report carries")
    def delete(self, request: Request, name: str) -> HttpResponse:
        labelling.drop(self.actor, name)
        return data(None)


def _spelled_out(asked: ActIn) -> tuple[Verb, Exact]:
    verb = verb_named(asked.verb)
    return verb, bodies.parse(verb.takes, asked.arguments)


def _bulk(found: Bulk) -> HttpResponse:
    return record(desk_records.bulk_record(found))


def _tagged(response: HttpResponse, found: DeskRecordOut) -> HttpResponse:
    response["ETag"] = f'"{found.version}"'
    return response
