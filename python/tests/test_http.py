"""Answers of a market that is broken or means ill: each ends in a ParleyApiError, within its limits.
The other side is a socket that says what it is told.
"""

import asyncio
import gzip
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.server import serve

from parley import _http
from parley.client import ParleyClient
from parley.errors import ParleyApiError

from .customers import own_certificate, runs

pytestmark = pytest.mark.anyio

OF_FAMILY: dict[str, Any] = {"login": None, "proven": []}
ME = json.dumps(
    {
        "userId": "u",
        "scopes": ["read"],
        "wallets": {each: OF_FAMILY for each in ("evm", "tron", "bitcoin", "solana")},
    },
    separators=(",", ":"),
).encode()


def answer(status: str, body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Asked(list[bytes]):
    """The requests that came, whole."""

    def header(self, at: int, name: str) -> str | None:
        for line in self[at].decode().split("\r\n"):
            if line.lower().startswith(f"{name}:"):
                return line.split(":", 1)[1].strip()
        return None


@asynccontextmanager
async def saying(*answers: bytes | Callable[[asyncio.StreamWriter], object]) -> AsyncIterator[
    tuple[str, Asked]
]:
    """Each request gets the next answer, and the last one again and again."""
    asked = Asked()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            asked.append(head)
            said = answers[min(len(asked), len(answers)) - 1]
            if isinstance(said, bytes):
                writer.write(said)
                await writer.drain()
            else:
                result = said(writer)
                if asyncio.iscoroutine(result):
                    await result
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


async def refused(url: str, **options: float) -> ParleyApiError:
    async with ParleyClient(url, key="k", tries=1, timeout=options.get("timeout", 5.0)) as market:
        with pytest.raises(ParleyApiError) as error:
            await market.get_me()
        return error.value


async def test_a_key_is_carried_to_no_other_place() -> None:
    async with saying(answer("200 OK", ME)) as (other, stolen):
        for status in ("301 Moved", "307 Temporary Redirect"):
            async with saying(answer(status, b"", f"location: {other}/v1/me")) as (url, asked):
                error = await refused(url)
                assert asked.header(0, "authorization") == "Bearer k"
            assert error.code == f"http_{status[:3]}" and f"leads to {other}, and" in str(error)
        assert stolen == []


@pytest.mark.parametrize(
    "url",
    [
        "http://market.example",
        "http://10.0.0.1:80",
        "http://localhost.example",
        "ftp://localhost",
        "https://",
        "https://user:pass@market.example",
        "https://market.example?x=1",
        "no url",
        "",
    ],
)
def test_plain_http_is_for_this_machine_alone(url: str) -> None:
    with pytest.raises(ValueError) as refused:
        ParleyClient(url)
    if url.startswith("http://"):
        sentence = "must be https, or http of this machine: a key would be read"
        assert str(refused.value) == f'"{url}" {sentence}'


async def test_addresses_of_this_machine_and_those_that_are_allowed_are_taken() -> None:
    for url in ("http://127.0.0.1:1", "http://[::1]:1", "http://localhost/", "https://m.example/"):
        async with ParleyClient(url) as market:
            assert not market.base_url.endswith("/")
    async with ParleyClient("http://parley:8080", allow_http=True, key="secret") as market:
        assert "secret" not in repr(market)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("\n", "a line break after 4 of its 9 characters"),
        ("\r", "a line break"),
        ("\t", "a tab"),
        ("\0", "a NUL"),
        ("\x1b", "a control character"),
        ("\u2019", "a character beyond ASCII"),
        ("\udc80", "a character beyond ASCII"),
    ],
)
async def test_a_sign_no_header_carries_is_named_and_a_key_not_shown(fault: str, said: str) -> None:
    key = f"pa55{fault}w0rd"
    async with ParleyClient("https://m.example") as market:
        with pytest.raises(ValueError, match=f"the API key holds {said}") as refused:
            market.with_key(key)
        assert "pa55" not in repr(refused.value) and "w0rd" not in repr(refused.value)
        with pytest.raises(ValueError, match=f"the API key holds {said}"):
            ParleyClient("https://m.example", key=key)
        with pytest.raises(ValueError, match=f"the idempotency key holds {said}"):
            await market.with_key("k").withdraw_quote("t", idempotency_key=key)
    with pytest.raises(ValueError, match="the API key is empty"):
        ParleyClient("https://m.example", key=" \n")


async def test_white_space_around_a_key_is_what_a_file_left() -> None:
    async with saying(answer("200 OK", ME)) as (url, asked):
        async with ParleyClient(url, key="\ufeff pa55w0rd\r\n") as market:
            await market.get_me()
            await market.with_key("other\t\n").get_me()
        sent = [asked.header(at, "authorization") for at in range(2)]
        assert sent == ["Bearer pa55w0rd", "Bearer other"]


def test_a_client_lives_through_a_second_loop_and_one_that_cannot_says_so() -> None:
    # Connections are kept open: the next loop must not use those of an ended one.
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def serve(connection: socket.socket) -> None:
        kept = answer("200 OK", ME).replace(b"close", b"keep-alive")
        while connection.recv(65_536):
            connection.sendall(kept)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    market = ParleyClient(url, key="k", tries=1, timeout=5.0)
    for each in (market, market.with_key("other"), market):
        assert asyncio.run(each.get_me()).user_id == "u"
    asyncio.run(market.aclose())
    given = ParleyClient(url, key="k", tries=1, http=httpx.AsyncClient(trust_env=False))
    assert asyncio.run(given.get_me()).user_id == "u"
    with pytest.raises(RuntimeError, match="a new httpx.AsyncClient"):
        asyncio.run(given.get_me())
    listener.close()


async def test_an_answer_has_an_end_in_bytes_and_in_time() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" " * 65_536)
            await writer.drain()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with saying(endless) as (url, _):
        error = await refused(url, timeout=60.0)
        assert (error.status, error.code) == (0, "no_answer")
        assert f"larger than {_http.MOST_ANSWER_BYTES} bytes" in str(error)
    async with saying(slow) as (url, _):
        assert "nothing for 0.3 s" in str(await refused(url, timeout=0.3))
    bomb = gzip.compress(b" " * 10_000_000)
    async with saying(answer("200 OK", bomb, "content-encoding: gzip")) as (url, _):
        assert "compressed" in str(await refused(url))


async def test_a_request_is_repeated_under_its_own_idempotency_key() -> None:
    busy = answer("503 Busy", b'{"error":"later"}', "x-parley-error: unavailable", "retry-after: 0")
    done = answer("200 OK", b'{"thread":1}')
    async with saying(busy, busy, done) as (url, asked):
        async with ParleyClient(url, key="k") as market:
            with pytest.raises(ParleyApiError) as error:
                await market.withdraw_quote("t")
        assert error.value.code == "bad_answer"
        assert len(asked) == 3
        keys = {asked.header(at, "idempotency-key") for at in range(3)}
        assert len(keys) == 1 and None not in keys
    async with saying(busy) as (url, asked):
        async with ParleyClient(url) as market:
            with pytest.raises(ParleyApiError, match="later"):
                await market.mint_key(rail="evm", address="a", message="m", signature="s")
        assert len(asked) == 1


@pytest.mark.parametrize(
    ("status", "headers", "tries"),
    [
        ("400 No", ["x-parley-error: bad_field"], 1),
        ("409 No", ["x-parley-error: still_running", "retry-after: 0"], 3),
        ("409 No", ["x-parley-error: committed"], 1),
        ("429 No", ["x-parley-error: rate_limited", "retry-after: 31"], 1),
        ("429 No", ["x-parley-error: rate_limited", "retry-after: 0"], 3),
        ("500 No", ["x-parley-error: internal"], 1),
    ],
)
async def test_a_failure_that_a_second_try_cannot_mend_is_not_tried_again(
    status: str, headers: list[str], tries: int
) -> None:
    async with saying(answer(status, b"", *headers)) as (url, asked):
        async with ParleyClient(url) as market:
            with pytest.raises(ParleyApiError) as error:
                await market.get_market_status()
        assert len(asked) == tries
        assert error.value.status == int(status[:3])


@pytest.mark.parametrize(
    "after", ["-1", "nan", "inf", "1e400", "Fri, 27 Nov 2026 22:00:00 GMT", "9" * 20]
)
async def test_a_time_to_wait_that_is_none_is_none(after: str) -> None:
    async with saying(answer("400 No", b"", f"retry-after: {after}")) as (url, _):
        assert (await refused(url)).retry_after_seconds is None


HTML = b"<!doctype html><title>Welcome</title>"
IS = "Is {url} the market's address?"


@pytest.mark.parametrize(
    ("said", "path", "expected"),
    [
        (answer("200 OK", HTML), "", "GET {url}/v1/me answered 200 with a web page. " + IS),
        (answer("404 No", HTML), "", "GET {url}/v1/me answered 404 with a web page. " + IS),
        (answer("404 No", b'{"message":1}'), "", "GET {url}/v1/me answered 404 with other JSON. " + IS),
        (answer("200 OK", b"[]"), "", "GET {url}/v1/me answered 200 with other JSON. " + IS),
        (
            answer("200 OK", b'{"jsonrpc":"2.0","id":null}'),
            "",
            "GET {url}/v1/me answered 200 with JSON-RPC, as a chain's node does. " + IS,
        ),
        (
            answer("404 No", b'{"error":"there is nothing here"}', "x-parley-error: not_found"),
            "/v1",
            "there is nothing here (GET {url}/v1/v1/me). "
            "Is {url}/v1 the market's address, or is it {url} alone?",
        ),
    ],
)
async def test_something_else_than_a_market_is_named(said: bytes, path: str, expected: str) -> None:
    async with saying(said) as (url, _):
        assert str(await refused(f"{url}{path}")) == expected.format(url=url)


async def test_a_closed_port_and_tls_that_is_mixed_up_or_not_trusted_are_named(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = f"127.0.0.1:{listener.getsockname()[1]}"
    asked = f"no answer to GET http://{closed}/v1/me: "
    error = await refused(f"http://{closed}")
    assert str(error) == asked + "nothing listens there. Is the market running, and at this port?"
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(*await own_certificate(tmp_path))
    for context, scheme, expected in (
        (None, "https", "it speaks no TLS, or cut it off. Does the address begin with http://?"),
        (served, "https", "its certificate is not trusted for this name (self-signed certificate)"),
        (served, "http", "Does the address begin with https://?"),
    ):
        async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, ssl=context) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            assert expected in str(await refused(f"{scheme}://127.0.0.1:{port}"))


async def test_without_a_key_public_calls_are_asked_openly_and_others_not_at_all() -> None:
    async with saying(answer("200 OK", b'{"assets":[],"nextCursor":null}')) as (url, asked):
        async with ParleyClient(url) as market:
            assert (await market.list_assets(limit=5)).assets == []
            assert asked[0].startswith(b"GET /market/assets?limit=5 ")
            with pytest.raises(ParleyApiError, match="GET /v1/me needs an API key: give") as error:
                await market.get_me()
            with pytest.raises(ParleyApiError, match="POST /v1/assets needs an API key"):
                await market.list_asset(chain="base", address="0x00")
        assert (error.value.status, error.value.code, len(asked)) == (401, "key_missing", 1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"userId":1}',
        b"[" * 100_000,
        ME.replace(b'"u"', b'{"a":1}'),
        ME.replace(b"[]", b"{}"),
    ],
)
async def test_an_answer_that_the_api_does_not_describe_is_refused(body: bytes) -> None:
    async with saying(answer("200 OK", body)) as (url, _):
        assert (await refused(url)).code == "bad_answer"


@pytest.mark.parametrize(
    ("given", "told"),
    [("a1b2c3d4", "a1b2c3d4"), ("ignore all that was said", None), ("x" * 65, None)],
)
async def test_a_refusal_has_the_name_of_its_request(given: str, told: str | None) -> None:
    said = answer("500 X", b'{"error":"failed"}', f"x-request-id: {given}")
    async with saying(said) as (url, _):
        assert (await refused(url)).request_id == told


async def test_a_newer_markets_additions_do_no_harm() -> None:
    newer = ME.replace(b'"userId"', b'"new":{"x":1},"userId"').replace(b'"read"', b'"read","new"')
    async with saying(answer("200 OK", newer)) as (url, _):
        async with ParleyClient(url, key="k") as market:
            me = await market.get_me()
        assert me.scopes == ["read", "new"]


async def test_an_absent_market_is_no_answer_and_tried_again() -> None:
    async with saying(b"") as (url, asked):
        async with ParleyClient(url, tries=2) as market:
            with pytest.raises(ParleyApiError) as error:
                await market.get_market_status()
        assert (error.value.status, error.value.unreachable, len(asked)) == (0, True, 2)


WORDS = st.sampled_from(["error", "reasons", "userId", "scopes", "wallets", "evm"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda of: st.lists(of, max_size=3) | st.dictionaries(WORDS, of, max_size=3),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())
HEADERS = st.sampled_from(
    ["retry-after", "x-parley-error", "x-parley-txid", "x-request-id", "content-encoding"]
)
PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@given(st.integers(200, 599), st.binary(max_size=300) | JSON, HEADERS, PRINTABLE)
@settings(max_examples=runs(30), deadline=None, suppress_health_check=list(HealthCheck))
def test_any_answer_gives_an_error_of_ours(
    status: int, body: bytes, header: str, value: str
) -> None:
    async def tried() -> None:
        said = answer(f"{status} X", body, f"{header}: {value}")
        async with saying(said) as (url, _):
            assert (await refused(url)).code

    asyncio.run(tried())
