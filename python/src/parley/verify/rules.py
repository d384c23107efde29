"""Under which rules a swap is agreed: formula, contracts, and the policies of both chains."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..chains import bitcoin, evm, tron
from ..chains.terms import BitcoinView, ChainPolicy, ChainView, Depth, EvmView, SolanaView, TronView
from .trade import OwnLegs
from .words import get, same, shown

#: The version of the formula in `parley.verify.deadlines`.
FORMULA_VERSION = 1
#: The version of the init code that `contracts/escrows/deployment.json` pins: the head of its
#: Keccak-256.
ESCROWS_VERSION = "77e868623b324359"
#: The output of the Taproot form with the values of `_bitcoin_version`, as the market pins it.
_TAPROOT_OUTPUT = "5120f632e7f71e5fee67f173a60f2b779d5b4642cb3ff0e65a0ec3a92c6995efd2da"
_HEAD_DIGITS = 16
_MOST_SHOWN = 200


def _head(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_HEAD_DIGITS]


def _bitcoin_version() -> str:
    """The version of both forms with fixed values: their templates have no address."""
    keys = (f"02{'22' * 32}", f"03{'33' * 32}")
    script = bitcoin.escrow_script("11" * 32, *keys, 1_800_000_000)
    return _head(script + bytes.fromhex(_TAPROOT_OUTPUT))


def contract_id(view: ChainView) -> str:
    """The contract or program of a chain's escrows, as rules name it."""
    match view:
        case EvmView() | TronView():
            parse = evm.parse_address if isinstance(view, EvmView) else tron.parse_address
            own = f"{parse(view.deployment.contract)}:{ESCROWS_VERSION}"
            shards = sorted(parse(each) for each in view.deployment.shards)
            return f"{own}:{_head(' '.join(shards).encode())}" if shards else own
        case SolanaView(deployment=deployment):
            return f"{deployment.program}:{deployment.sha256[:_HEAD_DIGITS]}"
        case BitcoinView():
            return _bitcoin_version()


def _depth(depth: Depth) -> dict[str, int]:
    return {
        "confirmations": depth.confirmations,
        "outageSeconds": depth.outage_seconds,
        "settleSeconds": depth.settle_seconds,
    }


def policy_digest(policy: ChainPolicy) -> str:
    """The digest of its JSON by SHA-256: keys sorted, no space between."""
    fields: dict[str, Any] = {
        "floorSeconds": policy.floor_seconds,
        "lateClaimSeconds": policy.late_claim_seconds,
        "driftSeconds": policy.drift_seconds,
        "reactSeconds": policy.react_seconds,
        "signSeconds": policy.sign_seconds,
        "detectSeconds": policy.detect_seconds,
        "windowSeconds": policy.window_seconds,
        "normal": _depth(policy.normal),
        "high": _depth(policy.high),
    }
    return _head(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode())


def own_rules(own: OwnLegs) -> dict[str, Any]:
    """As `rules` of an acceptance: the market refuses it under others (`rules_differ`)."""
    return {
        "formula": FORMULA_VERSION,
        "contract": {each.leg: contract_id(each.view) for each in (own.a, own.b)},
        "policies": {each.leg: policy_digest(each.policy) for each in (own.a, own.b)},
    }


def rules_differences(own: OwnLegs, said: object) -> list[tuple[str, str, str]]:
    """Field, own value and the market's, of all that differs."""
    rules = own_rules(own)
    found: list[tuple[str, str, str]] = []
    pairs = [("formula", rules["formula"], get(said, "formula"))]
    for part in ("contract", "policies"):
        for leg in (own.a, own.b):
            field = f"{part}.{leg.leg} ({leg.view.chain})"
            pairs.append((field, rules[part][leg.leg], get(get(said, part), leg.leg)))
    for field, expected, got in pairs:
        if not same(expected, got):
            texts = (shown(expected)[:_MOST_SHOWN], shown(got)[:_MOST_SHOWN])
            found.append((f"rules.{field}", *texts))
    return found
