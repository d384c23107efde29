"""One side of a swap whose nodes, market, wallet, store and time are all here: a scenario takes
some milliseconds, because time passes only while nothing is left to do.

Leg ``a`` is the short one, which the maker funds, ``b`` the long one of the taker, who is the
initiator. ``World.sent`` has the bytes that leave this side, as `fund b`, `claim a` or `refund b`.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from parley._settle import fund, giving_up, market, prepare, record, send, sign
from parley._settle.context import Chain, Options, Progress
from parley._settle.facts import EscrowFacts, Sighting
from parley._settle.judge import Heads
from parley._settle.nodes import Look, Node, Signed, Source, WatchedEscrow
from parley._settle.record import KeptEscrow, SwapRecord
from parley._settle.run import Outcome, settle
from parley.chains.terms import (
    BitcoinView,
    ChainPolicy,
    ContractDeployment,
    Depth,
    Destination,
    Escrow,
    EscrowTerms,
    EvmView,
)
from parley.errors import ParleyApiError, Refusal, VerificationError
from parley.hashlock import hashlock_of
from parley.verify.deadlines import Deadlines, LegName
from parley.verify.trade import OwnTrade, PinnedAsset, Role, VerifiedLeg, VerifiedSwap

NOW = 1_900_000_000
FUND_B = NOW + 3_600
FUND_A = NOW + 7_200
REVEAL = NOW + 9_000
LOCK_A = NOW + 20_000
LOCK_B = NOW + 60_000
SECRET = "00" * 32
AMOUNT = 1_000_000
DEPTH = 3
HEIGHT = 100
HASHLOCK = hashlock_of(SECRET)
OUTAGE = 7_200
POLICY = ChainPolicy(
    3_600, Depth(DEPTH, 60, OUTAGE), Depth(6, 120, OUTAGE), 600, None, 120, 1_800, 600, 60
)


def seen(txid: str, confirmations: int = 5) -> Sighting:
    return Sighting(txid, confirmations, confirmations >= DEPTH)


NOTHING = EscrowFacts()
FUNDED = EscrowFacts(funded=seen("funding"), balance=AMOUNT, empty=False)
CLAIMED = replace(FUNDED, claimed=seen("claim"), secret=SECRET, balance=0, empty=True)
REFUNDED = replace(FUNDED, refunded=seen("refund"), balance=0, empty=True)


class _Selector(selectors.SelectSelector):
    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nothing will ever happen"
        self.loop.passed += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.passed = 0.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.passed


class FakeNode(Node):
    """``own``: its facts instead of the chain's, by escrow. ``refuses``: the tries that fail."""

    block_seconds = 12.0

    def __init__(self, world: World, leg: LegName) -> None:
        self.world, self.leg = world, leg
        self.own: dict[str, EscrowFacts] = {}
        self.refuses: set[str] = set()
        self.is_down = False
        self.ahead = 0
        self.block: str | None = "0xaa"
        self.lack: str | None = None
        self.balances: tuple[int, ...] = ()

    def fall(self) -> None:
        self.is_down = True

    def _word(self, what: str) -> None:
        if self.is_down:
            raise Refusal("chain_unavailable", "it is down")
        if what in self.refuses:
            code = "nothing_there" if what == "build" else "payout_refused"
            raise Refusal(code, f"it refuses {what}")

    async def heads(self) -> Heads:
        return Heads(HEIGHT, "0x01", self.world.now + self.ahead)

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        self._word("look")
        facts = (self.own.get(each.address, self.world.shown(each.address)) for each in escrows)
        return Look(await self.heads(), tuple(facts))

    async def block_hash(self, height: int) -> str | None:
        return self.block

    async def preflight(self, terms: EscrowTerms, about: str) -> None:
        self._word(f"{about} {terms.chain}")

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Any:
        self._word("build")
        return {"verb": "claim", "escrow": escrow.address}

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Any:
        self._word("build")
        return {"verb": "refund", "escrow": escrow.address}

    async def build_release(self, escrow: WatchedEscrow) -> Any:
        return {"sign": self.world.release_by, "verb": "release", "escrow": escrow.address}

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        if signature != "released":
            raise Refusal("bad_signature", "the contract takes another one")

    async def payments(self, escrow: WatchedEscrow) -> Any:
        return [SimpleNamespace(output=SimpleNamespace(amount=each)) for each in self.balances]

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        return self.lack

    async def broadcast(self, raw: str) -> None:
        self._word(raw)
        self.world.note(raw)


class World:
    """``words``: the errors of the market's calls, by their names. ``fails``: the calls of the store
    that raise, and what the wallet does not sign. ``lacks``: a chain without nodes and wallet.
    ``on_sent``: what happens when it is sent, when the market is asked that, or when it is kept.
    ``then``: what happens after so many seconds. ``later``: seconds by which all clocks have gone
    on. ``bitcoin``: legs on it; others are on EVM.
    """

    def __init__(
        self, patch: pytest.MonkeyPatch, role: Role, *, nodes: int = 1, bitcoin: str = ""
    ) -> None:
        self.sent: list[str] = []
        self.log: list[str] = []
        self.told: list[Progress] = []
        self.facts: dict[str, EscrowFacts] = {}
        self.outcomes: dict[str, str] = {}
        self.on_sent: dict[str, Callable[[], object]] = {}
        self.words: dict[str, Exception] = {}
        self.releases: dict[str, Any] = {}
        self.secret: str | None = None
        self.fails: set[str] = set()
        self.later = 0
        self.passed = 0.0
        self.lacks = ""
        self.has_market = True
        self.pays_by_hand = False
        self.options = Options(poll_seconds=5.0)
        self.then: dict[float, Callable[[], object]] = {}
        self.secrets = {HASHLOCK: SECRET} if role == "initiator" else {}
        self.others: dict[str, SwapRecord] = {}
        self.bitcoin = bitcoin
        self.nodes = {each: [FakeNode(self, each) for _ in range(nodes)] for each in LEGS}
        self.record = _record(role)
        self.moved: VerifiedSwap | None = None
        self.built: str | None = None
        self.release_by = "typed-data"
        for module in (record, send, market):
            patch.setattr(module, "time", SimpleNamespace(time=lambda: self.now))
        for each in (fund, sign):
            patch.setattr(each, "verify_material", _same_escrow)
        patch.setattr(
            giving_up, "verify_release", lambda built, terms, _: _same_escrow(built, 0, terms)
        )
        patch.setattr(fund, "must_follow_today", lambda *_, **__: None)
        patch.setattr(fund, "must_take_new", lambda *_: None)
        patch.setattr(prepare, "verify_as_kept", lambda *_: self.moved or self.record.swap)

    @property
    def now(self) -> int:
        try:
            self.passed = asyncio.get_running_loop().time()
        except RuntimeError:
            pass
        return NOW + self.later + int(self.passed)

    def keeps(self, **change: Any) -> None:
        self.record = replace(self.record, **change)

    def show(self, leg: str, facts: EscrowFacts) -> None:
        self.facts[f"escrow {leg}"] = facts

    def shown(self, address: str) -> EscrowFacts:
        return self.facts.get(address, NOTHING)

    def note(self, raw: str) -> None:
        if raw in self.sent:
            return
        self.sent.append(raw)
        self.log.append(f"send {raw}")
        self.on_sent.get(raw, lambda: None)()

    def calls(self, what: str) -> None:
        self.log.append(what)
        self.on_sent.get(what, lambda: None)()

    def run(self, seconds: float = 20.0) -> str | None:
        """Its end; None: it goes on after so many seconds. ``then`` happens at its seconds."""

        async def main() -> Outcome:
            for at, work in self.then.items():
                asyncio.get_running_loop().call_later(at, work)
            async with asyncio.timeout(seconds):
                return await self._settle()

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            try:
                return runner.run(main()).end
            except TimeoutError:
                return None

    async def _settle(self) -> Outcome:
        async def now() -> int:
            return self.now

        chains = self.chains()
        options = replace(self.options, now=now)
        found = cast(Any, Market(self)) if self.has_market else None
        return await settle("swap", found, chains, Disk(self), None, options, self.told.append)

    def chains(self) -> dict[str, Chain]:
        return {
            f"chain-{leg}": Chain(self.source(leg), cast(Any, Wallet(self, leg)))
            for leg in LEGS
            if leg != self.lacks
        }

    def source(self, leg: LegName) -> Source:
        return Source(self._view(leg), self.nodes[leg])

    def _view(self, leg: str) -> Any:
        chain = f"chain-{leg}"
        if leg in self.bitcoin:
            return BitcoinView(chain, "regtest", POLICY)
        return EvmView(chain, 1, ContractDeployment(1, "0x"), POLICY)


LEGS: tuple[LegName, LegName] = ("a", "b")


def _same_escrow(built: Any, _: object, terms: EscrowTerms, *__: object) -> None:
    """The check of unsigned bytes has tests of its own."""
    wanted = address_of(terms)
    if built["escrow"] != wanted:
        raise VerificationError("escrow", wanted, built["escrow"])


def address_of(terms: EscrowTerms) -> str:
    return terms.token or f"escrow {terms.chain[-1]}"


def terms_of(leg: LegName, address: str | None = None) -> EscrowTerms:
    """``address`` is kept where the terms have a token."""
    lock = LOCK_A if leg == "a" else LOCK_B
    home = Destination("home")
    return EscrowTerms(f"chain-{leg}", HASHLOCK, home, home, address, AMOUNT, lock)


def former(leg: LegName) -> KeptEscrow:
    return KeptEscrow(Escrow(f"former {leg}"), terms_of(leg, f"former {leg}"))


def _record(role: Role) -> SwapRecord:
    is_first = role == "initiator"
    party = "taker" if is_first else "maker"
    assets = [PinnedAsset(f"asset {each}", f"chain-{each}", None, 8) for each in LEGS]
    home = Destination("home")
    trade = OwnTrade(
        party=cast(Any, party), rfq_id="rfq", thread_id="thread",
        maker_id="maker", taker_id="taker",
        direction="sell_base", base=assets[1], base_amount=AMOUNT, quote=assets[0],
        quote_amount=AMOUNT, hashlock=HASHLOCK, accepted_at=NOW, refund_to=home, pay_to=home,
    )  # fmt: skip
    a, b = (
        VerifiedLeg(
            leg, f"chain-{leg}", f"asset {leg}", AMOUNT, "maker" if leg == "a" else "taker",
            leg == "b", terms_of(leg).timelock, DEPTH, Escrow(f"escrow {leg}"), terms_of(leg),
        )  # fmt: skip
        for leg in LEGS
    )
    times = Deadlines(FUND_B, FUND_B, FUND_A, REVEAL, LOCK_A, LOCK_B)
    return SwapRecord(trade, VerifiedSwap("swap", trade.party, role, HASHLOCK, NOW, times, a, b))


class Wallet:
    def __init__(self, world: World, leg: LegName) -> None:
        self.world, self.leg = world, leg
        self.family = "bitcoin" if leg in world.bitcoin else "evm"
        self.pays_by_hand = world.pays_by_hand
        self.signing_lock = asyncio.Lock()
        self.funding_lock = asyncio.Lock()

    def funding_steps(self, _: Any) -> int:
        return 1

    def _signed(self, what: str) -> Signed:
        self.world.log.append(f"sign {what}")
        if f"sign {what}" in self.world.fails:
            raise RuntimeError(f"the device shows {SECRET}")
        return Signed(f"id of {what}", what)

    async def sign_funding(self, *_: object) -> Signed:
        return self._signed(f"fund {self.leg}")

    async def sign_spend(self, _: Source, terms: EscrowTerms, built: Any) -> Signed:
        place = terms.token or self.leg
        return self._signed(f"{built['verb']} {place}")

    async def sign_text(self, _: Any) -> str | None:
        return self._signed(f"release {self.leg}") and "released"

    async def outcome(self, _: Source, kept: Signed, depth: int) -> str:
        return self.world.outcomes.get(kept.raw, "waiting")

    async def raised(self, _: Source, __: EscrowTerms, kept: Signed, ___: object) -> Signed | None:
        return None

    async def cancelled(self, *_: object) -> Signed | None:
        return self._signed(f"cancel {self.leg}")


class Market:
    def __init__(self, world: World) -> None:
        self.world = world

    def _word(self, call: str) -> None:
        self.world.calls(call)
        error = self.world.words.get(call.split()[0])
        if error is not None:
            raise error

    async def get_swap(self, _: str) -> Any:
        self._word("get_swap")
        legs = {each: {"release": self.world.releases.get(each)} for each in LEGS}
        return {"legs": legs, "secret": self.world.secret}

    async def build_fund(self, _: str, leg: str) -> Any:
        self._word(f"build_fund {leg}")
        return {"verb": "fund", "escrow": self.world.built or f"escrow {leg}"}

    async def announce_claim(self, _: str, leg: str) -> Any:
        self._word(f"announce_claim {leg}")
        return {}

    async def release_leg(self, _: str, leg: str, *, signature: str | None = None) -> Any:
        self._word(f"release_leg {leg} {signature or 'wish'}")
        return {}

    async def broadcast(self, *, chain: str, signed: Any) -> Any:
        self._word(f"broadcast {signed}")
        self.world.note(signed)
        return {}


def refusal(code: str, status: int = 409) -> ParleyApiError:
    return ParleyApiError(code, status=status, code=code)


class Disk:
    def __init__(self, world: World) -> None:
        self.world = world

    def _try(self, call: str) -> None:
        if call in self.world.fails:
            raise OSError(f"{call}: the disk is full")

    async def put_secret(self, hashlock: str, secret: str) -> None:
        self._try("put_secret")
        self.world.secrets[hashlock] = secret

    async def get_secret(self, hashlock: str) -> str | None:
        return self.world.secrets.get(hashlock)

    async def put_trade(self, trade: OwnTrade) -> None:
        raise AssertionError("the record is there already")

    async def get_trade(self, thread_id: str) -> OwnTrade | None:
        return None

    async def put_swap(self, record: SwapRecord) -> None:
        self._try("put_swap")
        self.world.record = record
        words = ("funding", "claim", "refund", "public_secret", "given_up", "by_hand")
        self.world.calls(" ".join(["put", *(each for each in words if getattr(record, each))]))

    async def get_swap(self, swap_id: str) -> SwapRecord | None:
        return self.world.record if swap_id == "swap" else self.world.others.get(swap_id)

    async def swap_ids(self) -> list[str]:
        return ["swap", *self.world.others]

    def lock(self, _: str) -> Any:
        is_taken = "lock" in self.world.fails
        return None if is_taken else SimpleNamespace(release=lambda: None)
