"""When each side must have acted (docs/timelocks.md). All times are Unix seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .._lists import LegName as LegName
from ..chains.terms import ChainPolicy, Depth

#: Bounds of the contracts for a timelock at funding.
_LEAST_AHEAD_SECONDS, _MOST_AHEAD_SECONDS = 1_800, 30 * 86_400


class LegTiming(NamedTuple):
    policy: ChainPolicy
    depth: Depth


@dataclass(frozen=True, slots=True)
class Deadlines:
    """``refund_at``: claims before, refunds from then on, by leg.

    ``initiator_fund_by``, ``counterparty_fund_by``, ``reveal_by``: the last moment to send it.
    """

    initiator_fund_by: int
    expires_at: int
    counterparty_fund_by: int
    reveal_by: int
    refund_at_a: int
    refund_at_b: int

    def refund_at(self, leg: LegName) -> int:
        return self.refund_at_a if leg == "a" else self.refund_at_b

    def fund_by(self, is_long: bool) -> int:
        return self.initiator_fund_by if is_long else self.counterparty_fund_by


@dataclass(frozen=True, slots=True)
class Schedule:
    """Seconds after the agreement."""

    initiator_fund_by: int
    expires_at: int
    counterparty_fund_by: int
    reveal_by: int
    short_timelock: int
    long_timelock: int


def late_claim(timing: LegTiming) -> int:
    """A clock trails no more than the chain stood still, nor than its protocol lets through."""
    window, outage = timing.policy.window_seconds, timing.depth.outage_seconds
    return timing.policy.late_claim_seconds + (outage if window is None else min(outage, window))


def schedule(short: LegTiming, long: LegTiming) -> Schedule:
    (sp, sd), (lp, ld) = short, long
    react = max(sp.react_seconds, lp.react_seconds)
    # A clock that is ahead takes its drift from whoever still has to claim before a timelock.
    after_reveal = sd.settle_seconds + sd.outage_seconds + sp.sign_seconds + sp.drift_seconds
    between_fundings = ld.settle_seconds + react
    before_reveal = sd.settle_seconds + react
    lead = max(sp.drift_seconds, lp.drift_seconds)
    least = lead + react + between_fundings + before_reveal + after_reveal
    short_timelock = max(sp.floor_seconds, least)
    reveal_by = short_timelock - after_reveal
    counterparty_fund_by = reveal_by - before_reveal
    initiator_fund_by = counterparty_fund_by - between_fundings
    detect = max(sp.detect_seconds, lp.detect_seconds)
    claim_long = detect + react + ld.settle_seconds + ld.outage_seconds + lp.drift_seconds
    long_timelock = max(lp.floor_seconds, short_timelock + late_claim(short) + claim_long)
    return Schedule(
        initiator_fund_by=initiator_fund_by,
        expires_at=initiator_fund_by + ld.settle_seconds,
        counterparty_fund_by=counterparty_fund_by,
        reveal_by=reveal_by,
        short_timelock=short_timelock,
        long_timelock=long_timelock,
    )


def long_leg(a: LegTiming, b: LegTiming) -> LegName:
    """On the chain with the longer floor; else what gives the smaller timelocks, then ``b``."""
    floors = a.policy.floor_seconds - b.policy.floor_seconds
    if floors != 0:
        return "a" if floors > 0 else "b"
    if_a, if_b = schedule(b, a), schedule(a, b)
    times_a = (if_a.long_timelock, if_a.short_timelock)
    return "a" if times_a < (if_b.long_timelock, if_b.short_timelock) else "b"


def deadlines(agreed_at: int, a: LegTiming, b: LegTiming, long: LegName) -> Deadlines:
    plan = schedule(b, a) if long == "a" else schedule(a, b)
    short_at, long_at = agreed_at + plan.short_timelock, agreed_at + plan.long_timelock
    return Deadlines(
        initiator_fund_by=agreed_at + plan.initiator_fund_by,
        expires_at=agreed_at + plan.expires_at,
        counterparty_fund_by=agreed_at + plan.counterparty_fund_by,
        reveal_by=agreed_at + plan.reveal_by,
        refund_at_a=long_at if long == "a" else short_at,
        refund_at_b=short_at if long == "a" else long_at,
    )


def broken_inequalities(short: LegTiming, long: LegTiming) -> list[str]:
    """One sentence for each that two policies break: a swap under such policies is never made."""
    plan = schedule(short, long)
    react = max(short.policy.react_seconds, long.policy.react_seconds)
    lead = max(short.policy.drift_seconds, long.policy.drift_seconds)
    late = plan.short_timelock + late_claim(short)
    ahead = plan.long_timelock + long.policy.drift_seconds
    mined = plan.short_timelock - plan.counterparty_fund_by - short.depth.settle_seconds
    rules = [
        (
            short.depth.confirmations >= 1,
            "the short leg must wait for at least 1 confirmation",
        ),
        (long.depth.confirmations >= 1, "the long leg must wait for at least 1 confirmation"),
        (
            plan.initiator_fund_by >= lead + react,
            f"initiatorFundBy is {plan.initiator_fund_by} s after agreement, less than react "
            f"{react} s and the {lead} s that a clock may be ahead",
        ),
        (
            long.policy.floor_seconds >= short.policy.floor_seconds,
            f"the long leg's floor {long.policy.floor_seconds} s is below the short leg's "
            f"{short.policy.floor_seconds} s",
        ),
        *(
            (
                each.late_claim_seconds >= each.drift_seconds,
                f"lateClaimSeconds is {each.late_claim_seconds}, less than driftSeconds "
                f"{each.drift_seconds}",
            )
            for each in (short.policy, long.policy)
        ),
        (
            plan.long_timelock >= late + react + long.policy.drift_seconds,
            f"the long timelock {plan.long_timelock} s leaves less than react after {late} s, "
            "until when a claim of the short leg may land",
        ),
        (
            mined >= _LEAST_AHEAD_SECONDS + short.policy.drift_seconds,
            "a funding sent at counterpartyFundBy would be mined less than "
            f"{_LEAST_AHEAD_SECONDS} s before the short timelock",
        ),
        (
            ahead <= _MOST_AHEAD_SECONDS,
            f"the long timelock {ahead} s is more than {_MOST_AHEAD_SECONDS} s ahead",
        ),
    ]
    return [sentence for holds, sentence in rules if not holds]
