"""One request to the market: limits, idempotency, and retries where a second try does nothing
twice.
"""

import asyncio
import ipaddress
import json
import re
import ssl
import uuid
from collections.abc import Mapping
from copy import copy
from functools import cache
from typing import Self, TypeVar, overload
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from ._wrong_address import asked_at, is_it_there, leads_elsewhere, why_no_market, why_unreached
from .errors import ParleyApiError

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Query = Mapping[str, str | int | float | bool | None]

# Operations that the market answers without a key too, at another path.
_OPEN = {
    f"/v1/{each}": f"/market/{each}"
    for each in ("assets", "levels", "pairs", "pairs/history", "pairs/list", "pairs/price")
}
MOST_ANSWER_BYTES = 8 * 1024 * 1024
MOST_WAIT_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 0.2
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?")
_NAME = re.compile(r"[A-Za-z0-9_.:=+/@-]{1,64}")


class Connections:
    """One client for each event loop, since a connection ends with the loop that opened it: a
    client lives through a second `asyncio.run`.
    """

    def __init__(self, given: httpx.AsyncClient | None) -> None:
        self._given = given
        self._first: asyncio.AbstractEventLoop | None = None
        self._own: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    def here(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._given is not None:
            self._first = self._first or loop
            if self._first is not loop:
                raise RuntimeError(
                    "http=… has the connections of one event loop, and this is another: give each "
                    "asyncio.run a ParleyClient with a new httpx.AsyncClient"
                )
            return self._given
        if loop not in self._own:
            self._own = {each: of for each, of in self._own.items() if not each.is_closed()}
            # No proxies or passwords of the environment: a key goes where it was told to go.
            self._own[loop] = httpx.AsyncClient(trust_env=False, verify=_tls())
        return self._own[loop]

    async def aclose(self) -> None:
        http = self._own.pop(asyncio.get_running_loop(), None)
        if http is not None:
            await http.aclose()


class Caller:
    """A market, and who asks it. Close it, or use it by `async with`."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = 15.0,
        tries: int = 3,
        short_name: str = "parley",
        product_name: str = "Parley",
        allow_http: bool = False,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """base_url: such as `https://market.example`; plain http is for this machine alone, or
            where `allow_http` says so
        key: an API key; without one only public operations can be called, such as `list_assets`,
            `list_pairs` and `list_levels`
        timeout: seconds of one try, its whole answer included
        tries: the most for a request that is safe to repeat
        short_name: names the header of codes, `x-<short_name>-error`
        product_name: the market's name in the texts that wallets sign
        http: for a proxy or a certificate authority of your own; it stays yours to close
        """
        self.base_url: str = _base(base_url, allow_http)
        self.product_name: str = product_name
        self._key = None if key is None else header_text(key, "the API key")
        self._timeout = timeout
        self._tries = tries
        self._short_name = short_name
        self._is_own = True
        # Your own client may sign in its own way.
        self._may_sign = http is not None
        self._connections = Connections(http)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def with_key(self, key: str) -> Self:
        """The same market, asked by another key, over the same connections: close the first."""
        other = copy(self)
        other._key = header_text(key, "the API key")
        other._is_own = False
        return other

    async def aclose(self) -> None:
        if self._is_own:
            await self._connections.aclose()

    @staticmethod
    def _segment(part: str) -> str:
        """An id of the market's, however odd, must not leave its place in a path."""
        if part in ("", ".", ".."):
            raise ValueError(f"{part!r} is no id")
        return quote(part, safe="")

    @overload
    async def _call(
        self,
        method: str,
        path: str,
        answer: type[M],
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
        idempotency_key: str | None = None,
        needs_key: bool = True,
        once: bool = False,
    ) -> M: ...
    @overload
    async def _call(
        self,
        method: str,
        path: str,
        answer: TypeAdapter[T],
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
        idempotency_key: str | None = None,
        needs_key: bool = True,
        once: bool = False,
    ) -> T: ...
    async def _call(
        self,
        method: str,
        path: str,
        answer: type[M] | TypeAdapter[T],
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
        idempotency_key: str | None = None,
        needs_key: bool = True,
        once: bool = False,
    ) -> M | T:
        """once: a retry could not succeed."""
        if needs_key and self._key is None:
            path = self._without_key(method, path)
        # Compressed, a small answer could become a large one.
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        if needs_key and self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        if method != "GET":
            named = header_text(idempotency_key or str(uuid.uuid4()), "the idempotency key")
            headers["idempotency-key"] = named
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = body.model_dump_json(exclude_none=True).encode()
        http = self._connections.here()
        request = http.build_request(
            method,
            f"{self.base_url}{path}",
            params={name: _text(value) for name, value in (query or {}).items() if value is not None},
            headers=headers,
            content=content,
        )
        status, text = await self._repeated(http, request, 1 if once else self._tries)
        try:
            if isinstance(answer, TypeAdapter):
                return answer.validate_json(text)
            return answer.model_validate_json(text)
        except (ValidationError, RecursionError) as cause:
            asked, why = asked_at(request), why_no_market(text)
            sentence = f"{asked} answered what the API does not describe: {_first(cause)}"
            if why is not None:
                sentence = f"{asked} answered {status} with {why}. {is_it_there(self.base_url)}"
            raise ParleyApiError(sentence, status=status, code="bad_answer") from cause

    def _without_key(self, method: str, path: str) -> str:
        open_path = _OPEN.get(path) if method == "GET" else None
        if open_path is not None:
            return open_path
        if self._may_sign:
            return path
        raise ParleyApiError(
            f"{method} {path} needs an API key: give ParleyClient a key, which mint_key of "
            "parley.keys makes. Nothing was asked",
            status=401,
            code="key_missing",
        )

    async def _repeated(
        self, http: httpx.AsyncClient, request: httpx.Request, tries: int
    ) -> tuple[int, bytes]:
        attempt = 1
        while True:
            try:
                return await self._once(http, request)
            except ParleyApiError as error:
                if attempt >= tries or not _repeatable(error):
                    raise
                seconds = error.retry_after_seconds
                if seconds is None:
                    seconds = _FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1)
                if seconds > MOST_WAIT_SECONDS:
                    raise
            attempt += 1
            await asyncio.sleep(seconds)

    async def _once(self, http: httpx.AsyncClient, request: httpx.Request) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(self._timeout):
                response = await http.send(request, stream=True, follow_redirects=False)
                try:
                    text = await _bounded(response)
                finally:
                    await response.aclose()
        except TimeoutError as cause:
            raise self._no_answer(request, f"nothing for {self._timeout:g} s") from cause
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError) as cause:
            why = why_unreached(cause, request.url.scheme == "https")
            raise self._no_answer(request, why) from cause
        if response.is_success:
            return response.status_code, text
        raise self._refusal(response, text)

    def _no_answer(self, request: httpx.Request, why: str) -> ParleyApiError:
        message = f"no answer to {asked_at(request)}: {why}"
        return ParleyApiError(message, status=0, code="no_answer")

    def _refusal(self, response: httpx.Response, text: bytes) -> ParleyApiError:
        status = response.status_code
        sentence, reasons = _fields(text)
        request = response.request
        code = response.headers.get(f"x-{self._short_name}-error")
        if 300 <= status < 400:
            sentence = leads_elsewhere(request, response.headers.get("location"))
        elif sentence is None:
            why = why_no_market(text) or "other JSON"
            sentence = f"{asked_at(request)} answered {status} with {why}. "
            sentence += is_it_there(self.base_url)
        elif code == "not_found":
            # A market that has no such path says so with a code of its own.
            sentence = f"{sentence} ({asked_at(request)}). {is_it_there(self.base_url)}"
        after = response.headers.get("retry-after", "")
        name = response.headers.get("x-request-id", "")
        return ParleyApiError(
            sentence,
            status=status,
            code=code or f"http_{status}",
            retry_after_seconds=float(after) if _SECONDS.fullmatch(after) else None,
            txid=response.headers.get(f"x-{self._short_name}-txid"),
            reasons=reasons,
            request_id=name if _NAME.fullmatch(name) else None,
        )


# As files and other programs leave them around a text: a byte order mark is one.
AROUND = " \t\r\n\v\f\u00a0\ufeff"
_NAMED = {"\r": "a line break", "\n": "a line break", "\t": "a tab", "\0": "a NUL"}


def header_text(text: str, what: str) -> str:
    """Without white space around it. Raises ValueError for what no header carries, and never shows
    the text: it may be a key, which httpx would print whole.
    """
    if not isinstance(text, str):
        raise ValueError(f"{what} must be a text, not {type(text).__name__}")
    kept = text.strip(AROUND)
    if kept == "":
        raise ValueError(f"{what} is empty")
    for at, each in enumerate(kept):
        if not " " <= each <= "~":
            kind = "a control character" if each < "\x80" else "a character beyond ASCII"
            raise ValueError(
                f"{what} holds {_NAMED.get(each, kind)} after {at} of its {len(kept)} characters: "
                "no header carries that"
            )
    return kept


@cache
def _tls() -> ssl.SSLContext:
    """Reading the authorities takes 20 ms, once for all clients."""
    return httpx.create_ssl_context(trust_env=False)


def _base(text: str, allow_http: bool) -> str:
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, TypeError) as cause:
        raise ValueError(f"{text!r} is no URL: {cause}") from cause
    if url.scheme not in ("http", "https") or url.host == "":
        raise ValueError(f"{text!r} is no address of a market: https://… is one")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("the address of a market has no user, query or fragment")
    if url.scheme == "http" and not allow_http and not _is_here(url.host):
        raise ValueError(f'"{text}" must be https, or http of this machine: a key would be read')
    return str(url).rstrip("/")


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _repeatable(error: ParleyApiError) -> bool:
    """A key of idempotency makes a repeat the same effect; 409 `still_running` is a twin not yet
    done.
    """
    return error.status in (0, 429, 502, 503, 504) or (
        error.status == 409 and error.code == "still_running"
    )


async def _bounded(response: httpx.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx.DecodingError("it is compressed, which was not asked for")
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_raw():
        size += len(part)
        if size > MOST_ANSWER_BYTES:
            raise httpx.DecodingError(f"it is larger than {MOST_ANSWER_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _fields(text: bytes) -> tuple[str | None, tuple[str, ...]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, ()
    if not isinstance(value, dict):
        return None, ()
    sentence, reasons = value.get("error"), value.get("reasons")
    return (
        sentence if isinstance(sentence, str) else None,
        tuple(each for each in reasons if isinstance(each, str)) if isinstance(reasons, list) else (),
    )


def _first(cause: ValidationError | RecursionError) -> str:
    if isinstance(cause, RecursionError):
        return "it is nested too deeply"
    first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(each) for each in first["loc"]) or "the whole"
    return f"{where[:200]}: {first['msg'][:200]}"
