"""The page to import threads from a file or pasted text; it calls the same functions as the REST route (spec 9)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from accounts.authentication import page_actor
from accounts.pages import required_org, signed_in
from core import forms, uploads
from core.errors import InvalidRequest, NoOrgProvided, Unauthorized
from core.wording import size_text
from threads import conversation_files, dialects, importing
from threads.importing import Imported
from threads.presenting.words import FORMAT_WORDS, IMPORT_WORDS, Word, counted
from threads.wire_importing import MOST_CONVERSATIONS

FIELDS = ("text", "file", "format", "visibility")
_SHOWN = 100
_KEPT_BYTES = 1_000_000
"""A file up to this size is shown as text by a page without scripts."""
_NOTHING = "paste conversations, or choose a file"
FORMATS = {name: FORMAT_WORDS[name] for name in dialects.FORMATS} | {"otel": "OpenTelemetry traces or messages"}


@dataclass(frozen=True, slots=True)
class Line:
    """What happened to one conversation, or would happen."""

    place: str
    word: Word
    thread_id: str
    title: str
    messages: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an import, or of a check that stored nothing. Of many, failures and warnings come first."""

    is_dry: bool
    has_changed: bool
    """Whether an import became a check, because what was checked before is not what was sent now."""
    checked: str
    """The fingerprint of what was checked or imported."""
    format: str
    counts: tuple[tuple[Word, int], ...]
    lines: tuple[Line, ...]
    more: int
    new: int
    skipped: int


@signed_in
@require_http_methods(["GET", "POST"])
@uploads.takes(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
def import_threads(request: HttpRequest) -> HttpResponse:
    """The form, and what came of it. Checking stores nothing; importing the same again changes nothing (B177)."""
    typed = {name: request.POST.get(name, "") for name in FIELDS}
    context: dict[str, Any] = {"typed": typed, "formats": FORMATS.items(), "errors": {}, "most": MOST_CONVERSATIONS}
    if request.method == "POST":
        try:
            context["outcome"] = _outcome(request, typed)
        except (InvalidRequest, Unauthorized, NoOrgProvided) as problem:
            context["errors"] = forms.reasons(problem, FIELDS, otherwise="form")
    return render(request, "threads/import.html", context, status=400 if context["errors"] else 200)


def _outcome(request: HttpRequest, typed: dict[str, str]) -> Outcome:
    actor, org = page_actor(request), required_org(request)
    owner_id, org_id = importing.target(actor, None, org.org_id)
    visibility, verb = typed["visibility"] or "private", request.POST.get("verb")
    if visibility not in ("private", "org"):
        raise InvalidRequest("visibility: must be private or org")
    places, values = _conversations(request, typed)
    format = typed["format"] or dialects.detected([value for value in values if isinstance(value, dict)])
    if format not in dialects.FORMATS:
        raise InvalidRequest(f"format: must be one of {', '.join(dialects.FORMATS)}")
    told = [value.reason if isinstance(value, conversation_files.Unreadable) else value for value in values]
    checked = hashlib.sha256(json.dumps([told, format, visibility]).encode()).hexdigest()
    has_changed = verb == "import_checked" and request.POST.get("checked") != checked
    is_dry = has_changed or verb not in ("import", "import_checked")
    done = importing.import_conversations(format, values, owner_id, org_id, visibility, is_dry=is_dry)
    counts = importing.counts_of(done)
    new = counts["created"]
    shown = sorted(done, key=lambda each: (not each.errors, not each.warnings)) if len(done) > _SHOWN else done
    return Outcome(
        is_dry=is_dry,
        has_changed=has_changed,
        checked=checked,
        format=FORMATS[format],
        counts=tuple((IMPORT_WORDS[outcome], count) for outcome, count in counts.items() if count),
        lines=tuple(_line(each, places[each.index]) for each in shown[:_SHOWN]),
        more=max(0, len(done) - _SHOWN),
        new=new,
        skipped=len(done) - new,
    )


def _conversations(request: HttpRequest, typed: dict[str, str]) -> tuple[list[str], list[Any]]:
    """The places of the given conversations, and their values; raises `InvalidRequest` for none and for too many."""
    file = request.FILES.get("file")
    if file is not None and typed["text"].strip():
        raise InvalidRequest("file: there is pasted text, too; give one of the two")
    field, text = ("text", typed["text"].encode(errors="surrogatepass")) if file is None else ("file", _read(file))
    given = conversation_files.of_text(text, most=MOST_CONVERSATIONS + 1)
    if not given:
        raise InvalidRequest(f"{field}: has no conversations" if text.strip() else f"{field}: {_NOTHING}")
    if len(given) > MOST_CONVERSATIONS:
        raise InvalidRequest(f"{field}: has more than {MOST_CONVERSATIONS} conversations, which is the most at once")
    if all(isinstance(value, conversation_files.Unreadable) for _, value in given):
        raise InvalidRequest(f"{field}: is neither JSON nor JSON Lines; {given[0][0]} {given[0][1].reason}")
    if file is not None and not HtmxDetails(request) and len(text) <= _KEPT_BYTES:
        typed["text"] = text.decode(errors="replace")  # no browser keeps a chosen file over a page
    return [place for place, _ in given], [value for _, value in given]


def _read(file: "UploadedFile[Any]") -> bytes:
    if (file.size or 0) > settings.IMPORT_BODY_BYTES:
        raise InvalidRequest(f"file: is larger than {size_text(settings.IMPORT_BODY_BYTES)}")
    return bytes(file.read()).removeprefix(b"\xef\xbb\xbf")


def _line(done: Imported, place: str) -> Line:
    return Line(
        place=place,
        word=IMPORT_WORDS[done.outcome],
        thread_id=done.thread_id or "",
        title=done.title,
        messages=counted(done.message_count, "message") if done.message_count else "",
        notes=(*map(_told, done.errors), *done.warnings),
    )


def _told(error: Mapping[str, Any]) -> str:
    """An error; one about a whole line is told beside the number of that line."""
    return str(error["reason"]) if error["path"] == "line" else f"{error['path']}: {error['reason']}"
