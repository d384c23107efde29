"""The own leg comes back from its timelock on, or with the payee's word; a run ends when no node
speaks against it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from parley._settle.facts import EscrowFacts
from parley._settle.record import GivenUp, Kept

from .test_funding import runs
from .world import (
    CLAIMED,
    FUND_A,
    FUND_B,
    FUNDED,
    LOCK_A,
    LOCK_B,
    NOTHING,
    NOW,
    REFUNDED,
    World,
    refusal,
    seen,
)

KEPT = Kept("id of fund b", "fund b", NOW)


@pytest.fixture
def waiting(initiator: World) -> World:
    """The own leg is funded, and the other one is not."""
    initiator.keeps(funding=KEPT)
    initiator.show("b", FUNDED)
    return initiator


@pytest.mark.parametrize(
    ("bitcoin", "at", "is_back"),
    [("", LOCK_B - 1, False), ("", LOCK_B, True), ("b", LOCK_B, False), ("b", LOCK_B + 1, True)],
)
def test_a_leg_comes_back_from_its_timelock_on_by_its_own_chain(
    monkeypatch: pytest.MonkeyPatch, bitcoin: str, at: int, is_back: bool
) -> None:
    world = World(monkeypatch, "initiator", bitcoin=bitcoin)
    world.keeps(funding=KEPT)
    world.show("b", FUNDED)
    world.later = at - NOW
    # A device whose clock is ahead is not asked.
    assert runs(world, 0.5) == (["refund b"] if is_back else [])


def test_of_several_clocks_each_leg_takes_the_one_that_ends_nothing_too_early(
    waiting: World, owed: World
) -> None:
    """A refund is tried by the first node that is past the timelock, a claim until all are."""
    for world in (waiting, owed):
        world.later = LOCK_B - NOW - 50
        world.nodes["b"][1].ahead = 100
    assert runs(waiting, 10) == ["refund b"]
    assert runs(owed, 10) == ["claim b"]


@pytest.mark.parametrize("trouble", ["other chain", "one node", "market", "disk"])
def test_a_refund_waits_for_nothing_else(waiting: World, trouble: str) -> None:
    waiting.later = LOCK_B - NOW
    match trouble:
        case "other chain":
            for each in waiting.nodes["a"]:
                each.is_down = True
        case "one node":
            waiting.nodes["b"][0].own["escrow b"] = REFUNDED
        case "market":
            waiting.words["broadcast"] = refusal("forbidden", 403)
        case "disk":
            waiting.fails.add("put_swap")
    assert runs(waiting) == ["refund b"]


def test_it_is_refunded_once_it_is_deep(waiting: World) -> None:
    waiting.later = LOCK_B - NOW
    waiting.on_sent["refund b"] = lambda: waiting.show(
        "b", replace(REFUNDED, refunded=seen("back", 1))
    )
    assert waiting.run() is None
    waiting.show("b", REFUNDED)
    assert waiting.run() == "refunded"


def test_a_node_that_fails_a_moment_ends_nothing_when_it_speaks_against_it(owed: World) -> None:
    """The other one alone says that all was paid; the end asks each for its whole time."""
    liar, honest = owed.nodes["b"]
    liar.own["escrow b"] = CLAIMED
    honest.is_down = True
    owed.options = replace(owed.options, poll_seconds=60)
    assert owed.run(500) is None
    honest.is_down = False
    assert runs(owed) == ["claim b"]


@pytest.fixture
def owed(counterparty: World) -> World:
    counterparty.keeps(funding=Kept("id of fund a", "fund a", NOW))
    counterparty.show("a", CLAIMED)
    counterparty.show("b", FUNDED)
    return counterparty


def test_a_node_that_is_gone_for_good_holds_up_no_end(owed: World) -> None:
    owed.show("b", CLAIMED)
    owed.nodes["b"][1].is_down = True
    owed.options = replace(owed.options, poll_seconds=60)
    assert owed.run(550) is None
    assert owed.run(700) == "received"


def test_a_payment_of_others_may_come_until_each_own_node_is_past_its_time(
    initiator: World,
) -> None:
    initiator.keeps(by_hand=True)
    initiator.later = FUND_B - NOW + 1
    initiator.nodes["b"][1].ahead = -100
    assert initiator.run() is None
    initiator.nodes["b"][1].ahead = 0
    assert initiator.run() == "nothing"


def test_a_lost_leg_is_told_as_lost(owed: World) -> None:
    owed.show("b", REFUNDED)
    assert owed.run() == "lost"


def test_what_is_taken_back_by_a_reorganisation_may_come_again(owed: World) -> None:
    """The own leg was claimed, and the funding of the other one is gone for now."""
    owed.show("b", NOTHING)
    assert owed.run() is None
    owed.later = LOCK_B - NOW
    assert owed.run() == "lost"


def test_a_release_brings_the_own_leg_back_before_its_timelock(waiting: World) -> None:
    waiting.releases["b"] = {"at": NOW, "signature": "released"}
    assert runs(waiting) == ["refund b"]
    assert waiting.record.released is not None
    # This side has not given up by it.
    assert waiting.record.given_up is None


@pytest.mark.parametrize("signature", ["forged", None])
def test_a_release_that_opens_nothing_is_none(waiting: World, signature: str | None) -> None:
    waiting.releases["b"] = {"at": NOW, "signature": signature}
    assert runs(waiting) == []
    assert waiting.record.released is None


@pytest.fixture
def free(counterparty: World) -> World:
    """The other leg is funded, and its own one is not."""
    counterparty.show("b", FUNDED)
    return counterparty


def gives_up(world: World, person: bool = True) -> World:
    world.keeps(given_up=GivenUp(NOW, person))
    return world


def test_a_word_is_kept_before_it_leaves(free: World) -> None:
    free.options = replace(free.options, gives_up=lambda: True)
    free.run()
    assert free.sent == []
    told = free.log.index("release_leg b released")
    assert "put given_up" in free.log[:told]
    signed = free.log.index("sign release b")
    assert signed < told and free.record.given_up is not None
    assert free.record.given_up.signature == "released"
    assert free.record.given_up.told == "release"


@pytest.mark.parametrize("word", [None, refusal("no_answer", 0), refusal("forbidden", 403)])
def test_a_transaction_that_releases_leaves_once_the_market_knows_or_is_silent(
    free: World, word: Exception | None
) -> None:
    """The market knows whether another device has shown the secret."""
    free.release_by = "solana-tx"
    if word is not None:
        free.words["release_leg"] = word
    gives_up(free)
    is_refused = word is not None and "forbidden" in str(word)
    assert runs(free) == ([] if is_refused else ["release b"])
    assert "release_leg b wish" in free.log


def test_a_leg_is_not_released_while_the_own_one_may_be_claimed(counterparty: World) -> None:
    counterparty.keeps(funding=Kept("id of fund a", "fund a", NOW))
    counterparty.show("a", FUNDED)
    counterparty.show("b", FUNDED)
    gives_up(counterparty)
    counterparty.run()
    assert "sign release b" not in counterparty.log
    assert "release_leg b wish" in counterparty.log


@pytest.mark.parametrize("person", [True, False])
def test_with_its_own_leg_open_an_initiator_releases_for_its_person_alone(
    waiting: World, person: bool
) -> None:
    waiting.show("a", FUNDED)
    gives_up(waiting, person)
    waiting.run()
    assert ("sign release a" in waiting.log) is person


def test_a_wish_comes_too_late_for_a_public_secret(owed: World) -> None:
    owed.options = replace(owed.options, gives_up=lambda: True)
    assert runs(owed) == ["claim b"]
    assert owed.record.given_up is None


def test_the_word_of_another_device_releases_nothing_here(free: World) -> None:
    free.keeps(funding=Kept("id of fund a", "fund a", NOW))
    free.show("a", FUNDED)
    free.releases["b"] = {"at": NOW, "signature": "x"}
    assert runs(free) == []
    assert free.record.given_up is not None and free.record.given_up.told == "release"


def test_a_release_waits_for_the_clock_of_the_slowest_own_node(free: World) -> None:
    """A funding of its own may still come by it: no contract opens an escrow past its timelock."""
    free.keeps(funding=Kept("id of fund a", "fund a", NOW))
    free.later = LOCK_A - NOW
    free.nodes["a"][1].ahead = -500
    free.outcomes["fund a"] = "stranded"
    free.run(30)
    assert "sign release b" not in free.log


def test_a_wallet_that_signs_no_release_ends_no_run(free: World) -> None:
    free.fails.add("sign release b")
    gives_up(free)
    assert free.run(30) is None


def test_a_wish_of_a_restored_device_is_told_and_its_leg_comes_back(initiator: World) -> None:
    initiator.keeps(restored=True)
    initiator.show("b", FUNDED)
    initiator.later = LOCK_B - NOW
    assert runs(initiator) == ["refund b"]


def test_a_restored_swap_that_was_never_funded_ends_past_its_timelock(initiator: World) -> None:
    initiator.keeps(restored=True)
    initiator.later = FUND_B - NOW + 60
    assert initiator.run(30) is None
    initiator.later = LOCK_B - NOW + 1
    assert initiator.run(30) == "nothing"


@pytest.mark.parametrize("later", [FUND_A - NOW + 1, LOCK_A - NOW])
def test_dust_of_a_stranger_holds_no_run_open(free: World, later: int) -> None:
    free.show("b", NOTHING)
    free.show("a", EscrowFacts(balance=1, empty=False))
    for each in free.nodes["a"]:
        each.refuses.add("build")
    free.later = later
    assert free.run(30) == "nothing"


def test_a_failure_of_the_market_ends_no_run_with_money_in_an_escrow(waiting: World) -> None:
    waiting.words["get_swap"] = refusal("forbidden", 403)
    waiting.words["release_leg"] = refusal("forbidden", 403)
    assert waiting.run(30) is None


def test_a_refusal_is_told_in_its_own_words(waiting: World) -> None:
    waiting.later = LOCK_B - NOW
    for each in waiting.nodes["b"]:
        each.refuses.add("build")
    assert waiting.run(10) is None
    assert any("it refuses build" in str(each) for each in waiting.told)


def test_what_was_received_stays_so_while_nodes_differ(owed: World) -> None:
    owed.show("b", CLAIMED)
    owed.then[8] = lambda: owed.nodes["b"][1].own.update({"escrow b": FUNDED})
    owed.nodes["a"][1].own["escrow a"] = FUNDED
    owed.run()
    assert owed.told[-1].state == "received"


def test_what_a_lost_device_may_have_funded_is_not_over_once_its_lane_is_used_up(
    initiator: World,
) -> None:
    initiator.keeps(restored=True)
    initiator.show("b", EscrowFacts(is_unknown=True))
    initiator.later = LOCK_B - NOW + 1
    assert initiator.run() is None
    initiator.keeps(restored=False)
    assert initiator.run() == "nothing"
