"""A block that was asked for by its hash, proved before it is read: a cache or a proxy may serve
another one. The hash proves the header, its Merkle root the transactions, and the commitment of the
coinbase their witnesses (BIP 141).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .bitcoin_psbt import Input, Output, Reader
from .crypto import sha256d

_HEADER_BYTES = 80
_NOTHING = bytes(32)
#: OP_RETURN, a push of 36 bytes, and the mark of a commitment to witnesses.
_COMMITMENT = bytes.fromhex("6a24aa21a9ed")


@dataclass(frozen=True, slots=True)
class BlockTx:
    """``hash`` leaves the witness out, ``witness_hash`` has it: as bytes, in the wire's order."""

    hash: bytes
    witness_hash: bytes
    is_segwit: bool
    inputs: list[Input]
    outputs: list[Output]
    witnesses: list[list[bytes]]

    @property
    def txid(self) -> str:
        return _named(self.hash)

    @property
    def is_coinbase(self) -> bool:
        return bool(self.inputs) and self.inputs[0].outpoint.startswith(_NOTHING)

    def shown(self) -> dict[str, Any]:
        """As a node shows it, as far as that is looked at."""
        spent: list[dict[str, Any]] = [{"coinbase": ""}]
        if not self.is_coinbase:
            spent = [{"txid": each.txid, "vout": each.vout} for each in self.inputs]
        for each, items in zip(spent, self.witnesses, strict=False):
            each["txinwitness"] = [item.hex() for item in items]
        paid = [
            {"n": at, "value": each.amount / 1e8, "scriptPubKey": {"hex": each.script.hex()}}
            for at, each in enumerate(self.outputs)
        ]
        return {"txid": self.txid, "vin": spent, "vout": paid}


def read_block(raw: bytes, asked: str) -> list[BlockTx]:
    """Raises ValueError where it is another block, or does not have the transactions of its
    header."""
    header = raw[:_HEADER_BYTES]
    found = _named(sha256d(header))
    if found != asked:
        raise ValueError(f"asked for block {asked}, it gave block {found}")
    reader = Reader(raw)
    reader.take(_HEADER_BYTES)
    txs = [_read(reader) for _ in range(reader.size())]
    # Two hashes of the tree may pass for a transaction of 64 bytes, but not for a coinbase.
    if not txs or not txs[0].is_coinbase:
        raise ValueError(f"its block {asked} begins with no coinbase")
    named, root = header[36:68], _root([each.hash for each in txs])
    if root != named:
        roots = f"the Merkle root {_named(named)}, and its transactions have {_named(root)}"
        raise ValueError(f"its block {asked} has {roots}")
    if not _has_its_witnesses(txs):
        raise ValueError(f"its block {asked} does not have the witnesses of its commitment")
    return txs


def _read(reader: Reader) -> BlockTx:
    data, start = reader.data, reader.at
    version = reader.take(4)
    is_segwit = data[reader.at : reader.at + 2] == b"\0\1"
    if is_segwit:
        reader.take(2)
    body = reader.at
    inputs = []
    for _ in range(reader.size()):
        outpoint = reader.take(36)
        reader.sized()
        inputs.append(Input(outpoint, reader.number(4)))
    outputs = [reader.output() for _ in range(reader.size())]
    end = reader.at
    witnesses = []
    if is_segwit:
        witnesses = [[reader.sized() for _ in range(reader.size())] for _ in inputs]
    stripped = version + data[body:end] + reader.take(4)
    whole = sha256d(data[start : reader.at])
    own = sha256d(stripped) if is_segwit else whole
    return BlockTx(own, whole, is_segwit, inputs, outputs, witnesses)


def _has_its_witnesses(txs: Sequence[BlockTx]) -> bool:
    """A secret proves itself, but a claim with another witness would pass for a refund."""
    scripts = [each.script for each in txs[0].outputs]
    commitments = [each for each in scripts if each.startswith(_COMMITMENT) and len(each) >= 38]
    if not commitments:
        return not any(each.is_segwit for each in txs)
    root = _root([_NOTHING, *(each.witness_hash for each in txs[1:])])
    reserved = b"".join(item for items in txs[0].witnesses for item in items)
    return sha256d(root + reserved) == commitments[-1][6:38]


def _root(leaves: list[bytes]) -> bytes:
    """Raises ValueError where two equal hashes stand side by side: transactions that are there
    twice may give the root of a list that has them once (CVE-2012-2459)."""
    level = leaves
    while len(level) > 1:
        if any(left == right for left, right in zip(level[::2], level[1::2], strict=False)):
            raise ValueError("it gave a block that repeats transactions")
        # An odd last one is paired with itself.
        odd = level[-1:] if len(level) % 2 else []
        both = [*level, *odd]
        level = [sha256d(both[at] + both[at + 1]) for at in range(0, len(both), 2)]
    return level[0]


def _named(hashed: bytes) -> str:
    """As people write it: backwards."""
    return hashed[::-1].hex()
