"""Bitcoin: addresses, keys, and the escrow: a witness script, or a tree of Taproot.

The script, with minimal pushes::

    IF SIZE 32 EQUALVERIFY SHA256 <hashlock> EQUALVERIFY <claimer>
    ELSE <timelock> CHECKLOCKTIMEVERIFY DROP <funder> ENDIF CHECKSIG
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .bitcoin_tree import escrow_tree, output_script, script_number
from .codecs import base58check_decode, base58check_encode, segwit_decode, segwit_encode
from .crypto import hash160, is_public_key, public_key, sha256, tweaked_point
from .errors import ChainError
from .terms import Escrow, EscrowTerms, SpendVerb

NetworkName = Literal["mainnet", "testnet", "regtest"]
AddressKind = Literal["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"]


@dataclass(frozen=True, slots=True)
class _Network:
    bech32: str
    key_hash: int
    script_hash: int


# Source of the numbers: Bitcoin Core, src/kernel/chainparams.cpp.
_NETWORKS: dict[NetworkName, _Network] = {
    "mainnet": _Network("bc", 0x00, 0x05),
    "testnet": _Network("tb", 0x6F, 0xC4),
    "regtest": _Network("bcrt", 0x6F, 0xC4),
}

#: Least satoshis of an output that nodes relay (Core's GetDustThreshold at 3 sat/vB).
DUST_SATS: dict[AddressKind, int] = {
    "p2pkh": 546,
    "p2sh": 540,
    "p2wpkh": 294,
    "p2wsh": 330,
    "p2tr": 330,
}


@dataclass(frozen=True, slots=True)
class BitcoinAddress:
    address: str
    kind: AddressKind
    script: bytes


def parse_address(text: str, network: NetworkName) -> BitcoinAddress:
    """``wrong_network`` for another network's (base58 of testnet is regtest's), ``bad_address``."""
    found = _decode(text, network) if len(text) <= 90 else None
    if found is not None:
        return found
    others = [each for each in _NETWORKS if len(text) <= 90 and _decode(text, each) is not None]
    if others:
        sentence = f"{text} is an address of Bitcoin {others[0]}; this is Bitcoin {network}"
        raise ChainError("wrong_network", sentence)
    shown = text if len(text) <= 90 else f"{text[:20]}…"
    kinds = "(P2PKH, P2SH, P2WPKH, P2WSH or P2TR)"
    raise ChainError("bad_address", f'"{shown}" is not a Bitcoin {network} address {kinds}')


def _decode(text: str, name: NetworkName) -> BitcoinAddress | None:
    network = _NETWORKS[name]
    try:
        if text.lower().startswith(f"{network.bech32}1"):
            version, program = segwit_decode(network.bech32, text)
            script = bytes([0x50 + version if version else 0, len(program)]) + program
            if version == 0 and len(program) == 20:
                return BitcoinAddress(text.lower(), "p2wpkh", script)
            if version == 0 and len(program) == 32:
                return BitcoinAddress(text.lower(), "p2wsh", script)
            # A program that is no point could be paid and never spent.
            if version == 1 and len(program) == 32 and is_public_key(b"\x02" + program):
                return BitcoinAddress(text.lower(), "p2tr", script)
            return None
        payload = base58check_decode(text)
    except ValueError:
        return None
    if len(payload) != 21:
        return None
    if payload[0] == network.key_hash:
        return BitcoinAddress(text, "p2pkh", b"\x76\xa9\x14" + payload[1:] + b"\x88\xac")
    if payload[0] == network.script_hash:
        return BitcoinAddress(text, "p2sh", b"\xa9\x14" + payload[1:] + b"\x87")
    return None


def parse_public_key(text: str) -> str:
    """A compressed public key in any case: 66 lower-case hex. Throws ``bad_public_key``."""
    if not re.fullmatch(r"0[23][0-9a-fA-F]{64}", text):
        what = "66 hex characters, starting with 02 or 03"
        sentence = (
            f"a Bitcoin key must be a compressed public key: {what}; got {len(text)} characters"
        )
        raise ChainError("bad_public_key", sentence)
    key = text.lower()
    if not is_public_key(bytes.fromhex(key)):
        why = "is not a point of secp256k1: no private key belongs to it"
        raise ChainError("bad_public_key", f"{key} {why}")
    return key


def public_key_of(private_key: bytes) -> str:
    """Compressed, in hex."""
    return public_key(private_key).hex()


def addresses_of_public_key(pubkey: str, network: NetworkName) -> dict[str, str]:
    """Addresses of the key's wallets, by kind. Both parities have the same ``p2tr`` (BIP 86)."""
    key = bytes.fromhex(parse_public_key(pubkey))
    own = _NETWORKS[network]
    native = b"\x00\x14" + hash160(key)
    return {
        "p2wpkh": segwit_encode(own.bech32, 0, hash160(key)),
        "p2shP2wpkh": base58check_encode(bytes([own.script_hash]) + hash160(native)),
        "p2tr": segwit_encode(own.bech32, 1, tweaked_point(key[1:])[1:]),
    }


_Values = tuple[str, str, str, int]
#: Below this a lock time is a block height, not a time (BIP 65).
_LEAST_TIME, _MOST_TIME = 500_000_000, 0xFFFF_FFFF


def _must_be_time(timelock: int) -> None:
    if not _LEAST_TIME <= timelock <= _MOST_TIME:
        bounds = f"from {_LEAST_TIME} to {_MOST_TIME}"
        sentence = f"a Bitcoin timelock must be Unix seconds {bounds}; got {timelock}"
        raise ChainError("bad_field", sentence)


def escrow_script(hashlock: str, claimer: str, funder: str, timelock: int) -> bytes:
    """The witness script; keys in hex. Throws ``bad_field`` on a timelock that is not a time."""
    _must_be_time(timelock)
    number = script_number(timelock)
    parts = [
        bytes.fromhex("6382012088a820"),
        bytes.fromhex(hashlock),
        bytes.fromhex("8821"),
        bytes.fromhex(claimer),
        b"\x67" + bytes([len(number)]) + number,
        bytes.fromhex("b17521"),
        bytes.fromhex(funder),
        bytes.fromhex("68ac"),
    ]
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class EscrowScript:
    hashlock: str
    claimer: str
    funder: str
    timelock: int


def read_escrow_script(script: bytes) -> EscrowScript | None:
    """Parses an escrow's script. Any other script, however close, gives None."""
    if not 112 <= len(script) <= 128 or script[0] != 0x63:
        return None
    after = 76 + script[75]
    found = EscrowScript(
        hashlock=script[7:39].hex(),
        claimer=script[41:74].hex(),
        funder=script[after + 3 : after + 36].hex(),
        timelock=int.from_bytes(script[76:after], "little"),
    )
    try:
        for key in (found.claimer, found.funder):
            parse_public_key(key)
        again = escrow_script(found.hashlock, found.claimer, found.funder, found.timelock)
    except ChainError:
        return None
    return found if again == script else None


@dataclass(frozen=True, slots=True)
class Branch:
    """One side's way to spend.

    ``fields``: of an input's PSBT, each its key and its value. ``ends``: of its witness.
    """

    script: bytes
    ends: tuple[bytes, ...]
    fields: tuple[tuple[bytes, bytes], ...]
    witness_bytes: int
    is_leaf: bool


@dataclass(frozen=True, slots=True)
class EscrowBytes:
    """``script``: of its outputs."""

    address: str
    script: bytes
    redeem_script: str
    branches: dict[SpendVerb, Branch]


def _witness_bytes(*items: int) -> int:
    """With the lengths of the count and of each item."""
    return 1 + sum(1 + each for each in items)


def escrow_bytes(terms: EscrowTerms, network: NetworkName) -> EscrowBytes:
    """The escrow with its bytes. Throws ``bad_public_key``, ``bad_field``."""
    values = terms.hashlock, _key_of(terms, "payout"), _key_of(terms, "refund"), terms.timelock
    prefix = _NETWORKS[network].bech32
    return _in_script(prefix, values) if terms.form is None else _in_tree(prefix, values)


def _in_script(prefix: str, values: _Values) -> EscrowBytes:
    script = escrow_script(*values)
    program = sha256(script)
    fields = ((b"\x03", b"\x01\0\0\0"), (b"\x05", script))

    def branch(*items: int) -> Branch:
        # A low-S DER signature with its flag.
        witness = _witness_bytes(72, *items, len(script))
        return Branch(script, (script,), fields, witness, is_leaf=False)

    return EscrowBytes(
        address=segwit_encode(prefix, 0, program),
        script=b"\x00\x20" + program,
        redeem_script=script.hex(),
        # OP_IF takes a 1, and an empty item.
        branches={"claim": branch(32, 1), "refund": branch(0)},
    )


def _in_tree(prefix: str, values: _Values) -> EscrowBytes:
    _must_be_time(values[3])
    tree = escrow_tree(*values)

    def branch(verb: SpendVerb, *items: int) -> Branch:
        script, control = tree.leaves[verb], tree.controls[verb]
        fields = (
            (b"\x15" + control, script + b"\xc0"),
            (b"\x17", tree.internal_key),
            (b"\x18", tree.root),
        )
        witness = _witness_bytes(64, *items, len(script), len(control))
        return Branch(script, (script, control), fields, witness, is_leaf=True)

    return EscrowBytes(
        address=segwit_encode(prefix, 1, tree.key),
        script=output_script(tree.key),
        redeem_script=tree.descriptor,
        branches={"claim": branch("claim", 32), "refund": branch("refund")},
    )


def _key_of(terms: EscrowTerms, side: Literal["payout", "refund"]) -> str:
    pubkey = (terms.payout if side == "payout" else terms.refund).pubkey
    if pubkey is None:
        raise ChainError("bad_public_key", f"the {side} key of a Bitcoin escrow is missing")
    return parse_public_key(pubkey)


def bitcoin_escrow(terms: EscrowTerms, network: NetworkName) -> Escrow:
    """The address commits to hashlock, keys and timelock, not to the amount."""
    found = escrow_bytes(terms, network)
    return Escrow(found.address, found.redeem_script)


def destination(terms: EscrowTerms, network: NetworkName, verb: SpendVerb) -> BitcoinAddress:
    """Where a spend pays."""
    to = terms.payout if verb == "claim" else terms.refund
    return parse_address(to.address, network)


def payment_uri(address: str, amount_sats: int) -> str:
    """BIP 21, with the exact amount in coins."""
    whole, rest = divmod(amount_sats, 10**8)
    digits = f"{rest:08}".rstrip("0")
    return f"bitcoin:{address}?amount={whole}{'.' if digits else ''}{digits}"
