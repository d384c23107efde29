"""EVM: addresses (EIP-55), escrows, calls, and signed transactions (EIP-1559)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .crypto import keccak256, key_hash, sign_recoverable
from .errors import ChainError, bad_address
from .escrows import STANDING_ALLOWANCE, AddressForm, Call, Plan
from .terms import Allowance, ContractDeployment, Escrow, EscrowTerms

#: The contract that `contracts/escrows/deployment.json` pins, equal on every EVM chain.
PINNED_CONTRACT = "0x4fDfED13e6D49161ffc4dca514B285b71615BCe1"


def checksum_address(bare: bytes) -> str:
    """20 bytes as EIP-55 writes them."""
    digits = bare.hex()
    mask = keccak256(digits.encode()).hex()
    letters = (
        each.upper() if int(of, 16) >= 8 else each for each, of in zip(digits, mask, strict=False)
    )
    return f"0x{''.join(letters)}"


def parse_address(text: str) -> str:
    """Any common spelling in, EIP-55 out. Throws ``bad_address``."""
    found = re.fullmatch(r"0[xX]([0-9a-fA-F]{40})", text)
    if found is None:
        why = "is not an EVM address: it must be 0x and 40 hex characters"
        raise bad_address(text, why)
    digits = found[1]
    address = checksum_address(bytes.fromhex(digits))
    is_plain = digits in (digits.lower(), digits.upper())
    if not is_plain and address != f"0x{digits}":
        raise bad_address(text, "has a wrong EIP-55 checksum: copy it again")
    return address


def address_of_key(private_key: bytes) -> str:
    return checksum_address(key_hash(private_key))


PLAN = Plan(AddressForm(parse_address, lambda text: bytes.fromhex(text[2:]), "the native coin"))


def evm_deployment(
    chain_id: int,
    contract: str = PINNED_CONTRACT,
    shards: tuple[str, ...] = (),
    former: tuple[str, ...] = (),
) -> ContractDeployment:
    """With every address in canonical form. Throws ``bad_address``."""
    parsed = [tuple(parse_address(each) for each in some) for some in (shards, former)]
    return ContractDeployment(chain_id, parse_address(contract), parsed[0], parsed[1])


def evm_escrow(terms: EscrowTerms, deployment: ContractDeployment) -> Escrow:
    return PLAN.escrow(terms, deployment)


def fund_calls(
    terms: EscrowTerms,
    deployment: ContractDeployment,
    allowed: int = 0,
    allowance: Allowance = "exact",
    lane_signature: str | None = None,
) -> list[Call]:
    """``allowed``: the contract's allowance of the token now.

    ``lane_signature``: the payee's, for a lane of its own.
    """
    wanted = terms.amount if allowance == "exact" else STANDING_ALLOWANCE
    return PLAN.fund(terms, deployment, allowed, wanted, lane_signature)


def claim_call(terms: EscrowTerms, deployment: ContractDeployment, secret: str) -> Call:
    return PLAN.claim(terms, deployment, secret)


def refund_call(terms: EscrowTerms, deployment: ContractDeployment) -> Call:
    return PLAN.refund(terms, deployment)


def release_call(
    terms: EscrowTerms, deployment: ContractDeployment, signature: str | None
) -> Call:
    """The refund before the timelock; see ``Plan.release``."""
    return PLAN.release(terms, deployment, signature)


RlpValue: TypeAlias = "bytes | int | Sequence[RlpValue]"


def rlp(value: RlpValue) -> bytes:
    """Recursive length prefix: bytes, numbers without leading zeros, and lists of them."""
    if isinstance(value, int):
        value = value.to_bytes((value.bit_length() + 7) // 8)
    if not isinstance(value, bytes):
        return _prefixed(b"".join(rlp(each) for each in value), 0xC0)
    data = value
    if len(data) == 1 and data[0] < 0x80:
        return data
    return _prefixed(data, 0x80)


def _prefixed(data: bytes, start: int) -> bytes:
    if len(data) < 56:
        return bytes([start + len(data)]) + data
    length = len(data).to_bytes((len(data).bit_length() + 7) // 8)
    return bytes([start + 55 + len(length)]) + length + data


@dataclass(frozen=True, slots=True)
class EvmTransaction:
    """EIP-1559. Fees in wei a unit of gas, ``value`` in wei."""

    chain_id: int
    nonce: int
    to: str
    data: bytes
    value: int
    gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int

    def _fields(self) -> list[RlpValue]:
        return [
            self.chain_id,
            self.nonce,
            self.max_priority_fee_per_gas,
            self.max_fee_per_gas,
            self.gas,
            bytes.fromhex(parse_address(self.to)[2:]),
            self.value,
            self.data,
            [],
        ]

    def digest(self) -> bytes:
        """The digest to sign."""
        return keccak256(b"\x02" + rlp(self._fields()))


@dataclass(frozen=True, slots=True)
class SignedEvm:
    """``raw``: hex with 0x, as ``eth_sendRawTransaction`` and ``POST /v1/tx/broadcast`` take it."""

    raw: str
    txid: str


def sign_transaction(private_key: bytes, transaction: EvmTransaction) -> SignedEvm:
    """Deterministic. Verify a call that somebody else built before you sign it."""
    signature, recovery = sign_recoverable(private_key, transaction.digest())
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
    raw = b"\x02" + rlp([*transaction._fields(), recovery, r, s])
    return SignedEvm(f"0x{raw.hex()}", f"0x{keccak256(raw).hex()}")


def with_fees(transaction: EvmTransaction, most: int, tip: int) -> EvmTransaction:
    """The same call under the same nonce, which at most one of the two takes. Wei a unit of gas."""
    return replace(transaction, max_fee_per_gas=most, max_priority_fee_per_gas=min(tip, most))


def _read_rlp(data: bytes, at: int) -> tuple[RlpValue, int]:
    """The value at a place, and the place after it."""
    first = data[at]
    if first < 0x80:
        return data[at : at + 1], at + 1
    is_list = first >= 0xC0
    size = first - (0xC0 if is_list else 0x80)
    at += 1
    if size > 55:
        width = size - 55
        size = int.from_bytes(data[at : at + width])
        at += width
    end = at + size
    if end > len(data):
        raise ValueError("it ends early")
    if not is_list:
        return data[at:end], end
    values: list[RlpValue] = []
    while at < end:
        value, at = _read_rlp(data, at)
        values.append(value)
    return values, end


def read_transaction(raw: str) -> EvmTransaction:
    """Reads what one has signed oneself (EIP-1559). Throws ``bad_transaction``."""
    try:
        data = bytes.fromhex(raw.removeprefix("0x"))
        fields, end = _read_rlp(data, 1)
        if data[0] != 2 or end != len(data) or not isinstance(fields, list):
            raise ValueError("another kind")
        texts = [each for each in fields if isinstance(each, bytes)]
        chain, nonce, tip, most, gas = (int.from_bytes(each) for each in texts[:5])
        to, value, call = texts[5:8]
    except (ValueError, IndexError) as error:
        sentence = "it is no signed EVM transaction of type 2"
        raise ChainError("bad_transaction", sentence) from error
    number = int.from_bytes(value)
    return EvmTransaction(chain, nonce, checksum_address(to), call, number, gas, most, tip)
