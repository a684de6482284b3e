"""The routes of checks. Admins only, every one of them."""

from django.http import HttpResponse
from rest_framework.request import Request

from core import paging
from core.api import data, describe, record
from core.errors import NotFound
from core.wire import Nothing
from feedback import triage
from feedback.api_desk import DeskEndpoint
from feedback.checks import batches, judging, keeping, records, running
from feedback.checks.wire import (
    BatchOut,
    BatchPageOut,
    CheckIn,
    CheckPageOut,
    ComparisonOut,
    KeptCheckOut,
    RunAllIn,
    RunIn,
    RunOut,
    VerdictIn,
)
from feedback.models import Check


class CheckOfReport(DeskEndpoint):
    @describe(gives=KeptCheckOut, summary="The check that is kept of a report")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        running.come_by()
        check = keeping.of_report(triage.report_for(self.actor, feedback_id)).first()
        if check is None:
            raise NotFound("No check is kept of this report.")
        return _check(check)

    @describe(takes=CheckIn, gives=KeptCheckOut, summary="Keep a report as a check, or change what it expects")
    def put(self, request: Request, feedback_id: str) -> HttpResponse:
        triage.report_for(self.actor, feedback_id)
        return _check(keeping.keep(self.actor, feedback_id, self.parse(CheckIn)))


class Checks(DeskEndpoint):
    @describe(
        gives=CheckPageOut,
        query=("state", "limit", "page_token"),
        choices={"state": Check.State.values},
        summary="All checks, newest first",
    )
    def get(self, request: Request) -> HttpResponse:
        running.come_by()
        rows = records.with_names(keeping.listed(self.actor, self.query("state")))
        limit = paging.limit_of(self.query("limit"))
        found, token = keeping.PLACES.page(rows, limit=limit, page_token=self.query("page_token"))
        return record(CheckPageOut(items=records.check_records(found), next_token=token))


class RunChecks(DeskEndpoint):
    @describe(takes=RunAllIn, gives=BatchOut, summary="Run several checks")
    def post(self, request: Request) -> HttpResponse:
        asked = self.parse(RunAllIn)
        batch = running.run(self.actor, keeping.meant(self.actor, asked), asked)
        return record(batches.batch_record(self.actor, batch.batch_id))


class Batches(DeskEndpoint):
    @describe(gives=BatchPageOut, query=("limit", "page_token"), summary="What was run together, newest first")
    def get(self, request: Request) -> HttpResponse:
        running.come_by()
        limit = paging.limit_of(self.query("limit"))
        rows = batches.listed(self.actor)
        found, token = batches.PLACES.page(rows, limit=limit, page_token=self.query("page_token"))
        return record(BatchPageOut(items=batches.heads(found), next_token=token))


class OneBatch(DeskEndpoint):
    @describe(gives=BatchOut, query=("wait",), summary="What came of all that was run together")
    def get(self, request: Request, batch_id: str) -> HttpResponse:
        running.wait_for(self.actor, batch_id, running.seconds_of(self.query("wait")))
        return record(batches.batch_record(self.actor, batch_id))


class StopBatch(DeskEndpoint):
    @describe(takes=Nothing, gives=BatchOut, summary="Begin no more of a batch and stop what is under way")
    def post(self, request: Request, batch_id: str) -> HttpResponse:
        running.batch_for(self.actor, batch_id)
        self.parse(Nothing)
        return record(batches.batch_record(self.actor, running.stop(self.actor, batch_id).batch_id))


class CompareBatches(DeskEndpoint):
    @describe(gives=ComparisonOut, summary="Hold a batch against another, or the previous one: what turned")
    def get(self, request: Request, batch_id: str, against: str) -> HttpResponse:
        running.come_by()
        return record(batches.comparison(self.actor, batch_id, against))


class OneCheck(DeskEndpoint):
    @describe(gives=KeptCheckOut, summary="A check with its latest runs")
    def get(self, request: Request, check_id: str) -> HttpResponse:
        running.come_by()
        return _check(keeping.check_for(self.actor, check_id))

    @describe(summary="Drop a check; kept again, it is back with its runs")
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
    @describe(takes=VerdictIn, gives=RunOut, summary="Judge a run")
    def put(self, request: Request, run_id: str) -> HttpResponse:
        return record(records.run_record(judging.judge(self.actor, run_id, self.parse(VerdictIn).verdict)))


def _check(check: Check) -> HttpResponse:
    return record(records.check_records([check])[0])
