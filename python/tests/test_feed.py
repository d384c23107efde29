"""The feed of the market: no entry of the book is lost or emitted twice, and quotes go down the
socket."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, TypeVar
from urllib.parse import urlsplit

import pytest
import websocket

from parley.book import Book
from parley.client import ParleyClient
from parley.errors import FeedClosed, QuoteError
from parley.feed import (
    BookChange,
    Gap,
    MakerFeed,
    QuoteCreatedFrame,
    ThreadAcceptedFrame,
    ThreadClosedFrame,
)
from parley.hashlock import hashlock_of, new_secret
from parley.keys import mint_key
from parley.signers import evm_signer

from .customers import LIMIT, ask, customer, pair, until_state

pytestmark = pytest.mark.anyio


T = TypeVar("T", BookChange, Gap, QuoteCreatedFrame, ThreadAcceptedFrame, ThreadClosedFrame)


async def the_next(feed: MakerFeed | Book, kind: type[T]) -> T:
    async with asyncio.timeout(LIMIT):
        async for item in feed:
            if isinstance(item, kind):
                return item
    raise AssertionError(f"the feed ended before a {kind.__name__}")


async def until(feed: MakerFeed | Book, kind: str, id: str) -> list[BookChange]:
    """All changes of the book until this one is told."""
    seen: list[BookChange] = []
    while not seen or (seen[-1].kind, seen[-1].rfq.id) != (kind, id):
        seen.append(await the_next(feed, BookChange))
    return seen


async def accept(side: Literal["maker", "taker"], by: ParleyClient, thread_id: str) -> None:
    thread = await by.get_thread(thread_id)
    hashlock = hashlock_of(new_secret()) if thread.initiator == side else None
    await by.accept_price(thread_id, quote_amount=thread.quote_amount, hashlock=hashlock)


class Way:
    """To the market, and may be cut."""

    def __init__(self) -> None:
        self.url = ""
        self.is_open = True
        self.writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        for each in self.writers:
            each.transport.abort()


@asynccontextmanager
async def way_to(url: str) -> AsyncIterator[Way]:
    to, way = urlsplit(url), Way()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not way.is_open:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection(to.hostname, to.port)
        way.writers |= {writer, back}
        await asyncio.gather(carry(reader, back), carry(there, writer))
        way.writers -= {writer, back}

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    way.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield way
    finally:
        server.close()
        way.cut()


async def test_a_maker_quotes_what_it_hears_and_both_hear_of_the_thread(
    market: ParleyClient,
) -> None:
    (taker, _), (maker, _) = await customer(market), await customer(market)
    base, quote = await pair(market)
    async with (
        MakerFeed(maker, events=["thread.accepted", "thread.closed"]) as feed,
        MakerFeed(taker, events=["quote.created"]) as takers,
    ):
        await asyncio.gather(feed.ready(), takers.ready())
        rfq = await ask(taker, base, quote)
        await until(feed, "created", rfq.id)
        assert feed.book[rfq.id] == rfq and rfq.id not in takers.book
        quoted = await feed.quote(rfq.id, 2 * 10**16, valid_for_seconds=600)
        with pytest.raises(QuoteError) as refused:
            await takers.quote(rfq.id, 10**16)
        assert (refused.value.fault, refused.value.code) == ("refused", "own_rfq")
        heard = await the_next(takers, QuoteCreatedFrame)
        assert (heard.thread_id, heard.quote_amount) == (quoted.thread_id, 2 * 10**16)
        await accept("taker", taker, quoted.thread_id)
        accepted = await the_next(feed, ThreadAcceptedFrame)
        assert (accepted.thread_id, accepted.role) == (quoted.thread_id, "maker")
        await accept("maker", maker, quoted.thread_id)
        await until(feed, "agreed", rfq.id)
        assert rfq.id not in feed.book


async def test_events_missed_while_it_was_cut_off_are_told_once_and_in_order(
    market: ParleyClient,
) -> None:
    (taker, _), (maker, _) = await customer(market), await customer(market)
    base, quote = await pair(market)
    stays, goes = await ask(taker, base, quote), await ask(taker, base, quote)
    async with (
        way_to(market.base_url) as way,
        ParleyClient(way.url, key=maker._key) as through,
        MakerFeed(through, events=["thread.closed"], random=lambda: 0.1) as feed,
    ):
        await feed.ready()
        assert (await the_next(feed, Gap)).why == "start"
        assert {stays.id, goes.id} <= feed.book.keys()
        quoted = await feed.quote(stays.id, 10**16)
        way.is_open = False
        way.cut()
        await until_state(feed, "connecting")
        came = await ask(taker, base, quote)
        await taker.cancel_rfq(goes.id)
        await taker.cancel_rfq(stays.id)
        waiting = asyncio.create_task(feed.quote(came.id, 10**16, good_for=60))
        way.is_open = True
        assert (await waiting).thread_id != quoted.thread_id
        closed = await the_next(feed, ThreadClosedFrame)
        assert (closed.thread_id, closed.reason) == (quoted.thread_id, "cancelled")
        last = await ask(taker, base, quote)
        told = await until(feed, "created", last.id)
        ours = {stays.id, goes.id, came.id, last.id}
        after = [(each.kind, each.rfq.id) for each in told if each.rfq.id in ours]
        assert len(set(after)) == len(after)
        assert stays.id not in feed.book and goes.id not in feed.book
        assert {came.id, last.id} <= feed.book.keys()


async def test_a_book_of_a_pair_follows_it_through_a_cut(market: ParleyClient) -> None:
    (taker, _), (maker, _) = await customer(market), await customer(market)
    base, quote = await pair(market)
    with pytest.raises(ValueError, match="1 to 20 pairs, or of all; 0 named"):
        Book(maker, pairs=[])
    async with (
        way_to(market.base_url) as way,
        ParleyClient(way.url, key=maker._key) as through,
        Book(through, pairs=[(quote.id, base.id)], random=lambda: 0.01) as book,
        Book(maker, pairs=[(base.id, base.id)]) as other,
    ):
        await asyncio.gather(book.ready(), other.ready())
        goes = await ask(taker, base, quote)
        await until(book, "created", goes.id)
        way.cut()
        await taker.cancel_rfq(goes.id)
        stays = await ask(taker, base, quote)
        told = [(each.kind, each.rfq.id) for each in await until(book, "created", stays.id)]
        assert ("cancelled", goes.id) in told
        assert goes.id not in book.rfqs and book.rfqs[stays.id] == stays
        assert book.left_out == 0 and not other.rfqs


async def test_an_event_of_an_earlier_run_is_told_to_the_next(market: ParleyClient) -> None:
    (taker, _), (maker, _) = await customer(market), await customer(market)
    base, quote = await pair(market)
    rfq = await ask(taker, base, quote)
    async with MakerFeed(taker, events=["quote.created"]) as feed:
        await feed.ready()
        await maker.quote_rfq(rfq.id, quote_amount=10**16)
        first = await the_next(feed, QuoteCreatedFrame)
    await maker.quote_rfq(rfq.id, quote_amount=2 * 10**16)
    async with MakerFeed(
        taker, events=["quote.created"], since_event=first.event_seq
    ) as again:
        missed = await the_next(again, QuoteCreatedFrame)
        assert (missed.quote_amount, missed.event_seq) == (2 * 10**16, first.event_seq + 1)


async def test_cancel_on_disconnect_is_stored_and_a_closed_feed_says_so(
    market: ParleyClient,
) -> None:
    maker, _ = await customer(market)
    async with MakerFeed(maker, cancel_on_disconnect=60) as feed:
        await feed.ready()
        for wrong in (4, 61, True):
            with pytest.raises(ValueError, match="from 5 to 60"):
                await feed.cancel_on_disconnect(wrong)
        async with asyncio.timeout(LIMIT):
            await feed.cancel_on_disconnect(5)
            await feed.cancel_on_disconnect(None)
    left = [item async for item in feed]
    assert feed.state == "closed" and all(isinstance(each, BookChange) for each in left)
    with pytest.raises(QuoteError) as gone:
        await feed.quote("r", 1)
    assert gone.value.fault == "closed"
    with pytest.raises(FeedClosed):
        await feed.cancel_on_disconnect(5)


async def test_a_key_that_is_not_good_for_it_ends_the_feed_with_the_reason(
    market: ParleyClient,
) -> None:
    _, signer = await customer(market)
    poor = market.with_key((await mint_key(market, signer, scopes=["taker"])).key)
    for key, why in ((poor, "lacks the scope maker"), (market.with_key("none"), "not valid")):
        async with MakerFeed(key) as feed, asyncio.timeout(LIMIT):
            with pytest.raises(FeedClosed, match=why):
                await feed.ready()
            with pytest.raises(FeedClosed, match=why):
                async for _ in feed:
                    pass
    with pytest.raises(ValueError, match="with_key"):
        MakerFeed(market)


@pytest.mark.parametrize("origin", [None, "http://bot.example"])
async def test_a_program_that_names_an_origin_is_served_by_its_key(
    market: ParleyClient, url: str, origin: str | None
) -> None:
    """`websocket-client` names the address that it calls, unless it is told another origin."""
    minted = await mint_key(market, evm_signer(secrets.token_bytes(32)))

    def kinds() -> list[str]:
        address = url.replace("http", "ws", 1) + "/v1/ws"
        socket = websocket.create_connection(address, timeout=LIMIT, origin=origin)
        socket.send(json.dumps({"apiKey": minted.key}))
        heard = [json.loads(socket.recv())["type"] for _ in range(2)]
        socket.close()
        return heard

    assert await asyncio.to_thread(kinds) == ["snapshot", "ready"]


def test_a_client_has_a_feed_in_each_loop_and_a_feed_that_was_closed_says_so(url: str) -> None:
    opened = ParleyClient(url)
    mine, _ = asyncio.run(customer(opened))

    async def live() -> MakerFeed:
        async with MakerFeed(mine) as feed:
            await feed.ready()
        return feed

    asyncio.run(live())
    closed = asyncio.run(live())
    with pytest.raises(RuntimeError, match="a feed lives once"):
        asyncio.run(closed.__aenter__())
