"""The book of RFQs, kept as the market has it: it resumes after a cut where it was, and reads all
anew where the market cannot say what was missed. It only listens: `MakerFeed` quotes, too.

    async with Book(market, pairs=[(btc.id, usdc.id)]) as book:
        await book.ready()
        async for change in book:
            print(change, len(book.rfqs))

A book is one consumer's: each iteration takes changes away. Log: `parley.feed`.
"""

import random as chance
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Never

from . import models as m
from ._feed.entries import MOST_RFQS, AssetPair, BookChange
from ._feed.keeping import Kept
from ._feed.link import LinkState
from ._feed.own import Gap
from .client import ParleyClient

__all__ = ["AssetPair", "Book", "BookChange", "Gap", "LinkState"]


class Book(Kept[Never]):
    """Lives inside `async with`. Iterating gives each change once, ends when it is closed, and
    raises `FeedClosed` where the key is not, or no longer, good for the feed.
    """

    def __init__(
        self,
        market: ParleyClient,
        *,
        pairs: Sequence[AssetPair] | None = None,
        most: int = MOST_RFQS,
        tls: ssl.SSLContext | None = None,
        random: Callable[[], float] = chance.random,
    ) -> None:
        """market: a client whose key has the scope `maker`; it stays open for as long as the book
        pairs: the pairs to keep, at most 20; all of them unless named
        most: the most RFQs to keep; more are left out, and the log says so once
        tls: for a certificate authority of your own, beside `http` of the client
        random: from 0 to 1: the part of its longest wait after which it connects again
        """
        super().__init__(market, pairs=pairs, most=most, tls=tls, random=random)

    @property
    def rfqs(self) -> Mapping[str, m.Rfq]:
        """RFQs of others, public or for this account, by id. While `live` they are what the market
        has, at most a quarter of a second ago; while `connecting` what it had when it was last
        heard.
        """
        return self._rfqs()
