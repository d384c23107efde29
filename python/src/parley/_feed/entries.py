"""The entries of the book as the feed has them. An entry that left is remembered, so that an older
page of REST does not bring it back.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .. import models as m
from ..frames import Frame, GoneFrame, RfqFrame, SnapshotFrame

log = logging.getLogger("parley.feed")

AssetPair: TypeAlias = tuple[str, str]
"""The ids of two assets, in either order."""

Kind: TypeAlias = Literal["created", "cancelled", "expired", "agreed"]


@dataclass(frozen=True, slots=True)
class BookChange:
    """An RFQ came, or left the book."""

    kind: Kind
    rfq: m.Rfq


# Pages of REST are at most this much older than a frame.
_REMEMBERED_SECONDS = 60.0
_MOST_REMEMBERED = 20_000
# An RFQ has 2 kB: a market that invents them must not fill the memory.
MOST_RFQS = 100_000


class Entries:
    """Each of its changes gives what changed. Without `pairs` it takes all pairs."""

    def __init__(
        self,
        now: Callable[[], float],
        pairs: Sequence[AssetPair] | None = None,
        most: int = MOST_RFQS,
    ) -> None:
        self.rfqs: dict[str, m.Rfq] = {}
        # How many were left out since the last snapshot.
        self.left_out = 0
        self._most = most
        self._wanted = None if pairs is None else {frozenset(each) for each in pairs}
        self._now = now
        self._left: dict[str, float] = {}
        # Known from before a snapshot, and not shown since.
        self._doubtful: set[str] = set()
        self._is_full = False

    def take(self, frame: Frame) -> list[BookChange]:
        match frame:
            case SnapshotFrame():
                self.left_out = 0
                self._doubtful.update(self.rfqs)
                return self._add_all([*frame.rfqs, *(frame.addressed or [])])
            case RfqFrame() if frame.kind == "cancelled":
                return self._remove(frame.rfq.id, "cancelled")
            case RfqFrame():
                # On the book again: a token that reopened.
                self._left.pop(frame.rfq.id, None)
                return self._add(frame.rfq)
            case GoneFrame():
                return self._remove(frame.rfq_id, "agreed" if frame.reason == "agreed" else "expired")
            case _:
                return []

    def fill(self, page: Iterable[m.Rfq]) -> list[BookChange]:
        """The entries of a page of REST, without those that have left since."""
        return self._add_all([rfq for rfq in page if rfq.id not in self._left])

    def renew(self, there: Iterable[m.Rfq]) -> list[BookChange]:
        """All private ones there are now."""
        shown = {rfq.id: rfq for rfq in there}
        hidden = [
            rfq.id
            for rfq in self.rfqs.values()
            if rfq.visibility == "private" and rfq.id not in shown
        ]
        fresh = [rfq for rfq in shown.values() if rfq.id not in self._left]
        gone = [change for each in hidden for change in self._remove(each, "cancelled")]
        return gone + self._add_all(fresh)

    def settle(self) -> list[BookChange]:
        """All of the book was shown since the last snapshot: the rest has left."""
        return [
            change for each in list(self._doubtful) for change in self._remove(each, "cancelled")
        ]

    def _add_all(self, rfqs: Iterable[m.Rfq]) -> list[BookChange]:
        return [change for rfq in rfqs for change in self._add(rfq)]

    def _add(self, rfq: m.Rfq) -> list[BookChange]:
        pair = frozenset((rfq.base_asset_id, rfq.quote_asset_id))
        if self._wanted is not None and pair not in self._wanted:
            return []
        is_new = rfq.id not in self.rfqs
        if is_new and len(self.rfqs) >= self._most:
            self.left_out += 1
            if not self._is_full:
                log.warning("the book has %d RFQs, as many as may be: more are left out", self._most)
            self._is_full = True
            return []
        self._doubtful.discard(rfq.id)
        self.rfqs[rfq.id] = rfq
        return [BookChange("created", rfq)] if is_new else []

    def _remove(self, id: str, kind: Kind) -> list[BookChange]:
        self._left.pop(id, None)
        self._left[id] = self._now()
        for old, at in list(self._left.items()):
            if len(self._left) <= _MOST_REMEMBERED and self._now() - at < _REMEMBERED_SECONDS:
                break
            del self._left[old]
        self._doubtful.discard(id)
        rfq = self.rfqs.pop(id, None)
        return [] if rfq is None else [BookChange(kind, rfq)]
