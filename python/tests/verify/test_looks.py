"""Looks at a swap after the first: what was seen too late, another hashlock or time, and contracts that
one has left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from parley.chains import tron
from parley.chains.terms import ChainView, EvmView, TronView
from parley.errors import AcceptanceLapsed
from parley.verify import (
    OwnTrade,
    VerificationError,
    VerifiedSwap,
    sighted,
    verify_again,
    verify_swap,
    verify_to_fund,
)
from parley.verify.swap import CLOCK_TOLERANCE_SECONDS

from .test_swaps import SWAPS, trade_of
from .vectors import Json, changed, view_of

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
