"""The book kept whole: the frames say what changes, and REST has what a snapshot does not hold."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

from .. import models as m
from .._lists import MOST_PAGE
from ..client import ParleyClient
from ..errors import FeedClosed, ParleyApiError
from ..frames import Frame, SnapshotFrame
from .entries import MOST_RFQS, AssetPair, BookChange, Entries
from .link import Link, LinkState, log
from .own import Gap

MOST_WAITING = 10_000
"""Items that nobody took; then they are dropped, and a `Gap` stands in their place."""
_MOST_PAIRS = 20
_MOST_PAGES = MOST_RFQS // MOST_PAGE
_AGAIN_SECONDS = 1.0
# How often private RFQs are read anew: wallets were proven or removed meanwhile.
_RENEW_SECONDS = 60.0

Item = TypeVar("Item")


class Kept(Generic[Item]):
    """Lives inside `async with`. Iterating ends when it is closed, and raises `FeedClosed` where
    the key is not, or no longer, good for the feed.
    """

    def __init__(
        self,
        market: ParleyClient,
        *,
        pairs: Sequence[AssetPair] | None,
        most: int,
        tls: ssl.SSLContext | None,
        random: Callable[[], float],
    ) -> None:
        key = market._key
        if key is None:
            raise ValueError("the feed wants a client with a key: market.with_key(key)")
        if pairs is not None and not 0 < len(pairs) <= _MOST_PAIRS:
            raise ValueError(
                f"a book is of 1 to {_MOST_PAIRS} pairs, or of all; {len(pairs)} named"
            )
        self._market = market
        self._pairs = pairs
        self._entries = Entries(lambda: asyncio.get_running_loop().time(), pairs, most)
        self._state: LinkState = "connecting"
        self._items: deque[Item | BookChange | Gap] = deque()
        self._woken = asyncio.Event()
        self._ended = asyncio.Event()
        self._why_closed: str | None = None
        self._was_entered = False
        # Counts snapshots: a page that was being read for an earlier one is of no use.
        self._filling = 0
        self._is_whole = False
        self._was_whole = asyncio.Event()
        self._is_explained = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._link = Link(
            f"ws{market.base_url.removeprefix('http')}/v1/ws",
            key,
            greeting=self._greeting,
            heard=self._heard,
            changed=self._moved,
            tls=tls,
            random=random,
        )

    @property
    def state(self) -> LinkState:
        """`live`: the book is whole and changes are heard."""
        return self._state

    @property
    def left_out(self) -> int:
        """How many RFQs were left out because there are as many as may be: 0, or the book is not
        whole.
        """
        return self._entries.left_out

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

    async def __aenter__(self) -> Self:
        if self._was_entered:
            kind = type(self).__name__
            raise RuntimeError(f"a feed lives once: make another {kind} of the same client")
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

    async def __anext__(self) -> Item | BookChange | Gap:
        while not self._items:
            if self._link.ended is not None:
                raise FeedClosed(self._link.ended)
            if self._why_closed is not None:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._items.popleft()

    def _rfqs(self) -> Mapping[str, m.Rfq]:
        return MappingProxyType(self._entries.rfqs)

    def _greeting(self) -> Mapping[str, Any]:
        """Fields of the first frame."""
        return {}

    def _heard(self, frame: Frame) -> None:
        self._tell_all(self._entries.take(frame))
        if isinstance(frame, SnapshotFrame):
            self._begin(frame)

    def _moved(self, state: LinkState) -> None:
        if state != "live":
            self._state = state
            if not self._is_explained:
                self._is_explained = True
                self._start(self._explain())
        elif self._is_whole:
            self._go_live()

    def _closed(self) -> None:
        """It has ended."""

    def _tell(self, item: Item | BookChange | Gap) -> None:
        if len(self._items) >= MOST_WAITING:
            self._items.clear()
            self._items.append(Gap("slow"))
        self._items.append(item)
        self._woken.set()

    def _tell_all(self, changes: Sequence[BookChange]) -> None:
        for each in changes:
            self._tell(each)

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

    async def _explain(self) -> None:
        """The socket cannot tell why it does not open, so the first time a request finds out: the
        address may be of something else than a market.
        """
        try:
            await self._market.get_market_status()
        except ParleyApiError as error:
            log.warning("%s", error)

    def _end(self, why: str) -> None:
        if self._why_closed is not None:
            return
        self._why_closed = why
        self._state = "closed"
        self._closed()
        self._ended.set()
        self._woken.set()

    def _go_live(self) -> None:
        self._state = "live"
        self._was_whole.set()

    def _begin(self, frame: SnapshotFrame) -> None:
        """A snapshot that is full is the newest part of the book."""
        self._filling += 1
        self._is_whole = all(
            len(each) < MOST_PAGE for each in (frame.rfqs, frame.addressed or [])
        )
        if self._is_whole:
            self._tell_all(self._entries.settle())
        else:
            self._start(self._fill(self._filling))

    async def _fill(self, turn: int) -> None:
        while turn == self._filling:
            try:
                await self._fill_once(turn)
                break
            except ParleyApiError as error:
                log.warning("the rest of the book could not be read: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
        if turn != self._filling:
            return
        self._tell_all(self._entries.settle())
        self._is_whole = True
        if self._link.is_live:
            self._go_live()

    async def _fill_once(self, turn: int) -> None:
        me = (await self._market.get_me()).user_id
        for base, quote, addressed in self._listings():
            rfqs = await self._read_all(turn, base, quote, addressed)
            if turn != self._filling:
                return
            self._tell_all(self._entries.fill(each for each in rfqs if each.creator_id != me))

    def _listings(self) -> Iterator[tuple[str | None, str | None, bool | None]]:
        """A pair is read both ways: the market lists an RFQ by the base that it was asked with."""
        if self._pairs is None:
            yield None, None, None
        for one, other in self._pairs or ():
            yield one, other, None
            yield other, one, None
        yield None, None, True

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            if self._state != "live":
                continue
            turn = self._filling
            try:
                there = await self._read_all(turn, addressed=True)
            except ParleyApiError:
                continue  # Next time.
            if turn == self._filling and self.state == "live":
                self._tell_all(self._entries.renew(there))

    async def _read_all(
        self,
        turn: int,
        base: str | None = None,
        quote: str | None = None,
        addressed: bool | None = None,
    ) -> list[m.Rfq]:
        found: list[m.Rfq] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._market.list_rfqs(
                base_asset_id=base,
                quote_asset_id=quote,
                addressed=addressed,
                limit=MOST_PAGE,
                cursor=cursor,
            )
            found += page.rfqs[:MOST_PAGE]
            cursor = page.next_cursor
            if cursor is None or turn != self._filling:
                break
        return found
