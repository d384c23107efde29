"""Claims and refunds of Bitcoin escrows: built, checked against the terms, signed, assembled."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .bitcoin import (
    DUST_SATS,
    EscrowScript,
    NetworkName,
    destination,
    escrow_bytes,
    read_escrow_script,
)
from .bitcoin_psbt import (
    SIGHASH_ALL,
    Input,
    InputMap,
    Output,
    Psbt,
    Unsigned,
    bad_psbt,
    decode_psbt,
    encode_psbt,
)
from .crypto import compact_of, der_of, low_s, sha256, sign_compact, verify_compact
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


def spend_vsize(verb: SpendVerb, inputs: int, script_length: int, to_length: int) -> int:
    """Upper bound of the virtual size: signatures of 72 bytes (low-S DER and a flag)."""
    count = 1 if inputs < 253 else 3
    stripped = 4 + count + 41 * inputs + 1 + 8 + 1 + to_length + 4
    secret_and_branch = 33 + 2 if verb == "claim" else 1
    witness = 1 + 73 + secret_and_branch + 1 + script_length
    return -(-(4 * stripped + 2 + inputs * witness) // 4)


def vsize_of(terms: EscrowTerms, network: NetworkName, verb: SpendVerb, inputs: int) -> int:
    """The size of a spend of so many payments of this escrow to its destination."""
    script = escrow_bytes(terms, network).witness_script
    return spend_vsize(verb, inputs, len(script), len(destination(terms, network, verb).script))


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
    """``sighashes``: the digest to sign for each input, in order (SIGHASH_ALL, BIP 143)."""

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
    sighashes = tuple(
        tx.sighash(at, escrow.witness_script, each.amount) for at, each in enumerate(outputs)
    )
    psbt = encode_psbt(tx, spent, escrow.witness_script)
    return Spend(psbt, sighashes, fee_sats, vsize_of(terms, network, verb, len(outputs)), pays)


@dataclass(frozen=True, slots=True)
class ReadInput:
    spent: Input
    amount: int
    witness_script: bytes
    escrow: EscrowScript
    sighash: bytes
    partial: dict[str, bytes]

    @property
    def outpoint(self) -> str:
        return f"{self.spent.txid}:{self.spent.vout}"


@dataclass(frozen=True, slots=True)
class ReadPsbt:
    tx: Unsigned
    inputs: tuple[ReadInput, ...]
    fee_sats: int


def read_psbt(psbt_base64: str) -> ReadPsbt:
    """Reads spends of one escrow's payments, each once. No signature is checked.

    Raises ``bad_transaction``.
    """
    psbt: Psbt = decode_psbt(psbt_base64)
    inputs: list[ReadInput] = []
    for at, entries in enumerate(psbt.maps):
        utxo, script, escrow = _spent_by(entries, at, inputs[0] if inputs else None)
        sighash = psbt.tx.sighash(at, script, utxo.amount)
        found = ReadInput(psbt.tx.inputs[at], utxo.amount, script, escrow, sighash, entries.partial)
        if any(each.outpoint == found.outpoint for each in inputs):
            raise bad_psbt(f"input {at} of the PSBT repeats {found.outpoint}")
        inputs.append(found)
    paid = sum(each.amount for each in psbt.tx.outputs)
    fee = sum(each.amount for each in inputs) - paid
    if not inputs or not psbt.tx.outputs or fee < 0:
        raise bad_psbt("the PSBT has no inputs, no outputs, or pays more than it spends")
    return ReadPsbt(psbt.tx, tuple(inputs), fee)


def _spent_by(
    entries: InputMap, at: int, first: ReadInput | None
) -> tuple[Output, bytes, EscrowScript]:
    """The escrow's payment that an input spends: one of the same escrow as the first."""
    utxo, script = entries.witness_utxo, entries.witness_script
    if utxo is None or script is None:
        raise bad_psbt(f"input {at} of the PSBT lacks its witness UTXO or witness script")
    escrow = read_escrow_script(script)
    if escrow is None or utxo.script != b"\x00\x20" + sha256(script):
        what = "is not a swap escrow: send such a transaction as raw hex"
        raise bad_psbt(f"input {at} of the PSBT {what}")
    if first is not None and first.witness_script != script:
        what = "spends another escrow than input 0: sign one PSBT for each"
        raise bad_psbt(f"input {at} of the PSBT {what}")
    kind = entries.sighash_type
    if kind is not None and kind != SIGHASH_ALL:
        raise bad_psbt(f"input {at} of the PSBT asks for sighash type {kind}, not SIGHASH_ALL")
    return utxo, script, escrow


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
    """A signature of each input in hex: 64 bytes, low-S. Its hashes are computed here."""
    return [sign_compact(private_key, each.sighash).hex() for each in read_psbt(psbt_base64).inputs]


def assemble(psbt_base64: str, signatures: list[str], preimage: str | None = None) -> SignedBitcoin:
    """With a preimage (64 hex) a claim, else a refund.

    Signatures are 64 bytes or DER in hex, made low-S; none given: those in the PSBT. Each is
    verified. ``bad_transaction`` names the input.
    """
    psbt = read_psbt(psbt_base64)
    if signatures and len(signatures) != len(psbt.inputs):
        raise bad_psbt(f"{len(signatures)} signatures for {len(psbt.inputs)} inputs")
    witnesses: list[list[bytes]] = []
    for at, each in enumerate(psbt.inputs):
        if preimage is None:
            _must_unlock(psbt.tx.lock_time, each, at)
            branch = [b""]
        else:
            _must_open(preimage, each, at)
            branch = [bytes.fromhex(preimage), b"\x01"]
        given = signatures[at] if signatures else None
        signature = _signature_for(each, at, given, preimage is not None)
        witnesses.append([signature, *branch, each.witness_script])
    return SignedBitcoin(psbt.tx.encoded(witnesses).hex(), psbt.tx.txid())


def _must_open(preimage: str, read: ReadInput, at: int) -> None:
    if not re.fullmatch(r"[0-9a-f]{64}", preimage):
        raise ChainError("bad_hex", f"a preimage has 64 hex characters, not {len(preimage)}")
    hashlock = read.escrow.hashlock
    if sha256(bytes.fromhex(preimage)).hex() != hashlock:
        raise bad_psbt(f"input {at}: sha256(preimage) is not the hashlock {hashlock}")


def _must_unlock(lock_time: int, read: ReadInput, at: int) -> None:
    timelock, sequence = read.escrow.timelock, read.spent.sequence
    if lock_time < timelock or sequence == 0xFFFF_FFFF:
        needs = f"nLockTime of at least {timelock} and a sequence below 0xffffffff"
        has = f"it has {lock_time} and {sequence} (a claim needs preimageHex)"
        raise bad_psbt(f"input {at}: a refund needs {needs}; {has}")


def _signature_for(read: ReadInput, at: int, text: str | None, is_claim: bool) -> bytes:
    """In DER with its flag, checked against the key of the branch."""
    key = read.escrow.claimer if is_claim else read.escrow.funder
    given = read.partial.get(key)
    if text is not None:
        if not re.fullmatch(r"(?:[0-9a-fA-F]{2}){8,73}", text):
            raise bad_psbt(f"input {at}: a signature must be hex, 64 bytes compact or DER")
        given = bytes.fromhex(text)
    if given is None:
        raise bad_psbt(f"input {at}: the PSBT holds no signature by {key}")
    try:
        compact = low_s(given if len(given) == 64 else compact_of(_without_flag(given)))
    except ValueError as error:
        what = "the signature is neither 64 bytes compact nor DER"
        raise bad_psbt(f"input {at}: {what}") from error
    if not verify_compact(bytes.fromhex(key), read.sighash, compact):
        which = "payout" if is_claim else "refund"
        over = f"over sighash {read.sighash.hex()}"
        raise bad_psbt(f"input {at}: the signature is not by the {which} key {key} {over}")
    return der_of(compact) + bytes([SIGHASH_ALL])


def _without_flag(der: bytes) -> bytes:
    """DER says its own length; one byte more is the sighash flag and must be SIGHASH_ALL."""
    length = 2 + (der[1] if len(der) > 1 else 0)
    return der[:length] if len(der) == length + 1 and der[length] == SIGHASH_ALL else der
