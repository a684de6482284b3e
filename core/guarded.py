"""An HTTP client for libraries that take one, with the same protection as `outbound.send`.

The host of each request is resolved and checked, the connection goes to a checked address, and all responses together
stay within a size limit. The first error is kept, because such a library hides the cause in its own errors. Imported
on demand, like httpx2.
"""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Final

import httpx2

from core import outbound
from core.errors import DomainError, NoAnswer, TooSlow
from core.wording import limit_text

_POST: Final = "POST"


class Watched(httpx2.AsyncBaseTransport):
    """The transport of a guarded client. It records the first error and the status."""

    def __init__(self, limit: int) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=outbound.trust(), trust_env=False)
        self.limit = self.left = limit
        self.problem: DomainError | None = None
        """The first error."""
        self.status = 200
        """Of the last response to a POST."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            outbound.check_url(str(request.url))
            addresses = await outbound.resolve(request.url)
            response = await outbound.first_answer(addresses, partial(self._asked, request))
            if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
                # The limit counts received bytes; decompression afterwards could exceed it.
                await response.aclose()
                raise NoAnswer("It sent a compressed response, which was not requested.")
        except DomainError as problem:
            self.problem = self.problem or problem
            raise
        except httpx2.TimeoutException:
            self.problem = self.problem or TooSlow("No connection or no answer in time.")
            raise
        except httpx2.ConnectError as problem:
            self.problem = self.problem or NoAnswer(f"No connection: {outbound.why(problem)}.")
            raise
        except httpx2.TransportError as problem:
            self.problem = self.problem or NoAnswer(f"The connection broke: {outbound.why(problem)}.")
            raise
        if request.method == _POST:
            self.status = response.status_code
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream, self)
        return response

    async def _asked(self, request: httpx2.Request, address: str) -> httpx2.Response:
        return await self._inner.handle_async_request(
            httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode()},
            )
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A body that counts its bytes against the client's limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, watched: Watched) -> None:
        self._stream, self._watched = stream, watched

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._watched.left -= len(chunk)
            if self._watched.left < 0:
                problem = NoAnswer(f"It sent more than {limit_text(self._watched.limit)}.")
                self._watched.problem = self._watched.problem or problem
                raise httpx2.ReadError("too much")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def guarded_client(watched: Watched, headers: Mapping[str, str], *, seconds: float) -> httpx2.AsyncClient:
    """A client on this transport: no environment proxy, no compression, no redirects."""
    return httpx2.AsyncClient(
        transport=watched,
        headers={"Accept-Encoding": "identity", **headers},
        timeout=httpx2.Timeout(seconds, connect=min(outbound.CONNECT_SECONDS, seconds / 2)),
        trust_env=False,
        follow_redirects=False,
    )
