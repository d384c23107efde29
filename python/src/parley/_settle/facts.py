"""The facts that a chain shows of one escrow, and their consequences for its leg. Pure.

The rules are those of `packages/core/facts.ts`: the same simulation holds both to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._lists import Family

LegStatus = Literal["unfunded", "seen", "funded", "claimed", "refunded"]
#: Until when a payment sent late is looked for after the timelock: a week.
LATE_WATCH_SECONDS = 7 * 86_400
#: Bitcoin's clock is a median of blocks, and its escrow takes a claim past the timelock.
MEDIAN_TIME: tuple[Family, ...] = ("bitcoin",)
#: Escrows in a contract, with a lane.
LANES: tuple[Family, ...] = ("evm", "tron")
#: The payee may release an escrow before the timelock, without the funder's key.
CONSENTS: tuple[Family, ...] = ("evm", "tron", "solana")


@dataclass(frozen=True, slots=True)
class Sighting:
    """``confirmations``: blocks that hold it, its own included; 0: only in the mempool.

    ``deep``: at the depth that the escrow's amount wants.
    """

    txid: str
    confirmations: int
    deep: bool


@dataclass(frozen=True, slots=True)
class EscrowFacts:
    """The facts that one escrow shows now.

    ``funded``: ONE payment of at least the amount. ``secret``: the preimage in hex, if any
    transaction ever showed it, failed and waiting ones included. ``balance``: base units that the
    funder can take back after the timelock. ``empty``: nothing is in it or on its way, and what
    emptied it is final. ``is_unknown``: it ended or was never funded, and no node tells which.
    """

    funded: Sighting | None = None
    claimed: Sighting | None = None
    refunded: Sighting | None = None
    secret: str | None = None
    balance: int = 0
    empty: bool = True
    is_unknown: bool = False


NOTHING_SEEN = EscrowFacts()


def leg_status(facts: EscrowFacts) -> LegStatus:
    """Claims and refunds count at depth, a funding shows from its first sight."""
    if facts.claimed is not None and facts.claimed.deep:
        return "claimed"
    if facts.refunded is not None and facts.refunded.deep:
        return "refunded"
    if facts.funded is not None and facts.funded.deep:
        return "funded"
    if facts.funded or facts.claimed or facts.refunded:
        return "seen"
    # A caller that took an unknown one for unfunded could pay twice.
    return "seen" if facts.is_unknown else "unfunded"


def is_much(units: int, amount: int) -> bool:
    """A hundredth of the amount at least: less is dust that anyone could send to stop a swap."""
    return units > 0 and units * 100 >= amount


def holds_payment(facts: EscrowFacts, amount: int) -> bool:
    """A whole payment, or much of it."""
    has_left = leg_status(facts) in ("claimed", "refunded")
    is_there = facts.funded is not None and not has_left
    return is_there or is_much(facts.balance, amount) or facts.is_unknown


def is_funded(facts: EscrowFacts) -> bool:
    """Funded at depth, or past it: the meaning of "funded" in a gate."""
    is_deep = facts.funded is not None and facts.funded.deep
    return is_deep or leg_status(facts) in ("funded", "claimed")


def is_mined(found: Sighting | None) -> bool:
    return found is not None and found.confirmations > 0
