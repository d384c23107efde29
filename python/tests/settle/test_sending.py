"""Bytes that were kept are sent again, and pay more where they wait too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from parley._settle.claims import refund, replace_stuck
from parley._settle.context import Context
from parley._settle.machine import may_raise
from parley._settle.record import Kept, LegSeen, leg_with
from parley._settle.send import kept_too_long, send_waiting
from parley.errors import Refusal

from .test_rules import stand
from .world import FUND_B, FUNDED, LOCK_B, NOTHING, NOW, SECRET, Disk, VirtualLoop, World, seen

KEPT = Kept("id of fund b", "fund b", NOW)


def within(world: World, work: Callable[[Context], Coroutine[Any, Any, Any]]) -> Any:
    """The result of this work in a settlement of this side, without a market."""

    async def run() -> Any:
        async def now() -> int:
            return world.now

        options = replace(world.options, now=now)
        disk, told = Disk(world), world.told.append
        context = Context("swap", None, None, world.chains(), disk, options, told)
        await context.store.load()
        return await work(context)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(run())


@pytest.mark.parametrize(("ago", "is_long"), [(119, False), (121, True), (-9_999, False)])
def test_a_restart_is_no_reason_to_wait_anew(initiator: World, ago: int, is_long: bool) -> None:
    async def work(context: Context) -> bool:
        kept = replace(KEPT, kept_at=NOW - ago)
        return kept_too_long(context, context.own_leg, kept)

    assert within(initiator, work) is is_long


@pytest.mark.parametrize(
    ("words", "is_long"), [("min relay fee not met", True), ("nonce too low", False)]
)
def test_a_fee_that_no_pool_takes_is_raised_at_once(
    initiator: World, words: str, is_long: bool
) -> None:
    async def refuses(*_: object) -> None:
        raise Refusal("refused_by_node", words)

    async def work(context: Context) -> bool:
        await send_waiting(context, context.own_leg, KEPT, refuses)
        return kept_too_long(context, context.own_leg, KEPT)

    assert within(initiator, work) is is_long
    assert words in str(initiator.told[-1])


def test_a_refusal_that_is_none_of_a_node_is_raised(initiator: World) -> None:
    async def refuses(*_: object) -> None:
        raise Refusal("given_up", "it is given up")

    async def work(context: Context) -> None:
        await send_waiting(context, context.own_leg, KEPT, refuses)

    with pytest.raises(Refusal):
        within(initiator, work)


@pytest.mark.parametrize("name", ["claim", "refund"])
def test_a_spend_on_bitcoin_that_waits_is_made_anew_with_its_former_versions_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    world = World(monkeypatch, "initiator", bitcoin="ab")
    leg = "a" if name == "claim" else "b"
    world.keeps(public_secret=SECRET)
    old = Kept("old", f"{name} {leg}", NOW - 1_201)
    for kept, sent in ((replace(old, kept_at=NOW), []), (old, [f"{name} {leg}"])):
        world.keeps(**{name: kept})

        async def work(context: Context) -> None:
            await replace_stuck(context, leg)

        within(world, work)
        assert world.sent == sent
    assert getattr(world.record, name).former == ("old",)


def test_a_funding_is_raised_in_time_and_only_while_it_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, "initiator", bitcoin="b")
    world.keeps(funding=replace(KEPT, former=("former",)))

    def may(at: int = NOW, shown: str | None = None, confirmations: int = 0, **change: Any) -> bool:
        facts = replace(FUNDED, funded=seen(shown, confirmations)) if shown else NOTHING
        found = stand(world, NOTHING, facts, at)
        own = replace(found.state.b, family="bitcoin")
        state = replace(found.state, b=own)
        return may_raise(replace(world.record, **change), replace(found, state=state))

    assert may() and may(FUND_B) and may(NOW, KEPT.txid) and may(NOW, "former")
    assert not may(FUND_B + 1)
    assert not may(NOW, "another") and not may(NOW, KEPT.txid, 1)
    assert not may(cancel=KEPT) and not may(claim=KEPT)


def test_a_refund_is_held_against_its_time_again(initiator: World) -> None:
    async def work(context: Context) -> None:
        leg = leg_with(context.record, "b", FUNDED, "evm")
        await refund(context, LegSeen(leg, LOCK_B - 1), NOW)

    with pytest.raises(Refusal) as refused:
        within(initiator, work)
    assert refused.value.code == "too_early_to_refund" and initiator.sent == []
