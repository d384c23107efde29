"""The feed's events of an account's own threads, and how long its quotes outlive its connections.
Each connection goes on where the last one heard of an event.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._lists import LEAST_GRACE_SECONDS, MOST_GRACE_SECONDS
from .._lists import EventName as EventName
from ..errors import FeedClosed
from ..frames import (
    ErrorFrame,
    Frame,
    QuoteCreatedFrame,
    SubscribedFrame,
    SwitchedFrame,
    ThreadAcceptedFrame,
    ThreadClosedFrame,
    ThreadProposedFrame,
)

OwnEvent: TypeAlias = (
    QuoteCreatedFrame | ThreadAcceptedFrame | ThreadProposedFrame | ThreadClosedFrame
)
_EVENTS = (QuoteCreatedFrame, ThreadAcceptedFrame, ThreadProposedFrame, ThreadClosedFrame)
# The cause of a refused grace passes, such as an exhausted budget.
_ASK_AGAIN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Gap:
    """Earlier entries are not emitted: read `feed.book` and `list_quotes`.

    start: the feed begins. missed: more was missed than the market keeps. slow: you took items more
    slowly than they came, and those that waited were dropped.
    """

    why: Literal["start", "missed", "slow"]


class Own:
    def __init__(
        self,
        send: Callable[[Mapping[str, Any]], bool],
        tell: Callable[[OwnEvent | Gap], None],
        *,
        events: Sequence[EventName],
        since_event: int | None,
        cancel_on_disconnect: int | None,
    ) -> None:
        self._send = send
        self._tell = tell
        self._events = list(events)
        self._since = since_event
        self._is_first = since_event is None
        self._seconds = _grace(cancel_on_disconnect)
        self._wanted: tuple[int | None, asyncio.Future[None]] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._is_over = False

    def greeting(self) -> dict[str, Any]:
        """Fields of the first frame."""
        said: dict[str, Any] = {}
        if self._events:
            said["events"] = self._events
            if self._since is not None:
                said["sinceEvent"] = self._since
        if self._seconds is not None:
            said["cancelOnDisconnect"] = self._seconds
        return said

    def connected(self) -> None:
        """Asks what was asked while there was no connection, or not answered by it."""
        if self._wanted is not None:
            self._send({"cancelOnDisconnect": self._wanted[0]})

    def take(self, frame: Frame) -> None:
        if isinstance(frame, SubscribedFrame):
            self._since = frame.event_seq
            if not frame.resumed:
                self._tell(Gap("start" if self._is_first else "missed"))
            self._is_first = False
        elif isinstance(frame, SwitchedFrame):
            if self._wanted is not None and frame.seconds == self._wanted[0]:
                if not self._wanted[1].done():
                    self._wanted[1].set_result(None)
                self._wanted = None
        elif isinstance(frame, _EVENTS):
            self._since = frame.event_seq
            self._tell(frame)
        elif isinstance(frame, ErrorFrame):
            # That of a quote names it.
            if self._wanted is not None and frame.idempotency_key is None and self._again is None:
                loop = asyncio.get_running_loop()
                self._again = loop.call_later(_ASK_AGAIN_SECONDS, self._ask_again)

    async def cancel_on_disconnect(self, seconds: int | None) -> None:
        if self._is_over:
            raise FeedClosed("the feed was closed")
        self._seconds = _grace(seconds)
        if self._wanted is not None and not self._wanted[1].done():
            self._wanted[1].set_exception(ValueError("something else was asked for since"))
        stored = asyncio.get_running_loop().create_future()
        self._wanted = (seconds, stored)
        self.connected()
        await stored

    def end(self) -> None:
        self._is_over = True
        if self._again is not None:
            self._again.cancel()
        if self._wanted is not None and not self._wanted[1].done():
            self._wanted[1].set_exception(FeedClosed("the feed was closed"))
        self._wanted = None

    def _ask_again(self) -> None:
        self._again = None
        self.connected()


def _grace(seconds: int | None) -> int | None:
    if seconds is None:
        return None
    if type(seconds) is int and LEAST_GRACE_SECONDS <= seconds <= MOST_GRACE_SECONDS:
        return seconds
    bounds = f"from {LEAST_GRACE_SECONDS} to {MOST_GRACE_SECONDS}"
    raise ValueError(f"cancel_on_disconnect is a whole number of seconds {bounds}")
