"""The customer's store may fail, hang, or do what it says it did not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from parley._settle.keeping import KeptStore, StoreSilent
from parley._settle.record import GivenUp, Kept, SwapRecord

from .world import HASHLOCK, NOW, SECRET, Disk, VirtualLoop, World

KEPT = Kept("id", "raw", NOW)


class Odd(Disk):
    """``lies``: it has done what it says it did not. ``hangs``: it gives no answer for so long."""

    lies, hangs, writes = False, 0.0, 0

    async def put_swap(self, record: SwapRecord) -> None:
        self.writes += 1
        await asyncio.sleep(self.hangs)
        await super().put_swap(record)
        if self.lies:
            raise OSError("it did not, it says")


def tried(
    world: World, work: Callable[[KeptStore, Odd], Awaitable[object]]
) -> tuple[KeptStore, Odd, str]:
    """The store, the disk, and what it came to."""
    disk = Odd(world)
    store = KeptStore(disk, "swap", 5.0, lambda _: None)
    store.latest = world.record

    async def run() -> str:
        try:
            await work(store, disk)
        except (OSError, StoreSilent, ZeroDivisionError) as error:
            return type(error).__name__
        return "kept"

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return store, disk, runner.run(run())


async def shut() -> None:
    raise ZeroDivisionError


async def still() -> None:
    pass


def test_a_secret_that_is_not_sent_is_neither_public_nor_on_disk(initiator: World) -> None:
    before = initiator.record
    after = replace(before, claim=KEPT, public_secret=SECRET)
    store, _, said = tried(initiator, lambda store, _: store.put_telling(after, before, shut))
    assert said == "ZeroDivisionError"
    assert store.latest == initiator.record == before
    store, _, said = tried(initiator, lambda store, _: store.put_telling(after, before, still))
    assert said == "kept" and store.latest == initiator.record == after


def test_a_store_that_hangs_is_met_before_it_holds_a_secret(initiator: World) -> None:
    before = initiator.record
    after = replace(before, claim=KEPT, public_secret=SECRET)

    async def work(store: KeptStore, disk: Odd) -> None:
        disk.hangs = 60.0
        await store.put_telling(after, before, still)

    store, disk, said = tried(initiator, work)
    assert said == "StoreSilent" and disk.writes == 1 and store.latest == before


def test_a_write_that_is_told_as_failed_may_have_been_done(initiator: World) -> None:
    after = replace(initiator.record, funding=KEPT)

    async def work(store: KeptStore, disk: Odd) -> None:
        disk.lies = True
        await store.put(after)

    store, _, said = tried(initiator, work)
    assert said == "kept" and store.latest == after


def test_an_older_write_never_comes_after_a_newer_one(initiator: World) -> None:
    after = replace(initiator.record, public_secret=SECRET, funding=KEPT)

    async def work(store: KeptStore, disk: Odd) -> None:
        disk.hangs = 60.0
        await store.put_seen(replace(after, funding=None))
        disk.hangs = 0.0
        await store.put(after)
        assert store.latest == after and initiator.record != after
        await asyncio.sleep(120)
        await store.write_again()

    _, _, said = tried(initiator, work)
    assert said == "kept" and initiator.record == after


def test_only_a_public_secret_and_a_refund_wait_for_no_disk(initiator: World) -> None:
    initiator.fails.update(("put_swap", "put_secret"))
    first, word = initiator.record, GivenUp(NOW, True)
    for before, change, said in [
        (first, {"funding": KEPT}, "OSError"),
        (first, {"given_up": word}, "OSError"),
        (first, {"refund": KEPT}, "kept"),
        (replace(first, refund=KEPT), {"given_up": word}, "OSError"),
        (replace(first, public_secret=SECRET), {"claim": KEPT}, "kept"),
    ]:
        initiator.record = before
        after = replace(before, **change)  # type: ignore[arg-type]
        store, _, found = tried(initiator, lambda store, _: store.put(after))
        assert found == said and store.latest == (after if said == "kept" else before)


def test_a_secret_that_was_seen_is_kept_beside_the_record_too(counterparty: World) -> None:
    after = replace(counterparty.record, public_secret=SECRET)
    _, _, said = tried(counterparty, lambda store, _: store.put_seen(after))
    assert said == "kept" and counterparty.secrets == {HASHLOCK: SECRET}


@pytest.mark.parametrize("is_gone", [True, False])
def test_what_was_not_written_is_written_later(counterparty: World, is_gone: bool) -> None:
    after = replace(counterparty.record, public_secret=SECRET)

    async def work(store: KeptStore, _: Odd) -> None:
        counterparty.fails.add("put_swap")
        await store.put_seen(after)
        if not is_gone:
            counterparty.fails.clear()
        await store.write_again()

    tried(counterparty, work)
    assert (counterparty.record == after) is not is_gone
