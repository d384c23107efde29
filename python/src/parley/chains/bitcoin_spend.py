"""Claims and refunds of Bitcoin escrows: built, checked against the terms, signed, assembled."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .bitcoin import DUST_SATS, NetworkName, destination, escrow_bytes, read_escrow_script
from .bitcoin_psbt import (
    SIGHASH_ALL,
    SIGHASH_DEFAULT,
    Input,
    InputMap,
    Output,
    Unsigned,
    bad_psbt,
    decode_psbt,
    encode_psbt,
)
from .bitcoin_tree import Leaf, read_leaf, script_of_leaf
from .crypto import (
    compact_of,
    der_of,
    low_s,
    sha256,
    sign_compact,
    sign_schnorr,
    verify_compact,
    verify_schnorr,
)
from .errors import ChainError
from .terms import EscrowOutput, EscrowTerms, SpendVerb

#: Signals replaceability (BIP 125) and leaves nLockTime in force (BIP 65).
REPLACEABLE_SEQUENCE = 0xFFFF_FFFD
#: The lowest rate that is relayed (Core's minrelaytxfee), satoshis a virtual byte.
_FLOOR_SAT_PER_VBYTE = 1
#: The fee's share of the value spent, in basis points; the floor wins where they conflict.
_CAP_SHARE_BPS = 2_500
#: The share of a claim whose secret is public: one that is not mined in time loses the whole leg.
_PUBLIC_CLAIM_SHARE_BPS = 9_500
#: The rest has to be worth an output.
_DUST_SATS = 546


def spend_vsize(inputs: int, input_bytes: int, to_length: int) -> int:
    """Upper bound of the virtual size, by the most that the witness of an input can have."""
    count = 1 if inputs < 253 else 3
    stripped = 4 + count + 41 * inputs + 1 + 8 + 1 + to_length + 4
    return -(-(4 * stripped + 2 + inputs * input_bytes) // 4)


def vsize_of(terms: EscrowTerms, network: NetworkName, verb: SpendVerb, inputs: int) -> int:
    """The size of a spend of so many payments of this escrow to its destination."""
    branch = escrow_bytes(terms, network).branches[verb]
    return spend_vsize(inputs, branch.witness_bytes, len(destination(terms, network, verb).script))


def rate_of(fee_sats: int, vsize: int) -> float:
    """A fee as a rate in thousandths, rounded down."""
    return fee_sats * 1_000 // vsize / 1_000


def least_fee(vsize: int) -> int:
    return math.ceil(vsize * _FLOOR_SAT_PER_VBYTE)


def most_fee(
    vsize: int, value: int, cap_sat_per_vbyte: float, *, is_public_claim: bool = False
) -> int:
    share_bps = _PUBLIC_CLAIM_SHARE_BPS if is_public_claim else _CAP_SHARE_BPS
    share = min(value * share_bps // 10_000, value - _DUST_SATS)
    return max(min(share, math.ceil(vsize * cap_sat_per_vbyte)), least_fee(vsize))


@dataclass(frozen=True, slots=True)
class Spend:
    """``sighashes``: the digest to sign for each input, in order.

    SIGHASH_ALL (BIP 143), of Taproot SIGHASH_DEFAULT (BIP 341).
    """

    psbt_base64: str
    sighashes: tuple[bytes, ...]
    fee_sats: int
    vsize: int
    pays_sats: int


def build_spend(
    terms: EscrowTerms,
    network: NetworkName,
    verb: SpendVerb,
    outputs: list[EscrowOutput],
    fee_sats: int,
) -> Spend:
    """Pays all but the fee to the address of the terms. ``nothing_there``: the rest is dust."""
    escrow = escrow_bytes(terms, network)
    to = destination(terms, network, verb)
    total = sum(each.amount for each in outputs)
    pays = total - fee_sats
    if not outputs or pays < DUST_SATS[to.kind]:
        held = f"the escrow {escrow.address} holds {total} sats in {len(outputs)} payments"
        needs = f"{DUST_SATS[to.kind]} sats that an output needs"
        sentence = f"{held}: less than the fee of {fee_sats} and the {needs}"
        raise ChainError("nothing_there", sentence)
    inputs = tuple(
        Input(
            bytes.fromhex(each.txid)[::-1] + each.vout.to_bytes(4, "little"), REPLACEABLE_SEQUENCE
        )
        for each in outputs
    )
    lock_time = terms.timelock if verb == "refund" else 0
    tx = Unsigned(2, lock_time, inputs, (Output(to.script, pays),))
    spent = [Output(escrow.script, each.amount) for each in outputs]
    branch = escrow.branches[verb]
    sighashes = _sighashes(tx, spent, branch.script, is_leaf=branch.is_leaf)
    psbt = encode_psbt(tx, spent, branch.fields)
    return Spend(psbt, sighashes, fee_sats, vsize_of(terms, network, verb, len(outputs)), pays)


def _sighashes(
    tx: Unsigned, spent: list[Output], script: bytes, *, is_leaf: bool
) -> tuple[bytes, ...]:
    return tuple(
        tx.leaf_sighash(at, spent, script) if is_leaf else tx.sighash(at, script, each.amount)
        for at, each in enumerate(spent)
    )


@dataclass(frozen=True, slots=True)
class _Lock:
    """The conditions of an escrow's output; a leaf of Taproot has one of them.

    ``script``: of the output. ``ends``: of the witness.
    """

    script: bytes
    ends: tuple[bytes, ...]
    is_leaf: bool
    claim: Leaf | None
    refund: Leaf | None


@dataclass(frozen=True, slots=True)
class ReadInput:
    spent: Input
    amount: int
    sighash: bytes
    partial: dict[str, bytes]

    @property
    def outpoint(self) -> str:
        return f"{self.spent.txid}:{self.spent.vout}"


@dataclass(frozen=True, slots=True)
class ReadPsbt:
    tx: Unsigned
    lock: _Lock
    inputs: tuple[ReadInput, ...]
    fee_sats: int


def read_psbt(psbt_base64: str) -> ReadPsbt:
    """Reads spends of one escrow's payments, each once. No signature is checked.

    Raises ``bad_transaction``.
    """
    psbt = decode_psbt(psbt_base64)
    if not psbt.maps:
        raise bad_psbt("the PSBT has no inputs")
    first = psbt.maps[0]
    lock = _lock_of(first)
    spent = [_spent_by(entries, at, lock, first) for at, entries in enumerate(psbt.maps)]
    sighashes = _sighashes(psbt.tx, spent, lock.ends[0], is_leaf=lock.is_leaf)
    inputs: list[ReadInput] = []
    for at, entries in enumerate(psbt.maps):
        found = ReadInput(psbt.tx.inputs[at], spent[at].amount, sighashes[at], entries.partial)
        if any(each.outpoint == found.outpoint for each in inputs):
            raise bad_psbt(f"input {at} of the PSBT repeats {found.outpoint}")
        inputs.append(found)
    paid = sum(each.amount for each in psbt.tx.outputs)
    fee = sum(each.amount for each in inputs) - paid
    if not psbt.tx.outputs or fee < 0:
        raise bad_psbt("the PSBT has no outputs, or pays more than it spends")
    return ReadPsbt(psbt.tx, lock, tuple(inputs), fee)


def _lock_of(entries: InputMap) -> _Lock:
    """The first input's."""
    utxo, script, leaf = entries.witness_utxo, entries.witness_script, entries.leaf
    if utxo is None or (script is None and leaf is None):
        raise bad_psbt("input 0 of the PSBT lacks its witness UTXO, or its witness script or leaf")
    lock = _of_script(script or b"") if leaf is None else _of_leaf(*leaf)
    if lock is None or utxo.script != lock.script:
        what = "is not a swap escrow: send such a transaction as raw hex"
        raise bad_psbt(f"input 0 of the PSBT {what}")
    return lock


def _of_script(script: bytes) -> _Lock | None:
    escrow = read_escrow_script(script)
    if escrow is None:
        return None
    claim = Leaf("claim", escrow.hashlock, escrow.claimer)
    refund = Leaf("refund", escrow.timelock, escrow.funder)
    return _Lock(b"\x00\x20" + sha256(script), (script,), False, claim, refund)


def _of_leaf(script: bytes, control: bytes) -> _Lock | None:
    """The other leaf of its tree is not known here: its escrow's address is what tells that."""
    leaf, paid = read_leaf(script), script_of_leaf(script, control)
    if leaf is None or paid is None:
        return None
    claim, refund = (leaf if leaf.verb == verb else None for verb in ("claim", "refund"))
    return _Lock(paid, (script, control), True, claim, refund)


def _spent_by(entries: InputMap, at: int, lock: _Lock, first: InputMap) -> Output:
    """The escrow's payment that an input spends: one of the same escrow as the first."""
    utxo = entries.witness_utxo
    is_same = (entries.witness_script, entries.leaf) == (first.witness_script, first.leaf)
    if utxo is None or utxo.script != lock.script or not is_same:
        what = "spends another escrow than input 0: sign one PSBT for each"
        raise bad_psbt(f"input {at} of the PSBT {what}")
    kind = entries.sighash_type
    wanted, name = (SIGHASH_DEFAULT, "DEFAULT") if lock.is_leaf else (SIGHASH_ALL, "ALL")
    if kind is not None and kind != wanted:
        raise bad_psbt(f"input {at} of the PSBT asks for sighash type {kind}, not SIGHASH_{name}")
    return utxo


def check_spend(
    psbt_base64: str,
    verb: SpendVerb,
    terms: EscrowTerms,
    network: NetworkName,
    outputs: tuple[EscrowOutput, ...],
    cap_sat_per_vbyte: float,
    *,
    is_public: bool = False,
) -> int:
    """Its virtual size; it must be the bytes that the terms give. Raises ``bad_transaction``.

    ``outputs``: the escrow's payments from one's own source.
    """

    def must(holds: bool, sentence: str) -> None:
        if not holds:
            raise bad_psbt(f"the {verb} differs from the terms: {sentence}")

    psbt = read_psbt(psbt_base64)
    known = {f"{each.txid}:{each.vout}": each.amount for each in reversed(outputs)}
    for at, each in enumerate(psbt.inputs):
        holds = known.get(each.outpoint) == each.amount
        must(holds, f"input {at} says that {each.outpoint} holds {each.amount} sats")
    value = sum(each.amount for each in psbt.inputs)
    if verb == "claim":
        less = f"it claims {value} sats, less than the agreed {terms.amount}"
        must(value >= terms.amount, less)
    vsize = vsize_of(terms, network, verb, len(psbt.inputs))
    is_public_claim = verb == "claim" and is_public
    least = least_fee(vsize)
    most = most_fee(vsize, value, cap_sat_per_vbyte, is_public_claim=is_public_claim)
    fee = psbt.fee_sats
    must(least <= fee <= most, f"its fee is {fee} sats, outside {least} to {most}")
    spent = [EscrowOutput(each.spent.txid, each.spent.vout, each.amount) for each in psbt.inputs]
    built = build_spend(terms, network, verb, spent, fee)
    must(built.psbt_base64 == psbt_base64, "its bytes are not those that they give")
    return vsize


@dataclass(frozen=True, slots=True)
class SignedBitcoin:
    """``raw``: hex, as ``sendrawtransaction`` and ``POST /v1/tx/broadcast`` take it."""

    raw: str
    txid: str


def sign_psbt(private_key: bytes, psbt_base64: str) -> list[str]:
    """A signature of each input in hex, 64 bytes: low-S, of Taproot by BIP 340.

    Its hashes are computed here.
    """
    psbt = read_psbt(psbt_base64)
    sign = sign_schnorr if psbt.lock.is_leaf else sign_compact
    return [sign(private_key, each.sighash).hex() for each in psbt.inputs]


def assemble(psbt_base64: str, signatures: list[str], preimage: str | None = None) -> SignedBitcoin:
    """With a preimage (64 hex) a claim, else a refund.

    Signatures are 64 bytes or DER in hex, made low-S; of Taproot 64 bytes by BIP 340. Without any,
    those in the PSBT count. Each is verified. ``bad_transaction`` names the input.
    """
    psbt = read_psbt(psbt_base64)
    if signatures and len(signatures) != len(psbt.inputs):
        raise bad_psbt(f"{len(signatures)} signatures for {len(psbt.inputs)} inputs")
    lock = psbt.lock
    own = lock.refund if preimage is None else lock.claim
    if own is None:
        verb, other = ("claim", "refund") if preimage else ("refund", "claim")
        raise bad_psbt(f"a {verb} (by preimageHex) does not sign the leaf of a {other}")
    branch: list[bytes] = []
    if preimage is not None:
        _must_open(preimage, own)
        branch.append(bytes.fromhex(preimage))
    if not lock.is_leaf:
        # OP_IF takes a 1, or an empty item.
        branch.append(b"" if preimage is None else b"\x01")
    witnesses: list[list[bytes]] = []
    for at, each in enumerate(psbt.inputs):
        if preimage is None:
            _must_unlock(psbt.tx.lock_time, own, each, at)
        given = signatures[at] if signatures else None
        signature = _signature_for(own, each, at, given, is_leaf=lock.is_leaf)
        witnesses.append([signature, *branch, *lock.ends])
    return SignedBitcoin(psbt.tx.encoded(witnesses).hex(), psbt.tx.txid())


def _must_open(preimage: str, claim: Leaf) -> None:
    if not re.fullmatch(r"[0-9a-f]{64}", preimage):
        raise ChainError("bad_hex", f"a preimage has 64 hex characters, not {len(preimage)}")
    if sha256(bytes.fromhex(preimage)).hex() != claim.lock:
        raise bad_psbt(f"input 0: sha256(preimage) is not the hashlock {claim.lock}")


def _must_unlock(lock_time: int, refund: Leaf, read: ReadInput, at: int) -> None:
    timelock, sequence = int(refund.lock), read.spent.sequence
    if lock_time < timelock or sequence == 0xFFFF_FFFF:
        needs = f"nLockTime of at least {timelock} and a sequence below 0xffffffff"
        has = f"it has {lock_time} and {sequence} (a claim needs preimageHex)"
        raise bad_psbt(f"input {at}: a refund needs {needs}; {has}")


def _signature_for(
    own: Leaf, read: ReadInput, at: int, text: str | None, *, is_leaf: bool
) -> bytes:
    """As the witness has it, checked against the key of the branch."""
    key = own.key
    given = read.partial.get(key)
    if text is not None:
        if not re.fullmatch(r"(?:[0-9a-fA-F]{2}){8,73}", text):
            raise bad_psbt(f"input {at}: a signature must be hex, 64 bytes compact or DER")
        given = bytes.fromhex(text)
    if given is None:
        raise bad_psbt(f"input {at}: the PSBT holds no signature by {key}")
    if is_leaf and len(given) != 64:
        what = f"a signature of Taproot has 64 bytes (BIP 340), not {len(given)}"
        raise bad_psbt(f"input {at}: {what}")
    try:
        # 64 bytes of Taproot have no flag: it stands for SIGHASH_DEFAULT (BIP 341).
        compact = given if is_leaf else low_s(_compact(given))
    except ValueError as error:
        what = "the signature is neither 64 bytes compact nor DER"
        raise bad_psbt(f"input {at}: {what}") from error
    verify = verify_schnorr if is_leaf else verify_compact
    if not verify(bytes.fromhex(key), read.sighash, compact):
        which = "payout" if own.verb == "claim" else "refund"
        over = f"over sighash {read.sighash.hex()}"
        raise bad_psbt(f"input {at}: the signature is not by the {which} key {key} {over}")
    return compact if is_leaf else der_of(compact) + bytes([SIGHASH_ALL])


def _compact(given: bytes) -> bytes:
    return given if len(given) == 64 else compact_of(_without_flag(given))


def _without_flag(der: bytes) -> bytes:
    """DER says its own length; one byte more is the sighash flag and must be SIGHASH_ALL."""
    length = 2 + (der[1] if len(der) > 1 else 0)
    return der[:length] if len(der) == length + 1 and der[length] == SIGHASH_ALL else der
