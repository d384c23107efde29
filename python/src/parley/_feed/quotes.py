"""Quotes on their way: one of an RFQ at a time, each answered once, and sent again only while its
price holds.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import QuoteError
from ..frames import ErrorFrame, Frame, QuotedFrame

ANSWER_SECONDS = 15.0
MOST_PENDING = 10_000
_STILL_RUNNING = "still_running"
_AGAIN_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Quoted:
    """The market has the quote, on this thread."""

    rfq_id: str
    thread_id: str


@dataclass(eq=False)
class _Pending:
    rfq_id: str
    terms: Mapping[str, Any]
    # It is not sent after this.
    stale_at: float
    answer: asyncio.Future[Quoted]
    timer: asyncio.TimerHandle | None = None
    # Whether the market may have it.
    sent: bool = False


class Quotes:
    def __init__(self, send: Callable[[Mapping[str, Any]], bool]) -> None:
        self._send = send
        self._pending: dict[str, _Pending] = {}
        # The next price of an RFQ whose last one is not answered.
        self._next: dict[str, _Pending] = {}
        self._is_over = False

    async def quote(self, rfq_id: str, terms: Mapping[str, Any], good_for: float) -> Quoted:
        if self._is_over:
            raise QuoteError("closed", "the feed was closed")
        if len(self._pending) + len(self._next) >= MOST_PENDING:
            raise QuoteError(
                "refused", f"{MOST_PENDING} quotes wait for their answers", "overloaded"
            )
        loop = asyncio.get_running_loop()
        id = rfq_id.lower()
        each = _Pending(id, terms, loop.time() + good_for, loop.create_future())
        each.timer = loop.call_later(good_for, self._expire, each)
        words = f"another price for {id} came after it"
        if before := self._next.get(id):
            self._drop(before, QuoteError("superseded", words))
        first = self._pending.get(id)
        if first is not None and first.sent:
            self._next[id] = each
        else:
            if first is not None:
                self._drop(first, QuoteError("superseded", words))
            self._go(each)
        try:
            return await each.answer
        except asyncio.CancelledError:
            self._forget(each)
            raise

    def take(self, frame: Frame) -> bool:
        """Whether it was an answer of the market to one of these."""
        if not isinstance(frame, QuotedFrame | ErrorFrame) or frame.rfq_id is None:
            return False
        each = self._pending.get(frame.rfq_id.lower())
        if each is None:
            return False
        # An answer to one that was given up, late.
        if frame.idempotency_key not in (None, each.terms["idempotencyKey"]):
            return True
        if isinstance(frame, ErrorFrame) and frame.code == _STILL_RUNNING:
            # Its own first try, sent before the connection was lost.
            asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self._try_again, each)
            return True
        if isinstance(frame, QuotedFrame):
            self._end(each)
            if not each.answer.done():
                each.answer.set_result(Quoted(frame.rfq_id, frame.thread_id))
        else:
            self._drop(each, QuoteError("refused", frame.error, frame.code))
        self._advance(each.rfq_id)
        return True

    def connected(self) -> None:
        """Sends what still holds."""
        for each in list(self._pending.values()):
            if each.rfq_id in self._next and each.sent:
                words = f"another price for {each.rfq_id} came after it; it may have been taken"
                self._drop(each, QuoteError("superseded", words))
                self._advance(each.rfq_id)
            else:
                self._try_sending(each)

    def end(self) -> None:
        self._is_over = True
        for each in [*self._pending.values(), *self._next.values()]:
            self._drop(each, QuoteError("closed", "the feed was closed"))

    def _go(self, each: _Pending) -> None:
        self._pending[each.rfq_id] = each
        self._try_sending(each)

    def _try_sending(self, each: _Pending) -> None:
        if asyncio.get_running_loop().time() > each.stale_at:
            return
        if self._send({"quote": {"rfqId": each.rfq_id, **each.terms}}):
            each.sent = True

    def _try_again(self, each: _Pending) -> None:
        if self._pending.get(each.rfq_id) is each:
            self._try_sending(each)

    def _expire(self, each: _Pending) -> None:
        loop = asyncio.get_running_loop()
        if each.sent and loop.time() <= each.stale_at + ANSWER_SECONDS:
            each.timer = loop.call_later(ANSWER_SECONDS + 0.001, self._expire, each)
            return
        if each.sent:
            words = f"no answer to the quote on {each.rfq_id}: it may have been taken"
            said = QuoteError("unknown", words)
        else:
            said = QuoteError("stale", f"the quote on {each.rfq_id} could not be sent in time")
        self._drop(each, said)

    def _drop(self, each: _Pending, error: QuoteError) -> None:
        self._forget(each)
        if not each.answer.done():
            each.answer.set_exception(error)

    def _forget(self, each: _Pending) -> None:
        """Drops a quote whose caller hears no more of it: the next price goes."""
        was_pending = self._pending.get(each.rfq_id) is each
        self._end(each)
        if was_pending:
            self._advance(each.rfq_id)

    def _end(self, each: _Pending) -> None:
        if each.timer is not None:
            each.timer.cancel()
        for waiting in (self._pending, self._next):
            if waiting.get(each.rfq_id) is each:
                del waiting[each.rfq_id]

    def _advance(self, rfq_id: str) -> None:
        waiting = None if rfq_id in self._pending else self._next.pop(rfq_id, None)
        if waiting is not None and not self._is_over:
            self._go(waiting)
