"""The Taproot form of a Bitcoin escrow (BIP 341): the key of both parties together (BIP 327), over
a leaf for each of them alone::

    claim:  SIZE 32 EQUALVERIFY SHA256 <hashlock> EQUALVERIFY <claimer> CHECKSIG
    refund: <timelock> CHECKLOCKTIMEVERIFY VERIFY <funder> CHECKSIG

Keys in leaves are x-only. The keys of both are sorted, as BIP 390 has them in ``musig()``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .crypto import aggregate_keys, tagged_hash, tweaked_point
from .terms import SpendVerb

_VERSION = 0xC0
#: A control block of a tree of two leaves.
_CONTROL_BYTES = 65


@dataclass(frozen=True, slots=True)
class Leaf:
    """``lock``: a claim's hashlock in hex, or a refund's timelock. ``key``: x-only, 64 hex."""

    verb: SpendVerb
    lock: str | int
    key: str

    @property
    def script(self) -> bytes:
        if isinstance(self.lock, str):
            condition = bytes.fromhex(f"82012088a820{self.lock}88")
        else:
            number = script_number(self.lock)
            condition = bytes([len(number)]) + number + b"\xb1\x69"
        return condition + b"\x20" + bytes.fromhex(self.key) + b"\xac"


def script_number(value: int) -> bytes:
    """Little-endian, and a byte more where the highest bit would be a sign."""
    return value.to_bytes(value.bit_length() // 8 + 1, "little")


def read_leaf(script: bytes) -> Leaf | None:
    """Parses a leaf of an escrow. Any other script, however close, gives None."""
    key = script[-33:-1].hex()
    if script.startswith(b"\x82"):
        found = Leaf("claim", script[6:38].hex(), key)
    else:
        found = Leaf("refund", int.from_bytes(script[1:-36], "little"), key)
    return found if len(script) < 80 and found.script == script else None


def leaf_hash(script: bytes) -> bytes:
    return tagged_hash("TapLeaf", bytes([_VERSION, len(script)]) + script)


def _root(leaf: bytes, other: bytes) -> bytes:
    return tagged_hash("TapBranch", b"".join(sorted((leaf, other))))


def output_script(key: bytes) -> bytes:
    """The script of an output to the x-only key that is in its address."""
    return b"\x51\x20" + key


def script_of_leaf(script: bytes, control: bytes) -> bytes | None:
    """The output script that a leaf and its control block belong to, or None."""
    if len(control) != _CONTROL_BYTES:
        return None
    try:
        point = tweaked_point(control[1:33], _root(leaf_hash(script), control[33:]))
    except ValueError:
        return None
    return output_script(point[1:]) if control[0] == _VERSION | point[0] & 1 else None


@dataclass(frozen=True, slots=True)
class Tree:
    """``key``: of the address. ``controls``: control blocks, each of its leaf."""

    key: bytes
    internal_key: bytes
    root: bytes
    leaves: dict[SpendVerb, bytes]
    controls: dict[SpendVerb, bytes]
    descriptor: str


def escrow_tree(hashlock: str, claimer: str, funder: str, timelock: int) -> Tree:
    """Keys compressed, 66 hex."""
    claim = Leaf("claim", hashlock, claimer[2:]).script
    refund = Leaf("refund", timelock, funder[2:]).script
    internal = aggregate_keys(sorted(bytes.fromhex(each) for each in (claimer, funder)))[1:]
    hashes = leaf_hash(claim), leaf_hash(refund)
    root = _root(*hashes)
    point = tweaked_point(internal, root)
    head = bytes([_VERSION | point[0] & 1]) + internal
    branches = (
        f"and_v(v:sha256({hashlock}),pk({claimer[2:]}))",
        f"and_v(v:after({timelock}),pk({funder[2:]}))",
    )
    return Tree(
        key=point[1:],
        internal_key=internal,
        root=root,
        leaves={"claim": claim, "refund": refund},
        controls={"claim": head + hashes[1], "refund": head + hashes[0]},
        descriptor=f"tr({internal.hex()},{{{','.join(branches)}}})",
    )
