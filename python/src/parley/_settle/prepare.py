"""Before money moves: names addresses, checks the market's swap, and keeps all that claiming and
refunding alone will take. Source: `packages/sdk/settle/prepare.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..chains.terms import ChainView
from ..errors import ParleyApiError, SettleError, VerificationError
from ..verify.deadlines import LegName
from ..verify.swap import sighted, verify_as_kept, verify_swap
from ..verify.trade import OwnTrade, VerifiedSwap, given_leg, own_legs
from .context import Context, Market, loop_time
from .machine import may_move
from .market import asked, note_releases, swap_in, take_own_word
from .polling import LEGS
from .record import KeptEscrow, Seen, SwapRecord
from .store import must_be_only

#: As many as the market lets a leg move off.
_MOST_FORMER = 19
#: So long after the agreement the side that funds waits for the other one to ask for Taproot.
_FORMS_UNTIL_SECONDS = 30
#: So long the payee asks for it on the leg that is funded first.
_FORMS_SECONDS = 20


def views_of(context: Context) -> dict[str, ChainView]:
    return {chain: each.source.view for chain, each in context.chains.items()}


async def prepare(context: Context) -> bool:
    """Returns once there is a record of the complete swap; False when it came to nothing."""
    kept = await context.store.load()
    own, market = context.trade, context.market
    if kept is not None:
        if own is not None:
            _must_be_of_thread(kept, own)
        return True
    if own is None or market is None:
        what = "a first run needs the trade and the market"
        raise SettleError("unknown_record", f"swap {context.swap_id} is not in the store: {what}")
    while True:
        answered = await _until_answered(context, market)
        now = await context.now()
        trade = await _sighted(context, own, answered, now)
        shown = await _named(context, market, trade, answered)
        views = views_of(context)
        swap = verify_swap(shown, trade, views, swap_id=context.swap_id, now=now)
        record = SwapRecord(trade, swap)
        await must_be_only(context.raw_store, record)
        is_complete = swap.a.escrow is not None and swap.b.escrow is not None
        is_awaited = now < swap.agreed_at + _FORMS_UNTIL_SECONDS and _lacks_form(shown, trade)
        if is_complete and not is_awaited:
            await context.store.put(record)
            text = "escrows, deadlines and roles follow from your own trade"
            context.emit("verified", None, text)
            return True
        if await context.now() > swap.deadlines.initiator_fund_by:
            return False
        what = "ask for Taproot" if is_complete else "name its addresses"
        context.waits(None, f"the other side has yet to {what}")
        await asyncio.sleep(context.options.market_poll_seconds)


def _must_be_of_thread(record: SwapRecord, trade: OwnTrade) -> None:
    """A market may give two swaps one id: the second one would never be looked at."""
    kept = record.trade.thread_id
    if kept != trade.thread_id:
        what = f"swap {record.swap.id} is of thread {kept}"
        raise SettleError("hashlock_used", f"{what}: never fund it for {trade.thread_id}")


async def _sighted(
    context: Context, own: OwnTrade, swap: Mapping[str, Any], now: int
) -> OwnTrade:
    """The trade with the moment at which its swap was first seen, kept beside it."""
    kept = await context.raw_store.get_trade(own.thread_id)
    is_kept = kept is not None and kept.accepted_at == own.accepted_at
    if kept is not None and is_kept and kept.swap_seen_at is not None:
        own = replace(own, swap_seen_at=kept.swap_seen_at)
    seen = sighted(swap, own, views_of(context), swap_id=context.swap_id, now=now)
    if seen != own or not is_kept:
        await context.raw_store.put_trade(seen)
    return seen


async def _until_answered(context: Context, market: Market) -> Mapping[str, Any]:
    """No money has moved yet, so a market that is away is waited for."""
    while True:
        try:
            return swap_in(await market.get_swap(context.swap_id))
        except ParleyApiError as error:
            if not error.unreachable:
                raise
            context.emit("market_refused", None, str(error), None, error.code)
        await asyncio.sleep(context.options.market_poll_seconds)


def _lacks_form(swap: Mapping[str, Any], trade: OwnTrade) -> bool:
    """Whether the other side would make the leg that this side funds one of Taproot."""
    leg = swap["legs"][given_leg(trade.party)]
    own = trade.refund_to.form
    return own is not None and own == leg.get("refundForm") and leg.get("payoutForm") is None


async def _named(
    context: Context, market: Market, trade: OwnTrade, first: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Tells the market the customer's addresses where it has none or others."""
    own, swap = own_legs(trade, views_of(context)), first
    for name in LEGS:
        is_given = name == given_leg(trade.party)
        kind, wanted = ("refund", trade.refund_to) if is_given else ("payout", trade.pay_to)
        said = swap["legs"][name]
        is_same = said.get(f"{kind}Address") == wanted.address
        is_same = is_same and said.get(f"{kind}Pubkey") == wanted.pubkey
        is_of_form = said.get(f"{kind}Form") == wanted.form
        may_ask = not is_of_form and await _may_ask_form(context, trade, swap, name)
        if is_same and not may_ask:
            continue
        address = wanted.pubkey or wanted.address
        chain, form = own.leg(name).view.chain, wanted.form
        try:
            answer = await market.set_address(
                context.swap_id, chain=chain, address=address, form=form
            )
        except ParleyApiError as error:
            # A form that comes too late is no reason to stop.
            if not is_same or error.code != "addresses_fixed":
                raise
            context.emit("market_refused", name, str(error), None, error.code)
            continue
        swap = swap_in(answer)
        text = f"{kind} address of leg {name}: {wanted.address}"
        context.emit("address_set", name, text)
    return swap


async def _may_ask_form(
    context: Context, trade: OwnTrade, swap: Mapping[str, Any], name: LegName
) -> bool:
    """Later the form could move a leg that the other side is about to fund."""
    if swap.get("role") == "initiator" or name == given_leg(trade.party):
        return True
    views, now = views_of(context), await context.now()
    agreed_at = verify_swap(swap, trade, views, swap_id=context.swap_id, now=now).agreed_at
    # Before the first one asks, nothing moves.
    is_first = swap["legs"][name].get("refundForm") != "p2tr"
    return now < agreed_at + _FORMS_SECONDS or is_first


async def take_moves(context: Context, seen: Seen) -> bool:
    """Whether a leg has moved, as legs may until they are funded: the other side may correct its
    key, and a lane may be taken. Both legs keep one hashlock and one set of deadlines.
    """
    market, record = context.market, context.record
    context.market_asked_at = loop_time()
    if market is None:
        return False
    try:
        swap = swap_in(await asked(lambda: market.get_swap(context.swap_id)))
        note_releases(context, swap)
        # Before anything is funded in this pass.
        await take_own_word(context)
        moved = verify_as_kept(swap, record.trade, record.swap, views_of(context))
    except ParleyApiError as error:
        if not error.unreachable and not record.may_be_funded:
            raise
        context.emit("market_refused", None, str(error), None, error.code)
        return False
    except VerificationError as error:
        # With money in an escrow a market that lies is waited for.
        if not record.may_be_funded:
            raise
        context.emit("market_lied", None, str(error))
        return False
    return await _follow(context, seen, moved)


async def _follow(context: Context, seen: Seen, moved: VerifiedSwap) -> bool:
    """Keeps the escrows of legs that moved, where they may."""
    record = context.record
    swap, former = record.swap, dict(record.former)
    has_moved = False
    for name in LEGS:
        before, after = record.swap.leg(name), moved.leg(name)
        if after.escrow is None or before.escrow is None or before.terms is None:
            continue
        is_other = after.escrow.address != before.escrow.address
        if not is_other or not may_move(record, seen, name):
            continue
        has_moved = True
        left = (KeptEscrow(before.escrow, before.terms), *former.get(name, ()))
        # It may come back to one that it was in.
        address = after.escrow.address
        others = [each for each in left if each.escrow.address != address]
        former[name] = tuple(others[:_MOST_FORMER])
        swap = replace(swap, a=after) if name == "a" else replace(swap, b=after)
    if has_moved:
        await context.keep(swap=swap, former=former)
        context.emit("verified", None, "a leg moved to another escrow: checked again")
    return has_moved
