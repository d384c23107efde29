"""Unsigned TRON transactions held against the terms: one sentence a difference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..chains import tron
from ..chains.terms import EscrowTerms, TronView
from .words import get, is_list, same, text_of


@dataclass(frozen=True, slots=True)
class EnvelopeBounds:
    """One's bounds for the fields that do not follow from the terms."""

    now_ms: int
    most_fee_limit_sun: int
    longest_life_ms: int


def comparing(material: Mapping[str, Any], expected: Mapping[str, object]) -> list[str]:
    """Compares the fields that every material has."""
    problems: list[str] = []
    for name, wanted in expected.items():
        must(problems, name, get(material, name), wanted)
    return problems


def must(problems: list[str], field: str, got: object, wanted: object) -> None:
    """Notes another field that differs from what it should be."""
    if not same(got, wanted):
        problems.append(f"{field} is {text_of(got)}, not {text_of(wanted)}")


def tron_problems(
    material: Mapping[str, Any],
    calls: Sequence[tron.TronCall],
    terms: EscrowTerms,
    view: TronView,
    bounds: EnvelopeBounds,
) -> list[str]:
    """``calls``: what the transactions are to be."""
    transactions: Sequence[Any] = material["transactions"]
    escrow = tron.tron_escrow(terms, view.deployment).address
    expected = {"chain": terms.chain, "family": "tron", "sign": "tron-txid", "escrow": escrow}
    problems = comparing(material, expected)
    must(problems, "from", get(material, "from"), calls[0].sender)
    must(problems, "transactions.length", len(transactions), len(calls))
    for at, (call, said) in enumerate(zip(calls, transactions, strict=False)):
        name = f"transactions[{at}]"
        wrong = _envelope_problem(get(said, "raw_data"), bounds)
        if wrong is not None:
            problems.append(f"{name}.raw_data{wrong}")
            continue
        wanted = tron.tron_transaction(call, _envelope_of(said["raw_data"]))
        problems += _differences(name, said, wanted)
    return problems


def _envelope_of(raw: Mapping[str, Any]) -> tron.Envelope:
    return tron.Envelope(
        ref_block_bytes=raw["ref_block_bytes"],
        ref_block_hash=raw["ref_block_hash"],
        expiration=int(raw["expiration"]),
        timestamp=int(raw["timestamp"]),
        fee_limit_sun=int(raw["fee_limit"]),
    )


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 < value < 2**53 and value == int(value)


def _is_hex(text: object, length: int) -> bool:
    is_text = isinstance(text, str) and len(text) == length
    return is_text and re.fullmatch(r"[0-9a-f]+", str(text)) is not None


def _envelope_problem(raw: object, bounds: EnvelopeBounds) -> str | None:
    if not isinstance(raw, Mapping):
        return " is missing"
    if not _is_hex(raw.get("ref_block_bytes"), 4):
        return ".ref_block_bytes is not 2 bytes of hex"
    if not _is_hex(raw.get("ref_block_hash"), 16):
        return ".ref_block_hash is not 8 bytes of hex"
    if not _is_count(raw.get("timestamp")):
        return ".timestamp is no time in milliseconds"
    if not _is_count(raw.get("expiration")):
        return ".expiration is no time in milliseconds"
    if raw["expiration"] > bounds.now_ms + bounds.longest_life_ms:
        return f".expiration is more than {bounds.longest_life_ms // 60_000} minutes ahead"
    if not _is_count(raw.get("fee_limit")):
        return ".fee_limit is no amount of sun"
    if raw["fee_limit"] <= bounds.most_fee_limit_sun:
        return None
    return f".fee_limit is {text_of(raw['fee_limit'])} sun, above {bounds.most_fee_limit_sun}"


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    return {str(at): each for at, each in enumerate(value)} if isinstance(value, Sequence) else {}


def _differences(name: str, said: object, expected: object) -> list[str]:
    if not isinstance(expected, Mapping) and not is_list(expected):
        if same(said, expected):
            return []
        return [f"{name} is {text_of(said)}, not {text_of(expected)}"]
    if not isinstance(said, Mapping) and not is_list(said):
        return [f"{name} is not an object"]
    got, wanted = _fields(said), _fields(expected)
    problems: list[str] = []
    for field in dict.fromkeys([*got, *wanted]):
        place = f"{name}[{field}]" if is_list(expected) else f"{name}.{field}"
        if field not in wanted:
            problems.append(f"{place} does not belong there")
        elif field not in got:
            problems.append(f"{place} is missing")
        else:
            problems += _differences(place, got[field], wanted[field])
    return problems
