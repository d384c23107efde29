"""EIP-712 texts that fund a token leg by a signature: EIP-2612 permits, EIP-3009 authorizations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .crypto import keccak256, recover_key_hash, sign_recoverable
from .errors import ChainError
from .escrows import (
    FUND_IN_LANE_WITH_AUTHORIZATION,
    FUND_IN_LANE_WITH_PERMIT,
    FUND_WITH_AUTHORIZATION,
    FUND_WITH_PERMIT,
    Consent,
    Plan,
    word,
)
from .evm import PLAN, checksum_address, parse_address
from .signatures import signature_parts
from .terms import ContractDeployment, EscrowTerms

Json = dict[str, Any]

_PERMIT = (
    ("owner", "address"),
    ("spender", "address"),
    ("value", "uint256"),
    ("nonce", "uint256"),
    ("deadline", "uint256"),
)
_AUTHORIZATION = (
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("validAfter", "uint256"),
    ("validBefore", "uint256"),
    ("nonce", "bytes32"),
)
#: The fields of a domain, in the order in which it hashes them.
DOMAIN_FIELDS = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
    ("salt", "bytes32"),
)


def _fields(pairs: tuple[tuple[str, str], ...]) -> list[Json]:
    return [{"name": name, "type": kind} for name, kind in pairs]


def permit_alternative(
    terms: EscrowTerms,
    deployment: ContractDeployment,
    domain: Mapping[str, str],
    nonce: int,
    value: int,
    deadline: int,
    lane_signature: str | None = None,
) -> Json | None:
    """As the fund builder answers it; the native coin has None.

    ``lane_signature``: the payee's, for a lane of its own.
    """
    if terms.token is None:
        return None
    contract = PLAN.contract_of(terms, deployment)
    sender = parse_address(terms.refund.address)
    message = {
        "owner": sender,
        "spender": contract,
        "value": str(value),
        "nonce": str(nonce),
        "deadline": str(deadline),
    }
    consent = PLAN.lane_consent(terms, deployment, lane_signature)
    head = FUND_IN_LANE_WITH_PERMIT if consent else FUND_WITH_PERMIT
    data = head + PLAN.words(terms) + word(value) + word(deadline) + consent
    return {
        "way": "permit",
        "from": sender,
        "typedData": {
            "domain": dict(domain),
            "types": {"Permit": _fields(_PERMIT)},
            "primaryType": "Permit",
            "message": message,
        },
        "call": {"to": contract, "value": "0x0", "dataBeforeSignature": f"0x{data.hex()}"},
    }


def authorization_alternative(
    terms: EscrowTerms,
    deployment: ContractDeployment,
    domain: Mapping[str, str],
    lane_signature: str | None = None,
) -> Json | None:
    """As above. Its nonce is the escrow's id, and it ends at the fund-by."""
    if terms.token is None or terms.fund_before is None:
        return None
    contract = PLAN.contract_of(terms, deployment)
    message = {
        "from": parse_address(terms.refund.address),
        "to": contract,
        "value": str(terms.amount),
        "validAfter": "0",
        "validBefore": str(terms.fund_before),
        "nonce": f"0x{PLAN.escrow_id(terms, deployment).hex()}",
    }
    consent = PLAN.lane_consent(terms, deployment, lane_signature)
    head = FUND_IN_LANE_WITH_AUTHORIZATION if consent else FUND_WITH_AUTHORIZATION
    data = head + PLAN.words(terms) + consent
    return {
        "way": "authorization",
        "from": None,
        "typedData": {
            "domain": dict(domain),
            "types": {"ReceiveWithAuthorization": _fields(_AUTHORIZATION)},
            "primaryType": "ReceiveWithAuthorization",
            "message": message,
        },
        "call": {"to": contract, "value": "0x0", "dataBeforeSignature": f"0x{data.hex()}"},
        "relay": False,
    }


def consent_text(
    plan: Plan, consent: Consent, terms: EscrowTerms, deployment: ContractDeployment
) -> Json:
    """The text that the payee signs, on EVM (EIP-712) and TRON (TIP-712, in the same bytes).

    ``GiveUpClaim``: the coins go back to their funder before the timelock. ``OpenInMyLane``: the
    funder may open this escrow in a lane of the payee's.
    """
    return {
        "domain": {
            "name": "Parley",
            "version": "1",
            "chainId": str(deployment.chain_id),
            "verifyingContract": checksum_address(plan.bare(plan.contract_of(terms, deployment))),
        },
        "types": {consent: [{"name": "escrow", "type": "bytes32"}]},
        "primaryType": consent,
        "message": {"escrow": f"0x{plan.escrow_id(terms, deployment).hex()}"},
    }


def _encoded(kind: str, value: str) -> bytes:
    if kind == "string":
        try:
            return keccak256(value.encode())
        except UnicodeEncodeError as error:
            raise ChainError("bad_field", "a text has half a character") from error
    if kind == "address":
        return word(bytes.fromhex(parse_address(value)[2:]))
    if kind == "bytes32":
        if not re.fullmatch(r"0x[0-9a-fA-F]{64}", value):
            raise ChainError("bad_hex", "bytes32 must be 0x and 64 hex digits")
        return bytes.fromhex(value[2:])
    if not re.fullmatch(r"[0-9]{1,78}", value):
        raise ChainError("bad_amount", "an integer must be a decimal string")
    return word(int(value))


def _struct(name: str, fields: list[tuple[str, str]], values: Mapping[str, str]) -> bytes:
    kind = f"{name}({','.join(f'{each} {field}' for field, each in fields)})"
    parts = [_encoded(each, values[field]) for field, each in fields]
    return keccak256(keccak256(kind.encode()) + b"".join(parts))


def domain_separator(domain: Mapping[str, str]) -> bytes:
    """Hashes the fields that are there. Throws ChainError where one is not what it should be."""
    fields = [each for each in DOMAIN_FIELDS if each[0] in domain]
    return _struct("EIP712Domain", fields, domain)


def digest_of(typed_data: Mapping[str, Any]) -> bytes:
    """The digest to sign, of a text that was verified: no type of a field is another struct."""
    name = typed_data["primaryType"]
    fields = [(each["name"], each["type"]) for each in typed_data["types"][name]]
    message = _struct(name, fields, typed_data["message"])
    return keccak256(b"\x19\x01" + domain_separator(typed_data["domain"]) + message)


def sign_typed_data(private_key: bytes, typed_data: Mapping[str, Any]) -> str:
    """65 bytes r, s, v in hex with 0x. Verify the text before: it moves money."""
    signature, recovery = sign_recoverable(private_key, digest_of(typed_data))
    return f"0x{signature.hex()}{27 + recovery:02x}"


def signed_call(call: Mapping[str, str], signature: str) -> Json:
    """The funding call, to be sent by anyone (authorization) or by ``from`` (permit)."""
    v, r, s = signature_parts(signature)
    data = f"{call['dataBeforeSignature']}{v:064x}{r}{s}"
    return {"to": call["to"], "data": data, "value": call["value"]}


def signer_of(typed_data: Mapping[str, Any], signature: str) -> str:
    v, r, s = signature_parts(signature)
    compact = bytes.fromhex(r + s)
    return checksum_address(recover_key_hash(digest_of(typed_data), compact, v - 27))
