"""The record of a swap, and what follows from it alone or with the chains' state. Pure.

Source: `packages/sdk/settle/record.ts` and `stores/store.ts`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from ..chains.terms import Escrow, EscrowTerms
from ..errors import SettleError
from ..verify.deadlines import LegName
from ..verify.trade import OwnTrade, VerifiedLeg, VerifiedSwap, given_leg, other_leg
from .facts import NOTHING_SEEN, EscrowFacts, Sighting
from .memory import Marks, Memory
from .nodes import Signed, WatchedEscrow
from .observe import Evidence
from .swap import Clocks, Leg, Release, SwapState


@dataclass(frozen=True, slots=True)
class Kept:
    """A signed transaction, kept before it is sent: it is sent again and not made again.

    ``kept_at``: Unix seconds of the machine's clock. ``former``: ids of versions it was signed to
    replace, any of which may be mined.
    """

    txid: str
    raw: str
    kept_at: float
    former: tuple[str, ...] = ()
    last_valid_block_height: int | None = None

    @property
    def signed(self) -> Signed:
        return Signed(self.txid, self.raw, self.last_valid_block_height)


#: So many raises of an eighth are a fee 10 000 times the first.
_MOST_VERSIONS = 80


def kept_now(signed: Signed, in_place_of: Kept | None = None) -> Kept:
    former: tuple[str, ...] = ()
    if in_place_of is not None:
        former = (*in_place_of.former, in_place_of.txid)[-_MOST_VERSIONS:]
    height = signed.last_valid_block_height
    return Kept(signed.txid, signed.raw, time.time(), former, height)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """This side's word that it will not go on, and how far it has gone.

    ``by_person``: a leg is then released although the own one is still open. ``signature``: EVM
    and TRON, of the leg that would have paid. ``sent``: Solana, the transaction that releases it.
    ``told``: what the market has of it.
    """

    kept_at: float
    by_person: bool
    signature: str | None = None
    sent: Kept | None = None
    told: Literal["wish", "release"] | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """The other side's release of the own leg: its escrow, and the payee's signature."""

    escrow: str
    signature: str


@dataclass(frozen=True, slots=True)
class KeptEscrow:
    escrow: Escrow
    terms: EscrowTerms


@dataclass(frozen=True, slots=True)
class SwapRecord:
    """All that claiming and refunding alone takes.

    ``by_hand``: a person was told to pay the escrow. ``restored``: from a rescue: the lost device
    may have funded it, so nothing is signed to fund it here. ``former``: escrows that legs moved
    off, the newest first. ``seen``, ``marks``: by the escrow's address. ``cancel`` takes the place
    of a late ``funding``.
    """

    trade: OwnTrade
    swap: VerifiedSwap
    funding: Kept | None = None
    claim: Kept | None = None
    refund: Kept | None = None
    approval: Kept | None = None
    cancel: Kept | None = None
    public_secret: str | None = None
    by_hand: bool = False
    restored: bool = False
    given_up: GivenUp | None = None
    released: Released | None = None
    former: dict[LegName, tuple[KeptEscrow, ...]] = field(default_factory=dict)
    seen: dict[str, EscrowFacts] = field(default_factory=dict)
    marks: dict[str, Marks] = field(default_factory=dict)

    @property
    def gives(self) -> LegName:
        """The leg that this side funds."""
        return given_leg(self.trade.party)

    @property
    def gets(self) -> LegName:
        """The leg that pays this side."""
        return other_leg(self.gives)

    @property
    def is_funding_signed(self) -> bool:
        return self.funding is not None

    @property
    def may_be_funded(self) -> bool:
        """Whether something of this side may fund its leg, sent by itself or by hand."""
        return self.funding is not None or self.by_hand


@dataclass(frozen=True, slots=True)
class SetLeg:
    """A leg whose escrow is known."""

    leg: VerifiedLeg
    address: str
    terms: EscrowTerms

    @property
    def name(self) -> LegName:
        return self.leg.leg

    @property
    def chain(self) -> str:
        return self.leg.chain


def leg_of(record: SwapRecord, name: LegName) -> SetLeg:
    leg = record.swap.leg(name)
    if leg.escrow is None or leg.terms is None:
        raise SettleError("bad_record", f"leg {name} has no escrow")
    return SetLeg(leg, leg.escrow.address, leg.terms)


def watched_of(record: SwapRecord, name: LegName) -> WatchedEscrow:
    leg = leg_of(record, name)
    depth, since = leg.leg.required_confirmations, record.swap.agreed_at
    return WatchedEscrow(leg.address, leg.terms, depth, since, record.seen.get(leg.address))


def former_of(record: SwapRecord, name: LegName) -> tuple[WatchedEscrow, ...]:
    depth, since = leg_of(record, name).leg.required_confirmations, record.swap.agreed_at
    return tuple(
        WatchedEscrow(each.escrow.address, each.terms, depth, since)
        for each in record.former.get(name, ())
    )


def memory_of(record: SwapRecord, address: str) -> Memory:
    return Memory(record.seen.get(address), record.marks.get(address, Marks()))


@dataclass(frozen=True, slots=True)
class LegSeen:
    """One leg as its own chain shows it, and that chain's clock."""

    leg: Leg
    clock: int
    evidence: Evidence | None = None

    @property
    def is_agreed(self) -> bool:
        return self.evidence is None or self.evidence.agreed


@dataclass(frozen=True, slots=True)
class Seen:
    """``doubt``: why nothing may begin or end by it; None: no objection."""

    state: SwapState
    clocks: Clocks
    doubt: str | None = None


def leg_with(
    record: SwapRecord, name: LegName, facts: EscrowFacts, family: str, *, strayed: bool = False
) -> Leg:
    found = leg_of(record, name)
    handed, release = _words_of(record, name, found.address)
    return Leg(
        leg=name,
        chain=found.chain,
        family=family,  # type: ignore[arg-type]
        amount=found.leg.amount,
        long=found.leg.long,
        timelock=found.leg.timelock,
        required_confirmations=found.leg.required_confirmations,
        escrow=found.address,
        is_taproot=found.terms.form == "p2tr",
        facts=facts,
        strayed=strayed,
        handed=handed,
        release=release,
    )


def _words_of(
    record: SwapRecord, name: LegName, address: str
) -> tuple[Literal["nothing", "unknown", "sent"], Release | None]:
    """How far its funding went, and its release by its payee."""
    if name != record.gives:
        given = record.given_up
        if given is None:
            return "unknown", None
        return "unknown", Release(int(given.kept_at), given.told == "release", given.signature)
    is_sent = record.may_be_funded or record.restored
    released = record.released
    if released is None or released.escrow != address:
        return ("sent" if is_sent else "nothing"), None
    return ("sent" if is_sent else "nothing"), Release(0, True, released.signature)


def seen_of(record: SwapRecord, a: LegSeen, b: LegSeen, wall: int) -> Seen:
    secret = record.public_secret or a.leg.facts.secret or b.leg.facts.secret
    state = SwapState(record.swap.hashlock, a.leg, b.leg, record.swap.deadlines, secret)
    doubts = [*doubts_of(a), *doubts_of(b)]
    return Seen(state, Clocks(wall, a.clock, b.clock), "; ".join(doubts) or None)


def doubts_of(seen: LegSeen) -> list[str]:
    """Why nothing may begin or end by this leg."""
    if seen.evidence is None or seen.evidence.agreed:
        return []
    found = [each.sentence for each in seen.evidence.doubts]
    return found or [f"a node of leg {seen.leg.leg} has yet to answer"]


def is_unsure(seen: LegSeen) -> bool:
    """Nodes that differ for a moment are no news."""
    if seen.evidence is None or seen.evidence.agreed:
        return False
    return not seen.evidence.doubts or bool(told_of(seen))


def told_of(seen: LegSeen) -> list[str]:
    """Sentences of the doubts that are told. A momentary one stops effects all the same."""
    if seen.evidence is None:
        return []
    return [
        each.sentence
        for each in seen.evidence.doubts
        if not (seen.evidence.is_brief and each.code == "nodes_disagree")
    ]


def alone_of(record: SwapRecord, seen: LegSeen, wall: int) -> Seen:
    """As if the other chain had shown nothing: for what needs one chain alone."""
    other = other_leg(seen.leg.leg)
    blank = LegSeen(leg_with(record, other, NOTHING_SEEN, seen.leg.family), wall)
    a, b = (seen, blank) if seen.leg.leg == "a" else (blank, seen)
    return seen_of(record, a, b, wall)


def news_of(record: SwapRecord, legs: Iterable[LegSeen]) -> SwapRecord | None:
    """The record with what was seen, if that is news.

    A fact that no node reports any more stays as it was last known.
    """
    seen: dict[str, EscrowFacts] = {}
    marks: dict[str, Marks] = {}
    shown = {each.leg.escrow: each for each in legs}
    for leg in (record.swap.a, record.swap.b):
        if leg.escrow is None:
            continue
        address = leg.escrow.address
        before, found = record.seen.get(address), shown.get(address)
        facts = before
        if found is not None and not found.leg.facts.is_unknown:
            is_new = before is None and _shown(found.leg.facts) == _shown(NOTHING_SEEN)
            facts = before if is_new else found.leg.facts
        if facts is not None:
            seen[address] = facts
        blocks = record.marks.get(address)
        if found is not None and found.evidence is not None:
            blocks = found.evidence.marks
        if blocks is not None and (blocks.blocks or blocks.alone):
            marks[address] = blocks
    is_same = all(
        _shown(seen.get(each)) == _shown(record.seen.get(each))
        and marks.get(each) == record.marks.get(each)
        for each in {*seen, *marks, *record.seen, *record.marks}
    )
    return None if is_same else replace(record, seen=seen, marks=marks)


def _shown(facts: EscrowFacts | None) -> tuple[object, ...]:
    """More confirmations of what is final are no news."""
    facts = facts or NOTHING_SEEN

    def of(found: Sighting | None) -> object:
        return None if found is None else (found.txid, found.deep, found.confirmations > 0)

    kinds = (of(facts.funded), of(facts.claimed), of(facts.refunded))
    return (*kinds, facts.secret, facts.balance, facts.empty)
