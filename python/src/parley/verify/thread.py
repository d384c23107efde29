"""Before an acceptance: does a thread stand for one's own trade, under one's own rules?"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from ..chains.terms import ChainView
from ..errors import VerificationError
from .checks import as_json, must_equal, must_match
from .deadlines import deadlines
from .rules import rules_differences
from .swap import CLOCK_TOLERANCE_SECONDS
from .trade import OwnLegs, OwnTrade, funder_of, own_legs
from .words import MISSING, get, text_of


def verify_thread(
    thread: Mapping[str, Any] | BaseModel,
    trade: OwnTrade,
    views: Mapping[str, ChainView],
    now: int,
) -> OwnTrade:
    """The trade to accept, with the end that the thread's price has. Throws VerificationError.

    ``trade``: one's own request, or the terms that one decided to quote on, never a market's answer
    of that moment. Give the acceptance `own_rules`: the market refuses it under others.
    """
    thread = as_json(thread)
    own_id = trade.maker_id if trade.party == "maker" else trade.taker_id
    must_equal(f"thread.{trade.party}Id", own_id, get(thread, f"{trade.party}Id"))
    must_equal("thread.id", trade.thread_id, get(thread, "id"))
    must_equal("thread.rfqId", trade.rfq_id, get(thread, "rfqId"))
    must_equal("thread.quoteAmount", str(trade.quote_amount), get(thread, "quoteAmount"))
    ends = [each for each in (trade.price_ends_at, _end_shown(thread)) if each is not None]
    own = own_legs(trade, views)
    if ends and now >= min(ends) + CLOCK_TOLERANCE_SECONDS:
        raise VerificationError("thread.quoteExpiresAt", f"after {now}", str(min(ends)))
    _must_fit(thread, own)
    must_equal("thread.initiator", funder_of(own.long), get(thread, "initiator"))
    return replace(trade, price_ends_at=min(ends) if ends else None)


def _end_shown(thread: Mapping[str, Any]) -> int | None:
    said = get(thread, "quoteExpiresAt")
    if said is None or said is MISSING:
        return None
    try:
        return int(datetime.datetime.fromisoformat(said).timestamp())
    except (ValueError, TypeError, OverflowError):
        raise VerificationError("thread.quoteExpiresAt", "a time", text_of(said)) from None


def _must_fit(thread: Mapping[str, Any], own: OwnLegs) -> None:
    """Throws unless a swap of this thread would begin with one's own rules, legs and times."""
    differences = rules_differences(own, get(thread, "rules"))
    if differences:
        raise VerificationError(*differences[0])
    times = deadlines(0, own.a.timing, own.b.timing, own.long)
    for leg in (own.a, own.b):
        expected = {
            "chain": leg.asset.chain,
            "assetId": leg.asset.id,
            "amount": str(leg.amount),
            "long": leg.leg == own.long,
            "timelockSeconds": times.refund_at(leg.leg),
        }
        said = get(get(thread, "legs"), leg.leg)
        must_match(f"thread.legs.{leg.leg}.", expected, said)
