"""Does the market's swap follow from one's own trade?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from ..chains import bitcoin
from ..chains.errors import ChainError
from ..chains.terms import BitcoinView, ChainView, Destination, Escrow, EscrowTerms, Lane
from ..errors import VerificationError
from ..hashlock import hashlock_of
from .checks import as_json, must_be, must_equal, must_match
from .deadlines import Deadlines, LegName, deadlines, schedule
from .material import escrow_of
from .trade import (
    OwnLeg,
    OwnLegs,
    OwnTrade,
    PinnedAsset,
    VerifiedLeg,
    VerifiedSwap,
    funder_of,
    given_leg,
    other_leg,
    own_legs,
    role_of,
)
from .words import MISSING, get, is_number, shown

#: How far the market's clock may be from one's own, in seconds.
CLOCK_TOLERANCE_SECONDS = 120
#: Source: the width of the counter in the contract's word.
_MOST_USES = 2**30 - 1

Json = Any


def verify_asset(asset: Mapping[str, Json] | BaseModel, pinned: PinnedAsset) -> None:
    """The market's asset must be the pinned one."""
    own = {
        "id": pinned.id,
        "chain": pinned.chain,
        "address": pinned.token,
        "decimals": pinned.decimals,
    }
    must_match("asset.", own, as_json(asset))


def verify_swap(
    swap: Mapping[str, Json] | BaseModel,
    trade: OwnTrade,
    views: Mapping[str, ChainView],
    *,
    swap_id: str,
    now: int,
) -> VerifiedSwap:
    """Throws VerificationError. The other side's destinations are its own business.

    ``swap``: JSON, or what ``parley.client`` made of it. ``views``: what one pins, by chain.
    ``now``: Unix seconds by one's own clock. What it returns is made of one's own values.
    """
    swap = as_json(swap)
    _must_be_swap(swap, swap_id)
    own = own_legs(trade, views)
    hashlock = _verify_parties(swap, trade, own.long)
    agreed_at, times = _verify_deadlines(swap["deadlines"], trade, own, now)
    legs = {
        name: _verify_leg(swap["legs"][name], name, own, times, trade, hashlock) for name in _BOTH
    }
    role = role_of(trade.party, own.long)
    return VerifiedSwap(
        swap_id, trade.party, role, hashlock, agreed_at, times, legs["a"], legs["b"]
    )


_BOTH: tuple[LegName, LegName] = ("a", "b")


def _must_be_swap(swap: Mapping[str, Json], swap_id: str) -> None:
    """Throws unless it is that swap, with everything to read inside."""
    must_equal("id", swap_id, get(swap, "id"))
    for path in ("legs", "legs.a", "legs.b", "deadlines", "deadlines.refundAt"):
        part: Json = swap
        for name in path.split("."):
            part = get(part, name)
        must_be("an object", path, part)


def _verify_parties(swap: Mapping[str, Json], trade: OwnTrade, long: LegName) -> str:
    role = role_of(trade.party, long)
    initiator = trade.maker_id if funder_of(long) == "maker" else trade.taker_id
    expected = {
        "threadId": trade.thread_id,
        "rfqId": trade.rfq_id,
        "makerId": trade.maker_id,
        "takerId": trade.taker_id,
        "initiatorUserId": initiator,
        "role": role,
    }
    must_match("", expected, swap)
    hashlock = _hashlock_in(get(swap, "hashlock"))
    # Whoever has the secret of an initiator's leg takes that leg, and need not pay for it.
    if role == "initiator" or trade.hashlock is not None:
        must_equal("hashlock", trade.hashlock or "your own", hashlock)
    secret = get(swap, "secret")
    is_secret = isinstance(secret, str) and re.fullmatch(r"[0-9a-f]{64}", secret) is not None
    if secret is not None and not (is_secret and hashlock_of(secret) == hashlock):
        raise VerificationError("secret", f"a preimage of {hashlock}", "another")
    return hashlock


def _hashlock_in(said: Json) -> str:
    text = said if isinstance(said, str) else ""
    digits = text.removeprefix("0x")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", digits):
        raise VerificationError("hashlock", "32 bytes of hex", shown(said))
    must_equal("hashlock", digits.lower(), said)
    return digits


def _verify_deadlines(
    said: Mapping[str, Json], trade: OwnTrade, own: OwnLegs, now: int
) -> tuple[int, Deadlines]:
    """From a time at which one's acceptance stood, by the formula and one's own policy."""
    short = other_leg(own.long)
    plan = schedule(own.leg(short).timing, own.leg(own.long).timing)
    refund_at = get(said["refundAt"], short)
    first = trade.accepted_at - CLOCK_TOLERANCE_SECONDS
    last = min(now, trade.stands_until) + CLOCK_TOLERANCE_SECONDS
    is_whole = is_number(refund_at) and refund_at == int(refund_at)
    if not (is_whole and first <= refund_at - plan.short_timelock <= last):
        within = f"from {first + plan.short_timelock} to {last + plan.short_timelock}"
        raise VerificationError(f"deadlines.refundAt.{short}", within, shown(refund_at))
    agreed_at = int(refund_at) - plan.short_timelock
    times = deadlines(agreed_at, own.a.timing, own.b.timing, own.long)
    expected = {
        "initiatorFundBy": times.initiator_fund_by,
        "expiresAt": times.expires_at,
        "counterpartyFundBy": times.counterparty_fund_by,
        "revealBy": times.reveal_by,
    }
    must_match("deadlines.", expected, said)
    refunds = {"a": times.refund_at_a, "b": times.refund_at_b}
    must_match("deadlines.refundAt.", refunds, said["refundAt"])
    return agreed_at, times


def _verify_leg(
    said: Mapping[str, Json],
    name: LegName,
    own: OwnLegs,
    times: Deadlines,
    trade: OwnTrade,
    hashlock: str,
) -> VerifiedLeg:
    leg, is_long = own.leg(name), name == own.long
    timelock, confirmations = times.refund_at(name), leg.depth.confirmations
    expected = {
        "leg": name,
        "chain": leg.asset.chain,
        "assetId": leg.asset.id,
        "funder": funder_of(name),
        "long": is_long,
        "timelock": timelock,
        "requiredConfirmations": confirmations,
        "amount": str(leg.amount),
    }
    must_match(f"legs.{name}.", expected, said)
    found = _verify_escrow(said, leg, timelock, times.fund_by(is_long), trade, hashlock)
    escrow, terms = found or (None, None)
    return VerifiedLeg(
        leg=name,
        chain=leg.asset.chain,
        asset_id=leg.asset.id,
        amount=leg.amount,
        funder=funder_of(name),
        long=is_long,
        timelock=timelock,
        required_confirmations=confirmations,
        escrow=escrow,
        terms=terms,
    )


def _verify_escrow(
    said: Mapping[str, Json],
    own: OwnLeg,
    timelock: int,
    fund_before: int,
    trade: OwnTrade,
    hashlock: str,
) -> tuple[Escrow, EscrowTerms] | None:
    at = f"legs.{own.leg}"
    is_mine = given_leg(trade.party) == own.leg
    payout = _destination(at, "payout", said, own.view)
    refund = _destination(at, "refund", said, own.view)
    if payout is None or refund is None:
        must_equal(f"{at}.escrow", None, get(said, "escrow"))
        return None
    kind, wanted, got = (
        ("refund", trade.refund_to, refund) if is_mine else ("payout", trade.pay_to, payout)
    )
    must_equal(f"{at}.{kind}Pubkey", wanted.pubkey, got.pubkey)
    must_equal(f"{at}.{kind}Address", wanted.address, got.address)
    has_lanes = own.view.family in ("evm", "tron")
    terms = EscrowTerms(
        chain=own.asset.chain,
        hashlock=hashlock,
        payout=payout if is_mine else trade.pay_to,
        refund=trade.refund_to if is_mine else refund,
        token=own.asset.token,
        amount=own.amount,
        timelock=timelock,
        fund_before=fund_before if has_lanes else None,
        lane=_lane(at, get(said, "lane"), has_lanes),
    )
    escrow = escrow_of(at, terms, own.view)
    must_equal(f"{at}.redeemScript", escrow.redeem_script, get(said, "redeemScript"))
    must_equal(f"{at}.escrow", escrow.address, get(said, "escrow"))
    return escrow, terms


def _lane(at: str, lane: Json, has_lanes: bool) -> Lane | None:
    """Any lane in any contract of one's own: the escrow commits to both."""
    if not has_lanes:
        must_equal(f"{at}.lane", None, None if lane is MISSING else lane)
        return None
    contract, number, counter = (get(lane, each) for each in ("contract", "number", "counter"))
    if contract is not MISSING:
        must_be("text", f"{at}.lane.contract", contract)
    if not (isinstance(number, str) and re.fullmatch(r"[0-9a-f]{24}", number)):
        raise VerificationError(f"{at}.lane.number", "24 hex digits", shown(number))
    is_whole = is_number(counter) and counter == int(counter)
    if not (is_whole and 0 < counter <= _MOST_USES):
        raise VerificationError(f"{at}.lane.counter", f"from 1 to {_MOST_USES}", shown(counter))
    return Lane(number, int(counter), None if contract is MISSING else contract)


def _destination(
    at: str, kind: Literal["payout", "refund"], said: Mapping[str, Json], view: ChainView
) -> Destination | None:
    address, pubkey = get(said, f"{kind}Address"), get(said, f"{kind}Pubkey")
    pubkey = None if pubkey is MISSING else pubkey
    if address is None:
        must_equal(f"{at}.{kind}Pubkey", None, pubkey)
        return None
    must_be("text", f"{at}.{kind}Address", address)
    if not isinstance(view, BitcoinView):
        must_equal(f"{at}.{kind}Pubkey", None, pubkey)
        return Destination(address)
    if pubkey is None:
        raise VerificationError(f"{at}.{kind}Pubkey", "a key", "null")
    must_be("text", f"{at}.{kind}Pubkey", pubkey)
    # A script binds the key alone, so the address shown must be one of that key.
    try:
        known = bitcoin.addresses_of_public_key(pubkey, view.network)
    except ChainError as error:
        what = "a compressed public key"
        raise VerificationError(f"{at}.{kind}Pubkey", what, pubkey) from error
    if address not in known.values():
        raise VerificationError(f"{at}.{kind}Address", f"an address of {pubkey}", address)
    return Destination(address, pubkey)
