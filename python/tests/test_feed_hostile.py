"""A feed that is broken or means ill: the other side is a socket that says what it is told."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve

from parley._feed import keeping
from parley._feed.entries import Entries
from parley._feed.link import MOST_FRAME_BYTES, MOST_RFQ_CHARACTERS, parse_frame
from parley.client import ParleyClient
from parley.errors import QuoteError
from parley.feed import BookChange, Gap, MakerFeed

from .customers import LIMIT, own_certificate, runs, until_state

pytestmark = pytest.mark.anyio
ID = "01936b20-12f3-7b8e-a6d0-94c1e7f2035a"


def rfq(id: str = ID) -> dict[str, Any]:
    at = "2026-03-14T09:26:53.589Z"
    return {
        "id": id,
        "direction": "sell_base",
        "baseAssetId": ID,
        "baseAmount": "100000",
        "quoteAssetId": ID,
        "status": "open",
        "visibility": "public",
        "askAmount": None,
        "minSettled": None,
        "creatorId": ID,
        "creatorStanding": None,
        "createdAt": at,
        "expiresAt": at,
    }


def created(id: str = ID, seq: int = 1) -> dict[str, Any]:
    return {"type": "rfq", "kind": "created", "rfq": rfq(id), "seq": seq}


SNAPSHOT = {"type": "snapshot", "rfqs": [], "addressed": [], "seq": 0}
READY = {"type": "ready", "seq": 0}
Saying = Callable[[ServerConnection, dict[str, Any], int], Awaitable[None]]


@asynccontextmanager
async def feed_of(say: Saying) -> AsyncIterator[MakerFeed]:
    """`say` gets each connection, its first frame and how many there were before."""
    count = 0

    async def serving(socket: ServerConnection) -> None:
        nonlocal count
        count += 1
        await say(socket, json.loads(await socket.recv()), count - 1)

    async with serve(serving, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with (
            ParleyClient(f"http://127.0.0.1:{port}", key="k") as market,
            MakerFeed(market, random=lambda: 0.0) as feed,
        ):
            yield feed


async def send(socket: ServerConnection, *frames: Any) -> None:
    for each in frames:
        await socket.send(each if isinstance(each, str | bytes) else json.dumps(each))


async def test_a_text_that_is_no_frame_is_passed_over_and_a_large_one_ends_the_connection() -> None:
    async def say(socket: ServerConnection, first: dict[str, Any], before: int) -> None:
        assert first == {"apiKey": "k", "resume": True} | ({"since": 1} if before else {})
        await send(socket, SNAPSHOT, b"\0\xff", "[" * 100_000, "null", {"type": "new"}, "{")
        await send(socket, {"type": "rfq", "kind": "created", "rfq": {"id": 1}}, created())
        await send(socket, READY)
        if before == 0:
            await send(socket, "x" * (MOST_FRAME_BYTES + 1))
        else:
            again.set()
        await socket.wait_closed()

    again = asyncio.Event()
    async with feed_of(say) as feed, asyncio.timeout(LIMIT):
        await feed.ready()
        change = await anext(feed)
        assert isinstance(change, BookChange) and change.rfq.id == ID
        assert feed.book.keys() == {ID}
        await again.wait()
        await until_state(feed, "live")


async def test_a_certificate_authority_of_ones_own_is_taken(tmp_path: Path) -> None:
    certificate, key = await own_certificate(tmp_path)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)

    async def serving(socket: ServerConnection) -> None:
        await send(socket, SNAPSHOT, READY)
        await socket.wait_closed()

    own = ssl.create_default_context(cafile=certificate)
    async with serve(serving, "127.0.0.1", 0, ssl=served) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with (
            ParleyClient(f"https://127.0.0.1:{port}", key="k") as market,
            MakerFeed(market, tls=own) as feed,
            asyncio.timeout(LIMIT),
        ):
            await feed.ready()


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    firsts: list[object] = []

    async def thief(socket: ServerConnection) -> None:
        firsts.append(await socket.recv())

    async def redirecting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):  # It was closed meanwhile.
            await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 302 Found\r\nlocation: {elsewhere}\r\n\r\n".encode())
        tries.put_nowait(None)
        writer.close()

    tries: asyncio.Queue[None] = asyncio.Queue()
    async with serve(thief, "127.0.0.1", 0) as other:
        elsewhere = f"ws://127.0.0.1:{next(iter(other.sockets)).getsockname()[1]}/v1/ws"
        server = await asyncio.start_server(redirecting, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with (
            ParleyClient(f"http://127.0.0.1:{port}", key="k") as market,
            MakerFeed(market, random=lambda: 0.0) as feed,
        ):
            async with asyncio.timeout(LIMIT):
                for _ in range(3):
                    await tries.get()
            assert feed.state == "connecting" and firsts == []
        server.close()


async def test_a_slow_reader_is_told_of_the_gap_and_has_the_book(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keeping, "MOST_WAITING", 3)
    ids = [f"rfq {at}" for at in range(5)]

    async def say(socket: ServerConnection, first: dict[str, Any], before: int) -> None:
        await send(socket, SNAPSHOT, *(created(id, at + 1) for at, id in enumerate(ids)), READY)
        await socket.wait_closed()

    async with feed_of(say) as feed, asyncio.timeout(LIMIT):
        await feed.ready()
        first, *rest = [await anext(feed) for _ in range(3)]
        assert first == Gap("slow")
        assert [each.rfq.id for each in rest if isinstance(each, BookChange)] == ids[3:]
        assert list(feed.book) == ids


async def test_a_quote_is_sent_again_under_its_key_and_never_after_another_price() -> None:
    quotes: list[dict[str, Any]] = []

    async def say(socket: ServerConnection, first: dict[str, Any], before: int) -> None:
        await send(socket, SNAPSHOT, READY)
        async for text in socket:
            quote = json.loads(text)["quote"]
            quotes.append(quote)
            if before == 0:
                await socket.close(1012)  # Nobody knows whether it was taken.
                return
            key = {"idempotencyKey": quote["idempotencyKey"]}
            if quote["quoteAmount"] == "3":
                error = {"type": "error", "error": "no", "code": "rfq_gone", "rfqId": ID}
                await send(socket, error | key)
            elif len(quotes) == 2:
                error = {"type": "error", "error": "no", "code": "still_running", "rfqId": ID}
                await send(socket, error | key)
            else:
                await send(socket, {"type": "quoted", "rfqId": ID, "threadId": "t", **key})

    async with feed_of(say) as feed, asyncio.timeout(LIMIT):
        await feed.ready()
        assert (await feed.quote(ID.upper(), 1)).thread_id == "t"
        assert len(quotes) == 3 and len({each["idempotencyKey"] for each in quotes}) == 1
        one = asyncio.create_task(feed.quote(ID, 2))
        await asyncio.sleep(0)
        two = asyncio.create_task(feed.quote(ID, 4))
        await asyncio.sleep(0)
        three = asyncio.create_task(feed.quote(ID, 3))
        assert (await one).thread_id == "t"
        for task, fault in ((two, "superseded"), (three, "refused")):
            with pytest.raises(QuoteError) as error:
                await task
            assert error.value.fault == fault
        assert [each["quoteAmount"] for each in quotes] == ["1", "1", "1", "2", "3"]


async def test_a_quote_that_nobody_answers_says_whether_it_may_have_been_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley._feed.quotes.ANSWER_SECONDS", 0.05)

    async def say(socket: ServerConnection, first: dict[str, Any], before: int) -> None:
        await send(socket, SNAPSHOT, READY)
        await socket.recv()
        await socket.wait_closed()

    async with feed_of(say) as feed, asyncio.timeout(LIMIT):
        with pytest.raises(QuoteError) as stale:
            await feed.quote(ID, 1, good_for=0)
        assert stale.value.fault == "stale"
        await feed.ready()
        with pytest.raises(QuoteError) as unknown:
            await feed.quote(ID, 1, good_for=0.05)
        assert unknown.value.fault == "unknown"
        given_up = asyncio.create_task(feed.quote(ID, 1))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up


WORDS = st.sampled_from(["type", "rfq", "rfqs", "kind", "seq", "error"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda of: st.dictionaries(WORDS, of, max_size=4) | st.lists(of, max_size=3),
    max_leaves=8,
).map(json.dumps)


@given(st.text(max_size=50) | JSON)
@settings(max_examples=runs(50), deadline=None)
def test_any_text_is_a_frame_or_nothing(text: str) -> None:
    frame = parse_frame(text)
    assert frame is None or frame.type


def test_an_rfq_that_is_longer_than_any_is_no_frame() -> None:
    for spare, is_frame in ((0, True), (1, False)):
        gone = {"type": "gone", "reason": "expired", "seq": 9, "rfqId": ""}
        gone["rfqId"] = "a" * (MOST_RFQ_CHARACTERS - len(json.dumps(gone)) + spare)
        assert (parse_frame(json.dumps(gone)) is not None) is is_frame
    snapshot = {"type": "snapshot", "rfqs": [], "addressed": [], "seq": 9, "note": "n" * 20_000}
    assert parse_frame(json.dumps(snapshot)) is None


def test_a_book_that_is_full_takes_no_other_and_forgets_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    book = Entries(lambda: 0.0, most=2)

    def take(id: str) -> int:
        frame = parse_frame(json.dumps(created(id)))
        assert frame is not None
        return len(book.take(frame))

    first, second, third, fourth = (f"{ID[:-1]}{digit}" for digit in "1234")
    assert [take(each) for each in (first, second, third, fourth, first)] == [1, 1, 0, 0, 0]
    assert book.left_out == 2
    assert list(book.rfqs) == [first, second]
    assert caplog.text.count("as many as may be") == 1
    gone = parse_frame(json.dumps({"type": "gone", "rfqId": first, "reason": "expired", "seq": 9}))
    assert gone is not None
    assert len(book.take(gone)) == 1
    assert take(third) == 1
