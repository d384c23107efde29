"""When a leg may be funded, claimed, refunded and released: one set of gates. Pure.

Source: `packages/core/gates.ts`; the codes are those of docs/errors.md.
"""

from __future__ import annotations

from ..errors import Refusal
from ..hashlock import opens
from ..verify.deadlines import LegName
from .facts import EscrowFacts, is_funded, leg_status
from .swap import Clocks, Leg, SwapState, is_out, leg_has_passed


def fund_gate(swap: SwapState, name: LegName, clocks: Clocks) -> None:
    """Raises the first Refusal that applies to funding the leg now."""
    leg = swap.leg(name)
    other = swap.b if name == "a" else swap.a
    _must_be_known(swap)
    status = leg_status(leg.facts)
    if status != "unfunded":
        raise Refusal("already_funded", f"leg {name} is already {status}")
    if swap.secret is not None:
        raise Refusal("too_late_to_fund", "the secret is already public: do not fund")
    _must_go_on(swap)
    _must_not_stray(swap)
    if other.facts.refunded or other.facts.claimed:
        what = "refunded" if other.facts.refunded else "claimed"
        raise Refusal(f"already_{what}", f"leg {other.leg} is being {what}: do not fund")
    deadline = swap.fund_by(leg)
    if clocks.latest > deadline:
        sentence = f"leg {name} had to be funded by {deadline}; it is {clocks.latest}"
        raise Refusal("too_late_to_fund", sentence)
    long = swap.long
    if not leg.long and leg_status(long.facts) != "funded":
        sentence = f"leg {long.leg} must be funded first: it is {_depth_of(long)}"
        raise Refusal("not_fundable_yet", sentence)


def _depth_of(leg: Leg) -> str:
    have = leg.facts.funded.confirmations if leg.facts.funded else 0
    return f"{leg_status(leg.facts)} with {have} of {leg.required_confirmations} confirmations"


def _must_go_on(swap: SwapState) -> None:
    for leg in swap.legs:
        if leg.release is not None:
            what = "fund nothing, and take back what is released"
            sentence = f"the payee of leg {leg.leg} gave the swap up: {what}"
            raise Refusal("given_up", sentence)


def _must_not_stray(swap: SwapState) -> None:
    for leg in swap.legs:
        if leg.strayed:
            sentence = (
                f"leg {leg.leg} has money in an escrow that it moved off, which the same secret "
                "opens: neither fund nor reveal; refund it after the timelock"
            )
            raise Refusal("former_escrow_funded", sentence)


def _must_be_known(swap: SwapState) -> None:
    if swap.unknown is not None:
        sentence = f"neither fund nor reveal: {unknown_outcome(swap.unknown)}"
        raise Refusal("outcome_unknown", sentence)


def unknown_outcome(leg: Leg) -> str:
    return (
        f"the outcome of the escrow of leg {leg.leg} on {leg.chain} is not known, and the nodes "
        "configured show no transaction of it; a node with all blocks since the swap was agreed "
        "would tell"
    )


def must_open(swap: SwapState, secret: str) -> None:
    if not opens(secret, swap.hashlock):
        raise Refusal("wrong_secret", f"sha256(secret) is not the hashlock {swap.hashlock}")


def _must_not_be_spent(name: LegName, facts: EscrowFacts) -> None:
    spent = facts.claimed or facts.refunded
    if spent is not None:
        how = "claimed" if facts.claimed else "refunded"
        raise Refusal(f"already_{how}", f"leg {name} was {how} by {spent.txid}")


def claim_gate(swap: SwapState, name: LegName, clocks: Clocks) -> None:
    """Once the secret is public only the chain may refuse."""
    if swap.secret is not None:
        return
    leg = swap.leg(name)
    if leg_status(leg.facts) in ("claimed", "refunded"):
        _must_not_be_spent(name, leg.facts)
    if leg.release is not None:
        sentence = f"you gave leg {name} up: a claim now would reveal the secret"
        raise Refusal("given_up", sentence)
    _must_not_stray(swap)
    _must_be_known(swap)
    for each in (swap.long, swap.short):
        if not is_funded(each.facts):
            sentence = f"leg {each.leg} is {_depth_of(each)}: a claim would reveal the secret early"
            raise Refusal("not_both_funded", sentence)
        # A leg that is being refunded cannot pay for a secret revealed now.
        if each.facts.refunded is not None:
            raise Refusal("already_refunded", f"leg {each.leg} is being refunded")
    if leg.long:
        return
    reveal_by = swap.deadlines.reveal_by
    if clocks.latest > reveal_by:
        sentence = (
            f"the secret had to be revealed by {reveal_by}; it is {clocks.latest}: do not claim, "
            "refund after the timelock"
        )
        raise Refusal("too_late_to_reveal", sentence)


def refund_gate(leg: Leg, clocks: Clocks) -> None:
    """By its chain's own clock."""
    if leg_has_passed(leg, clocks):
        return
    clock = clocks.of(leg.leg)
    sentence = f"leg {leg.leg} is refundable from {leg.timelock}; its chain's clock is {clock}"
    raise Refusal("too_early_to_refund", sentence)


def release_gate(swap: SwapState, name: LegName, clocks: Clocks) -> None:
    """Whether the payee may release this leg.

    The initiator may at any time before its secret is shown: without it nobody takes its own leg.
    The other side may once its own leg is back at depth, or cannot be funded any more.
    """
    leg = swap.leg(name)
    own = swap.b if name == "a" else swap.a
    if not leg.takes_release:
        raise _unreleasable(name, f"{leg.chain} has refunds by time alone")
    _must_not_be_spent(name, leg.facts)
    if swap.secret is not None:
        raise _unreleasable(name, "the secret is public, so claim it")
    if not leg.long or is_out(own, clocks, "was not sent"):
        return
    raise _unreleasable(name, f"your leg {own.leg} may still be claimed: it is {_depth_of(own)}")


def _unreleasable(leg: LegName, why: str) -> Refusal:
    return Refusal("not_releasable", f"leg {leg} cannot be released: {why}")
