"""Coming to an agreement, and out of it with a trade that is one's own, for `parley.settle`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from . import models as m
from ._lists import Direction, Party
from ._settle.context import Chain, Options
from ._settle.store import Store, new_hashlock
from .client import ParleyClient
from .errors import Refusal, SettleError, VerificationError
from .verify.rules import own_rules
from .verify.swap import CLOCK_TOLERANCE_SECONDS
from .verify.thread import verify_thread
from .verify.trade import OwnTrade, PinnedAsset, given_leg, own_legs

_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Terms:
    """One's own request, or the terms that one decided to quote on. Amounts in base units.

    ``direction``: the taker's; ``sell_base`` gives the base asset.
    """

    party: Party
    direction: Direction
    base: PinnedAsset
    base_amount: int
    quote: PinnedAsset
    quote_amount: int


async def accept(
    market: ParleyClient,
    thread_id: str,
    terms: Terms,
    chains: Mapping[str, Chain],
    store: Store,
    options: Options = Options(),
) -> OwnTrade:
    """Accepts the current price of a thread; it commits for ten minutes.

    ``terms`` are never a market's answer of that moment: the thread is compared with them. An
    initiator's secret and the trade are in the store before anything is said. Called again it
    gives the same hashlock, until a swap has begun: SettleError ``hashlock_used``.
    VerificationError comes before anything is said.
    """
    thread = await market.get_thread(thread_id)
    me = (await market.get_me()).user_id
    is_taker = terms.party == "taker"
    is_of_base = (terms.direction == "sell_base") == is_taker
    pair = (terms.base, terms.quote)
    gives, gets = pair if is_of_base else pair[::-1]
    trade = OwnTrade(
        party=terms.party,
        rfq_id=thread.rfq_id,
        thread_id=thread_id,
        maker_id=thread.maker_id if is_taker else me,
        taker_id=me if is_taker else thread.taker_id,
        direction=terms.direction,
        base=terms.base,
        base_amount=terms.base_amount,
        quote=terms.quote,
        quote_amount=terms.quote_amount,
        hashlock=None,
        accepted_at=await options.now(),
        refund_to=chains[gives.chain].wallet.destination,
        pay_to=chains[gets.chain].wallet.destination,
    )
    views = {chain: each.source.view for chain, each in chains.items()}
    trade = verify_thread(thread, trade, views, await options.now())
    own = own_legs(trade, views)
    kept = await store.get_trade(thread_id)
    if kept is not None and _stands(kept, trade, thread):
        # A swap of it may be there: its times count from what was said first.
        trade = replace(trade, accepted_at=kept.accepted_at, swap_seen_at=kept.swap_seen_at)
    if own.long == given_leg(terms.party):
        hashlock = None if kept is None else kept.hashlock
        trade = replace(trade, hashlock=hashlock or await new_hashlock(store))
    await _must_not_have_begun(store, trade)
    await store.put_trade(trade)
    await market.accept_price(
        thread_id,
        quote_amount=terms.quote_amount,
        hashlock=trade.hashlock,
        rules=m.AcceptedRules.model_validate(own_rules(own)),
    )
    return trade


async def _must_not_have_begun(store: Store, trade: OwnTrade) -> None:
    """An RFQ has one swap. Raises SettleError ``hashlock_used`` where one may be funded already."""
    for swap_id in await store.swap_ids():
        record = await store.get_swap(swap_id)
        if record is None or not (record.may_be_funded or record.public_secret):
            continue
        is_same = record.trade.rfq_id == trade.rfq_id or record.trade.thread_id == trade.thread_id
        if is_same or record.swap.hashlock == trade.hashlock:
            what = f"the RFQ, hashlock or price of thread {trade.thread_id} belongs to swap {swap_id}"
            sentence = f"{what} already: settle that one, and agree on another RFQ"
            raise SettleError("hashlock_used", sentence)


def _stands(kept: OwnTrade, now: OwnTrade, thread: m.Thread) -> bool:
    """Whether what is said now is what was said before, and the market holds this side to that."""
    if kept.quote_amount != now.quote_amount:
        return False
    has_accepted = thread.taker_accepted if now.party == "taker" else thread.maker_accepted
    return thread.swap_id is not None or (has_accepted and now.accepted_at < kept.stands_until)


async def swap_of(market: ParleyClient, trade: OwnTrade, options: Options = Options()) -> str:
    """The id of the swap, once both sides have accepted. Refusal ``price_ended`` where none came
    while one's own acceptance stood.
    """
    while True:
        thread = await market.get_thread(trade.thread_id)
        if thread.swap_id is not None:
            return thread.swap_id
        now = await options.now()
        if now > trade.stands_until + CLOCK_TOLERANCE_SECONDS:
            sentence = f"your acceptance stood until {trade.stands_until}, and it is {now}"
            raise Refusal("price_ended", f"{sentence}: no swap was made")
        await asyncio.sleep(_POLL_SECONDS)


def pinned(assets: list[m.Asset], chain: str, token: str | None, decimals: int) -> PinnedAsset:
    """The market's id of an asset whose chain, token and decimals are YOURS.

    ``token``: its address on the chain; None: the chain's own coin. VerificationError where the
    market has none like it.
    """
    for each in assets:
        is_same = each.address == token or str(each.address).lower() == str(token).lower()
        if each.chain == chain and is_same:
            if each.decimals != decimals:
                raise VerificationError("asset.decimals", str(decimals), str(each.decimals))
            return PinnedAsset(each.id, chain, token, decimals)
    raise VerificationError("assets", f"{token or 'its coin'} of {chain}", "no such asset")
