"""The maker feed: the book kept true through lost connections, and quotes down the same socket.

    async with MakerFeed(market, events=["thread.accepted"]) as feed:
        async for item in feed:
            match item:
                case BookChange(kind="created", rfq=rfq):
                    await feed.quote(rfq.id, price_of(rfq))
                case ThreadAcceptedFrame():
                    ...

A feed is one consumer's: each iteration takes items away. Log: `parley.feed`.
"""

import asyncio
import random as chance
import ssl
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from . import models as m
from ._feed.book import Book, BookChange
from ._feed.link import Link, LinkState, log
from ._feed.own import EventName, Gap, Own, OwnEvent
from ._feed.quotes import Quoted, Quotes
from ._lists import MOST_PAGE
from .client import ParleyClient
from .errors import FeedClosed, ParleyApiError
from .frames import (
    ErrorFrame,
    Frame,
    QuoteCreatedFrame,
    SnapshotFrame,
    ThreadAcceptedFrame,
    ThreadClosedFrame,
    ThreadProposedFrame,
)

__all__ = [
    "BookChange",
    "EventName",
    "FeedItem",
    "Gap",
    "LinkState",
    "MakerFeed",
    "OwnEvent",
    "QuoteCreatedFrame",
    "Quoted",
    "ThreadAcceptedFrame",
    "ThreadClosedFrame",
    "ThreadProposedFrame",
]

FeedItem: TypeAlias = BookChange | OwnEvent | Gap

MOST_WAITING = 10_000
"""Items that nobody took; then they are dropped, and a `Gap` stands in their place."""
_MOST_PAGES = 1_000
_AGAIN_SECONDS = 1.0
# How often private RFQs are read anew: wallets were proven or removed meanwhile.
_RENEW_SECONDS = 60.0


class MakerFeed:
    """Lives inside `async with`. Iterating ends when it is closed, and raises `FeedClosed` where
    the key is not, or no longer, good for the feed.
    """

    def __init__(
        self,
        market: ParleyClient,
        *,
        events: Sequence[EventName] = (),
        since_event: int | None = None,
        cancel_on_disconnect: int | None = None,
        tls: ssl.SSLContext | None = None,
        random: Callable[[], float] = chance.random,
    ) -> None:
        """market: a client whose key has the scope `maker`; it stays open for as long as the feed
        events: types of events to emit, for your own threads and quotes on your RFQs
        since_event: the last `event_seq` that an earlier run worked on
        cancel_on_disconnect: your open quotes are withdrawn when you were gone for so many
            seconds, 5 to 60
        tls: for a certificate authority of your own, beside `http` of the client
        random: from 0 to 1: the part of its longest wait after which it connects again
        """
        key = market._key
        if key is None:
            raise ValueError("the feed wants a client with a key: market.with_key(key)")
        self._market = market
        self._book = Book(lambda: asyncio.get_running_loop().time())
        self._state: LinkState = "connecting"
        self._items: deque[FeedItem] = deque()
        self._woken = asyncio.Event()
        self._ended = asyncio.Event()
        self._why_closed: str | None = None
        self._was_entered = False
        # Counts snapshots: a page that was being read for an earlier one is of no use.
        self._filling = 0
        self._is_whole = False
        self._was_whole = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._link = Link(
            f"ws{market.base_url.removeprefix('http')}/v1/ws",
            key,
            greeting=lambda: self._own.greeting(),
            heard=self._heard,
            changed=self._moved,
            tls=tls,
            random=random,
        )
        self._quotes = Quotes(self._link.send)
        self._own = Own(
            self._link.send,
            self._tell,
            events=events,
            since_event=since_event,
            cancel_on_disconnect=cancel_on_disconnect,
        )

    @property
    def book(self) -> Mapping[str, m.Rfq]:
        """RFQs of others, public or for this account, by id; while `live` as the market has them.
        100 000 at most: later entries are left out, and the log says so once.
        """
        return MappingProxyType(self._book.rfqs)

    @property
    def state(self) -> LinkState:
        """`live`: the book is whole and changes are heard."""
        return self._state

    async def ready(self) -> None:
        """Returns when the book is whole for the first time. Raises FeedClosed where it never can
        be.
        """
        closed = asyncio.create_task(self._ended.wait())
        whole = asyncio.create_task(self._was_whole.wait())
        try:
            await asyncio.wait({closed, whole}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closed.cancel()
            whole.cancel()
        if not self._was_whole.is_set():
            raise FeedClosed(self._why_closed or "the feed was closed")

    async def quote(
        self,
        rfq_id: str,
        quote_amount: int,
        *,
        good_for: float = 5.0,
        valid_for_seconds: int | None = None,
        unless_accepted: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Quoted:
        """Quotes, or moves the price. Sent again only within `good_for` seconds, under one
        idempotency key, and never after another price. Raises QuoteError.

        valid_for_seconds: how long the price holds, from its receipt: 5 to 604 800
        unless_accepted: refused while the taker's acceptance of the price before stands
        """
        terms = m.QuoteBody(
            quote_amount=quote_amount,
            valid_for_seconds=valid_for_seconds,
            unless_accepted=unless_accepted,
        ).model_dump(exclude_none=True)
        terms["idempotencyKey"] = idempotency_key or str(uuid.uuid4())
        return await self._quotes.quote(rfq_id, terms, good_for)

    async def cancel_on_disconnect(self, seconds: int | None) -> None:
        """Sets how long your quotes outlive this feed, from now on; with None they stay.

        Returns when the market has stored it.
        """
        await self._own.cancel_on_disconnect(seconds)

    async def __aenter__(self) -> Self:
        if self._was_entered:
            raise RuntimeError("a feed lives once: make another MakerFeed of the same client")
        self._was_entered = True
        self._start(self._run())
        self._start(self._renew())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._end("the feed was closed")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedItem:
        while not self._items:
            if self._link.ended is not None:
                raise FeedClosed(self._link.ended)
            if self._why_closed is not None:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._items.popleft()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self) -> None:
        try:
            await self._link.run()
        except Exception as fault:
            log.exception("the feed ends by a fault of its own")
            self._link.ended = f"a fault of the feed itself: {fault!r}"
        finally:
            self._end(self._link.ended or "the feed was closed")

    def _end(self, why: str) -> None:
        if self._why_closed is not None:
            return
        self._why_closed = why
        self._state = "closed"
        self._quotes.end()
        self._own.end()
        self._ended.set()
        self._woken.set()

    def _tell(self, item: FeedItem) -> None:
        if len(self._items) >= MOST_WAITING:
            self._items.clear()
            self._items.append(Gap("slow"))
        self._items.append(item)
        self._woken.set()

    def _tell_all(self, changes: Sequence[BookChange]) -> None:
        for each in changes:
            self._tell(each)

    def _moved(self, state: LinkState) -> None:
        if state == "live":
            self._quotes.connected()
            self._own.connected()
            if self._is_whole:
                self._go_live()
        else:
            self._state = state

    def _go_live(self) -> None:
        self._is_whole = True
        self._state = "live"
        self._was_whole.set()

    def _heard(self, frame: Frame) -> None:
        self._own.take(frame)
        self._tell_all(self._book.take(frame))
        if isinstance(frame, SnapshotFrame):
            self._begin(frame)
        if not self._quotes.take(frame) and isinstance(frame, ErrorFrame):
            log.warning("the feed refused: %s", frame.error)

    def _begin(self, frame: SnapshotFrame) -> None:
        """A snapshot that is full is the newest part of the book."""
        self._filling += 1
        self._is_whole = all(
            len(each) < MOST_PAGE for each in (frame.rfqs, frame.addressed or [])
        )
        if self._is_whole:
            self._tell_all(self._book.settle())
        else:
            self._start(self._fill(self._filling))

    async def _fill(self, turn: int) -> None:
        while turn == self._filling:
            try:
                me = (await self._market.get_me()).user_id
                for addressed in (None, True):
                    rfqs = await self._read_all(addressed, turn)
                    if turn != self._filling:
                        return
                    self._tell_all(self._book.fill(each for each in rfqs if each.creator_id != me))
                break
            except ParleyApiError as error:
                log.warning("the rest of the book could not be read: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
        if turn != self._filling:
            return
        self._tell_all(self._book.settle())
        self._is_whole = True
        if self._link.is_live:
            self._go_live()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            if self._state != "live":
                continue
            turn = self._filling
            try:
                there = await self._read_all(True, turn)
            except ParleyApiError:
                continue  # Next time.
            if turn == self._filling and self.state == "live":
                self._tell_all(self._book.renew(there))

    async def _read_all(self, addressed: bool | None, turn: int) -> list[m.Rfq]:
        found: list[m.Rfq] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._market.list_rfqs(
                limit=MOST_PAGE, addressed=addressed, cursor=cursor
            )
            found += page.rfqs
            cursor = page.next_cursor
            if cursor is None or turn != self._filling:
                break
        return found
