"""The secret is told once all lets this side be paid for it; a public one is claimed with, whatever
any node, market or disk says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from parley._settle.facts import EscrowFacts
from parley._settle.record import GivenUp, Kept

from .test_funding import OWN, runs
from .world import (
    AMOUNT,
    CLAIMED,
    FUNDED,
    LOCK_A,
    LOCK_B,
    NOTHING,
    NOW,
    REFUNDED,
    REVEAL,
    SECRET,
    World,
    former,
    refusal,
    seen,
)

KEPT = Kept("id of fund b", "fund b", NOW)
REFUND = Kept("id of refund b", "refund b", NOW)


@pytest.fixture
def ready(initiator: World) -> World:
    """Both legs are funded and deep."""
    initiator.keeps(funding=KEPT)
    initiator.show("a", FUNDED)
    initiator.show("b", FUNDED)
    return initiator


def test_it_claims_by_telling_the_secret(ready: World) -> None:
    assert runs(ready) == ["claim a"]
    assert ready.record.public_secret == SECRET


SHUT: dict[str, Callable[[World], Any]] = {
    "a refund of the own leg is kept": lambda w: w.keeps(refund=REFUND),
    "this side has given up": lambda w: w.keeps(given_up=GivenUp(NOW, False, told="wish")),
    "another device has given up": lambda w: w.releases.update(a=OWN),
    "the market has a claim refused as given up": lambda w: w.words.update(
        announce_claim=refusal("given_up")
    ),
    "the market refuses": lambda w: w.words.update(announce_claim=refusal("forbidden", 403)),
    "one node refuses the claim": lambda w: w.nodes["a"][1].refuses.add("claim chain-a"),
    "one node knows what it lacks": lambda w: setattr(w.nodes["a"][1], "lack", "no gas"),
    "one node does not show the paying leg": lambda w: w.nodes["a"][1].own.update(
        {"escrow a": NOTHING}
    ),
    "one node shows the own leg as refunded": lambda w: w.nodes["b"][1].own.update(
        {"escrow b": REFUNDED}
    ),
    "one node has spoken and is silent now": lambda w: (
        w.show("a", NOTHING),
        w.then.update({8: lambda: (w.show("a", FUNDED), w.nodes["b"][1].fall())}),
    ),
    "the own leg goes back": lambda w: w.show("b", replace(FUNDED, refunded=seen("back", 0))),
    "the paying leg is not deep": lambda w: w.show("a", replace(FUNDED, funded=seen("f", 2))),
    "the time is over": lambda w: setattr(w, "later", REVEAL - NOW + 1),
    "the secret of the store is another": lambda w: w.secrets.update(
        dict.fromkeys(w.secrets, "11" * 32)
    ),
    "the disk is full": lambda w: w.fails.add("put_swap"),
    "money is in a former escrow": lambda w: (
        w.keeps(former={"b": (former("b"),)}),
        w.facts.update({"former b": FUNDED}),
    ),
    "the wallet fails": lambda w: w.fails.add("sign claim a"),
    "a restored swap may have been given up": lambda w: (
        w.keeps(restored=True, funding=None),
        w.words.update(get_swap=refusal("no_answer", 0)),
    ),
}


@pytest.mark.parametrize("why", SHUT)
def test_no_secret_is_told_where(ready: World, why: str) -> None:
    SHUT[why](ready)
    assert runs(ready) == []
    assert ready.record.public_secret is None
    assert all("claim" not in each for each in ready.log if each.startswith("broadcast"))
    assert SECRET not in "".join(str(each) for each in ready.told)
    if "has given up" in why or "as given up" in why:
        assert ready.record.given_up is not None


@pytest.mark.parametrize("word", [refusal("no_answer", 0), None])
def test_a_market_that_is_silent_or_gone_holds_no_secret_back(
    ready: World, word: Exception | None
) -> None:
    if word is None:
        ready.has_market = False
    else:
        ready.words["announce_claim"] = word
    assert runs(ready) == ["claim a"]


def test_a_restored_swap_tells_its_secret_once_the_market_knows_of_no_wish(ready: World) -> None:
    ready.keeps(restored=True, funding=None)
    assert runs(ready) == ["claim a"]


@pytest.mark.parametrize(("held", "is_told"), [(AMOUNT, True), (AMOUNT * 2, False)])
def test_what_a_person_paid_too_much_is_not_given_away(
    monkeypatch: pytest.MonkeyPatch, held: int, is_told: bool
) -> None:
    world = World(monkeypatch, "initiator", nodes=2, bitcoin="b")
    world.keeps(by_hand=True)
    world.show("a", FUNDED)
    world.show("b", FUNDED)
    world.nodes["b"][1].balances = (held - AMOUNT, AMOUNT)
    assert runs(world) == (["claim a"] if is_told else [])


@pytest.fixture
def owed(counterparty: World) -> World:
    """The own leg was claimed: the secret is public, and the other leg pays for it."""
    counterparty.keeps(funding=Kept("id of fund a", "fund a", NOW))
    counterparty.show("a", CLAIMED)
    counterparty.show("b", FUNDED)
    return counterparty


CLAIMS: dict[str, Callable[[World], Any]] = {
    "the disk is full": lambda w: w.fails.update(("put_swap", "put_secret")),
    "the market refuses": lambda w: w.words.update(broadcast=refusal("forbidden", 403)),
    "the market is gone": lambda w: setattr(w, "has_market", False),
    "the own chain is silent from then on": lambda w: (
        w.keeps(public_secret=SECRET),
        [setattr(each, "is_down", True) for each in w.nodes["a"]],
    ),
    "one node shows the paying leg as claimed": lambda w: w.nodes["b"][0].own.update(
        {"escrow b": replace(CLAIMED, secret=None)}
    ),
    "one node shows the paying leg as unfunded": lambda w: w.nodes["b"][0].own.update(
        {"escrow b": NOTHING}
    ),
    "one node builds none": lambda w: w.nodes["b"][0].refuses.add("build"),
    "one node takes none and no market relays it": lambda w: (
        w.nodes["b"][0].refuses.add("claim b"),
        setattr(w, "has_market", False),
    ),
    "the time to tell it is over": lambda w: setattr(w, "later", LOCK_B - NOW - 100),
    "this side has given up": lambda w: w.keeps(given_up=GivenUp(NOW, True)),
    "the own claim was in a block that is gone": lambda w: (
        w.keeps(public_secret=SECRET),
        w.show("a", NOTHING),
    ),
    "one node alone shows the secret": lambda w: (
        w.show("a", FUNDED),
        w.nodes["a"][1].own.update({"escrow a": replace(FUNDED, secret=SECRET)}),
    ),
    "the market alone shows the secret": lambda w: (
        w.show("a", FUNDED),
        setattr(w, "secret", SECRET),
    ),
    "a failed claim shows the secret": lambda w: w.show("a", replace(FUNDED, secret=SECRET)),
    "the device has lost all but its phrase": lambda w: w.keeps(funding=None, restored=True),
}


@pytest.mark.parametrize("why", CLAIMS)
def test_a_public_secret_claims_although(owed: World, why: str) -> None:
    CLAIMS[why](owed)
    assert runs(owed) == ["claim b"]


def test_the_word_of_another_device_comes_too_late_for_a_public_secret(owed: World) -> None:
    owed.releases["b"] = OWN
    assert runs(owed) == ["claim b"] and owed.record.given_up is None


def test_a_secret_that_the_market_invents_claims_nothing(owed: World) -> None:
    owed.show("a", FUNDED)
    owed.secret = "11" * 32
    assert runs(owed) == []


@pytest.mark.parametrize(
    ("bitcoin", "differ", "later", "is_sent"),
    [
        ("", False, LOCK_B - NOW - 30, True),
        ("", False, LOCK_B - NOW, False),
        ("", True, LOCK_B - NOW, True),
        ("b", False, LOCK_B - NOW, True),
    ],
)
def test_a_claim_is_tried_until_its_chain_takes_none(
    monkeypatch: pytest.MonkeyPatch, bitcoin: str, differ: bool, later: int, is_sent: bool
) -> None:
    world = World(monkeypatch, "counterparty", nodes=2, bitcoin=bitcoin)
    world.keeps(funding=Kept("id of fund a", "fund a", NOW))
    world.show("a", CLAIMED)
    world.show("b", FUNDED)
    world.later = later
    if differ:
        world.nodes["b"][1].own["escrow b"] = replace(FUNDED, funded=seen("funding", 1))
    assert runs(world, 20) == (["claim b"] if is_sent else [])


def test_a_claim_of_the_own_key_that_waits_is_not_outbid_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, "counterparty", bitcoin="b")
    world.keeps(funding=Kept("id of fund a", "fund a", NOW))
    world.show("a", CLAIMED)
    world.show("b", replace(FUNDED, claimed=seen("other device's", 0), secret=SECRET))
    world.options = replace(world.options, poll_seconds=100)
    assert runs(world, 1_000) == []
    assert runs(world, 1_500) == ["claim b"]


def test_the_payment_of_a_former_escrow_is_claimed_there(owed: World) -> None:
    owed.keeps(former={"b": (former("b"),)})
    owed.show("b", NOTHING)
    owed.facts["former b"] = FUNDED
    assert runs(owed) == ["claim former b"]


def test_a_secret_that_a_former_escrow_shows_counts(owed: World) -> None:
    owed.show("a", FUNDED)
    owed.keeps(former={"a": (former("a"),)})
    owed.facts["former a"] = EscrowFacts(secret=SECRET)
    assert runs(owed) == ["claim b"]


@pytest.mark.parametrize("what", ["claim", "refund"])
def test_what_no_node_takes_any_more_is_made_anew(owed: World, what: str) -> None:
    world = owed
    if what == "refund":
        world.show("a", FUNDED)
        world.show("b", NOTHING)
        world.later = LOCK_A - NOW + 10
    leg = "b" if what == "claim" else "a"
    world.run(30)
    assert world.log.count(f"sign {what} {leg}") == 1
    world.outcomes[f"{what} {leg}"] = "dead"
    world.run(30)
    assert world.log.count(f"sign {what} {leg}") > 1


def test_a_failure_of_the_own_leg_calls_no_person_while_a_claim_is_due(owed: World) -> None:
    owed.keeps(public_secret=SECRET)
    owed.lacks = "a"
    assert owed.run() is None
    assert owed.sent == ["claim b"]
