"""A swap is compared with one's own trade, as docs/vectors/swaps.json has it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Literal

import pytest

from parley.chains.bitcoin import bitcoin_escrow
from parley.chains.terms import ChainPolicy, Destination
from parley.verify import (
    OwnTrade,
    PinnedAsset,
    VerificationError,
    VerifiedSwap,
    own_legs,
    verify_swap,
)
from parley.verify.deadlines import LegTiming, broken_inequalities, deadlines, long_leg

from .test_material import MOST_REASON
from .vectors import Json, changed, load, terms_of, view_of

SWAPS = load("swaps")["swaps"]
DEADLINES = load("deadlines")


def _asset(said: Json) -> PinnedAsset:
    high = said["highValueFrom"]
    pinned = (said["id"], said["chain"], said["token"], said["decimals"])
    return PinnedAsset(*pinned, None if high is None else int(high))


def trade_of(said: Json) -> OwnTrade:
    return OwnTrade(
        party=said["party"],
        rfq_id=said["rfqId"],
        thread_id=said["threadId"],
        maker_id=said["makerId"],
        taker_id=said["takerId"],
        direction=said["direction"],
        base=_asset(said["base"]),
        base_amount=int(said["baseAmount"]),
        quote=_asset(said["quote"]),
        quote_amount=int(said["quoteAmount"]),
        hashlock=said["hashlock"],
        accepted_at=said["acceptedAt"],
        refund_to=Destination(**said["refundTo"]),
        pay_to=Destination(**said["payTo"]),
        price_ends_at=said.get("priceEndsAt"),
    )


def check(case: Json) -> VerifiedSwap:
    views = [view_of(each) for each in case["views"]]
    by_chain = {each.chain: each for each in views}
    at = case["at"]
    trade = trade_of(case["trade"])
    return verify_swap(case["swap"], trade, by_chain, swap_id=at["swapId"], now=at["now"])


@pytest.mark.parametrize("case", SWAPS, ids=lambda case: case["name"])
def test_a_swap_comes_to_own_terms_and_no_lie_is_believed(case: Json) -> None:
    verified, expected = check(case), case["verified"]
    assert (verified.role, verified.hashlock) == (expected["role"], expected["hashlock"])
    assert verified.agreed_at == expected["agreedAt"]
    for leg in (verified.a, verified.b):
        wanted = expected["legs"][leg.leg]
        assert leg.terms == terms_of(wanted["escrow"]["terms"])
        assert leg.escrow is not None and leg.escrow.address == wanted["escrow"]["address"]
        assert leg.required_confirmations == wanted["requiredConfirmations"]
    for lie in case["refused"]:
        with pytest.raises(VerificationError) as refused:
            check(changed(case, lie["change"]))
            pytest.fail(f"{lie['why']} was believed")
        error = refused.value
        assert error.field == lie["field"], lie["why"]
        assert error.expected[:MOST_REASON] == lie["expected"], lie["why"]
        assert error.got[:MOST_REASON] == lie["got"], lie["why"]


def test_a_leg_is_of_taproot_where_both_sides_ask_and_never_where_this_one_does_not() -> None:
    case = next(each for each in SWAPS if each["name"] == "EVM and Bitcoin, the maker")
    terms = terms_of(case["verified"]["legs"]["b"]["escrow"]["terms"])

    def field(asks: bool, own: bool, other: bool, is_taproot: bool) -> str | None:
        form: Literal["p2tr"] | None = "p2tr" if is_taproot else None
        escrow = bitcoin_escrow(replace(terms, form=form), "regtest")
        leg = {
            "payoutForm": "p2tr" if own else None,
            "refundForm": "p2tr" if other else None,
            "escrow": escrow.address,
            "redeemScript": escrow.redeem_script,
        }
        shown = copy.deepcopy(case)
        shown["swap"]["legs"]["b"].update(leg)
        shown["trade"]["payTo"].update({"form": "p2tr"} if asks else {})
        try:
            check(shown)
        except VerificationError as error:
            return error.field
        return None

    assert field(True, True, True, True) is None
    assert field(True, True, False, False) is None
    assert field(True, False, True, False) is None, "asked for too late"
    assert field(False, False, True, False) is None
    assert field(False, True, True, True) == "legs.b.payoutForm"
    assert field(False, False, True, True) == "legs.b.redeemScript"
    assert field(True, True, True, False) == "legs.b.redeemScript"


def test_lies_are_told_of_each_party() -> None:
    assert sum(len(case["refused"]) for case in SWAPS) > 150


def test_deadlines_of_every_pair_of_chains_are_computed_alike() -> None:
    policies = {name: ChainPolicy.of(each) for name, each in DEADLINES["policies"].items()}
    for pair in DEADLINES["pairs"]:
        legs = [
            LegTiming(policies[pair[leg]], getattr(policies[pair[leg]], pair["depth"]))
            for leg in ("a", "b")
        ]
        long = long_leg(legs[0], legs[1])
        assert long == pair["long"], pair
        times, said = deadlines(DEADLINES["agreedAt"], legs[0], legs[1], long), pair["deadlines"]
        assert (times.refund_at_a, times.refund_at_b) == (
            said["refundAt"]["a"],
            said["refundAt"]["b"],
        )
        assert times.initiator_fund_by == said["initiatorFundBy"]
        assert times.expires_at == said["expiresAt"]
        assert times.counterparty_fund_by == said["counterpartyFundBy"]
        assert times.reveal_by == said["revealBy"]
        short, longer = (legs[1], legs[0]) if long == "a" else (legs[0], legs[1])
        assert broken_inequalities(short, longer) == pair["broken"]


def test_an_acceptance_stands_until_its_end_or_that_of_its_price() -> None:
    trade = trade_of(SWAPS[0]["trade"])
    own = trade.accepted_at + trade.accept_ttl_seconds
    for price, end in [(None, own), (own - 1, own - 1), (own, own), (own + 1, own)]:
        assert replace(trade, price_ends_at=price).stands_until == end


def test_high_value_begins_at_its_amount() -> None:
    case = SWAPS[0]
    views = {each["chain"]: view_of(each) for each in case["views"]}
    trade = trade_of(case["trade"])
    for high, is_high in [(trade.base_amount + 1, False), (trade.base_amount, True), (None, False)]:
        legs = own_legs(replace(trade, base=replace(trade.base, high_value_from=high)), views)
        leg = next(each for each in (legs.a, legs.b) if each.asset.id == trade.base.id)
        assert leg.depth == (leg.policy.high if is_high else leg.policy.normal), high


def test_no_timelock_is_more_than_thirty_days_ahead() -> None:
    policies = {name: ChainPolicy.of(each) for name, each in DEADLINES["policies"].items()}
    short, long = (policies[name] for name in ("evm-dev", "bitcoin"))
    most = 30 * 86_400 - long.drift_seconds
    for floor, broken in [
        (most, []),
        (most + 1, ["the long timelock 2592001 s is more than 2592000 s ahead"]),
    ]:
        far = replace(long, floor_seconds=floor)
        legs = LegTiming(short, short.normal), LegTiming(far, far.normal)
        assert broken_inequalities(*legs) == broken
