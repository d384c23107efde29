"""Funding the own leg. Another transaction is made only when no version of the kept one can be
mined. Source: `packages/sdk/settle/fund.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from ..errors import ClockError, ParleyApiError, Refusal, SettleError, VerificationError
from ..hashlock import opens
from ..verify.checks import as_json
from ..verify.deadlines import LegTiming, late_claim
from ..verify.material import Fund, Limits, verify_material
from ..verify.swap import must_follow_today, must_take_new
from .context import Context, loop_time
from .facts import MEDIAN_TIME, leg_status
from .gates import fund_gate
from .market import asked, swap_in
from .nodes import Material
from .polling import snapshot
from .prepare import views_of
from .record import Kept, SetLeg
from .send import due, kept_too_long, looked_after, send, send_alone, send_waiting, wait_anew
from .sign import funding_gate, must_afford, open_gate, sign_and_keep
from .store import must_be_only

_APPROVAL_SECONDS = 120.0


async def fund(context: Context) -> None:
    """Needs the market: with it gone nothing new is begun."""
    record, leg = context.record, context.own_leg
    if record.by_hand and record.funding is None:
        _wait_for_payment(context)
        return
    if record.funding is not None and not await _is_dead(context, leg, record.funding):
        return
    # Allowance and balance are one number for all swaps of the account.
    async with context.wallet_of(leg.chain).funding_lock:
        await _fund_once(context)


async def _is_dead(context: Context, leg: SetLeg, funding: Kept) -> bool:
    """Sends the kept funding again while it may be mined. The contract makes the escrow of these
    terms only once, should a version of it come back.
    """
    if not due(context, leg, funding):
        return False
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    depth = leg.leg.required_confirmations
    outcome = await wallet.outcome(source, funding.signed, depth)
    looked_after(context, funding)
    if outcome in ("waiting", "stranded"):
        await _push(context, leg, funding, "funding")
        return False
    # On Bitcoin nothing is signed again beside it: both might be mined after all.
    is_over = outcome in ("dead", "failed")
    if is_over and wallet.family == "bitcoin":
        context.waits(leg.name, f"a coin of the funding {funding.txid} was spent elsewhere")
        return False
    if is_over:
        context.waits(leg.name, f"the funding {funding.txid} is {outcome}: funds anew")
    return is_over


async def _push(
    context: Context, leg: SetLeg, kept: Kept, slot: Literal["funding", "approval"]
) -> None:
    """Sends it again, and with a higher fee where it waits too long and the wallet can."""
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    is_bitcoin = wallet.family == "bitcoin"
    if not is_bitcoin and kept_too_long(context, leg, kept):
        wait_anew(context, kept.txid)
        raised = await wallet.raised(source, leg.terms, kept.signed, None)
        if raised is not None:

            async def signed() -> Any:
                return raised

            again = await sign_and_keep(
                context, leg, signed, lambda each: {slot: each}, open_gate, in_place_of=kept
            )
            context.emit("replaced", leg.name, f"sends the {slot} with a higher fee", again.txid)
            await send_waiting(context, leg, again, send_alone)
            return
    await send_waiting(context, leg, kept, send_alone)


async def _fund_once(context: Context) -> None:
    leg = context.own_leg
    await must_be_only(context.raw_store, context.record)
    await _must_hold_secret(context)
    await _until_approved(context)
    if not await _follows_today(context):
        return
    built = await _ask_to_fund(context)
    if built is None:
        return
    await preflight(context)
    if context.wallet_of(leg.chain).pays_by_hand:
        await _ask_for_payment(context)
        return
    await _sign_and_send(context, built)


async def _sign_and_send(context: Context, built: Material) -> None:
    leg, before = context.own_leg, context.record.funding
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    steps = wallet.funding_steps(built)
    for step in range(steps - 1):

        async def sign_approval(step: int = step) -> Any:
            return await wallet.sign_funding(source, leg.terms, built, step)

        approval = await sign_and_keep(
            context, leg, sign_approval, lambda each: {"approval": each}, open_gate
        )
        await send_waiting(context, leg, approval)
        await _until_approved(context)
        text = "the contract may take exactly the amount"
        context.emit("approved", leg.name, text, approval.txid)
    funding = await sign_and_keep(
        context,
        leg,
        lambda: wallet.sign_funding(source, leg.terms, built, steps - 1),
        lambda each: {"funding": each},
        lambda: funding_gate(context),
        in_place_of=before,
    )
    await send(context, leg, funding)
    text = f"sent the funding of leg {leg.name} to {leg.address}"
    context.emit("funded", leg.name, text, funding.txid)


async def tend_approval(context: Context) -> None:
    """Until its nonce is used every later transaction waits behind it."""
    leg, approval = context.own_leg, context.record.approval
    if approval is None:
        return
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    outcome = await wallet.outcome(source, approval.signed, 1)
    if outcome in ("waiting", "stranded"):
        if due(context, leg, approval):
            await _push(context, leg, approval, "approval")
        return
    await context.keep(approval=None)
    if outcome != "mined":
        raise Refusal("funding_would_fail", f"the approval {approval.txid} is {outcome}")


async def _until_approved(context: Context) -> None:
    until = loop_time() + _APPROVAL_SECONDS
    while context.record.approval is not None:
        await tend_approval(context)
        approval = context.record.approval
        if approval is None:
            return
        if loop_time() > until:
            raise Refusal("funding_would_fail", f"the approval {approval.txid} is not mined")
        await asyncio.sleep(context.options.poll_seconds)


async def _must_hold_secret(context: Context) -> None:
    """Only the initiator can begin: the other leg pays for a secret that it alone has."""
    swap = context.record.swap
    if swap.role != "initiator":
        return
    secret = await context.store.get_secret(swap.hashlock)
    if secret is None or not opens(secret, swap.hashlock):
        what = f"the store has no secret for {swap.hashlock}"
        raise SettleError("secret_lost", f"{what}: never fund it")


async def _follows_today(context: Context) -> bool:
    """A swap kept before an upgrade is not funded under its former times."""
    record, views = context.record, views_of(context)
    leaves = None if record.may_be_funded else record.gives
    try:
        now = await context.now()
        must_follow_today(record.swap, record.trade, views, now=now, leaves=leaves)
        return True
    except (VerificationError, ValueError) as error:
        is_clock = isinstance(error, ClockError)
        why = f"swap {record.swap.id} is not funded: {error}"
        if not record.may_be_funded:
            raise SettleError("clock_wrong" if is_clock else "terms_outdated", why) from error
        context.waits(record.gives, why)
        return False


async def _ask_to_fund(context: Context) -> Material | None:
    market, leg = context.market, context.own_leg
    if market is None:
        context.waits(leg.name, "the market is gone: this side funds nothing new")
        return None
    try:
        built = as_json(await asked(lambda: market.build_fund(context.swap_id, leg.name)))
        view = context.source_of(leg.chain).view
        valid_until = context.record.swap.deadlines.fund_by(leg.leg.long)
        limits = Limits(valid_until=valid_until, now=await context.now())
        wanted = Fund(lane_signature=await _lane_signature(context, leg))
        verify_material(built, wanted, leg.terms, view, limits)
        must_take_new(leg.leg, view)
        return built
    except VerificationError as error:
        # The other side may correct its key between the last question and the build.
        if context.doubted_escrow == leg.address:
            raise
        context.doubted_escrow = leg.address
        context.market_asked_at = float("-inf")
        context.waits(leg.name, f"the leg may have moved: {error}")
    except ParleyApiError as error:
        if not error.unreachable and error.status != 409:
            raise
        if error.code == "escrow_moved":
            context.market_asked_at = float("-inf")
        context.emit("market_refused", leg.name, str(error))
    return None


async def _lane_signature(context: Context, leg: SetLeg) -> str | None:
    """The payee's, where the leg is in a lane of its."""
    market, lane = context.market, leg.terms.lane
    if market is None or lane is None or int(lane.number[0], 16) < 8:
        return None
    swap = swap_in(await asked(lambda: market.get_swap(context.swap_id)))
    legs = swap.get("legs")
    said = legs.get(leg.name) if isinstance(legs, Mapping) else None
    found = said.get("laneSignature") if isinstance(said, Mapping) else None
    return found if isinstance(found, str) else None


async def preflight(context: Context) -> None:
    """Both legs must be payable before either is worth funding."""
    own, paying = context.own_leg, context.paying_leg
    for leg in (paying, own):

        async def tries(node: Any, leg: SetLeg = leg) -> None:
            await node.preflight(leg.terms, "payout")

        await context.source_of(leg.chain).by_each(tries, context.seconds)
    await must_afford(context)
    source = context.source_of(own.chain)
    await source.in_turn(lambda node: node.preflight(own.terms, "funding"), context.seconds)


async def _ask_for_payment(context: Context) -> None:
    """Kept before it is told: from then on the leg moves no more."""
    leg = context.own_leg
    seen = await snapshot(context)
    fund_gate(seen.state, leg.name, seen.clocks)
    await must_be_only(context.raw_store, context.record)
    await context.keep(by_hand=True)
    # Keeping it may have taken long.
    later = type(seen.clocks)(await context.now(), seen.clocks.a, seen.clocks.b)
    fund_gate(seen.state, leg.name, later)
    _wait_for_payment(context)


def _wait_for_payment(context: Context) -> None:
    leg = context.own_leg
    before = context.record.swap.deadlines.fund_by(leg.leg.long)
    amount = f"exactly {leg.leg.amount} sats to {leg.address}"
    text = f"pay {amount} in one payment, sent before {before}"
    context.emit("pay_by_hand", leg.name, text)


async def raise_funding(context: Context) -> None:
    """Bitcoin: a funding that no block takes, until the time to fund has passed."""
    from .machine import may_raise

    leg, funding = context.own_leg, context.record.funding
    if funding is None or not kept_too_long(context, leg, funding):
        return
    wait_anew(context, funding.txid)
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    raised = await wallet.raised(source, leg.terms, funding.signed, None)
    if raised is None:
        context.waits(leg.name, "the funding is not raised: no fee or no change is left for it")
        return
    # Signing may have taken long.
    if not may_raise(context.record, await snapshot(context)):
        return

    async def signed() -> Any:
        return raised

    kept = await sign_and_keep(
        context, leg, signed, lambda each: {"funding": each}, open_gate, in_place_of=funding
    )
    context.emit("replaced", leg.name, "sends the funding with a higher fee", kept.txid)
    await send_waiting(context, leg, kept, send_alone)


def _is_refused(context: Context) -> bool:
    """Whether the contract refuses the funding should it ever be mined: its nonce may be one that
    no block comes to. Each later block is past the timelock, too.
    """
    seen = context.last_seen.get(context.own_leg.name)
    if seen is None or not seen.is_agreed or seen.leg.family in MEDIAN_TIME:
        return False
    policy = context.source_of(context.own_leg.chain).view.policy
    if policy is None:
        return False
    is_normal = seen.leg.required_confirmations == policy.normal.confirmations
    # A chain that stood still may work through its past, whatever its nodes show now.
    spare = late_claim(LegTiming(policy, policy.normal if is_normal else policy.high))
    return leg_status(seen.leg.facts) == "unfunded" and seen.clock > seen.leg.timelock + spare


async def cancel_funding(context: Context) -> None:
    """One step towards a late funding that can never be mined: in the end none is kept."""
    leg, funding, cancel = context.own_leg, context.record.funding, context.record.cancel
    if funding is None or not due(context, leg, cancel or funding):
        return
    looked_after(context, cancel or funding)
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    depth = leg.leg.required_confirmations
    outcome = await wallet.outcome(source, funding.signed, depth)
    if outcome in ("dead", "failed") or (outcome != "mined" and _is_refused(context)):
        await context.keep(funding=None, cancel=None)
        text = "the late funding can never be mined: the coins have not moved"
        context.emit("cancelled", leg.name, text)
        return
    if outcome == "mined":
        context.waits(leg.name, "the funding was mined after all")
        return
    if cancel is not None:
        mined = await wallet.outcome(source, cancel.signed, depth) == "mined"
        if mined:
            context.waits(leg.name, "the end of the late funding is not yet deep")
        else:
            await send_waiting(context, leg, cancel, send_alone)
        return
    signed = await wallet.cancelled(source, funding.signed, None)
    if signed is None:
        context.waits(leg.name, "waits until the late funding has died")
        return

    async def given() -> Any:
        return signed

    kept = await sign_and_keep(
        context, leg, given, lambda each: {"cancel": each}, open_gate
    )
    text = f"the funding of leg {leg.name} came too late: takes its place with a payment to self"
    context.emit("cancelled", leg.name, text, kept.txid)
    await send_waiting(context, leg, kept, send_alone)
