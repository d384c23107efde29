"""No single answer of a node decides: what was seen at depth stays until its block is another."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from parley._settle.facts import EscrowFacts
from parley._settle.memory import Marks, Memory
from parley._settle.observe import Asking, Hearing, Observed, observe
from parley._settle.record import former_of, watched_of

from .world import (
    CLAIMED,
    FUNDED,
    NOTHING,
    NOW,
    OUTAGE,
    SECRET,
    VirtualLoop,
    World,
    former,
    seen,
)


class Looks:
    """Looks at leg b by two nodes, which learn of each other and keep what they agree on."""

    def __init__(self, world: World) -> None:
        self.world, self.one, self.other = world, *world.nodes["b"]
        self.hearing, self.memory = Hearing(), Memory()

    def look(self, at: int = 0, *, whole: bool = False) -> Observed:
        self.world.later, self.world.passed = at, 0.0

        async def found() -> Observed:
            loop = asyncio.get_running_loop()

            async def now() -> int:
                return self.world.now

            escrow, before = watched_of(self.world.record, "b"), former_of(self.world.record, "b")
            asking = Asking(
                source=self.world.source("b"),
                watched=escrow,
                former=before,
                memory=self.memory,
                hearing=self.hearing,
                wall=NOW + at,
                now=now,
                deadline=15.0,
                others_seconds=None if whole else 2.0,
            )
            assert loop.time() == 0.0
            return await observe(asking)

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            shown = runner.run(found())
        if shown.evidence.agreed:
            self.memory = Memory(shown.facts, shown.evidence.marks)
        return shown

    def both(self, facts: EscrowFacts) -> None:
        for each in (self.one, self.other):
            each.own["escrow b"] = facts


@pytest.fixture
def looks(initiator: World) -> Looks:
    return Looks(initiator)


def test_what_all_nodes_deny_is_refused_unless_they_prove_another_block(looks: Looks) -> None:
    looks.both(FUNDED)
    assert looks.look().evidence.marks.blocks["funded"].hash == "0xaa"
    looks.both(NOTHING)
    denied = looks.look(60)
    assert denied.facts.funded == FUNDED.funded and not denied.evidence.agreed
    looks.one.block = looks.other.block = None
    assert not looks.look(120).evidence.agreed
    looks.one.block = looks.other.block = "0xbb"
    assert looks.look(180).facts == NOTHING


def test_a_lie_of_one_node_is_forgotten_once_all_deny_it_for_longer_than_an_outage(
    looks: Looks,
) -> None:
    looks.one.own["escrow b"] = FUNDED
    looks.other.is_down = True
    marks = looks.look().evidence.marks
    assert set(marks.alone) == {"funded"}
    looks.both(NOTHING)
    looks.other.is_down = False
    assert looks.look(60).facts.funded is not None
    # It speaks for it once more: the time begins anew.
    looks.one.own["escrow b"] = FUNDED
    looks.look(OUTAGE)
    looks.both(NOTHING)
    assert looks.look(OUTAGE + 60).facts.funded is not None
    assert looks.look(2 * OUTAGE + 60).facts.funded is not None
    forgotten = looks.look(2 * OUTAGE + 61)
    assert forgotten.facts == NOTHING and forgotten.evidence.agreed


def test_the_node_that_showed_it_does_not_have_it_forgotten_by_itself(looks: Looks) -> None:
    looks.one.own["escrow b"] = FUNDED
    looks.other.is_down = True
    looks.look()
    looks.one.own["escrow b"] = NOTHING
    for at in (1_000, 2_000, 2_000 + OUTAGE + 1):
        assert looks.look(at).facts.funded is not None


def test_what_both_have_shown_is_never_forgotten(looks: Looks) -> None:
    looks.both(FUNDED)
    assert looks.look().evidence.marks.alone == {}
    looks.other.is_down = True
    looks.look(60)
    assert looks.look(700).evidence.marks.alone == {}
    looks.other.is_down = False
    looks.both(NOTHING)
    for at in (760, 761 + OUTAGE):
        assert looks.look(at).facts.funded is not None


def test_a_leg_whose_tokens_are_gone_is_not_deep_and_a_slow_node_takes_no_depth(
    looks: Looks,
) -> None:
    looks.both(FUNDED)
    looks.look()
    for confirmations, deep in ((2, True), (5, False)):
        looks.both(replace(FUNDED, funded=replace(seen("funding", confirmations), deep=False)))
        found = looks.look(60).facts.funded
        assert found is not None and found.deep is deep


def test_the_block_is_the_one_that_each_node_names(looks: Looks) -> None:
    looks.both(FUNDED)
    looks.other.block = "0xbb"
    assert looks.look().evidence.marks == Marks()
    looks.both(NOTHING)
    # Without a mark no other block proves anything.
    assert looks.look(10).facts.funded is not None
    looks.both(FUNDED)
    looks.other.block = None
    assert set(looks.look(20).evidence.marks.blocks) == {"funded"}


def test_a_node_that_has_spoken_and_fails_stops_what_begins_and_invents_no_time(
    looks: Looks,
) -> None:
    looks.both(FUNDED)
    looks.look()
    looks.other.is_down = True
    looks.one.ahead = 150
    found = looks.look(10)
    assert not found.evidence.agreed and found.latest == NOW + 10
    assert looks.look(611).evidence.agreed


def test_a_node_that_never_spoke_stops_what_ends_for_ten_minutes(looks: Looks) -> None:
    looks.both(FUNDED)
    looks.other.is_down = True
    assert looks.look().evidence.agreed
    assert not looks.look(600, whole=True).evidence.agreed
    assert looks.look(601, whole=True).evidence.agreed


def test_one_node_is_enough_for_a_payment_or_a_secret_in_a_former_escrow(looks: Looks) -> None:
    looks.world.keeps(former={"b": (former("b"),)})
    looks.other.own["former b"] = replace(FUNDED, secret=SECRET)
    found = looks.look()
    assert found.evidence.strayed is not None and found.evidence.strayed.address == "former b"
    assert found.facts.secret == SECRET


def test_in_doubt_an_escrow_is_open(looks: Looks) -> None:
    looks.both(FUNDED)
    looks.one.own["escrow b"] = CLAIMED
    found = looks.look()
    assert found.facts.claimed is None and not found.evidence.agreed
