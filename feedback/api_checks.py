"""The check routes, for admins only."""

from django.http import HttpResponse
from rest_framework.request import Request

from core import paging
from core.api import data, describe, record
from core.errors import NotFound
from core.wire import Nothing
from feedback import access, batches, check_records, desk_records, rerunning
from feedback.api_desk import DeskEndpoint
from feedback.checks import judging, keeping, running
from feedback.models import Check
from feedback.wire_checks import (
    BatchOut,
    BatchPageOut,
    CheckIn,
    CheckPageOut,
    ComparisonOut,
    FixBatchIn,
    KeptCheckOut,
    RunAllIn,
    RunIn,
    RunOut,
    VerdictIn,
)
from feedback.wire_desk import BulkOut, RerunAllIn


class CheckOfReport(DeskEndpoint):
    @describe(gives=KeptCheckOut, summary="Get the check of a report")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        running.come_by()
        check = keeping.of_report(access.report_for(self.actor, feedback_id)).first()
        if check is None:
            raise NotFound("This report has no check.")
        return _check(check)

    @describe(takes=CheckIn, gives=KeptCheckOut, summary="Create a check from a report, or change it")
    def put(self, request: Request, feedback_id: str) -> HttpResponse:
        access.report_for(self.actor, feedback_id)
        return _check(keeping.keep(self.actor, feedback_id, self.parse(CheckIn)))


class Checks(DeskEndpoint):
    @describe(
        gives=CheckPageOut,
        query=("q", "state", "limit", "page_token"),
        choices={"state": Check.State.values},
        summary="List checks, newest first",
    )
    def get(self, request: Request) -> HttpResponse:
        running.come_by()
        state, words = self.query("state"), self.query("q") or ""
        rows = check_records.with_names(keeping.listed(self.actor, state, words))
        limit, places = paging.limit_of(self.query("limit")), keeping.PLACES.of_query(state, words)
        found, token = places.page(rows, limit=limit, page_token=self.query("page_token"))
        return record(CheckPageOut(items=check_records.records(found), next_token=token))


class RunChecks(DeskEndpoint):
    @describe(takes=RunAllIn, gives=BatchOut, summary="Run several checks as a batch")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(RunAllIn)
        batch = running.run(self.actor, keeping.meant(self.actor, asked), asked)
        return record(batches.batch_record(self.actor, batch.batch_id))


class Batches(DeskEndpoint):
    @describe(gives=BatchPageOut, query=("limit", "page_token"), summary="List batches, newest first")
    def get(self, request: Request) -> HttpResponse:
        running.come_by()
        limit = paging.limit_of(self.query("limit"))
        rows = batches.listed(self.actor)
        found, token = batches.PLACES.page(rows, limit=limit, page_token=self.query("page_token"))
        return record(BatchPageOut(items=batches.heads(found), next_token=token))


class OneBatch(DeskEndpoint):
    @describe(gives=BatchOut, query=("wait",), summary="Get a batch with its runs")
    def get(self, request: Request, batch_id: str) -> HttpResponse:
        running.wait_for(self.actor, batch_id, running.seconds_of(self.query("wait")))
        return record(batches.batch_record(self.actor, batch_id))


class StopBatch(DeskEndpoint):
    @describe(takes=Nothing, gives=BatchOut, summary="Stop a batch")
    def post(self, request: Request, batch_id: str) -> HttpResponse:
        running.batch_for(self.actor, batch_id)
        self.parse(Nothing)
        return record(batches.batch_record(self.actor, running.stop(self.actor, batch_id).batch_id))


class FixBatch(DeskEndpoint):
    @describe(takes=FixBatchIn, gives=BulkOut, summary="Resolve as fixed the reports that a batch proves fixed")
    def post(self, request: Request, batch_id: str) -> HttpResponse:
        running.batch_for(self.actor, batch_id)
        return record(desk_records.bulk_record(batches.fix(self.actor, batch_id, self.parse(FixBatchIn))))


class RerunReports(DeskEndpoint):
    @describe(takes=RerunAllIn, gives=BatchOut, summary="Rerun the requests of several reports as a batch")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(RerunAllIn)
        batch = rerunning.rerun_all(self.actor, asked, feedback_ids=asked.feedback_ids, query=asked.asked)
        return record(batches.batch_record(self.actor, batch.batch_id))


class CompareBatches(DeskEndpoint):
    @describe(gives=ComparisonOut, summary="Compare two batches, or a batch with each check's `previous` one")
    def get(self, request: Request, batch_id: str, against: str) -> HttpResponse:
        running.come_by()
        return record(batches.comparison(self.actor, batch_id, against))


class OneCheck(DeskEndpoint):
    @describe(gives=KeptCheckOut, summary="Get a check with its latest runs")
    def get(self, request: Request, check_id: str) -> HttpResponse:
        running.come_by()
        return _check(keeping.check_for(self.actor, check_id))

    @describe(summary="Delete a check and its waiting runs; creating it again restores the others")
    def delete(self, request: Request, check_id: str) -> HttpResponse:
        keeping.drop(self.actor, check_id)
        return data(None)


class RunsOfCheck(DeskEndpoint):
    @describe(takes=RunIn, gives=BatchOut, summary="Run a check")
    def post(self, request: Request, check_id: str) -> HttpResponse:
        check = keeping.check_for(self.actor, check_id)
        batch = running.run(self.actor, [check], self.parse(RunIn))
        return record(batches.batch_record(self.actor, batch.batch_id))


class VerdictOfRun(DeskEndpoint):
    @describe(takes=VerdictIn, gives=RunOut, summary="Set the verdict on a run")
    def put(self, request: Request, run_id: str) -> HttpResponse:
        judging.run_for(self.actor, run_id)
        return record(check_records.run_record(judging.judge(self.actor, run_id, self.parse(VerdictIn).verdict)))


def _check(check: Check) -> HttpResponse:
    return record(check_records.records([check])[0])
