"""Does the market's swap follow from one's own trade?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from ..chains import bitcoin
from ..chains.errors import ChainError
from ..chains.terms import (
    BitcoinView,
    ChainView,
    Destination,
    Escrow,
    EscrowTerms,
    EvmView,
    Lane,
    TronView,
)
from ..errors import AcceptanceLapsed, ClockError, VerificationError
from ..hashlock import hashlock_of
from .checks import as_json, must_be, must_equal, must_match
from .deadlines import Deadlines, LegName, deadlines, schedule
from .material import escrow_of
from .trade import (
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

    ``swap``: JSON, or what ``parley.client`` made of it. ``views``: one's pinned facts, by chain.
    ``now``: Unix seconds by one's own clock. The result is made of one's own values.
    """
    swap = as_json(swap)
    own, hashlock, agreed_at, times = _verify_agreement(swap, trade, views, swap_id, now)
    legs = {
        name: _verify_leg(swap["legs"][name], name, own, times, trade, hashlock) for name in _BOTH
    }
    role = role_of(trade.party, own.long)
    return VerifiedSwap(
        swap_id, trade.party, role, hashlock, agreed_at, times, legs["a"], legs["b"]
    )


def sighted(
    swap: Mapping[str, Json] | BaseModel,
    trade: OwnTrade,
    views: Mapping[str, ChainView],
    *,
    swap_id: str,
    now: int,
) -> OwnTrade:
    """The trade with the moment at which its swap was first seen: keep it, and give it from then on.

    The market says when it was agreed, and could keep it back to see where the price goes. Throws
    AcceptanceLapsed where it was first seen too late, VerificationError as ``verify_swap`` does.
    """
    _verify_agreement(as_json(swap), trade, views, swap_id, now)
    seen_at = now if trade.swap_seen_at is None else trade.swap_seen_at
    if seen_at > trade.stands_until + CLOCK_TOLERANCE_SECONDS:
        raise AcceptanceLapsed(swap_id, trade.stands_until, seen_at)
    return replace(trade, swap_seen_at=seen_at)


def verify_again(
    swap: Mapping[str, Json] | BaseModel,
    trade: OwnTrade,
    kept: VerifiedSwap,
    views: Mapping[str, ChainView],
    *,
    funded: bool = True,
    seen: Collection[LegName] = ("a", "b"),
) -> VerifiedSwap:
    """A swap that was verified before: keep what it returns in place of ``kept``. Throws
    VerificationError unless all is as kept but the escrows of legs that may still move.

    ``funded``: one's own leg may be funded, since its funding was signed, sent or asked for.
    ``seen``: legs whose escrow one's own node once showed in a block, whatever it shows now. No leg
    moves that may hold money: else a market could replace the escrow that pays this side by an
    empty one. A counterparty that may have funded follows no move. An initiator follows the other
    side's lane until it has seen that escrow. By default nothing moves.

    One hashlock and one set of times: under another a market could have one leg funded that the
    other leg does not pay for. Holds for claims and refunds under former policies too.
    """
    moved = verify_as_kept(swap, trade, kept, views)
    is_public = get(as_json(swap), "secret") is not None
    for name in _BOTH:
        leg, found = kept.leg(name), moved.leg(name)
        fixes = funded and (kept.role == "counterparty" or name == given_leg(kept.party))
        is_fixed = fixes or name in seen or is_public
        if is_fixed and leg.escrow is not None:
            got = None if found.escrow is None else found.escrow.address
            must_equal(f"legs.{name}.escrow", leg.escrow.address, got)
    return moved


def verify_as_kept(
    swap: Mapping[str, Json] | BaseModel,
    trade: OwnTrade,
    kept: VerifiedSwap,
    views: Mapping[str, ChainView],
) -> VerifiedSwap:
    """``verify_again`` where every leg may move: the caller says which of them it follows."""
    swap = as_json(swap)
    _must_be_swap(swap, kept.id)
    trade = replace(trade, hashlock=kept.hashlock)
    _verify_parties(swap, trade, "a" if kept.a.long else "b")
    _must_have_times(kept.deadlines, swap["deadlines"])
    legs = {}
    for name in _BOTH:
        leg = kept.leg(name)
        view = views.get(leg.chain)
        if view is None:
            raise ValueError(f'no view of "{leg.chain}" among your chains')
        asset = trade.base if leg.asset_id == trade.base.id else trade.quote
        place = _Place(asset, view, kept.deadlines.fund_by(leg.long))
        legs[name] = _as_expected(swap["legs"][name], leg, place, trade, kept.hashlock)
    return replace(kept, a=legs["a"], b=legs["b"])


def must_follow_today(
    kept: VerifiedSwap,
    trade: OwnTrade,
    views: Mapping[str, ChainView],
    *,
    now: int,
    leaves: LegName | None,
) -> None:
    """Throws unless the kept swap is what would be verified today, ClockError where only the moment
    of its agreement does not fit. ``leaves``: the leg that may still leave a former contract.
    """
    times = kept.deadlines
    said = {
        "initiatorFundBy": times.initiator_fund_by,
        "expiresAt": times.expires_at,
        "counterpartyFundBy": times.counterparty_fund_by,
        "revealBy": times.reveal_by,
        "refundAt": {"a": times.refund_at_a, "b": times.refund_at_b},
    }
    own = own_legs(trade, views)
    _verify_deadlines(said, trade, own, now)
    for name in _BOTH:
        today, leg = own.leg(name), kept.leg(name)
        depth = today.depth.confirmations
        must_equal(f"legs.{name}.requiredConfirmations", depth, leg.required_confirmations)
        must_equal(f"legs.{name}.amount", str(today.amount), str(leg.amount))
        must_equal(f"legs.{name}.timelock", times.refund_at(name), leg.timelock)
        if leg.terms is not None and leg.escrow is not None:
            found = escrow_of(f"legs.{name}", leg.terms, today.view)
            must_equal(f"legs.{name}.escrow", found.address, leg.escrow.address)
        if name != leaves:
            must_take_new(leg, today.view)


def verify_to_fund(
    swap: Mapping[str, Json] | BaseModel,
    trade: OwnTrade,
    kept: VerifiedSwap,
    views: Mapping[str, ChainView],
    *,
    now: int,
) -> VerifiedSwap:
    """Right before one's leg is funded: it was seen in time (`sighted`), is as kept, would be
    verified today, and no escrow is in a contract that one has left. Throws AcceptanceLapsed,
    VerificationError. Where a leg has moved, look again (`verify_again`) before you fund.
    """
    trade = replace(trade, hashlock=kept.hashlock)
    trade = sighted(swap, trade, views, swap_id=kept.id, now=now)
    verify_again(swap, trade, kept, views)
    today = verify_swap(swap, trade, views, swap_id=kept.id, now=now)
    for leg in (today.a, today.b):
        must_take_new(leg, views[leg.chain])
    return today


def must_take_new(leg: VerifiedLeg, view: ChainView) -> None:
    """Throws where the leg's contract takes no new escrow of one's own."""
    if not isinstance(view, (EvmView, TronView)) or leg.terms is None:
        return
    lane = leg.terms.lane
    contract = None if lane is None else lane.contract
    contract = view.deployment.contract if contract is None else contract
    if contract not in view.deployment.open:
        expected = " or ".join(view.deployment.open)
        raise VerificationError(f"legs.{leg.leg}.lane.contract", expected, contract)


_BOTH: tuple[LegName, LegName] = ("a", "b")


def _verify_agreement(
    swap: Mapping[str, Json],
    trade: OwnTrade,
    views: Mapping[str, ChainView],
    swap_id: str,
    now: int,
) -> tuple[OwnLegs, str, int, Deadlines]:
    """All of the swap but its legs: its parties, its hashlock, and when it was agreed."""
    _must_be_swap(swap, swap_id)
    own = own_legs(trade, views)
    hashlock = _verify_parties(swap, trade, own.long)
    return own, hashlock, *_verify_deadlines(swap["deadlines"], trade, own, now)


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
    # A party that has the secret of an initiator's leg takes that leg, and need not pay for it.
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
    field = f"deadlines.refundAt.{short}"
    within = f"from {first + plan.short_timelock} to {last + plan.short_timelock}"
    if not (is_number(refund_at) and refund_at == int(refund_at)):
        raise VerificationError(field, within, shown(refund_at))
    agreed_at = int(refund_at) - plan.short_timelock
    times = deadlines(agreed_at, own.a.timing, own.b.timing, own.long)
    if first <= agreed_at <= last:
        _must_have_times(times, said)
        return agreed_at, times
    is_early = agreed_at < first
    ahead = (trade.accepted_at if is_early else now) - agreed_at
    is_off = abs(ahead) > CLOCK_TOLERANCE_SECONDS and (ahead > 0) == is_early
    if is_off and _has_times(times, said):
        raise ClockError(field, within, shown(refund_at), ahead)
    raise VerificationError(field, within, shown(refund_at))


def _has_times(times: Deadlines, said: Mapping[str, Json]) -> bool:
    try:
        _must_have_times(times, said)
    except VerificationError:
        return False
    return True


def _must_have_times(times: Deadlines, said: Mapping[str, Json]) -> None:
    expected = {
        "initiatorFundBy": times.initiator_fund_by,
        "expiresAt": times.expires_at,
        "counterpartyFundBy": times.counterparty_fund_by,
        "revealBy": times.reveal_by,
    }
    must_match("deadlines.", expected, said)
    refunds = {"a": times.refund_at_a, "b": times.refund_at_b}
    must_match("deadlines.refundAt.", refunds, said["refundAt"])


def _verify_leg(
    said: Mapping[str, Json],
    name: LegName,
    own: OwnLegs,
    times: Deadlines,
    trade: OwnTrade,
    hashlock: str,
) -> VerifiedLeg:
    leg = own.leg(name)
    expected = VerifiedLeg(
        leg=name,
        chain=leg.asset.chain,
        asset_id=leg.asset.id,
        amount=leg.amount,
        funder=funder_of(name),
        long=name == own.long,
        timelock=times.refund_at(name),
        required_confirmations=leg.depth.confirmations,
        escrow=None,
        terms=None,
    )
    place = _Place(leg.asset, leg.view, times.fund_by(expected.long))
    return _as_expected(said, expected, place, trade, hashlock)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a leg is, and by when it is funded."""

    asset: PinnedAsset
    view: ChainView
    fund_before: int


def _as_expected(
    said: Mapping[str, Json],
    expected: VerifiedLeg,
    place: _Place,
    trade: OwnTrade,
    hashlock: str,
) -> VerifiedLeg:
    wanted = {
        "leg": expected.leg,
        "chain": expected.chain,
        "assetId": expected.asset_id,
        "funder": expected.funder,
        "long": expected.long,
        "timelock": expected.timelock,
        "requiredConfirmations": expected.required_confirmations,
        "amount": str(expected.amount),
    }
    must_match(f"legs.{expected.leg}.", wanted, said)
    found = _verify_escrow(said, expected, place, trade, hashlock)
    escrow, terms = found or (None, None)
    return replace(expected, escrow=escrow, terms=terms)


def _verify_escrow(
    said: Mapping[str, Json],
    own: VerifiedLeg,
    place: _Place,
    trade: OwnTrade,
    hashlock: str,
) -> tuple[Escrow, EscrowTerms] | None:
    at = f"legs.{own.leg}"
    is_mine = given_leg(trade.party) == own.leg
    payout = _destination(at, "payout", said, place.view)
    refund = _destination(at, "refund", said, place.view)
    if payout is None or refund is None:
        must_equal(f"{at}.escrow", None, get(said, "escrow"))
        return None
    kind, wanted, got = (
        ("refund", trade.refund_to, refund) if is_mine else ("payout", trade.pay_to, payout)
    )
    must_equal(f"{at}.{kind}Pubkey", wanted.pubkey, got.pubkey)
    must_equal(f"{at}.{kind}Address", wanted.address, got.address)
    # Any wallet spends P2WSH: a leg whose form was asked for too late stays so.
    if got.form is not None:
        must_equal(f"{at}.{kind}Form", wanted.form, got.form)
    has_lanes = place.view.family in ("evm", "tron")
    terms = EscrowTerms(
        chain=place.asset.chain,
        hashlock=hashlock,
        payout=payout,
        refund=refund,
        form="p2tr" if payout.form == refund.form == "p2tr" else None,
        token=place.asset.token,
        amount=own.amount,
        timelock=own.timelock,
        fund_before=place.fund_before if has_lanes else None,
        lane=_lane(at, get(said, "lane"), has_lanes),
    )
    escrow = escrow_of(at, terms, place.view)
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


def _form(said: Mapping[str, Json], kind: str) -> Json:
    form = get(said, f"{kind}Form")
    return None if form is MISSING else form


def _destination(
    at: str, kind: Literal["payout", "refund"], said: Mapping[str, Json], view: ChainView
) -> Destination | None:
    address, pubkey = get(said, f"{kind}Address"), get(said, f"{kind}Pubkey")
    pubkey = None if pubkey is MISSING else pubkey
    form = _form(said, kind)
    if address is None or not isinstance(view, BitcoinView):
        must_equal(f"{at}.{kind}Pubkey", None, pubkey)
        must_equal(f"{at}.{kind}Form", None, form)
        if address is None:
            return None
        must_be("text", f"{at}.{kind}Address", address)
        return Destination(address)
    must_be("text", f"{at}.{kind}Address", address)
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
    if form is None:
        return Destination(address, pubkey)
    must_equal(f"{at}.{kind}Form", "p2tr", form)
    return Destination(address, pubkey, "p2tr")
