"""A PSBT (BIP 174 and 371, version 0) as bytes: the few entries that a spend of escrows needs."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from .bitcoin_tree import leaf_hash
from .codecs import base64_decode
from .crypto import sha256, sha256d, tagged_hash
from .errors import ChainError

_MAGIC = bytes.fromhex("70736274ff")
#: Ten times a spend of the most inputs, before wallets add theirs.
_MOST_CHARACTERS = 400_000
#: The most inputs of one refund.
MOST_INPUTS = 50
_MOST_OUTPUTS = 10
#: In one map: a template has three, and a wallet adds its own key's path.
_MOST_ENTRIES = 16
#: A type and a control block of two leaves: no longer key is looked at.
_LONGEST_KEY = 66
_UNSIGNED_TX, _WITNESS_UTXO, _PARTIAL_SIG, _SIGHASH_TYPE, _WITNESS_SCRIPT = b"\0\1\2\3\5"
#: Before an x-only key and the hash of a leaf; before a control block.
_TAP_SCRIPT_SIG, _TAP_LEAF = b"\x14\x15"
SIGHASH_DEFAULT, SIGHASH_ALL = 0, 1


def bad_psbt(sentence: str) -> ChainError:
    return ChainError("bad_transaction", sentence)


@dataclass(frozen=True, slots=True)
class Output:
    script: bytes
    amount: int

    def encoded(self) -> bytes:
        return self.amount.to_bytes(8, "little") + _sized(self.script)


@dataclass(frozen=True, slots=True)
class Input:
    """``outpoint``: 32 bytes of the id as it is hashed, and four of the number."""

    outpoint: bytes
    sequence: int

    @property
    def txid(self) -> str:
        return self.outpoint[31::-1].hex()

    @property
    def vout(self) -> int:
        return int.from_bytes(self.outpoint[32:], "little")

    def encoded(self) -> bytes:
        return self.outpoint + b"\x00" + self.sequence.to_bytes(4, "little")


@dataclass(frozen=True, slots=True)
class Unsigned:
    """A transaction without its witnesses; ``raw`` is as it was written."""

    version: int
    lock_time: int
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]

    def _outputs(self) -> bytes:
        return b"".join(each.encoded() for each in self.outputs)

    def encoded(self, witnesses: list[list[bytes]] | None = None) -> bytes:
        ends = (self.version.to_bytes(4, "little"), self.lock_time.to_bytes(4, "little"))
        body = bytes([len(self.inputs)]) + b"".join(each.encoded() for each in self.inputs)
        body += bytes([len(self.outputs)]) + self._outputs()
        if witnesses is None:
            return ends[0] + body + ends[1]
        # An item is a signature, a secret, a branch or the script: less than 253 bytes each.
        items = b"".join(
            bytes([len(each)]) + b"".join(_sized(item) for item in each) for each in witnesses
        )
        return ends[0] + b"\x00\x01" + body + items + ends[1]

    def txid(self) -> str:
        return sha256d(self.encoded())[::-1].hex()

    def sighash(self, at: int, script: bytes, amount: int) -> bytes:
        """The hash that SIGHASH_ALL signs for an input (BIP 143)."""
        spent = self.inputs[at]
        parts = [
            self.version.to_bytes(4, "little"),
            sha256d(b"".join(each.outpoint for each in self.inputs)),
            sha256d(b"".join(each.sequence.to_bytes(4, "little") for each in self.inputs)),
            spent.outpoint,
            _sized(script),
            amount.to_bytes(8, "little"),
            spent.sequence.to_bytes(4, "little"),
            sha256d(self._outputs()),
            self.lock_time.to_bytes(4, "little"),
            SIGHASH_ALL.to_bytes(4, "little"),
        ]
        return sha256d(b"".join(parts))

    def leaf_sighash(self, at: int, spent: list[Output], leaf: bytes) -> bytes:
        """The hash that SIGHASH_DEFAULT signs for an input's leaf (BIP 341 and 342)."""
        parts = [
            # The epoch, then SIGHASH_DEFAULT.
            b"\0\0",
            self.version.to_bytes(4, "little"),
            self.lock_time.to_bytes(4, "little"),
            sha256(b"".join(each.outpoint for each in self.inputs)),
            sha256(b"".join(each.amount.to_bytes(8, "little") for each in spent)),
            sha256(b"".join(_sized(each.script) for each in spent)),
            sha256(b"".join(each.sequence.to_bytes(4, "little") for each in self.inputs)),
            sha256(self._outputs()),
            # A leaf is spent, and there is no annex.
            b"\x02",
            at.to_bytes(4, "little"),
            leaf_hash(leaf),
            # No code separator comes before the signature's check.
            b"\0\xff\xff\xff\xff",
        ]
        return tagged_hash("TapSighash", b"".join(parts))


@dataclass(frozen=True, slots=True)
class InputMap:
    """``leaf``: script and control block of the one that is to be signed."""

    witness_utxo: Output | None
    witness_script: bytes | None
    leaf: tuple[bytes, bytes] | None
    sighash_type: int | None
    partial: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Psbt:
    tx: Unsigned
    maps: tuple[InputMap, ...]


def _sized(data: bytes) -> bytes:
    if len(data) >= 253:
        raise ValueError(f"{len(data)} bytes")
    return bytes([len(data)]) + data


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise ValueError("it ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def size(self) -> int:
        first = self.number(1)
        value = first if first < 253 else self.number({253: 2, 254: 4, 255: 8}[first])
        if value > len(self.data):
            raise ValueError("a length is larger than the whole")
        return value

    def sized(self) -> bytes:
        return self.take(self.size())

    def is_done(self) -> bool:
        return self.at == len(self.data)

    def output(self) -> Output:
        amount = self.number(8)
        return Output(self.sized(), amount)


def decode_psbt(text: str) -> Psbt:
    """Decodes base64. Throws ``bad_transaction``."""
    if len(text) > _MOST_CHARACTERS:
        raise bad_psbt(f"the PSBT has {len(text)} characters, more than {_MOST_CHARACTERS}")
    try:
        return _decode(Reader(base64_decode(text)))
    except ChainError:
        raise
    except ValueError as error:
        raise bad_psbt("psbtBase64 is not a PSBT in base64") from error


def _decode(reader: Reader) -> Psbt:
    if reader.take(len(_MAGIC)) != _MAGIC:
        raise ValueError("no magic")
    whole = _map(reader, "the whole")
    unsigned = whole.get(bytes([_UNSIGNED_TX]))
    if unsigned is None:
        raise ValueError("no unsigned transaction")
    tx = _unsigned(Reader(unsigned))
    inputs = [_map(reader, f"input {at}") for at in range(len(tx.inputs))]
    for at in range(len(tx.outputs)):
        _map(reader, f"output {at}")
    if not reader.is_done():
        raise ValueError("bytes follow after its end")
    return Psbt(tx, tuple(_input_map(entries) for entries in inputs))


def _map(reader: Reader, whose: str) -> dict[bytes, bytes]:
    """Values by key, without those whose keys are too long to be of use."""
    entries: dict[bytes, bytes] = {}
    count = 0
    while key := reader.sized():
        if count == _MOST_ENTRIES:
            sentence = f"the PSBT has more than {_MOST_ENTRIES} entries of {whose}"
            raise bad_psbt(f"{sentence}: no spend of an escrow needs them")
        count += 1
        value = reader.sized()
        if len(key) > _LONGEST_KEY:
            continue
        if key in entries:
            raise ValueError(f"{whose} has a key twice")
        entries[key] = value
    return entries


def _unsigned(reader: Reader) -> Unsigned:
    version, count = reader.number(4), reader.size()
    if count > MOST_INPUTS:
        sentence = f"the PSBT has {count} inputs, more than the {MOST_INPUTS} that any"
        raise bad_psbt(f"{sentence} spend of an escrow is built with")
    inputs = []
    for _ in range(count):
        outpoint = reader.take(36)
        if reader.take(1) != b"\x00":
            raise ValueError("an input is signed")
        inputs.append(Input(outpoint, reader.number(4)))
    start, count = reader.at, reader.size()
    if count > _MOST_OUTPUTS:
        sentence = f"the PSBT has {count} outputs, more than {_MOST_OUTPUTS}"
        raise bad_psbt(f"{sentence}: send such a transaction as raw hex")
    outputs = [reader.output() for _ in range(count)]
    written = reader.data[start : reader.at]
    tx = Unsigned(version, reader.number(4), tuple(inputs), tuple(outputs))
    if not reader.is_done():
        raise ValueError("bytes follow after its transaction")
    # A length in more bytes than it needs would be another transaction than the one that is hashed.
    if written != bytes([count]) + b"".join(each.encoded() for each in outputs):
        raise ValueError("a length is written too long")
    if reader.data != tx.encoded():
        raise ValueError("a length is written too long")
    return tx


def _input_map(entries: dict[bytes, bytes]) -> InputMap:
    utxo = entries.get(bytes([_WITNESS_UTXO]))
    sighash = entries.get(bytes([_SIGHASH_TYPE]))
    spent = None
    if utxo is not None:
        reader = Reader(utxo)
        spent = reader.output()
        if not reader.is_done():
            raise ValueError("a witness UTXO is too long")
    if sighash is not None and len(sighash) != 4:
        raise ValueError("a sighash type has 4 bytes")
    kind = None if sighash is None else int.from_bytes(sighash, "little")
    partial = {}
    for key, value in entries.items():
        if len(key) == 34 and key[0] == _PARTIAL_SIG:
            partial[key[1:].hex()] = value
        if len(key) == 65 and key[0] == _TAP_SCRIPT_SIG:
            partial[key[1:33].hex()] = value
    script = entries.get(bytes([_WITNESS_SCRIPT]))
    return InputMap(spent, script, _leaf_of(entries), kind, partial)


def _leaf_of(entries: dict[bytes, bytes]) -> tuple[bytes, bytes] | None:
    leaves = [(key, value) for key, value in entries.items() if key[0] == _TAP_LEAF]
    if not leaves:
        return None
    if len(leaves) > 1:
        raise bad_psbt("an input of the PSBT has several leaves: which one?")
    key, value = leaves[0]
    if value[-1:] != b"\xc0":
        raise bad_psbt("a leaf of the PSBT is no Tapscript")
    return value[:-1], key[1:]


def encode_psbt(
    tx: Unsigned, spent: list[Output], fields: tuple[tuple[bytes, bytes], ...]
) -> str:
    """Base64 of what a builder writes: the transaction, and of each input its spent output and
    these fields."""

    def entry(key: bytes, value: bytes) -> bytes:
        return _sized(key) + _long(value)

    how = b"".join(entry(*each) for each in fields)
    data = _MAGIC + entry(bytes([_UNSIGNED_TX]), tx.encoded()) + b"\x00"
    for each in spent:
        data += entry(bytes([_WITNESS_UTXO]), each.encoded()) + how + b"\x00"
    return base64.b64encode(data + b"\x00" * len(tx.outputs)).decode()


def _long(data: bytes) -> bytes:
    if len(data) < 253:
        return _sized(data)
    return b"\xfd" + len(data).to_bytes(2, "little") + data
