"""TRON: addresses, escrows, calls as protobuf, and their signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .codecs import base58_decode, base58check_encode
from .crypto import key_hash, sha256, sha256d, sign_recoverable
from .errors import ChainError, bad_address
from .escrows import AddressForm, Call, Plan
from .terms import ContractDeployment, Escrow, EscrowTerms

_LEAD = 0x41
#: More sun than this is no number that a wallet reads exactly from JSON.
MOST_SUN = 2**53 - 1
_TRIGGER_TYPE = 31
_TRIGGER_URL = "type.googleapis.com/protocol.TriggerSmartContract"


def address_of(bare: bytes) -> str:
    """20 bytes in base58check."""
    return base58check_encode(bytes([_LEAD]) + bare)


def address_of_key(private_key: bytes) -> str:
    return address_of(key_hash(private_key))


def parse_address(text: str) -> str:
    """base58check or 41-hex in, base58check out. Throws ``bad_address``."""
    if re.fullmatch(r"41[0-9a-fA-F]{40}", text):
        return address_of(bytes.fromhex(text[2:]))
    why = _why_not(text)
    if why is not None:
        raise bad_address(text, why)
    return text


def _why_not(text: str) -> str | None:
    if re.fullmatch(r"0[xX][0-9a-fA-F]{40}", text):
        return "is an EVM address: a TRON address begins with T, or with 41 in hex"
    if re.fullmatch(r"0[xX]41[0-9a-fA-F]{40}", text):
        return "is not a TRON address: write its hex form without 0x"
    if len(text) != 34 or not re.fullmatch(r"[1-9A-HJ-NP-Za-km-z]+", text):
        what = "it must be T and 33 base58 characters, or 41 and 40 hex"
        return f"is not a TRON address: {what}"
    data = base58_decode(text)
    if len(data) != 25:
        return f"is not a TRON address: it holds {len(data)} bytes, not 25"
    if data[0] != _LEAD:
        return f"is not a TRON address: its leading byte is {data[0]}, not 65 (0x41)"
    if sha256d(data[:21])[:4] != data[21:]:
        return "has a wrong checksum: copy it again"
    return None


def hex_of(address: str) -> str:
    """41-hex of a canonical address."""
    return base58_decode(address)[:21].hex()


PLAN = Plan(AddressForm(parse_address, lambda text: base58_decode(text)[1:21], "TRX"))


def must_fit(token: str | None, amount: int) -> None:
    """Throws ``bad_amount`` where no transaction carries so much. A token's amount has 256 bits."""
    if token is None and amount > MOST_SUN:
        raise ChainError("bad_amount", f"{amount} sun is more than {MOST_SUN}")


def tron_escrow(terms: EscrowTerms, deployment: ContractDeployment) -> Escrow:
    escrow = PLAN.escrow(terms, deployment)
    must_fit(terms.token, terms.amount)
    return escrow


@dataclass(frozen=True, slots=True)
class TronCall:
    """Addresses in base58, ``value`` in sun."""

    sender: str
    to: str
    data: bytes
    value: int


def _from(sender: str, call: Call) -> TronCall:
    return TronCall(parse_address(sender), parse_address(call.to), call.data, call.value)


def fund_calls(
    terms: EscrowTerms,
    deployment: ContractDeployment,
    allowed: int = 0,
    lane_signature: str | None = None,
) -> list[TronCall]:
    """All from the refund address, in order; each waits until the one before has succeeded.

    ``lane_signature``: the payee's, for a lane of its own.
    """
    must_fit(terms.token, terms.amount)
    calls = PLAN.fund(terms, deployment, allowed, terms.amount, lane_signature)
    return [_from(terms.refund.address, each) for each in calls]


def claim_call(terms: EscrowTerms, deployment: ContractDeployment, secret: str) -> TronCall:
    must_fit(terms.token, terms.amount)
    return _from(terms.payout.address, PLAN.claim(terms, deployment, secret))


def refund_call(terms: EscrowTerms, deployment: ContractDeployment) -> TronCall:
    must_fit(terms.token, terms.amount)
    return _from(terms.refund.address, PLAN.refund(terms, deployment))


def release_call(
    terms: EscrowTerms, deployment: ContractDeployment, signature: str | None
) -> TronCall:
    """The refund before the timelock; see ``Plan.release``."""
    must_fit(terms.token, terms.amount)
    sender = terms.payout if signature is None else terms.refund
    return _from(sender.address, PLAN.release(terms, deployment, signature))


@dataclass(frozen=True, slots=True)
class Envelope:
    """The fields of a transaction that do not follow from its call. Times in milliseconds.

    ``ref_block_bytes``: 2 bytes of the referred block's number, ``ref_block_hash``: 8 of its id.
    """

    ref_block_bytes: str
    ref_block_hash: str
    expiration: int
    timestamp: int
    fee_limit_sun: int


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def encode_fields(fields: list[tuple[int, int | bytes]]) -> bytes:
    """protobuf in the given order; zeros and empty bytes are left out, as defaults are."""
    parts = b""
    for number, value in fields:
        if isinstance(value, int):
            if not 0 <= value < 2**63:
                raise ValueError(f"{value} as an int64")
            parts += _varint(number << 3) + _varint(value) if value else b""
        elif value:
            parts += _varint(number << 3 | 2) + _varint(len(value)) + value
    return parts


def tron_transaction(call: TronCall, envelope: Envelope) -> dict[str, Any]:
    """As java-tron's JSON has it: addresses in 41-hex, amounts in sun, bytes in hex."""
    owner, contract = hex_of(call.sender), hex_of(call.to)
    parameter = encode_fields(
        [
            (1, bytes.fromhex(owner)),
            (2, bytes.fromhex(contract)),
            (3, call.value),
            (4, call.data),
        ]
    )
    any_of = encode_fields([(1, _TRIGGER_URL.encode()), (2, parameter)])
    raw = encode_fields(
        [
            (1, bytes.fromhex(envelope.ref_block_bytes)),
            (4, bytes.fromhex(envelope.ref_block_hash)),
            (8, envelope.expiration),
            (11, encode_fields([(1, _TRIGGER_TYPE), (2, any_of)])),
            (14, envelope.timestamp),
            (18, envelope.fee_limit_sun),
        ]
    )
    value: dict[str, Any] = {
        "data": call.data.hex(),
        "owner_address": owner,
        "contract_address": contract,
    }
    if call.value:
        value["call_value"] = call.value
    called = {"value": value, "type_url": _TRIGGER_URL}
    return {
        "visible": False,
        "txID": sha256(raw).hex(),
        "raw_data": {
            "contract": [{"parameter": called, "type": "TriggerSmartContract"}],
            "ref_block_bytes": envelope.ref_block_bytes,
            "ref_block_hash": envelope.ref_block_hash,
            "expiration": envelope.expiration,
            "fee_limit": envelope.fee_limit_sun,
            "timestamp": envelope.timestamp,
        },
        "raw_data_hex": raw.hex(),
    }


@dataclass(frozen=True, slots=True)
class SignedTron:
    """``hex``: the whole in protobuf, as ``/wallet/broadcasthex`` takes it."""

    txid: str
    raw_data_hex: str
    signature: tuple[str, ...]
    hex: str

    def as_json(self) -> dict[str, Any]:
        """As ``POST /v1/tx/broadcast`` takes it."""
        signature = list(self.signature)
        return {"txID": self.txid, "raw_data_hex": self.raw_data_hex, "signature": signature}


def sign_transaction(private_key: bytes, transaction: Mapping[str, Any]) -> SignedTron:
    """Signs the SHA-256 of ``raw_data_hex``, not ``txID``, which might be another's."""
    raw_data = bytes.fromhex(transaction["raw_data_hex"])
    txid = sha256(raw_data)
    if transaction.get("txID", txid.hex()) != txid.hex():
        said = str(transaction["txID"])[:64]
        sentence = f"its txID is {said}, but its raw_data_hex is of {txid.hex()}"
        raise ChainError("bad_transaction", sentence)
    rs, recovery = sign_recoverable(private_key, txid)
    signature = rs + bytes([27 + recovery])
    whole = encode_fields([(1, raw_data), (2, signature)])
    return SignedTron(txid.hex(), raw_data.hex(), (signature.hex(),), whole.hex())


def expiration_of(raw_data_hex: str) -> int:
    """When what one has signed oneself expires, Unix milliseconds. Throws ``bad_transaction``."""
    data, at = bytes.fromhex(raw_data_hex), 0

    def number() -> int:
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0:
                return value

    try:
        while at < len(data):
            tag = number()
            value = number()
            if tag == 8 << 3:
                return value
            at += value if tag & 7 == 2 else 0
    except IndexError:
        pass
    raise ChainError("bad_transaction", "it is no transaction of TRON: it never expires")
