"""The actions that one side can do now: a party that acts only by them loses nothing. Pure.

Source: `packages/core/next.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..verify.deadlines import LegName
from ..verify.trade import Role
from .facts import is_funded, is_mined, leg_status
from .gates import unknown_outcome
from .swap import Clocks, Leg, SwapState, is_out, leg_has_passed

Action = Literal["fund", "claim", "refund", "release", "wait"]


@dataclass(frozen=True, slots=True)
class Step:
    """``before``: Unix seconds after which it is no longer open; None: no limit of ours."""

    action: Action
    leg: LegName
    before: int | None
    why: str


def next_steps(swap: SwapState, clocks: Clocks, role: Role) -> list[Step]:
    own, other = (
        (swap.long, swap.short) if role == "initiator" else (swap.short, swap.long)
    )
    found = [
        *_funding(swap, clocks, own),
        *_claiming(swap, clocks, role, other),
        *_refunding(clocks, own),
        *_releasing(swap, clocks, role, own, other),
    ]
    return found or _waiting(swap, clocks, own, other)


def _fundable(swap: SwapState, clocks: Clocks, leg: Leg) -> bool:
    """Whether anything may still be funded."""
    return (
        swap.secret is None
        and not swap.is_given_up
        and not any(each.strayed for each in swap.legs)
        and swap.unknown is None
        and not any(each.facts.refunded or each.facts.claimed for each in swap.legs)
        and clocks.latest <= swap.fund_by(leg)
        and leg_status(leg.facts) == "unfunded"
    )


def _funding(swap: SwapState, clocks: Clocks, own: Leg) -> list[Step]:
    if not _fundable(swap, clocks, own):
        return []
    long = swap.long
    if not own.long and leg_status(long.facts) != "funded":
        return []
    first = "you fund first; the other side funds when yours is deep"
    why = first if own.long else f"leg {long.leg} is funded and deep"
    return [Step("fund", own.leg, swap.fund_by(own), why)]


def _claiming(swap: SwapState, clocks: Clocks, role: Role, other: Leg) -> list[Step]:
    facts = other.facts
    # One thing is known of an unknown escrow: it is empty.
    if facts.funded is None or facts.is_unknown:
        return []
    # With the secret public a refund that only waits has taken nothing.
    if facts.refunded is not None and (swap.secret is None or is_mined(facts.refunded)):
        return []
    # A claim that only waits may never be mined at the fee it pays.
    if is_mined(facts.claimed):
        return []
    if swap.secret is not None:
        return [Step("claim", other.leg, other.timelock, "the secret is public: claim at once")]
    if role == "counterparty" or any(each.strayed for each in swap.legs):
        return []
    # A side that gives up tells no secret.
    if other.release is not None or swap.unknown is not None:
        return []
    long = swap.long
    if not (is_funded(facts) and is_funded(long.facts)) or long.facts.refunded is not None:
        return []
    before = swap.deadlines.reveal_by
    if clocks.latest > before:
        return []
    why = "both legs are funded and deep: claiming reveals the secret"
    return [Step("claim", other.leg, before, why)]


def _refunding(clocks: Clocks, own: Leg) -> list[Step]:
    # The balance leaves out what a refund seen already takes; a second payment may be there.
    if own.facts.balance == 0:
        return []
    is_released = own.release is not None and own.release.signature is not None
    if not is_released and not leg_has_passed(own, clocks):
        return []
    since = "the other side has released it" if is_released else "its timelock has passed"
    why = f"leg {own.leg} holds {own.facts.balance}, and {since}"
    return [Step("refund", own.leg, None, why)]


def _releasing(swap: SwapState, clocks: Clocks, role: Role, own: Leg, other: Leg) -> list[Step]:
    """To a side that loses nothing by it, whatever the other one does, or that gave the swap up."""
    facts, release = other.facts, other.release
    is_given = not other.is_taproot and release is not None and release.is_given
    if swap.secret is not None or not other.takes_release or is_given:
        return []
    if facts.claimed or facts.refunded or facts.is_unknown:
        return []
    # A side that gives up releases a leg whose funding may still come. That of the short leg
    # comes only after the own, long one.
    may_come = release is not None and (other.long or not is_out(own, clocks, "counts"))
    if (facts.funded is None and not may_come) or leg_has_passed(other, clocks):
        return []
    is_wanted = role == "initiator" and release is not None
    # A funding of its own making may be on its way, and nobody was told.
    is_own_out = not _fundable(swap, clocks, own) and is_out(own, clocks, "counts")
    if not is_wanted and not is_own_out:
        return []
    why = f"leg {other.leg} will not be claimed: released, it goes back to its funder"
    return [Step("release", other.leg, other.timelock, why)]


def _waiting(swap: SwapState, clocks: Clocks, own: Leg, other: Leg) -> list[Step]:
    if swap.unknown is not None:
        return [Step("wait", swap.unknown.leg, None, unknown_outcome(swap.unknown))]
    for leg in (own, other):
        last = leg.facts.refunded or leg.facts.claimed or leg.facts.funded
        if last is not None and not last.deep:
            why = f"a transaction on leg {leg.leg} is not yet at depth"
            return [Step("wait", leg.leg, None, why)]
    if own.facts.balance > 0:
        return [_waiting_for_own(swap, clocks, own, other)]
    if _fundable(swap, clocks, swap.long):
        why = f"the initiator funds leg {swap.long.leg} first"
        return [Step("wait", swap.long.leg, swap.deadlines.initiator_fund_by, why)]
    return []


def _waiting_for_own(swap: SwapState, clocks: Clocks, own: Leg, other: Leg) -> Step:
    refund = f"refund leg {own.leg} when its chain's clock passes {own.timelock}"
    if swap.secret is not None:
        return Step("wait", own.leg, own.timelock, f"the other side claims; else {refund}")
    if not is_funded(other.facts) and _fundable(swap, clocks, other):
        before = swap.deadlines.counterparty_fund_by
        return Step("wait", other.leg, before, f"leg {other.leg} gets funded; else {refund}")
    return Step("wait", own.leg, own.timelock, f"{refund}, unless the secret appears before")
