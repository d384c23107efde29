"""Claiming and refunding: gate, build, verify, sign, gate again, keep, send.

Source: `packages/sdk/settle/claims.ts`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from ..errors import Refusal, SettleError
from .context import Context
from .gates import claim_gate, must_open, refund_gate
from .market import unquoted
from .nodes import Node, Signed
from .polling import snapshot
from .record import Kept, LegSeen, Seen, SetLeg, alone_of, leg_of
from .send import (
    due,
    kept_too_long,
    looked_after,
    overdue,
    send_to_all,
    send_waiting,
    wait_anew,
)
from .sign import (
    Spending,
    Verb,
    built_spend,
    must_afford,
    must_hold_no_more,
    open_gate,
    sign_and_keep,
)
from .swap import leg_has_passed


async def reveal(context: Context, seen: Seen) -> None:
    """Tells the secret by claiming the leg that pays this side, if both chains still let it."""
    hashlock, leg = context.record.swap.hashlock, context.paying_leg
    secret = await context.store.get_secret(hashlock)
    if secret is None:
        raise SettleError("secret_lost", f"the store has no secret for {hashlock}")
    must_open(seen.state, secret)
    claim_gate(seen.state, leg.name, seen.clocks)
    # A person decides about what was paid too much before anything is signed.
    await must_hold_no_more(context)
    async with context.wallet_of(leg.chain).funding_lock:
        await _claim_now(context, secret)


async def claim(context: Context, seen: LegSeen) -> None:
    """Claims with a public secret, by what the chain that pays shows."""
    secret, kept = context.record.public_secret, context.record.claim
    if secret is None:
        return
    if kept is not None:
        await _resend(context, "claim", kept)
    elif not _is_claimed_for_us(context, seen):
        await _claim_now(context, secret)


def _is_claimed_for_us(context: Context, seen: LegSeen) -> bool:
    """Bitcoin: a claim of the own key waits that this run has not sent. It is raised when it waits
    too long."""
    claimed = seen.leg.facts.claimed
    if claimed is None or seen.leg.family != "bitcoin":
        return False
    return not overdue(context, context.paying_leg, claimed.txid)


async def _claim_now(context: Context, secret: str) -> None:
    leg = context.paying_leg
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    is_public = context.record.public_secret is not None
    built = await built_spend(context, leg, Spending("claim", secret))
    gate = _RevealGate(context)

    async def signed() -> Signed:
        return await wallet.sign_spend(source, leg.terms, built)

    # Once sent it cannot be taken back, seen or not: from then on only haste helps.
    kept = await sign_and_keep(
        context,
        leg,
        signed if is_public else lambda: unquoted(signed),
        lambda each: {"claim": each, "public_secret": secret},
        open_gate if is_public else gate.passed,
        None if is_public else gate.still,
    )
    context.emit("claimed", leg.name, f"sends the claim of leg {leg.name}", kept.txid)
    await send_waiting(context, leg, kept, send_to_all)


class _RevealGate:
    """Both chains are read once more after signing, and the clock after keeping."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen: Seen | None = None

    async def passed(self) -> None:
        self._seen = await snapshot(self._context)
        await may_reveal(self._context, self._seen)

    async def still(self) -> None:
        if self._seen is not None:
            await _in_time(self._context, self._seen)


async def _in_time(context: Context, seen: Seen) -> None:
    clocks = replace(seen.clocks, wall=await context.now())
    claim_gate(seen.state, context.paying_leg.name, clocks)


async def may_reveal(context: Context, seen: Seen) -> None:
    """A token that was paused, or refuses the payout, must not cost the secret."""
    leg = context.paying_leg
    claim_gate(seen.state, leg.name, seen.clocks)
    # From then on only the chain may refuse.
    if seen.state.secret is not None:
        return

    async def tries(node: Node) -> None:
        await node.preflight(leg.terms, "claim")

    source = context.source_of(leg.chain)
    await asyncio.gather(
        must_afford(context),
        source.by_each(tries, context.seconds),
        must_hold_no_more(context),
    )
    await _in_time(context, seen)


async def refund(context: Context, seen: LegSeen, wall: int) -> None:
    leg, record = context.own_leg, context.record
    alone = alone_of(record, seen, wall)
    given = alone.state.leg(leg.name)
    # From the timelock on, by the chain's own clock, the leg needs no release.
    is_due = leg_has_passed(given, alone.clocks)
    release = None if is_due or given.release is None else given.release.signature
    if release is None:
        refund_gate(given, alone.clocks)
    kept = record.refund
    if kept is not None and not await _takes_less(context, seen, kept):
        await _resend(context, "refund", kept)
        return
    try:
        await _refund_now(context, release)
    except Refusal as error:
        if error.code != "nothing_there":
            raise
        context.is_refund_tried = True
        context.waits(leg.name, str(error))


async def _takes_less(context: Context, seen: LegSeen, kept: Kept) -> bool:
    """Bitcoin: whether a former run's refund is out, and more is in the escrow than that takes."""
    refunded, leg = seen.leg.facts.refunded, context.own_leg
    is_waiting = refunded is not None and not refunded.deep
    if seen.leg.family != "bitcoin" or is_waiting or context.is_refund_tried:
        return False
    source = context.source_of(leg.chain)
    depth = leg.leg.required_confirmations
    outcome = await context.wallet_of(leg.chain).outcome(source, kept.signed, depth)
    return outcome == "mined"


async def _refund_now(context: Context, release: str | None) -> None:
    leg = context.own_leg
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    built = await built_spend(context, leg, Spending("refund", release=release))
    kept = await sign_and_keep(
        context,
        leg,
        lambda: wallet.sign_spend(source, leg.terms, built),
        lambda each: {"refund": each},
        open_gate,
    )
    context.emit("refunded", leg.name, f"sends the refund of leg {leg.name}", kept.txid)
    await send_waiting(context, leg, kept, send_to_all)
    context.is_refund_tried = True


async def _resend(context: Context, verb: Verb, kept: Kept) -> None:
    """Sends a kept claim or refund again; one that no node takes any more is made anew."""
    leg = context.paying_leg if verb == "claim" else context.own_leg
    if not due(context, leg, kept):
        return
    await _tend(context, leg, verb, kept)
    if verb == "refund":
        context.is_refund_tried = True


async def _tend(context: Context, leg: SetLeg, verb: Verb, kept: Kept) -> None:
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    outcome = await wallet.outcome(source, kept.signed, leg.leg.required_confirmations)
    looked_after(context, kept)
    if outcome == "mined":
        return
    if outcome not in ("waiting", "stranded"):
        # Made anew while its step is open: a second one finds the escrow empty.
        await context.keep(**{verb: None})
        return
    is_long = kept_too_long(context, leg, kept)
    # On EVM one more fee is tried with its nonce, which another transaction may wait behind.
    is_raised_first = wallet.family == "evm" and not (outcome == "stranded" and kept.former)
    is_doubted = not is_raised_first and (len(source.nodes) > 1 or outcome == "stranded")
    if is_long and (is_doubted or wallet.family == "bitcoin"):
        # A node may build what no block takes; on Bitcoin the new one pays more, too.
        text = f"no block has taken the {verb} {kept.txid} in time: another one is made"
        context.waits(leg.name, text, kept.txid)
        await _make_anew(context, leg, verb)
        return
    raised = await wallet.raised(source, leg.terms, kept.signed, None) if is_long else None
    if raised is not None:
        wait_anew(context, kept.txid)
        await _keep_raised(context, leg, verb, raised, kept)
        return
    if is_long and outcome == "stranded":
        await _make_anew(context, leg, verb)
        return
    await send_waiting(context, leg, kept, send_to_all)


async def _make_anew(context: Context, leg: SetLeg, verb: Verb) -> None:
    """By another node: nonce, gas and price of one alone may be made up."""
    context.source_of(leg.chain).turn_on()
    await context.keep(**{verb: None})


async def _keep_raised(
    context: Context, leg: SetLeg, verb: Verb, raised: Any, before: Kept
) -> None:
    async def given() -> Any:
        return raised

    kept = await sign_and_keep(
        context, leg, given, lambda each: {verb: each}, open_gate, in_place_of=before
    )
    text = f"sends the {verb} of leg {leg.name} again, with a higher fee"
    context.emit("claimed" if verb == "claim" else "refunded", leg.name, text, kept.txid)
    await send_waiting(context, leg, kept, send_to_all)


async def withdraw_claim(context: Context) -> None:
    """A claim that the chain refuses since the timelock is of no use any more."""
    leg = context.paying_leg
    context.waits(leg.name, f"leg {leg.name} takes no claim since its timelock")


async def take_rent(context: Context) -> None:
    """Rent that a claim left in a Solana escrow. Waited for by nobody: the swap has ended."""
    leg = context.own_leg
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    try:
        built = await built_spend(context, leg, Spending("refund"))
        signed = await wallet.sign_spend(source, leg.terms, built)
        await source.broadcast(signed.raw, context.seconds)
        text = f"sends for the rent that leg {leg.name} left"
        context.emit("refunded", leg.name, text, signed.txid)
    except Exception as error:
        if isinstance(error, Refusal) and error.code == "nothing_there":
            return
        text = f"the rent that leg {leg.name} left is not fetched: {error}"
        context.waits(leg.name, text)


async def replace_stuck(context: Context, name: Any) -> None:
    """Bitcoin: bids higher, within the customer's bounds."""
    record = context.record
    leg = leg_of(record, name)
    is_own = name == record.gives
    verb: Verb = "refund" if is_own else "claim"
    kept, secret = context.kept(verb), record.public_secret
    if kept is None or (not is_own and secret is None):
        return
    if not kept_too_long(context, leg, kept):
        return
    wait_anew(context, kept.txid)
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    built = await built_spend(context, leg, Spending(verb, secret or ""))
    signed = await wallet.sign_spend(source, leg.terms, built)
    await _keep_raised(context, leg, verb, signed, kept)

