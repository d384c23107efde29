"""Texts that fund a token leg on EVM by a signature: are they what the verified terms demand?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ..chains import typed_data
from ..chains.errors import ChainError
from ..chains.escrows import STANDING_ALLOWANCE
from ..chains.terms import Allowance, ContractDeployment, EscrowTerms
from ..errors import VerificationError
from .checks import as_json
from .words import MISSING, get, is_list, same, shown, text_of

_MOST_SHOWN = 100
_DOMAIN_NAMES = tuple(name for name, _ in typed_data.DOMAIN_FIELDS)


@dataclass(frozen=True, slots=True)
class SigningView:
    """``separator``: the token's DOMAIN_SEPARATOR() by one's own node, hex with 0x.

    For a permit: ``latest_deadline`` in Unix seconds, ``allowance``, and the owner's ``nonce``;
    None: any value in the text, as a wrong one only fails.
    """

    separator: str
    latest_deadline: int = 0
    allowance: Allowance = "exact"
    nonce: int | None = None
    #: The payee's, for a lane of its own.
    lane_signature: str | None = None


def verify_typed_data(
    alternative: Mapping[str, Any] | BaseModel,
    terms: EscrowTerms,
    deployment: ContractDeployment,
    view: SigningView,
) -> None:
    """Throws VerificationError unless the text is what these terms come to."""
    alternative = as_json(alternative)
    problems = typed_data_problems(alternative, terms, deployment, view)
    if problems:
        field = f"alternatives.{text_of(get(alternative, 'way'))}"
        raise VerificationError(field, "what these terms come to", "; ".join(problems))


def typed_data_problems(
    alternative: Mapping[str, Any] | BaseModel,
    terms: EscrowTerms,
    deployment: ContractDeployment,
    view: SigningView,
) -> list[str]:
    """One sentence a difference. A text that is left out is none."""
    alternative = as_json(alternative)
    way, text, call = (get(alternative, each) for each in ("way", "typedData", "call"))
    if text is None and call is None:
        return []
    if not isinstance(text, Mapping) or not isinstance(call, Mapping):
        return [f"{text_of(way)}: typedData and call belong together"]
    domain = _check_domain(get(text, "domain"), terms, deployment, view.separator)
    # Without the right domain nothing else could be built to compare with.
    if domain:
        return domain
    expected = _expected(way, text, terms, deployment, view)
    if expected is None:
        return [f"{text_of(way)}: {terms.token or 'the native coin'} has no such way"]
    return _differences(alternative, expected, "")


def _check_domain(
    said: object, terms: EscrowTerms, deployment: ContractDeployment, separator: str
) -> list[str]:
    problems: list[str] = []
    fields = said if isinstance(said, Mapping) else {}
    for name, value in fields.items():
        if name not in _DOMAIN_NAMES:
            problems.append(f"domain.{name} does not belong there")
        elif not isinstance(value, str):
            problems.append(f"domain.{name} is no text")
    if "name" not in fields or "verifyingContract" not in fields:
        problems.append("the domain must have a name and a verifyingContract")
    if problems:
        return problems
    contract, named = fields["verifyingContract"], fields.get("chainId")
    if terms.token is None or contract.lower() != terms.token.lower():
        problems.append(f"domain.verifyingContract is {contract}, not {terms.token or 'null'}")
    # Tokens that a bridge of Polygon made name the chain by their salt.
    salt = f"0x{deployment.chain_id:064x}"
    if named is None and fields.get("salt", "").lower() != salt:
        must = f"it must name {deployment.chain_id}"
        problems.append(f"the domain names no chain; {must}")
    elif named is not None and named != str(deployment.chain_id):
        problems.append(f"domain.chainId is {named}, not {deployment.chain_id}")
    if problems:
        return problems
    try:
        own = f"0x{typed_data.domain_separator(fields).hex()}"
    except ChainError as error:
        return [f"the domain does not hash: {error}"]
    if separator.lower() != own:
        problems.append(f"the domain hashes to {own}; the token says {separator}")
    return problems


def _expected(
    way: object,
    text: Mapping[str, Any],
    terms: EscrowTerms,
    deployment: ContractDeployment,
    view: SigningView,
) -> dict[str, Any] | None:
    domain, lane = text["domain"], view.lane_signature
    if way == "authorization":
        return typed_data.authorization_alternative(terms, deployment, domain, lane)
    if way != "permit":
        return None
    told = get(text, "message")
    value = terms.amount if view.allowance == "exact" else STANDING_ALLOWANCE
    deadline = min(_integer_in(get(told, "deadline")), view.latest_deadline)
    nonce = _integer_in(get(told, "nonce")) if view.nonce is None else view.nonce
    return typed_data.permit_alternative(terms, deployment, domain, nonce, value, deadline, lane)


def _integer_in(text: object) -> int:
    """0 for what is no integer: it then differs from what was given. The text is a stranger's."""
    is_integer = isinstance(text, str) and re.fullmatch(r"[0-9]{1,78}", text) is not None
    return int(str(text)) if is_integer else 0


def _children(value: object) -> dict[str, Any] | None:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and is_list(value):
        return {str(at): each for at, each in enumerate(value)}
    return None


def _differences(got: object, expected: object, path: str) -> list[str]:
    """``relay`` is the sender's to say."""
    if path == "relay":
        return []
    one, other = _children(got), _children(expected)
    if one is None or other is None:
        if same(got, expected):
            return []
        return [f"{path} is {_shown(got)}, not {_shown(expected)}"]
    problems: list[str] = []
    for name in dict.fromkeys([*one, *other]):
        at = name if path == "" else f"{path}.{name}"
        problems += _differences(one.get(name, MISSING), other.get(name, MISSING), at)
    return problems


def _shown(value: object) -> str:
    if isinstance(value, Mapping) or is_list(value):
        return shown(value)[:_MOST_SHOWN]
    return text_of(value)[:_MOST_SHOWN]
