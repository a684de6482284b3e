"""Requests to user-supplied addresses: webhooks, and tools called over HTTP.

Such an address may be an attack (SSRF): a name that resolves into the operator's network, or differently the second
time. So a name is resolved once, all its addresses are checked, and the connection goes to a checked address while
TLS and the Host header keep the name. Redirects are returned, not followed; the environment's proxy is not used; time
and size are limited.

Asynchronous inside, because only cancellation limits the total time: a server that sends a byte now and then never
exceeds the timeout of a single read.
"""

import socket
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from core.errors import NoAnswer, TargetRefused, TooSlow

if TYPE_CHECKING:
    import ssl

    import httpx2

Address = IPv4Address | IPv6Address
CONNECT_SECONDS: Final = 5.0
_UNICAST = IPv6Network("2000::/3")
"""The public IPv6 range. `is_global` also accepts addresses outside of it, site-local ones included."""
_DOCUMENTATION = IPv6Network("3fff::/20")
_CARRIERS = tuple(map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Mapped and translated ranges: the real target is the IPv4 address in the last 32 bits."""
_PROTOCOLS = IPv4Network("192.0.0.0/24")
"""For protocols, and a cloud's metadata service; `is_global` accepts most of it before Python 3.11.10."""
# A public address that is a cloud's metadata service.
_METADATA = frozenset({ip_address("168.63.129.16")})


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of a server. `is_cut` is true if `body` was truncated at the requested limit."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    is_cut: bool
    milliseconds: int


def check_url(url: str) -> None:
    """Reject a URL that is invalid by itself: raises `TargetRefused` with one sentence that omits the address.

    Names that resolve into a private network are detected later, with each request.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise TargetRefused("url: is not a URL") from None
    schemes = ("https", "http") if settings.HEDDLE.allow_http_targets else ("https",)
    if parts.scheme not in schemes:
        also = "" if "http" in schemes else ", or http:// if the operator sets HEDDLE_ALLOW_HTTP_TARGETS"
        raise TargetRefused(f"url: must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}{also}")
    labels = host.removesuffix(".").split(".")
    if port == 0 or not url.isprintable() or " " in url or not all(0 < len(label) < 64 for label in labels):
        raise TargetRefused("url: must name a host")
    if "@" in parts.netloc:
        raise TargetRefused("url: must not contain a user name or password")
    if (literal := _spelled_out(host)) is not None:
        _check(literal)


def _spelled_out(host: str) -> Address | None:
    """The IP address that a host literally is, in any notation the system accepts; None for a name.

    `localhost` and names below it always mean the local machine (RFC 6761).
    """
    plain = unicodedata.normalize("NFKC", host).lower().rstrip(".")
    if plain == "localhost" or plain.endswith(".localhost"):
        return IPv4Address("127.0.0.1")
    with suppress(ValueError):
        return ip_address(plain)
    with suppress(OSError, UnicodeError):
        return IPv4Address(socket.inet_aton(plain))
    return None


def send(
    method: str,
    url: str,
    *,
    content: bytes = b"",
    headers: Mapping[str, str] | None = None,
    seconds: float = 30,
    limit: int = 1024 * 1024,
) -> Answer:
    """Make one request and read at most `limit` bytes of the uncompressed response, all within `seconds`.

    Any status is returned, redirects too. Raises `TargetRefused` for a forbidden address, `NoAnswer` if the server does
    not answer in HTTP, `TooSlow` if it does not answer in time. Never call it inside a transaction: it waits for
    another server.
    """
    import anyio

    check_url(url)
    return anyio.run(partial(_send, method, url, content, dict(headers or {}), seconds, limit))


async def _send(method: str, url: str, content: bytes, headers: dict[str, str], seconds: float, limit: int) -> Answer:
    import anyio
    import httpx2

    # Well below the total: a handshake that is cancelled leaves its socket to the garbage collector.
    started, connect = perf_counter(), min(CONNECT_SECONDS, seconds / 2)
    try:
        with anyio.fail_after(seconds):
            target = httpx2.URL(url)
            addresses = await resolve(target)
            async with _client(connect, seconds) as client:
                response = await first_answer(addresses, partial(_asked, client, target, method, content, headers))
                try:
                    body, is_cut = await _read(response, limit)
                finally:
                    await response.aclose()
            return Answer(response.status_code, response.headers, body, is_cut, _since(started))
    except httpx2.ConnectTimeout:
        raise TooSlow(f"No connection within {connect:g} seconds.") from None
    except (TimeoutError, httpx2.TimeoutException):
        raise TooSlow(f"No answer within {seconds:g} seconds.") from None
    except httpx2.ConnectError as problem:
        raise NoAnswer(f"No connection: {why(problem)}.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as problem:
        raise NoAnswer(f"The connection broke: {why(problem)}.") from None


async def resolve(target: "httpx2.URL") -> list[str]:
    """All addresses of a host, checked: one private address makes the whole name invalid."""
    import anyio.to_thread

    host, port = target.raw_host.decode(), target.port or _port(target)
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        # Name resolution cannot be interrupted, so its thread is abandoned on timeout.
        found: list[Any] = await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True)
    except (OSError, UnicodeError):
        raise NoAnswer("The host name cannot be resolved.") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for address in addresses:
        _check(ip_address(address))
    return addresses


async def first_answer(
    addresses: Sequence[str], ask: "Callable[[str], Awaitable[httpx2.Response]]"
) -> "httpx2.Response":
    """The response of the first address that accepts the connection; a request that was sent is not sent again."""
    import httpx2

    for number, address in enumerate(addresses, start=1):
        try:
            return await ask(address)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            if number == len(addresses):
                raise
    raise NoAnswer("The host name has no address.")


async def _asked(
    client: "httpx2.AsyncClient",
    target: "httpx2.URL",
    method: str,
    content: bytes,
    headers: dict[str, str],
    address: str,
) -> "httpx2.Response":
    host = target.netloc.decode()
    request = client.build_request(
        method,
        target.copy_with(host=address),
        content=content,
        headers={"Accept-Encoding": "identity", **headers, "Host": host, "Connection": "close"},
        extensions={"sni_hostname": target.raw_host.decode()},
    )
    return await client.send(request, stream=True)


async def _read(response: "httpx2.Response", limit: int) -> tuple[bytes, bool]:
    """The raw body up to the limit; a compressed response is not decompressed."""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def _client(connect: float, seconds: float) -> "httpx2.AsyncClient":
    import httpx2

    # The environment's proxy would resolve the name again, unchecked.
    transport = httpx2.AsyncHTTPTransport(verify=trust(), trust_env=False)
    return httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(seconds, connect=connect),
        trust_env=False,
        follow_redirects=False,
    )


@cache
def trust() -> "ssl.SSLContext":
    """The system's trusted certificates, cached: reading them takes longer than a request."""
    import httpx2

    return httpx2.create_ssl_context()


def _check(address: Address) -> None:
    """Raise `TargetRefused` unless every address it leads to is public or allowed."""
    for each in _led_to(address):
        if not _is_public(each) and not any(each in network for network in settings.HEDDLE.allow_private_targets):
            raise TargetRefused("url: is a private address; HEDDLE_ALLOW_PRIVATE_TARGETS can allow it")


def _led_to(address: Address) -> list[Address]:
    """The address and any IPv4 address tunnelled in it; for a mapped or translated one, only that IPv4 address."""
    if isinstance(address, IPv4Address):
        return [address]
    if any(address in carrier for carrier in _CARRIERS):
        return [IPv4Address(int(address) & 0xFFFFFFFF)]
    tunnelled = (address.sixtofour, address.teredo[1] if address.teredo else None)
    return [address, *(each for each in tunnelled if each is not None)]


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and (address not in _UNICAST or address in _DOCUMENTATION):
        return False
    if isinstance(address, IPv4Address) and address in _PROTOCOLS:
        return False
    return address.is_global and not address.is_multicast and address not in _METADATA


def _port(target: "httpx2.URL") -> int:
    return 443 if target.scheme == "https" else 80


def _since(started: float) -> int:
    return round((perf_counter() - started) * 1000)


def why(problem: Exception) -> str:
    """The system's error text in one short line; nothing in it comes from the server."""
    return (str(problem).partition("\n")[0] or type(problem).__name__)[:200].rstrip(".")
