"""Keyset pagination: a cursor is the position where a page ended, so concurrent writes shift or repeat no rows."""

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db.models import CharField, Func, Model, QuerySet
from django.http import QueryDict

from core.errors import InvalidRequest, NoSuchPlace

Stored = TypeVar("Stored", bound=Model)

MAX_LIMIT = 200
DEFAULT_LIMIT = 50
COUNT_LIMIT = 1_000
"""Rows are counted only up to this number, to keep pages fast."""


def counted(rows: QuerySet[Any]) -> int:
    """The number of these rows, counted up to `COUNT_LIMIT`."""
    return rows.order_by()[:COUNT_LIMIT].count()


def next_url(query: QueryDict, token: str | None, **more: str) -> str:
    """The URL of the next page: the current one with the cursor as `after`; empty on the last page."""
    if token is None:
        return ""
    onward = query.copy()
    for name, value in {"after": token, **more}.items():
        onward[name] = value  # `update` would append
    return f"?{onward.urlencode()}"


class Bytewise(Func):
    """Text in byte order, as in Python, regardless of the database's collation: a cursor of text compares by it."""

    arity = 1
    template = "%(expressions)s"
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        """PostgreSQL sorts by its collation unless told otherwise."""
        return self.as_sql(compiler, connection, template='%(expressions)s COLLATE "C"')


@dataclass(frozen=True, slots=True)
class Places:
    """Cursors of one list: positions by sort key. The token of another list is an invalid request, and so is one of the
    same list with other filters where those are given (`of_query`).
    """

    of: str
    kinds: tuple[type, ...] = (int,)
    asked: str = ""
    """A fingerprint of the filters; empty without any."""

    def of_query(self, *filters: object) -> Self:
        """The cursors of the list with these filters: JSON values, of which None and what is empty is no filter."""
        given = [None if each in ("", (), [], {}) else each for each in filters]
        if all(each is None for each in given):
            return self
        written = json.dumps(given, separators=(",", ":"))
        return replace(self, asked=hashlib.sha256(written.encode()).hexdigest()[:10])

    def token(self, *position: str | int) -> str:
        """An opaque, signed, URL-safe token for a position."""
        body = json.dumps({self.asked: position} if self.asked else position, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._mac(body) + body).decode().rstrip("=")

    def place(self, token: str) -> list[Any]:
        """The position in a token of this list; raises `NoSuchPlace`."""
        try:
            raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            if hmac.compare_digest(raw[:10], self._mac(raw[10:])):
                found = json.loads(raw[10:])
                [(asked, position)] = found.items() if isinstance(found, dict) else [("", found)]
                if [type(part) for part in position] == [*self.kinds]:
                    if asked != self.asked:
                        raise NoSuchPlace("page_token: belongs to another query")
                    return [*position]
        except (ValueError, UnicodeError):
            pass
        raise NoSuchPlace("page_token: is not valid for this list")

    def page(
        self, rows: QuerySet[Stored], *, limit: int, page_token: str | None, by: str = "pk", ascending: bool = False
    ) -> tuple[list[Stored], str | None]:
        """One page of rows, highest first unless `ascending`, and the token of the next page. One query."""
        if page_token:
            rows = rows.filter(**{f"{by}__{'gt' if ascending else 'lt'}": self.place(page_token)[0]})
        found = list(rows.order_by(by if ascending else f"-{by}")[: limit + 1])
        return found[:limit], self.token(getattr(found[limit - 1], by)) if len(found) > limit else None

    def _mac(self, body: bytes) -> bytes:
        return hmac.new(settings.SECRET_KEY.encode(), self.of.encode() + b":" + body, hashlib.sha256).digest()[:10]


_is_number = re.compile("[0-9]{1,9}").fullmatch


def limit_of(value: object) -> int:
    """A page size from 1 to 200; 50 by default."""
    if value in (None, ""):
        return DEFAULT_LIMIT
    limit = int(str(value)) if _is_number(str(value)) else 0
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit: must be a whole number from 1 to {MAX_LIMIT}")
    return limit
