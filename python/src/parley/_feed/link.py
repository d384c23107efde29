"""The connection to the feed: resumed where it was lost, after a random wait that grows."""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from ..frames import (
    ErrorFrame,
    Frame,
    GoneFrame,
    ReadyFrame,
    ResetFrame,
    ResumedFrame,
    RfqFrame,
    SnapshotFrame,
)

log = logging.getLogger("parley.feed")

LinkState: TypeAlias = Literal["connecting", "live", "closed"]

# As of an answer, and as in the SDK: a snapshot of 200 RFQs has 250 kB.
MOST_FRAME_BYTES = 8 * 1024 * 1024
MOST_UNSENT = 10_000
# Eight times what an RFQ has.
MOST_RFQ_CHARACTERS = 16_384
# Private RFQs under one number; beyond it one that is sent again is heard again.
_MOST_COUNTED = 20_000
_QUIET_SECONDS = 15.0
_ANSWER_SECONDS = 10.0
# Before `ready`: a socket that answers pings and says nothing is none.
_SILENCE_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 0.25
_MOST_WAIT_SECONDS = 30.0
# A connection that lived as long as this was a good one.
_PROVEN_SECONDS = 10.0
_TOO_MANY = 4429
# Codes of errors that end the feed: the key is wrong, has ended, or lacks the scope. A close alone
# says less.
_FATAL = {
    "key_invalid": "the API key is not valid",
    "scope_missing": "the API key lacks the scope maker",
}
_FRAME: TypeAdapter[Frame] = TypeAdapter(Annotated[Frame, Field(discriminator="type")])


class _Direct(connect):
    """Goes where it was told to go: the first frame is a key."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class _Repeats:
    """Knows what is sent again: a client that resumes from an entry's number gets all private RFQs
    under it anew.
    """

    def __init__(self) -> None:
        # Frames heard under the newest number, by RFQ; and how many are still to come again.
        self._counts: dict[str, int] = {}
        self._due: dict[str, int] = {}

    def forget(self) -> None:
        self._counts.clear()
        self._due.clear()

    def is_one(self, frame: Frame) -> bool:
        if isinstance(frame, ResumedFrame):
            self._due = dict(self._counts)
        if isinstance(frame, RfqFrame):
            id = frame.rfq.id
        elif isinstance(frame, GoneFrame):
            id = frame.rfq_id
        else:
            return False
        left = self._due.get(id, 0)
        if left > 0:
            self._due[id] = left - 1
        else:
            self._counts[id] = self._counts.get(id, 0) + 1
        if len(self._counts) > _MOST_COUNTED:
            self._counts.clear()
        return left > 0


def parse_frame(data: object) -> Frame | None:
    """Parses a frame; if it is no frame, or of an unknown kind, the result is None."""
    if not isinstance(data, str):
        return None
    try:
        frame = _FRAME.validate_json(data)
    except (ValidationError, RecursionError):
        return None
    return frame if len(data) <= _most_characters(frame) else None


def _most_characters(frame: Frame) -> int:
    """A book is bounded by the number of its RFQs: a market that invents them must not fill the
    memory.
    """
    match frame:
        case RfqFrame() | GoneFrame():
            return MOST_RFQ_CHARACTERS
        case SnapshotFrame():
            return MOST_RFQ_CHARACTERS * (1 + len(frame.rfqs) + len(frame.addressed or []))
        case _:
            return MOST_FRAME_BYTES


class Link:
    """`run` lives as long as the feed; it hands frames on in order."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        greeting: Callable[[], Mapping[str, Any]],
        heard: Callable[[Frame], None],
        changed: Callable[[LinkState], None],
        tls: ssl.SSLContext | None,
        random: Callable[[], float],
    ) -> None:
        self._url = url
        self._key = key
        self._greeting = greeting
        self._heard = heard
        self._changed = changed
        # Plain `ws` takes none.
        self._tls: dict[str, Any] = {}
        if tls is not None and url.startswith("wss:"):
            self._tls["ssl"] = tls
        self._random = random
        self._unsent: asyncio.Queue[str] = asyncio.Queue(MOST_UNSENT)
        self._repeats = _Repeats()
        self._since: int | None = None
        self._failures = 0
        self.is_live = False
        self.ended: str | None = None
        """Why it was given up."""

    def send(self, frame: Mapping[str, Any]) -> bool:
        """False where nothing can be sent now."""
        if not self.is_live:
            return False
        try:
            self._unsent.put_nowait(json.dumps(frame))
        except asyncio.QueueFull:
            return False
        return True

    async def run(self) -> None:
        """Returns where it is given up: `ended` says why."""
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            code: int | None = None
            why = "it was closed"
            try:
                await self._once()
            except ConnectionClosed as error:
                code = None if error.rcvd is None else error.rcvd.code
                why = f"code {code}" if code is not None else str(error)
            except (OSError, TimeoutError, WebSocketException) as error:
                why = str(error) or type(error).__name__
            self.is_live = False
            if self.ended is not None:
                return
            if clock() - began > _PROVEN_SECONDS:
                self._failures = 0
            self._changed("connecting")
            log.warning("no connection to the feed (%s): trying again", why)
            await asyncio.sleep(self._wait(code))

    def _wait(self, code: int | None) -> float:
        """Anywhere within a span that doubles: those who were cut off together come back apart."""
        span = min(_FIRST_WAIT_SECONDS * 2.0 ** min(self._failures, 20), _MOST_WAIT_SECONDS)
        self._failures += 1
        return (_MOST_WAIT_SECONDS if code == _TOO_MANY else span) * self._random()

    async def _once(self) -> None:
        async with _Direct(
            self._url,
            max_size=MOST_FRAME_BYTES,
            compression=None,
            # No proxy of the environment.
            proxy=None,
            open_timeout=_ANSWER_SECONDS,
            close_timeout=1.0,
            ping_interval=_QUIET_SECONDS,
            ping_timeout=_ANSWER_SECONDS,
            **self._tls,
        ) as socket:
            resume = {"resume": True} | ({} if self._since is None else {"since": self._since})
            await socket.send(json.dumps({"apiKey": self._key, **resume, **self._greeting()}))
            self._unsent = asyncio.Queue(MOST_UNSENT)
            writing = asyncio.create_task(self._write(socket, self._unsent))
            try:
                while self.ended is None:
                    limit = None if self.is_live else _SILENCE_SECONDS
                    async with asyncio.timeout(limit):
                        data = await socket.recv()
                    self._take(data)
            finally:
                self.is_live = False
                writing.cancel()

    async def _write(self, socket: ClientConnection, unsent: asyncio.Queue[str]) -> None:
        try:
            while True:
                await socket.send(await unsent.get())
        except ConnectionClosed:
            pass  # Who reads it hears why.

    def _take(self, data: str | bytes) -> None:
        frame = parse_frame(data)
        if frame is None:
            return
        if frame.seq is not None and frame.seq > (-1 if self._since is None else self._since):
            self._since = frame.seq
            self._repeats.forget()
        # Not known of what was seen before: the book comes anew.
        if isinstance(frame, ResetFrame):
            self._since = frame.seq
            self._repeats.forget()
        if not self._repeats.is_one(frame):
            self._heard(frame)
        if isinstance(frame, ErrorFrame) and frame.code in _FATAL:
            self.ended = _FATAL[frame.code]
        if isinstance(frame, ReadyFrame):
            self.is_live = True
            self._changed("live")
