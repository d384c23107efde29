"""Solana transactions as bytes: built in the legacy form, read in both."""

from __future__ import annotations

from dataclasses import dataclass

from .codecs import base58_decode, base58_encode, base64_decode
from .errors import ChainError

MOST_TRANSACTION_BYTES = 1_232
_SIGNATURE_BYTES = 64
_MOST_SIGNATURES = 12
_VERSION_BIT = 0x80


@dataclass(frozen=True, slots=True)
class AccountRole:
    address: str
    signs: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    program: str
    accounts: tuple[AccountRole, ...]
    data: bytes


def unsigned_transaction(payer: str, instructions: list[Instruction], blockhash: str) -> bytes:
    """The transaction of one signer, who pays for it: a signature of zeros, then the message."""
    slots: dict[str, tuple[bool, bool]] = {payer: (True, True)}

    def name(address: str, signs: bool, writes: bool) -> None:
        before = slots.get(address, (False, False))
        slots[address] = (before[0] or signs, before[1] or writes)

    for each in instructions:
        for account in each.accounts:
            name(account.address, account.signs, account.writes)
        name(each.program, False, False)
    # Stable: within a rank in the order named, the payer first.
    keys = sorted(slots, key=lambda address: (not slots[address][0], not slots[address][1]))
    roles = list(slots.values())
    header = (
        sum(signs for signs, _ in roles),
        sum(signs and not writes for signs, writes in roles),
        sum(not signs and not writes for signs, writes in roles),
    )
    place = {address: at for at, address in enumerate(keys)}
    body = b""
    for each in instructions:
        accounts = bytes(place[account.address] for account in each.accounts)
        body += bytes([place[each.program]]) + _length(len(accounts)) + accounts
        body += _length(len(each.data)) + each.data
    parts = [
        b"\x01" + bytes(_SIGNATURE_BYTES) + bytes(header) + _length(len(keys)),
        *(base58_decode(address) for address in keys),
        base58_decode(blockhash) + _length(len(instructions)) + body,
    ]
    return b"".join(parts)


def _length(value: int) -> bytes:
    """compact-u16: seven bits a byte, the lowest first."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


@dataclass(frozen=True, slots=True)
class ReadInstruction:
    """``program`` is None where a lookup table would name it; accounts by their place."""

    program: str | None
    accounts: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class ReadMessage:
    signatures: tuple[bytes, ...]
    message: bytes
    signers: int
    keys: tuple[str, ...]
    blockhash: str
    instructions: tuple[ReadInstruction, ...]
    lookups: int


def _refuse(why: str) -> ChainError:
    return ChainError("bad_transaction", f"the Solana transaction is not readable: {why}")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if self.at + count > len(self.data):
            raise ValueError(f"{count} bytes wanted at {self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def length(self) -> int:
        value = 0
        for shift in (0, 7, 14):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte & 0x80 == 0:
                return value
        raise ValueError("a length of more than three bytes")


def read_transaction(text: str) -> ReadMessage:
    """Decodes base64. Throws ``bad_transaction``."""
    try:
        if len(text) > MOST_TRANSACTION_BYTES * 2:
            raise ValueError(f"{len(text)} characters")
        data = base64_decode(text)
    except ValueError as error:
        raise _refuse("it is not base64 of at most 1 232 bytes") from error
    if len(data) > MOST_TRANSACTION_BYTES:
        raise _refuse(f"it has {len(data)} bytes, more than {MOST_TRANSACTION_BYTES}")
    try:
        return _read(data)
    except ChainError:
        raise
    except ValueError as error:
        raise _refuse("it ends early or is malformed") from error


def _read(data: bytes) -> ReadMessage:
    reader = _Reader(data)
    signatures = tuple(reader.take(_SIGNATURE_BYTES) for _ in range(reader.length()))
    if not 1 <= len(signatures) <= _MOST_SIGNATURES:
        raise _refuse(f"it has {len(signatures)} signatures")
    message = data[reader.at :]
    first = message[0] if message else 0
    is_versioned = first & _VERSION_BIT != 0
    if is_versioned and first != _VERSION_BIT:
        raise _refuse(f"it is of version {first & ~_VERSION_BIT}; 0 and legacy are read")
    if is_versioned:
        reader.byte()
    signers = reader.byte()
    reader.take(2)
    if signers != len(signatures):
        raise _refuse(f"it wants {signers} signatures and has room for {len(signatures)}")
    keys = tuple(base58_encode(reader.take(32)) for _ in range(reader.length()))
    blockhash = base58_encode(reader.take(32))
    instructions = tuple(_instruction(reader, keys) for _ in range(reader.length()))
    lookups = reader.length() if is_versioned else 0
    for _ in range(lookups):
        reader.take(32)
        reader.take(reader.length())
        reader.take(reader.length())
    if reader.at != len(data):
        raise _refuse("bytes follow after its end")
    return ReadMessage(signatures, message, signers, keys, blockhash, instructions, lookups)


def _instruction(reader: _Reader, keys: tuple[str, ...]) -> ReadInstruction:
    place = reader.byte()
    accounts = tuple(reader.take(reader.length()))
    program = keys[place] if place < len(keys) else None
    return ReadInstruction(program, accounts, reader.take(reader.length()))
