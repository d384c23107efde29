"""The inputs of a settlement, and its memory while it runs."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from ..errors import SettleError
from ..verify.deadlines import LegName
from ..verify.trade import OwnTrade
from .keeping import KeptStore
from .machine import SettleState
from .nodes import Source, Wallet
from .observe import Hearing
from .record import Kept, LegSeen, SetLeg, SwapRecord, leg_of
from .store import Store

ProgressStep = Literal[
    "elsewhere",
    "state",
    "address_set",
    "verified",
    "approved",
    "pay_by_hand",
    "funded",
    "seen",
    "evidence",
    "claimed",
    "refunded",
    "released",
    "replaced",
    "cancelled",
    "waiting",
    "market_refused",
    "market_lied",
    "store",
    "ended",
]
Answer = Mapping[str, Any] | BaseModel


class Market(Protocol):
    """The market of a swap: `parley.client.ParleyClient` is one. A swap believes no word of it."""

    async def get_swap(self, id: str) -> Answer: ...

    async def set_address(
        self, id: str, *, chain: str, address: str, form: Literal["p2tr"] | None = None
    ) -> Answer: ...

    async def build_fund(self, id: str, leg: LegName) -> Answer: ...

    async def announce_claim(self, id: str, leg: LegName) -> Answer: ...

    async def release_leg(
        self, id: str, leg: LegName, *, signature: str | None = None
    ) -> Answer: ...

    async def broadcast(self, *, chain: str, signed: Any) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """``state`` says where the swap is for this side, ``step`` what was done or met.

    ``code``: of an error that is waited for, such as ``chain_unavailable``.
    """

    swap_id: str
    state: SettleState
    step: ProgressStep
    leg: LegName | None
    text: str
    txid: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Chain:
    """One's nodes of a chain, and the key that signs on it."""

    source: Source
    wallet: Wallet


async def _machine_clock() -> int:
    return int(time.time())


async def _asleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Options:
    """``poll_seconds``: the pause between looks. ``market_poll_seconds``: the least time between
    questions to the market. ``chain_timeout_seconds``: of one look or one signature; a third of it
    is for one call of the store. ``replace_after_seconds``: how long a transaction waits before
    one that pays more replaces it; None: 20 minutes on Bitcoin, 2 elsewhere.

    ``now``: Unix seconds. ``gives_up``: asked at each look whether the person gives the swap up;
    the first yes is kept. ``gives_extra``: Bitcoin paid by hand: whether the secret may be shown
    while the own escrow holds so many sats beyond the amount; by default it is not.
    """

    poll_seconds: float = 1.0
    market_poll_seconds: float = 2.0
    chain_timeout_seconds: float = 15.0
    replace_after_seconds: float | None = None
    now: Callable[[], Awaitable[int]] = _machine_clock
    pause: Callable[[float], Awaitable[None]] = _asleep
    gives_up: Callable[[], bool] = lambda: False
    gives_extra: Callable[[int], bool] = lambda _: False


@dataclass(slots=True)
class Heard:
    """The market's words. ``own_is_known``: whether it has said if another device gave it up."""

    secret: str | None = None
    asked_at: float = float("-inf")
    is_asking: bool = False
    is_silent: bool = False
    release: Mapping[str, Any] | None = None
    own: Mapping[str, Any] | None = None
    own_is_known: bool = False
    refused: str | None = None


@dataclass(slots=True)
class Releasing:
    tries: int = 0
    tried_at: int = 0


_BITCOIN_PATIENCE_SECONDS = 20 * 60.0
_PATIENCE_SECONDS = 2 * 60.0
_STORE_SHARE = 1 / 3


@dataclass(slots=True)
class Context:
    """``market``: None where it is gone; claims and refunds need none."""

    swap_id: str
    trade: OwnTrade | None
    market: Market | None
    chains: Mapping[str, Chain]
    raw_store: Store
    options: Options
    on_progress: Callable[[Progress], None] | None
    store: KeptStore = field(init=False)
    state: SettleState = field(default="preparing", init=False)
    hearing: Hearing = field(default_factory=Hearing, init=False)
    reads: dict[LegName, asyncio.Task[LegSeen]] = field(default_factory=dict, init=False)
    last_seen: dict[LegName, LegSeen] = field(default_factory=dict, init=False)
    heard: Heard = field(default_factory=Heard, init=False)
    releasing: Releasing = field(default_factory=Releasing, init=False)
    builds: dict[LegName, int] = field(default_factory=dict, init=False)
    sent_at: dict[str, float] = field(default_factory=dict, init=False)
    waits_since: dict[str, float] = field(default_factory=dict, init=False)
    doubted: dict[LegName, str] = field(default_factory=dict, init=False)
    tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    market_asked_at: float = field(default=float("-inf"), init=False)
    doubted_escrow: str | None = field(default=None, init=False)
    is_refund_tried: bool = field(default=False, init=False)
    is_end_tried: bool = field(default=False, init=False)
    last_wall: int | None = field(default=None, init=False)
    _told: dict[tuple[ProgressStep, LegName | None], tuple[str, str | None]] = field(
        default_factory=dict, init=False
    )

    def __post_init__(self) -> None:
        limit = self.options.chain_timeout_seconds * _STORE_SHARE

        def tell(text: str) -> None:
            self.emit("store", None, text)

        self.store = KeptStore(self.raw_store, self.swap_id, limit, tell)

    @property
    def record(self) -> SwapRecord:
        """The last kept record of this side."""
        if self.store.latest is None:
            raise SettleError("unknown_record", f"the store keeps no record of {self.swap_id}")
        return self.store.latest

    async def keep(self, **change: Any) -> None:
        """Fields of the record by their names."""
        await self.store.put(replace(self.record, **change))

    async def now(self) -> int:
        self.last_wall = await self.options.now()
        return self.last_wall

    @property
    def seconds(self) -> float:
        """The limit of one look, build or signature."""
        return self.options.chain_timeout_seconds

    def patience(self, family: str) -> float:
        given = self.options.replace_after_seconds
        usual = _BITCOIN_PATIENCE_SECONDS if family == "bitcoin" else _PATIENCE_SECONDS
        return usual if given is None else given

    def source_of(self, chain: str) -> Source:
        return self._chain(chain).source

    def wallet_of(self, chain: str) -> Wallet:
        return self._chain(chain).wallet

    def _chain(self, chain: str) -> Chain:
        found = self.chains.get(chain)
        if found is None:
            raise SettleError("no_source", f'no nodes and no wallet of "{chain}" among your chains')
        return found

    def family_of(self, chain: str) -> str:
        return self.source_of(chain).view.family

    @property
    def own_leg(self) -> SetLeg:
        return leg_of(self.record, self.record.gives)

    @property
    def paying_leg(self) -> SetLeg:
        return leg_of(self.record, self.record.gets)

    def kept(self, verb: Literal["claim", "refund"]) -> Kept | None:
        return self.record.claim if verb == "claim" else self.record.refund

    def emit(
        self,
        step: ProgressStep,
        leg: LegName | None,
        text: str,
        txid: str | None = None,
        code: str | None = None,
    ) -> None:
        """A pass repeats itself until something changes: the same words are told once."""
        if self._told.get((step, leg)) == (text, txid):
            return
        self._told[step, leg] = (text, txid)
        if self.on_progress is None:
            return
        try:
            said = timed_text(text)
            progress = Progress(self.swap_id, self.state, step, leg, said, txid, code)
            self.on_progress(progress)
        except Exception:
            # A listener's error must not keep a claim from being sent.
            pass

    def enter(self, state: SettleState) -> None:
        if state != self.state:
            text = f"{self.state} -> {state}"
            self.state = state
            self.emit("state", None, text)

    def waits(self, leg: LegName | None, text: str, txid: str | None = None) -> None:
        self.emit("waiting", leg, text, txid)

    def beside(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Goes on beside the passes, and ends with them."""

        async def run() -> None:
            await work()

        task = asyncio.create_task(run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def stop(self) -> None:
        self.hearing.stop()
        for each in [*self.reads.values(), *self.tasks]:
            each.cancel()


def loop_time() -> float:
    """Seconds of a clock that only goes forward."""
    return asyncio.get_running_loop().time()


_INSTANT = re.compile(
    r"(?P<word>\b(?:clock passes|timelock|until|from|before|by|it is) )"
    r"(?P<at>\d{10})\b(?! (?:\(|wei|sun|sats|lamports|base))"
)


def timed_text(text: str) -> str:
    """Writes the instants of a sentence, Unix seconds, as times: ``2026-11-27 14:05 UTC``."""

    def timed(found: re.Match[str]) -> str:
        at = datetime.fromtimestamp(int(found["at"]), UTC)
        return f"{found['word']}{at:%Y-%m-%d %H:%M} UTC"

    return _INSTANT.sub(timed, text)
