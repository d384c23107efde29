"""The customer's store: secrets, trades, and all it takes to claim and refund alone.

``FileStore`` keeps a file a record in a folder. A program may bring its own (``Store``).
"""

from __future__ import annotations

import os
import re
import secrets as randomness
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..errors import SettleError
from ..hashlock import Hashlock, hashlock_of, new_secret, opens
from ..verify.trade import OwnTrade
from .record import SwapRecord

T = TypeVar("T")
_RECORD = TypeAdapter(SwapRecord)
_TRADE = TypeAdapter(OwnTrade)
_ID = re.compile(r"[0-9a-zA-Z-]{1,64}")


class Store(Protocol):
    """Each ``put`` returns when its entry survives a power cut. No secret is ever overwritten."""

    async def put_secret(self, hashlock: str, secret: str) -> None: ...

    async def get_secret(self, hashlock: str) -> str | None: ...

    async def put_trade(self, trade: OwnTrade) -> None: ...

    async def get_trade(self, thread_id: str) -> OwnTrade | None: ...

    async def put_swap(self, record: SwapRecord) -> None: ...

    async def get_swap(self, swap_id: str) -> SwapRecord | None: ...

    async def swap_ids(self) -> Sequence[str]: ...

    def lock(self, name: str) -> Lock | None:
        """The lock, unless another process has it. It ends with its process, however that ends."""
        ...


class Lock(Protocol):
    def release(self) -> None: ...


async def new_hashlock(store: Store) -> Hashlock:
    """A new secret, kept before its hashlock is told to anyone."""
    secret = new_secret()
    hashlock = hashlock_of(secret)
    await store.put_secret(hashlock, secret)
    return hashlock


def write_record(record: SwapRecord) -> str:
    """As JSON. It may hold a secret: keep it as private as a key."""
    return _RECORD.dump_json(record).decode()


def read_record(text: str) -> SwapRecord:
    """Raises ValueError for what is no record."""
    return _RECORD.validate_json(text)


def write_trade(trade: OwnTrade) -> str:
    return _TRADE.dump_json(trade).decode()


def read_trade(text: str) -> OwnTrade:
    return _TRADE.validate_json(text)


class FileStore:
    """Private files in a folder, each written whole and synced before it has its name."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        for each in (self._folder, *(self._folder / name for name in _FOLDERS)):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sync(each)
        _sync(self._folder)

    async def put_secret(self, hashlock: str, secret: str) -> None:
        held = await self.get_secret(hashlock)
        if held is not None and held != secret:
            raise SettleError("bad_record", f"{hashlock} already has a secret")
        _must_open(hashlock, secret)
        if held is None:
            self._write("secrets", hashlock, secret)

    async def get_secret(self, hashlock: str) -> str | None:
        held = self._read("secrets", hashlock)
        if held is not None:
            _must_open(hashlock, held)
        return held

    async def put_trade(self, trade: OwnTrade) -> None:
        self._write("trades", trade.thread_id, write_trade(trade))

    async def get_trade(self, thread_id: str) -> OwnTrade | None:
        text = self._read("trades", thread_id)
        return None if text is None else _held(thread_id, text, _TRADE)

    async def put_swap(self, record: SwapRecord) -> None:
        self._write("swaps", record.swap.id, write_record(record))

    async def get_swap(self, swap_id: str) -> SwapRecord | None:
        text = self._read("swaps", swap_id)
        return None if text is None else _held(swap_id, text, _RECORD)

    async def swap_ids(self) -> Sequence[str]:
        found = {_id_in(each) for each in os.listdir(self._folder / "swaps")}
        return sorted(each for each in found if _ID.fullmatch(each))

    def lock(self, name: str) -> Lock | None:
        path = self._folder / "locks" / sha256(name.encode()).hexdigest()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            return None
        return _FileLock(descriptor)

    def _read(self, kind: str, name: str) -> str | None:
        folder, named = self._folder / kind, _named(name)
        try:
            return (folder / named).read_text()
        except FileNotFoundError:
            # An older version has named it by the id itself.
            is_older = named != name and name in os.listdir(folder)
            return (folder / name).read_text() if is_older else None

    def _write(self, kind: str, name: str, text: str) -> None:
        folder = self._folder / kind
        made = folder / f".{os.getpid()}.{randomness.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(os.open(made, flags, 0o600), "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            made.rename(folder / _named(name))
        finally:
            made.unlink(missing_ok=True)
        _sync(folder)


_FOLDERS = ("secrets", "trades", "swaps", "locks")


class _FileLock:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        os.close(self._descriptor)


def _lock(descriptor: int) -> None:
    """OSError: another process has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _named(id: str) -> str:
    """Ids come from a market, and a disk may take "A" and "a" for one name: +a is A."""
    if _ID.fullmatch(id) is None:
        raise SettleError("bad_record", f'"{id[:80]}" cannot be the name of a record')
    return re.sub("[A-Z]", lambda capital: f"+{capital[0].lower()}", id)


def _id_in(name: str) -> str:
    return re.sub(r"\+([a-z])", lambda small: small[1].upper(), name)


def _must_open(hashlock: str, secret: str) -> None:
    try:
        is_good = secret == secret.lower() and opens(secret, hashlock)
    except ValueError:
        is_good = False
    if not is_good:
        raise SettleError("bad_record", f"a secret that does not open {hashlock}")


def _held(id: str, text: str, kind: TypeAdapter[T]) -> T:
    try:
        return kind.validate_json(text)
    except ValidationError:
        # The error would quote what it holds.
        sentence = f"the record {id} is not readable: keep it as it is, it holds terms"
        raise SettleError("bad_record", sentence) from None


def _sync(folder: Path) -> None:
    if sys.platform == "win32":
        # A folder has no handle there: its file systems keep names in order by themselves.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def must_be_only(store: Store, record: SwapRecord) -> None:
    """With a second swap the secret that opens the first opens both, and an RFQ has one swap.

    Raises SettleError ``hashlock_used``. Reads every record: no index can be wrong.
    """
    swap, trade = record.swap, record.trade
    for each in await store.swap_ids():
        other = None if each == swap.id else await store.get_swap(each)
        if other is None:
            continue
        same = {
            "hashlock": other.swap.hashlock == swap.hashlock,
            "thread": other.trade.thread_id == trade.thread_id,
            # A restored swap is not funded here.
            "RFQ": not record.restored and other.trade.rfq_id == trade.rfq_id,
        }
        what = next((name for name, is_same in same.items() if is_same), None)
        if what is not None:
            sentence = f"swap {swap.id} has the {what} of swap {each}: never fund it"
            raise SettleError("hashlock_used", sentence)
