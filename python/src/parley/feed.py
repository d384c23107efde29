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

import random as chance
import ssl
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from . import models as m
from ._feed.entries import MOST_RFQS, AssetPair, BookChange
from ._feed.keeping import Kept
from ._feed.link import LinkState, log
from ._feed.own import EventName, Gap, Own, OwnEvent
from ._feed.quotes import Quoted, Quotes
from .client import ParleyClient
from .frames import (
    ErrorFrame,
    Frame,
    QuoteCreatedFrame,
    ThreadAcceptedFrame,
    ThreadClosedFrame,
    ThreadProposedFrame,
)

__all__ = [
    "AssetPair",
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


class MakerFeed(Kept[OwnEvent]):
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
        pairs: Sequence[AssetPair] | None = None,
        tls: ssl.SSLContext | None = None,
        random: Callable[[], float] = chance.random,
    ) -> None:
        """market: a client whose key has the scope `maker`; it stays open for as long as the feed
        events: types of events to emit, for your own threads and quotes on your RFQs
        since_event: the last `event_seq` that an earlier run worked on
        cancel_on_disconnect: your open quotes are withdrawn when you were gone for so many
            seconds, 5 to 60
        pairs: the pairs of the book, at most 20; all of them unless named
        tls: for a certificate authority of your own, beside `http` of the client
        random: from 0 to 1: the part of its longest wait after which it connects again
        """
        super().__init__(market, pairs=pairs, most=MOST_RFQS, tls=tls, random=random)
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
        return self._rfqs()

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

    def _greeting(self) -> Mapping[str, Any]:
        return self._own.greeting()

    def _heard(self, frame: Frame) -> None:
        self._own.take(frame)
        super()._heard(frame)
        if not self._quotes.take(frame) and isinstance(frame, ErrorFrame):
            log.warning("the feed refused: %s", frame.error)

    def _moved(self, state: LinkState) -> None:
        if state == "live":
            self._quotes.connected()
            self._own.connected()
        super()._moved(state)

    def _closed(self) -> None:
        self._quotes.end()
        self._own.end()
