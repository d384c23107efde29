"""A swap as the rules see it: terms, deadlines, and the facts of both legs. Pure.

Sources: `packages/core/swap.ts`, `status.ts` and `release.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._lists import Family
from ..verify.deadlines import Deadlines, LegName
from .facts import CONSENTS, MEDIAN_TIME, EscrowFacts, is_funded, leg_status

SwapStatus = Literal[
    "agreed",
    "initiator_funded",
    "counterparty_funded",
    "initiator_claimed",
    "counterparty_claimed",
    "refunded",
    "half_settled",
    "expired",
]


@dataclass(frozen=True, slots=True)
class Release:
    """The payee's word that it will not go on. It is never taken back.

    ``asked_at``: when it said so. ``is_given``: whether it gave its signature or transaction.
    ``signature``: with it the funder refunds before the timelock.
    """

    asked_at: int
    is_given: bool
    signature: str | None


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg with the facts that its chain shows. Amounts in base units, times in Unix seconds.

    ``strayed``: an escrow that it moved off holds a payment, which the same secret opens.
    ``handed``: whether its funding was sent, as far as this side knows.
    ``awaits_lane``: the payee has lent a lane, and its signature is not known yet.
    """

    leg: LegName
    chain: str
    family: Family
    amount: int
    long: bool
    timelock: int
    required_confirmations: int
    escrow: str
    is_taproot: bool
    facts: EscrowFacts
    strayed: bool
    handed: Literal["nothing", "unknown", "sent"]
    release: Release | None

    @property
    def takes_release(self) -> bool:
        return self.family in CONSENTS or self.is_taproot


@dataclass(frozen=True, slots=True)
class Clocks:
    """``wall``: this machine's; ``a``, ``b``: the chains' own, on Bitcoin the median time past."""

    wall: int
    a: int
    b: int

    def of(self, leg: LegName) -> int:
        return self.a if leg == "a" else self.b

    def pessimistic(self, leg: LegName) -> int:
        """The clock that is worse for acting late: the later of ours and its chain's."""
        return max(self.wall, self.of(leg))

    @property
    def latest(self) -> int:
        return max(self.wall, self.a, self.b)


@dataclass(frozen=True, slots=True)
class SwapState:
    """``secret``: once it was seen anywhere public; never forgotten."""

    hashlock: str
    a: Leg
    b: Leg
    deadlines: Deadlines
    secret: str | None

    def leg(self, name: LegName) -> Leg:
        return self.a if name == "a" else self.b

    @property
    def legs(self) -> tuple[Leg, Leg]:
        return self.a, self.b

    @property
    def long(self) -> Leg:
        return self.a if self.a.long else self.b

    @property
    def short(self) -> Leg:
        return self.b if self.a.long else self.a

    def fund_by(self, leg: Leg) -> int:
        return self.deadlines.fund_by(leg.long)

    @property
    def is_given_up(self) -> bool:
        return any(each.release is not None for each in self.legs)

    @property
    def unknown(self) -> Leg | None:
        return next((each for each in self.legs if each.facts.is_unknown), None)


def has_passed(family: Family, timelock: int, clock: int) -> bool:
    """By its chain's clock; Bitcoin's must be beyond the timelock."""
    return clock > timelock if family in MEDIAN_TIME else clock >= timelock


def leg_has_passed(leg: Leg, clocks: Clocks) -> bool:
    return has_passed(leg.family, leg.timelock, clocks.of(leg.leg))


def is_out(leg: Leg, clocks: Clocks, unknown: Literal["counts", "was not sent"]) -> bool:
    """Whether nothing of its funder is in the leg, or can come.

    ``unknown``: whether a funding that is not known counts as one that may come.
    """
    if leg.strayed or leg.facts.balance > 0:
        return False
    status = leg_status(leg.facts)
    if status != "unfunded":
        return status == "refunded"
    if leg.handed == "nothing" or (leg.handed == "unknown" and unknown == "was not sent"):
        return True
    # No contract opens an escrow whose timelock is past.
    return leg.family not in MEDIAN_TIME and leg_has_passed(leg, clocks)


def swap_status(swap: SwapState, wall: int) -> SwapStatus:
    """docs/lifecycle.md explains each."""
    long, short = swap.long.facts, swap.short.facts
    statuses = leg_status(long), leg_status(short)
    if "refunded" in statuses:
        return "half_settled" if "claimed" in statuses else "refunded"
    if statuses[0] == "claimed":
        return "counterparty_claimed"
    if swap.secret is not None or statuses[1] == "claimed":
        return "initiator_claimed"
    if is_funded(long):
        return "counterparty_funded" if is_funded(short) else "initiator_funded"
    seen = (long.funded, long.claimed, long.refunded, short.funded, short.claimed, short.refunded)
    is_untouched = not any(seen) and swap.unknown is None
    return "expired" if is_untouched and wall > swap.deadlines.expires_at else "agreed"
