"""REST routes of calls, results and stored data (catalogue 6.2)."""

from django.http import HttpResponse
from rest_framework.request import Request

from catalogue import calling, judging, result_dialects
from catalogue import data as kept
from catalogue.api_tools import CatalogueEndpoint, ToolEndpoint
from catalogue.wire_calls import (
    BuildInputIn,
    CallIn,
    CallOut,
    ConvertedOut,
    ConvertIn,
    DataIn,
    DataOut,
    DataRefOut,
    InputOut,
    JudgedOut,
    JudgeIn,
    RecordedCallOut,
    ValidatedOut,
    ValidateIn,
)
from core.api import Endpoint, data, describe, record


class Validate(ToolEndpoint):
    reads = Endpoint.reads | {"POST"}

    @describe(takes=ValidateIn, gives=ValidatedOut, summary="Validate the arguments of a call")
    def post(self, request: Request, qualified_name: str) -> HttpResponse:
        tool = self.tool()
        return record(calling.validate(tool, self.parse(ValidateIn)))


class BuildInput(ToolEndpoint):
    reads = Endpoint.reads | {"POST"}

    @describe(takes=BuildInputIn, gives=InputOut, summary="Combine positional and named arguments into one object")
    def post(self, request: Request, qualified_name: str) -> HttpResponse:
        tool, body = self.tool(), self.parse(BuildInputIn)
        return record(calling.build_input(tool, body.args, body.kwargs))


_REFUSALS = {
    "410": "The world of the call is closed or has expired (C117)",
    "429": "With `on_error: http`, the tool is rate limited (C60)",
    "500": "With `on_error: http`, the tool failed (C60)",
    "504": "With `on_error: http`, the tool was too slow (C60)",
}


class CallTool(ToolEndpoint):
    @describe(takes=CallIn, gives=CallOut, refusals=_REFUSALS, summary="Call a tool")
    def post(self, request: Request, qualified_name: str) -> HttpResponse:
        tool = self.tool()
        return record(calling.call(self.actor, self.org(), tool, self.parse(CallIn)))


class OneCall(CatalogueEndpoint):
    @describe(gives=RecordedCallOut, summary="Read a recorded call")
    def get(self, request: Request, call_id: str) -> HttpResponse:
        return record(calling.recorded(self.actor, call_id))


class JudgeResult(CatalogueEndpoint):
    reads = Endpoint.reads | {"POST"}

    @describe(takes=JudgeIn, gives=JudgedOut, summary="Validate a CTP result at one of three levels")
    def post(self, request: Request) -> HttpResponse:
        body = self.parse(JudgeIn)
        errors = judging.judge(body.result, body.level)
        return record(JudgedOut(valid=not errors, errors=errors))


class ConvertResult(CatalogueEndpoint):
    reads = Endpoint.reads | {"POST"}

    @describe(takes=ConvertIn, gives=ConvertedOut, summary="Convert a result from one dialect to another")
    def post(self, request: Request) -> HttpResponse:
        body = self.parse(ConvertIn)
        result, lost = result_dialects.read(body.source, body.result)
        written, more = result_dialects.write(body.target, result, context=body.context, style=body.style)
        return record(ConvertedOut(result=written, losses=[*lost, *more]))


class StoreData(CatalogueEndpoint):
    @describe(takes=DataIn, gives=DataRefOut, summary="Store a payload for an hour")
    def post(self, request: Request) -> HttpResponse:
        org_id, body = self.org(), self.parse(DataIn)
        ref = kept.store(org_id, self.actor.user_id, body.data, body.summary)
        return record(DataRefOut(**kept.told(ref)))


class OneData(CatalogueEndpoint):
    @describe(gives=DataOut, summary="Read a stored payload")
    def get(self, request: Request, ref_id: str) -> HttpResponse:
        ref = kept.ref_for(self.actor, ref_id)
        told = {name: getattr(ref, name) for name in DataOut.model_fields}
        return record(DataOut(**told))

    @describe(summary="Delete a stored payload")
    def delete(self, request: Request, ref_id: str) -> HttpResponse:
        kept.delete(self.actor, ref_id)
        return data(None)
