"""The comparison before an acceptance, as docs/vectors/threads.json has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parley.chains.terms import ChainPolicy
from parley.verify import VerificationError, verify_asset, verify_thread
from parley.verify.rules import contract_id, policy_digest

from .test_material import MOST_REASON
from .test_swaps import trade_of
from .vectors import Json, changed, load, view_of

VECTORS = load("threads")
CASE = VECTORS["threads"][0]
TRADE = trade_of(CASE["trade"])


def check(case: Json, now: int = TRADE.accepted_at, ends: int | None = None) -> int | None:
    views = {each["chain"]: view_of(each) for each in case["views"]}
    trade = replace(TRADE, price_ends_at=ends)
    return verify_thread(case["thread"], trade, views, now).price_ends_at


def test_a_thread_of_ones_own_trade_is_accepted_and_no_lie() -> None:
    assert check(CASE) is None
    assert len(CASE["refused"]) > 20
    for lie in CASE["refused"]:
        with pytest.raises(VerificationError) as refused:
            check(changed(CASE, lie["change"]))
            pytest.fail(f"{lie['why']} was believed")
        error = refused.value
        assert error.field == lie["field"], lie["why"]
        assert error.expected[:MOST_REASON] == lie["expected"], lie["why"]
        assert error.got[:MOST_REASON] == lie["got"], lie["why"]


def test_a_price_that_ended_is_not_accepted_and_the_earlier_end_counts() -> None:
    def ending(at: str) -> Json:
        return {**CASE, "thread": {**CASE["thread"], "quoteExpiresAt": at}}

    end = 1_800_000_000  # 2027-01-15T08:00:00Z
    shown = ending("2027-01-15T08:00:00.000Z")
    assert check(shown, end + 119) == end
    assert check(shown, end, ends=end + 60) == end
    assert check(shown, end, ends=end - 60) == end - 60
    for own in (None, end + 60, end):
        with pytest.raises(VerificationError, match="quoteExpiresAt"):
            check(shown, end + 120, ends=own)
    assert check(shown, end + 59, ends=end - 60) == end - 60
    with pytest.raises(VerificationError, match="quoteExpiresAt"):
        check(shown, end + 60, ends=end - 60)
    with pytest.raises(VerificationError, match="a time"):
        check(ending("soon"))


@pytest.mark.parametrize("case", VECTORS["contracts"], ids=lambda case: case["contract"])
def test_a_contract_is_named_by_its_code(case: Json) -> None:
    assert contract_id(view_of(case["view"])) == case["contract"]


@pytest.mark.parametrize("case", VECTORS["policies"], ids=lambda case: case["name"])
def test_a_policy_is_named_by_its_digest(case: Json) -> None:
    assert policy_digest(ChainPolicy.of(case["policy"])) == case["digest"]


def test_an_asset_of_the_market_is_the_pinned_one_in_every_fact() -> None:
    pinned = TRADE.base
    said = {
        "id": pinned.id,
        "chain": pinned.chain,
        "address": pinned.token,
        "decimals": pinned.decimals,
        "symbol": "any",
    }
    verify_asset(said, pinned)
    for field, other in [("id", "x"), ("chain", "x"), ("address", "x"), ("decimals", 3)]:
        with pytest.raises(VerificationError) as refused:
            verify_asset({**said, field: other}, pinned)
        assert refused.value.field == f"asset.{field}"
