"""Looks at a swap after the first: facts seen too late, another hashlock or time, and contracts
that one has left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from parley.chains import tron
from parley.chains.terms import ChainView, Destination, EvmView, SolanaView, TronView
from parley.errors import AcceptanceLapsed, ClockError
from parley.signers import solana_signer
from parley.verify import (
    OwnTrade,
    VerificationError,
    VerifiedSwap,
    escrow_of,
    sighted,
    verify_again,
    verify_swap,
    verify_to_fund,
)
from parley.verify.deadlines import LegName
from parley.verify.swap import CLOCK_TOLERANCE_SECONDS
from parley.verify.trade import given_leg, other_leg

from .test_swaps import SWAPS, trade_of
from .vectors import Json, changed, view_of

#: The secret of the swaps in docs/vectors.
SECRET = "5e" * 32
Known = tuple[Json, OwnTrade, Mapping[str, ChainView], VerifiedSwap]


def known(case: Json) -> Known:
    views = {each["chain"]: view_of(each) for each in case["views"]}
    trade, at = trade_of(case["trade"]), case["at"]
    kept = verify_swap(case["swap"], trade, views, swap_id=at["swapId"], now=at["now"])
    return case["swap"], trade, views, kept


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_a_swap_that_is_first_seen_too_late_is_never_funded(case: Json) -> None:
    swap, trade, views, kept = known(case)
    last = trade.stands_until + CLOCK_TOLERANCE_SECONDS
    seen = sighted(swap, trade, views, swap_id=kept.id, now=last)
    assert seen.swap_seen_at == last
    with pytest.raises(AcceptanceLapsed) as late:
        sighted(swap, trade, views, swap_id=kept.id, now=last + 1)
    assert (late.value.stood_until, late.value.seen_at) == (trade.stands_until, last + 1)
    with pytest.raises(AcceptanceLapsed):
        verify_to_fund(swap, trade, kept, views, now=last + 1)
    # Once it was seen a restart alters nothing, early or late.
    assert sighted(swap, seen, views, swap_id=kept.id, now=last + 9_000) == seen
    assert verify_to_fund(swap, seen, kept, views, now=last + 9_000) == kept
    with pytest.raises(AcceptanceLapsed):
        sighted(swap, replace(seen, swap_seen_at=last + 1), views, swap_id=kept.id, now=last)
    # Another swap says nothing of this one.
    with pytest.raises(VerificationError):
        sighted({**swap, "threadId": trade.rfq_id}, trade, views, swap_id=kept.id, now=last)


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_another_hashlock_or_other_times_than_before_are_refused(case: Json) -> None:
    swap, trade, views, kept = known(case)
    assert verify_again(swap, trade, kept, views) == kept
    assert verify_again(swap, replace(trade, hashlock=None), kept, views) == kept
    # As agreed two seconds later, which the first look may be as well.
    times = {
        name: moved + 2 for name, moved in swap["deadlines"].items() if isinstance(moved, int)
    }
    refunds = {name: at + 2 for name, at in swap["deadlines"]["refundAt"].items()}
    later = {**swap, "deadlines": {**times, "refundAt": refunds}}
    other = {**swap, "hashlock": "00" * 32, "secret": None}
    strange, now = replace(trade, hashlock=None), case["at"]["now"]
    for lie, field in ((other, "hashlock"), (later, "deadlines")):
        with pytest.raises(VerificationError) as refused:
            verify_again(lie, strange, kept, views)
        assert refused.value.field.startswith(field)
        with pytest.raises(VerificationError) as refused:
            verify_to_fund(lie, strange, kept, views, now=now)
        assert refused.value.field.startswith(field)


@pytest.mark.parametrize(
    "case", [each for each in SWAPS if each["refused"]], ids=lambda case: case["name"]
)
def test_a_later_look_believes_no_lie_that_the_first_one_did_not(case: Json) -> None:
    _, trade, views, kept = known(case)
    told = 0
    for lie in case["refused"]:
        if not all(each["path"].startswith("/swap/") for each in lie["change"]):
            continue
        told += 1
        with pytest.raises(VerificationError):
            verify_again(changed(case, lie["change"])["swap"], trade, kept, views)
            pytest.fail(f"{lie['why']} was believed")
    assert told > 20


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_no_escrow_in_a_contract_that_one_has_left_is_funded(case: Json) -> None:
    swap, trade, views, kept = known(case)
    now = case["at"]["now"]
    verify_to_fund(swap, trade, kept, views, now=now)
    moved: dict[str, ChainView] = {}
    for chain, view in views.items():
        if isinstance(view, EvmView | TronView):
            leg = next(each for each in swap["legs"].values() if each["chain"] == chain)
            old = view.deployment.contract
            new = "0x" + "77" * 20 if isinstance(view, EvmView) else tron.address_of(bytes(20))
            own = replace(view.deployment, contract=new, former=(old,))
            moved[chain] = replace(view, deployment=own)
            lane = {**leg["lane"], "contract": old}
            legs = {**swap["legs"], leg["leg"]: {**leg, "lane": lane}}
            swap = {**swap, "legs": legs}
    views = {**views, **moved}
    kept = verify_swap(swap, trade, views, swap_id=kept.id, now=now)
    # Claimed and refunded as ever.
    assert verify_again(swap, trade, kept, views) == kept
    with pytest.raises(VerificationError) as refused:
        verify_to_fund(swap, trade, kept, views, now=now)
    assert refused.value.field.endswith(".lane.contract")


def moved(known: Known, name: LegName) -> Json:
    """The other side is paid elsewhere: the leg has another escrow, and all of it fits."""
    swap, trade, views, kept = known
    leg = kept.leg(name)
    assert leg.terms is not None
    ours, theirs = ("refund", "payout") if name == given_leg(trade.party) else ("payout", "refund")
    at, view = getattr(leg.terms, ours), views[leg.chain]
    if isinstance(view, SolanaView):  # where nobody pays itself
        at = Destination(solana_signer(b"elsewhere".ljust(32)).address)
    elsewhere: dict[str, Any] = {theirs: at}
    escrow = escrow_of(name, replace(leg.terms, **elsewhere), view)
    shown = {
        **swap["legs"][name],
        f"{theirs}Address": at.address,
        f"{theirs}Pubkey": at.pubkey,
        "escrow": escrow.address,
        "redeemScript": escrow.redeem_script,
    }
    return {**swap, "legs": {**swap["legs"], name: shown}}


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_no_leg_moves_that_may_hold_money(case: Json) -> None:
    swap, trade, views, kept = known(case)
    own = given_leg(trade.party)
    other = other_leg(own)
    is_initiator = kept.role == "initiator"
    nothing: list[LegName] = []

    def moves(shown: Json, name: LegName, **how: Any) -> bool:
        shown = moved((shown, trade, views, kept), name)
        try:
            found = verify_again(shown, trade, kept, views, **how)
        except VerificationError as error:
            assert error.field == f"legs.{name}.escrow"
            return False
        escrow, before = found.leg(name).escrow, kept.leg(name).escrow
        assert escrow is not None and escrow != before
        return True

    for name, funded, seen, may in [
        (own, False, nothing, True),
        (other, False, nothing, True),
        (own, True, nothing, False),
        (other, True, nothing, is_initiator),
        (own, False, [own], False),
        (other, False, [other], False),
        (other, True, [other], False),
        (other, True, [own], is_initiator),
    ]:
        assert moves(swap, name, funded=funded, seen=seen) == may, (name, funded, seen)
        # With the secret public none may be funded anew.
        public = {**swap, "secret": SECRET}
        assert not moves(public, name, funded=funded, seen=seen)
    assert not moves(swap, own, seen=nothing), "it may be funded unless that is denied"
    for name in (own, other):
        assert not moves(swap, name), "who says nothing follows nothing"
        with pytest.raises(VerificationError):
            shown = moved((swap, trade, views, kept), name)
            verify_to_fund(shown, trade, kept, views, now=case["at"]["now"])
    # A leg without an escrow gets one.
    bare = replace(kept, a=replace(kept.a, escrow=None, terms=None))
    assert verify_again(swap, trade, bare, views) == kept


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_a_clock_that_is_off_is_named_and_no_lie_is_taken_for_one(case: Json) -> None:
    swap, trade, views, kept = known(case)

    def refused(shown: Json, now: int, accepted_at: int = trade.accepted_at) -> VerificationError:
        own = replace(trade, accepted_at=accepted_at)
        with pytest.raises(VerificationError) as refusal:
            verify_to_fund(shown, own, kept, views, now=now)
        return refusal.value

    at, far = kept.agreed_at, CLOCK_TOLERANCE_SECONDS + 1
    behind = refused(swap, at - far)
    assert isinstance(behind, ClockError) and behind.ahead_seconds == -far
    assert f"clock is {far} s or more behind the market's" in str(behind)
    ahead = refused(swap, at + 2 * far, at + far)
    assert isinstance(ahead, ClockError) and ahead.ahead_seconds == far
    assert behind.field == ahead.field and behind.field.startswith("deadlines.refundAt.")
    # Times of another formula are none of a clock; nor is what was agreed after it had lapsed.
    reveal = {**swap["deadlines"], "revealBy": swap["deadlines"]["revealBy"] + 1}
    assert not isinstance(refused({**swap, "deadlines": reveal}, at - far), ClockError)
    lapsed = replace(trade, accept_ttl_seconds=0, accepted_at=at - far)
    with pytest.raises(VerificationError) as late:
        verify_swap(swap, lapsed, views, swap_id=kept.id, now=at + 9_000)
    assert not isinstance(late.value, ClockError)
