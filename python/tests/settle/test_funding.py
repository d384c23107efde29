"""A leg is funded once, in time, and only while all of one's own nodes let the swap go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from parley._settle.facts import EscrowFacts
from parley._settle.record import Kept
from parley.errors import ParleyError

from .world import (
    AMOUNT,
    CLAIMED,
    FUND_A,
    FUND_B,
    FUNDED,
    HASHLOCK,
    LOCK_B,
    NOW,
    REFUNDED,
    World,
    former,
    refusal,
    seen,
)

OWN = {"at": None, "signature": None}


def runs(world: World, seconds: float = 20.0) -> list[str]:
    """The bytes that it has sent, whatever its run came to."""
    try:
        world.run(seconds)
    except (ParleyError, OSError):
        pass
    return world.sent


def test_each_side_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    one = World(monkeypatch, "initiator")
    one.on_sent["fund b"] = lambda: (one.show("b", FUNDED), one.show("a", FUNDED))
    one.on_sent["claim a"] = lambda: (one.show("a", CLAIMED), one.show("b", CLAIMED))
    assert one.run() == "received"
    assert one.sent == ["fund b", "claim a"]
    other = World(monkeypatch, "counterparty")
    other.show("b", FUNDED)
    other.on_sent["fund a"] = lambda: other.show("a", CLAIMED)
    other.on_sent["claim b"] = lambda: other.show("b", CLAIMED)
    assert other.run() == "received"
    assert other.sent == ["fund a", "claim b"]


@pytest.mark.parametrize("step", ["payout chain-a", "payout chain-b"])
def test_one_node_that_refuses_a_payout_stops_the_funding(initiator: World, step: str) -> None:
    initiator.nodes["a" if step.endswith("a") else "b"][1].refuses.add(step)
    assert runs(initiator) == []


def test_one_node_that_knows_what_the_claim_lacks_stops_the_funding(initiator: World) -> None:
    initiator.nodes["a"][1].lack = "no gas"
    assert runs(initiator) == []


STOPS: dict[str, Callable[[World], Any]] = {
    "another device has given up": lambda w: w.releases.update(a=OWN),
    "the person gives up": lambda w: _gives_up(w),
    "a device was lost that may have funded": lambda w: w.keeps(restored=True),
    "money is in a former escrow": lambda w: (
        w.keeps(former={"a": (former("a"),)}),
        w.facts.update({"former a": FUNDED}),
    ),
    "nobody knows what became of a former escrow": lambda w: (
        w.keeps(former={"a": (former("a"),)}),
        w.facts.update({"former a": EscrowFacts(is_unknown=True)}),
    ),
    "nobody knows what became of the other leg": lambda w: w.show(
        "a", EscrowFacts(is_unknown=True)
    ),
    "one of two nodes shows it funded": lambda w: w.nodes["b"][1].own.update({"escrow b": FUNDED}),
    "the time is over": lambda w: setattr(w, "later", FUND_B - NOW + 1),
    "its chain is past the time": lambda w: [
        setattr(each, "ahead", FUND_B - NOW + 1 - w.later) for each in w.nodes["b"]
    ],
    "the market builds another escrow": lambda w: setattr(w, "built", "its own"),
    "the other leg goes back": lambda w: w.show("a", REFUNDED),
    "it was funded already": lambda w: w.show("b", replace(FUNDED, funded=seen("other", 0))),
    "the secret is gone": lambda w: w.secrets.clear(),
    "the secret is another": lambda w: w.secrets.update({HASHLOCK: "11" * 32}),
    "another swap has the hashlock": lambda w: w.others.update(swap2=w.record),
    "the market is gone": lambda w: setattr(w, "has_market", False),
    "the disk is full": lambda w: w.fails.add("put_swap"),
}


def _gives_up(world: World) -> None:
    world.options = replace(world.options, gives_up=lambda: True)


@pytest.mark.parametrize("why", STOPS)
def test_nothing_is_funded_where(initiator: World, why: str) -> None:
    # A chain may be as much ahead of this clock as these nodes are, and no more.
    if why == "its chain is past the time":
        initiator.later = FUND_B - NOW - 100
    STOPS[why](initiator)
    assert runs(initiator) == []


def test_a_funding_that_the_market_refuses_as_given_up_is_not_sent_by_own_nodes(
    initiator: World,
) -> None:
    initiator.words["broadcast"] = refusal("given_up")
    initiator.releases["b"] = OWN
    initiator.run()
    assert initiator.sent == [] and initiator.record.given_up is not None


def test_a_funding_that_the_market_does_not_relay_is_sent_by_own_nodes(initiator: World) -> None:
    initiator.words["broadcast"] = refusal("unavailable", 503)
    initiator.run()
    assert initiator.sent == ["fund b"]


def test_a_side_that_hears_of_a_wish_in_time_funds_nothing(counterparty: World) -> None:
    counterparty.releases["a"] = OWN
    counterparty.then[10] = lambda: counterparty.show("b", FUNDED)
    assert runs(counterparty) == []
    assert counterparty.record.given_up is not None and not counterparty.record.given_up.by_person


@pytest.mark.parametrize(
    ("deep", "later"), [(True, 0), (False, 0), (True, FUND_A - NOW), (True, FUND_A - NOW + 1)]
)
def test_the_second_leg_is_funded_once_the_first_is_deep_and_in_time(
    counterparty: World, deep: bool, later: int
) -> None:
    counterparty.later = later
    counterparty.show("b", FUNDED if deep else replace(FUNDED, funded=seen("funding", 2)))
    in_time = counterparty.now <= FUND_A
    # A second of the run would be one too many.
    assert runs(counterparty, 0.5) == (["fund a"] if deep and in_time else [])


def test_one_of_two_nodes_is_not_enough_for_the_first_leg(counterparty: World) -> None:
    counterparty.nodes["b"][0].own["escrow b"] = FUNDED
    assert runs(counterparty) == []


def test_a_funding_is_signed_once_and_again_where_no_block_can_take_it(initiator: World) -> None:
    initiator.run(30)
    assert initiator.log.count("sign fund b") == 1
    initiator.outcomes["fund b"] = "dead"
    initiator.run(30)
    assert initiator.log.count("sign fund b") > 1


def test_on_bitcoin_nothing_is_signed_beside_a_funding(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, "initiator", bitcoin="b")
    world.outcomes["fund b"] = "dead"
    world.run(30)
    assert world.log.count("sign fund b") == 1


def test_a_late_funding_is_taken_back_and_not_sent_again(initiator: World) -> None:
    initiator.keeps(funding=Kept("id", "fund b", NOW))
    initiator.later = FUND_B - NOW + 1
    assert initiator.run(30) is None
    assert initiator.sent == ["cancel b"]
    initiator.outcomes["fund b"] = "dead"
    assert initiator.run(60) == "nothing"


def test_a_person_is_asked_to_pay_once_it_is_kept_and_gets_it_back_where_it_is_too_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, "initiator", bitcoin="b")
    world.pays_by_hand = True
    world.run(30)
    assert world.record.by_hand
    assert [each.step for each in world.told].count("pay_by_hand") == 1
    assert world.sent == []
    world.show("b", EscrowFacts(balance=AMOUNT // 2, empty=False))
    world.later = FUND_B - NOW + 1
    assert world.run(30) is None
    world.later = LOCK_B - NOW + 1
    world.on_sent["refund b"] = lambda: world.show("b", EscrowFacts(refunded=seen("back")))
    assert world.run(30) == "refunded"
    assert world.sent == ["refund b"]


def test_nobody_is_told_to_pay_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeping it may take long."""
    world = World(monkeypatch, "initiator", bitcoin="b")
    world.pays_by_hand = True
    world.on_sent["put by_hand"] = lambda: setattr(world, "later", FUND_B - NOW + 1)
    world.run(3)
    assert world.record.by_hand and "pay_by_hand" not in [each.step for each in world.told]


def test_a_leg_that_moves_is_followed_and_its_former_escrow_is_watched(initiator: World) -> None:
    swap = initiator.record.swap
    assert swap.a.escrow is not None
    initiator.words["build_fund"] = refusal("not_yet", 409)
    moved = former("a")
    initiator.moved = replace(swap, a=replace(swap.a, escrow=moved.escrow, terms=moved.terms))
    initiator.run(10)
    kept = initiator.record
    assert kept.swap.a.escrow == moved.escrow
    assert [each.escrow for each in kept.former["a"]] == [swap.a.escrow]
    del initiator.words["build_fund"]
    initiator.show("a", FUNDED)
    initiator.run(10)
    assert initiator.sent == []


def test_a_side_that_funded_nothing_ends_once_the_time_is_over(counterparty: World) -> None:
    counterparty.later = FUND_A - NOW + 1
    assert counterparty.run() == "nothing"


def test_a_leg_that_holds_money_moves_nowhere(initiator: World) -> None:
    swap = initiator.record.swap
    moved = former("a")
    initiator.moved = replace(swap, a=replace(swap.a, escrow=moved.escrow, terms=moved.terms))
    initiator.show("a", FUNDED)
    initiator.run(10)
    assert "get_swap" in initiator.log and initiator.record.swap == swap


def test_another_swap_of_the_hashlock_is_met_before_the_market_is_asked_and_after_signing(
    initiator: World,
) -> None:
    mine = initiator.record
    initiator.on_sent["build_fund b"] = lambda: initiator.others.update(other=mine)
    assert runs(initiator) == [] and "sign fund b" in initiator.log
    initiator.log.clear()
    assert runs(initiator) == [] and "build_fund b" not in initiator.log


def test_a_second_run_waits_for_the_first(initiator: World) -> None:
    initiator.fails.add("lock")
    initiator.then[10] = initiator.fails.clear
    assert runs(initiator, 9) == [] and initiator.told[0].step == "elsewhere"
    assert runs(initiator) == ["fund b"]
