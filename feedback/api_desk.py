"""The desk's routes: actions, undo, bulks, leases, views, labels. All are for admins only."""

from functools import partial

from django.http import HttpResponse, HttpResponseBase
from rest_framework.request import Request

from accounts.authentication import token_actor_again
from accounts.rights import require_admin
from core import bodies, ids, paging
from core.actor import Actor
from core.api import Endpoint, data, describe, record, records, tagged
from core.wire import Exact, Nothing
from feedback import access, bulk, commenting, desk_records, exporting, labelling, leasing, saved_views, triage
from feedback.deciding import Verb, verb_named
from feedback.models import Bulk, SavedView
from feedback.wire_desk import (
    ActedOut,
    ActIn,
    BulkIn,
    BulkOut,
    ChangedLabelOut,
    ChangeOut,
    CommentIn,
    CommentOut,
    CommentPatch,
    DeskRecordOut,
    LabelNameIn,
    LabelOut,
    LabelPageOut,
    LabelPatch,
    LeaseOut,
    SeenIn,
    UndoIn,
    ViewIn,
    ViewOut,
    ViewPatch,
)


class DeskEndpoint(Endpoint):
    """A route of the desk; anyone who is not an admin gets only a refusal."""

    def admit(self, request: Request) -> None:
        if request.method in self.allowed_methods:  # a method that is not allowed is refused as such to everybody
            require_admin(self.actor)


class Triage(DeskEndpoint):
    @describe(gives=DeskRecordOut, has_etag=True, summary="Get a report with its triage data")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        found = desk_records.desk_record(access.report_for(self.actor, feedback_id))
        return tagged(record(found), found.version)


class History(DeskEndpoint):
    @describe(gives=ChangeOut, many=True, summary="Get the history of a report")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        return records(desk_records.history(access.report_for(self.actor, feedback_id)))


class Comments(DeskEndpoint):
    @describe(gives=CommentOut, many=True, summary="List the comments on a report")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        return records([desk_records.comment_record(each) for each in commenting.listed(self.actor, feedback_id)])

    @describe(takes=CommentIn, gives=CommentOut, summary="Comment on a report")
    def post(self, request: Request, feedback_id: str) -> HttpResponse:
        access.report_for(self.actor, feedback_id)
        return record(desk_records.comment_record(commenting.add(self.actor, feedback_id, self.parse(CommentIn))))


class OneComment(DeskEndpoint):
    @describe(takes=CommentPatch, gives=CommentOut, summary="Change your own comment")
    def patch(self, request: Request, feedback_id: str, comment_id: str) -> HttpResponse:
        commenting.own(self.actor, feedback_id, comment_id)
        changed = commenting.edit(self.actor, feedback_id, comment_id, self.parse(CommentPatch))
        return record(desk_records.comment_record(changed))

    @describe(summary="Delete your own comment")
    def delete(self, request: Request, feedback_id: str, comment_id: str) -> HttpResponse:
        commenting.delete(self.actor, feedback_id, comment_id)
        return data(None)


class RestoreComment(DeskEndpoint):
    @describe(takes=Nothing, gives=CommentOut, summary="Restore your own comment within 30 minutes after its deletion")
    def post(self, request: Request, feedback_id: str, comment_id: str) -> HttpResponse:
        commenting.own(self.actor, feedback_id, comment_id)
        self.parse(Nothing)
        return record(desk_records.comment_record(commenting.restore(self.actor, feedback_id, comment_id)))


class AcknowledgeComments(DeskEndpoint):
    @describe(takes=SeenIn, summary="Acknowledge the comments on a report that ask you")
    def post(self, request: Request, feedback_id: str) -> HttpResponse:
        access.report_for(self.actor, feedback_id)
        commenting.acknowledge(self.actor, feedback_id, self.parse(SeenIn))
        return data(None)


class Actions(DeskEndpoint):
    @describe(takes=ActIn, gives=ActedOut, has_version=True, has_etag=True, summary="Apply an action to a report")
    def post(self, request: Request, feedback_id: str) -> HttpResponse:
        access.report_for(self.actor, feedback_id)
        asked = self.parse(ActIn)
        verb, body = _spelled_out(asked)
        expected = request.headers.get("If-Match")
        report, action = triage.act(self.actor, feedback_id, (verb, body), expected=expected)
        found = desk_records.desk_record(report)
        return tagged(record(ActedOut(action_id=ids.ACTION + action if action else None, report=found)), found.version)


class Bulks(DeskEndpoint):
    @describe(takes=BulkIn, gives=BulkOut, summary="Apply an action to many reports")
    def post(self, request: Request) -> HttpResponse:
        body = self.parse(BulkIn)
        verb, arguments = _spelled_out(body)
        return _bulk(bulk.act_on_all(self.actor, verb, arguments, feedback_ids=body.feedback_ids, query=body.asked))


class OneBulk(DeskEndpoint):
    @describe(gives=BulkOut, summary="Get a bulk action's progress")
    def get(self, request: Request, bulk_id: str) -> HttpResponse:
        return _bulk(bulk.bulk_for(self.actor, bulk_id))


class CancelBulk(DeskEndpoint):
    @describe(takes=Nothing, gives=BulkOut, summary="Stop a bulk action; changes made so far stay")
    def post(self, request: Request, bulk_id: str) -> HttpResponse:
        bulk.bulk_for(self.actor, bulk_id)
        self.parse(Nothing)
        return _bulk(bulk.cancel(self.actor, bulk_id))


class Undo(DeskEndpoint):
    @describe(takes=UndoIn, gives=BulkOut, summary="Undo an action or bulk within 30 minutes, or redo an undo")
    def post(self, request: Request) -> HttpResponse:
        action = ids.key_of(self.parse(UndoIn).action_id, ids.ACTION) or ""
        return _bulk(bulk.undo(self.actor, action))


class OneLease(DeskEndpoint):
    @describe(takes=Nothing, gives=LeaseOut, summary="Take or renew the presence lease, for two minutes")
    def put(self, request: Request, feedback_id: str) -> HttpResponse:
        access.report_for(self.actor, feedback_id)
        self.parse(Nothing)
        return record(LeaseOut(held_by=leasing.take(self.actor, feedback_id)))

    @describe(summary="Release the presence lease")
    def delete(self, request: Request, feedback_id: str) -> HttpResponse:
        leasing.release(self.actor, feedback_id)
        return data(None)


class Views(DeskEndpoint):
    @describe(gives=ViewOut, many=True, summary="List views, built-in ones first and with their counts")
    def get(self, request: Request) -> HttpResponse:
        counts = saved_views.built_in_counts(self.actor)
        built_in = [desk_records.built_in_record(view, counts[view.query]) for view in saved_views.BUILT_IN]
        saved = [desk_records.view_record(view, None) for view in saved_views.listed(self.actor)]
        return records([*built_in, *saved])

    @describe(takes=ViewIn, gives=ViewOut, summary="Save a query as a view")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(ViewIn)
        view = saved_views.save(self.actor, asked.name, asked.query, is_shared=asked.is_shared)
        return _view(self.actor, view)


class OneView(DeskEndpoint):
    @describe(gives=ViewOut, summary="Get a view with its count")
    def get(self, request: Request, view_id: str) -> HttpResponse:
        return _view(self.actor, saved_views.view_for(self.actor, view_id))

    @describe(
        takes=ViewPatch,
        gives=ViewOut,
        summary="Change your own view, or a shared one of a former admin",
    )
    def patch(self, request: Request, view_id: str) -> HttpResponse:
        saved_views.changeable(self.actor, view_id)
        return _view(self.actor, saved_views.change(self.actor, view_id, **self.parse(ViewPatch).changes()))

    @describe(summary="Delete your own view, or a shared one of a former admin")
    def delete(self, request: Request, view_id: str) -> HttpResponse:
        saved_views.drop(self.actor, view_id)
        return data(None)


class Export(DeskEndpoint):
    @describe(
        files=tuple(exporting.CONTENT_TYPES.values()),
        query=exporting.PARAMETERS,
        summary="Download all reports, or those that match `q`, as a file",
    )
    def get(self, request: Request) -> HttpResponseBase:
        given = {name: self.query(name) for name in exporting.PARAMETERS}
        return exporting.download(self.actor, given, partial(token_actor_again, request))


class Labels(DeskEndpoint):
    @describe(gives=LabelPageOut, query=("limit", "page_token"), summary="List labels by name")
    def get(self, request: Request) -> HttpResponse:
        limit = paging.limit_of(self.query("limit"))
        found, token = labelling.listed(self.actor, limit=limit, page_token=self.query("page_token"))
        return record(LabelPageOut(items=[desk_records.label_record(label) for label in found], next_token=token))

    @describe(takes=LabelNameIn, gives=LabelOut, summary="Create a label")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(LabelNameIn)
        return record(desk_records.label_record(labelling.make(self.actor, asked.name, asked.description)))


class OneLabel(DeskEndpoint):
    @describe(takes=LabelPatch, gives=ChangedLabelOut, summary="Rename, merge or describe a label")
    def patch(self, request: Request, name: str) -> HttpResponse:
        labelling.named(name)
        asked = self.parse(LabelPatch)
        begun, renaming = bulk.change_label(
            self.actor, name, to=asked.name, merge=asked.merge, description=asked.description
        )
        return record(desk_records.changed_label_record(labelling.counted(self.actor, begun.into), renaming))

    @describe(summary="Delete a label that is on no report")
    def delete(self, request: Request, name: str) -> HttpResponse:
        labelling.drop(self.actor, name)
        return data(None)


def _spelled_out(asked: ActIn) -> tuple[Verb, Exact]:
    verb = verb_named(asked.verb)
    return verb, bodies.parse(verb.takes, asked.arguments)


def _view(actor: Actor, view: SavedView) -> HttpResponse:
    return record(desk_records.view_record(view, saved_views.count(actor, view.query)))


def _bulk(found: Bulk) -> HttpResponse:
    return record(desk_records.bulk_record(found))
