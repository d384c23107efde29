"""The customer's store as one settlement has it.

A transaction that is not on disk is not sent, until the secret is public or a refund is due: then
a silent or full disk stops nothing. Source: `packages/sdk/settle/keeping.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from .record import SwapRecord
from .store import Store

T = TypeVar("T")


class StoreSilent(Exception):
    """The store gave no answer in time: whether it has done what it was asked is not known."""


class KeptStore:
    def __init__(
        self, store: Store, swap_id: str, seconds: float, tell: Callable[[str], None]
    ) -> None:
        self._store = store
        self._swap_id = swap_id
        self._seconds = seconds
        self._tell = tell
        self._hanging: set[object] = set()
        self._unwritten: SwapRecord | None = None
        # A write that failed, or was taken back, may be there all the same.
        self._is_doubted = False
        self.latest: SwapRecord | None = None
        """The record as it was kept last; None before there is any."""

    async def _in_time(self, ask: Callable[[], Awaitable[T]]) -> T:
        """One call at a time once one hangs: an older write must not come after a newer one."""
        if self._hanging:
            raise StoreSilent("it has not answered yet")

        async def call() -> T:
            return await ask()

        task = asyncio.create_task(call())
        try:
            done, _ = await asyncio.wait([task], timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        self._hanging.add(task)
        task.add_done_callback(self._answered)
        raise StoreSilent(f"no answer within {self._seconds:g} s")

    def _answered(self, task: asyncio.Task[T]) -> None:
        self._hanging.discard(task)
        if not task.cancelled():
            task.exception()

    async def _put(self, record: SwapRecord) -> None:
        try:
            await self._in_time(lambda: self._store.put_swap(record))
        except Exception:
            # One that is told as failed may have been done.
            found = await self._found()
            if found != record:
                self._is_doubted = found != self.latest
                raise
        self._unwritten = None
        self.latest = record
        self._is_doubted = False

    async def _found(self) -> SwapRecord | None:
        try:
            return await self._in_time(lambda: self._store.get_swap(self._swap_id))
        except Exception:
            return None

    async def put(self, record: SwapRecord) -> None:
        """Raises where it is not kept, unless that may wait for no disk."""
        if self.latest is not None and _may_go_unwritten(self.latest, record):
            await self._put_anyway(record)
        else:
            await self._put(record)

    async def put_telling(
        self, record: SwapRecord, before: SwapRecord, still: Callable[[], Awaitable[None]]
    ) -> None:
        """``still`` is asked after writing, and unless it returns all is as before."""
        # A store that hangs is met here, while all that it can hold is undecided.
        await self._put(before)
        await self._put(record)
        try:
            await still()
        except Exception:
            self.latest = before
            self._is_doubted = True
            await self._restore()
            raise

    async def put_seen(self, record: SwapRecord) -> None:
        """Keeps what was seen in public, whatever the store does with it."""
        await self._put_anyway(record)
        secret = record.public_secret
        if secret is None:
            return
        try:
            await self._in_time(lambda: self._store.put_secret(record.swap.hashlock, secret))
        except Exception as error:
            self._tell(f"the secret is in the record of its swap alone: {error}")

    async def _put_anyway(self, record: SwapRecord) -> None:
        self.latest = record
        self._is_doubted = False
        self._unwritten = record
        await self._write_again()

    async def _restore(self) -> None:
        """For a restart, which can ask nobody whether it was sent."""
        record = self.latest
        if not self._is_doubted or record is None:
            return
        try:
            await self._in_time(lambda: self._store.put_swap(record))
            self._is_doubted = False
        except Exception as error:
            self._tell(f"the store may hold what was not sent: {error}")

    async def _write_again(self) -> None:
        record = self._unwritten
        if record is None:
            return
        try:
            await self._in_time(lambda: self._store.put_swap(record))
        except Exception as error:
            why = "the record is in memory alone, and lost with this process"
            self._tell(f"{why}: {error}")
            return
        if self._unwritten is record:
            self._unwritten = None

    async def write_again(self) -> None:
        """Tries again to write what the store did not take."""
        await self._restore()
        await self._write_again()

    async def load(self) -> SwapRecord | None:
        if self.latest is None:
            self.latest = await self._in_time(lambda: self._store.get_swap(self._swap_id))
        return self.latest

    async def get_secret(self, hashlock: str) -> str | None:
        return await self._in_time(lambda: self._store.get_secret(hashlock))

    async def others(self) -> Sequence[SwapRecord]:
        """The records of all other swaps."""
        found: list[SwapRecord] = []
        for each in await self._in_time(self._store.swap_ids):
            if each == self._swap_id:
                continue
            record = await self._get(each)
            if record is not None:
                found.append(record)
        return found

    async def _get(self, swap_id: str) -> SwapRecord | None:
        return await self._in_time(lambda: self._store.get_swap(swap_id))


def _may_go_unwritten(before: SwapRecord, after: SwapRecord) -> bool:
    """With the secret public only the chain may refuse; a refund made twice harms nobody. A run
    that forgot its word to give up could show its secret.
    """
    if before.given_up != after.given_up and before.public_secret is None:
        return False
    return bool(before.public_secret or before.refund or after.refund)


def without_sent(record: SwapRecord) -> SwapRecord:
    """As a phrase gives a swap back to another device, which may have funded it."""
    return replace(
        record,
        funding=None,
        claim=None,
        refund=None,
        approval=None,
        cancel=None,
        public_secret=None,
        given_up=None,
        released=None,
        seen={},
        marks={},
        by_hand=False,
        restored=True,
    )
