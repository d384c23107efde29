"""Are the unsigned bytes exactly what the verified terms demand, and nothing more?"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ..chains import bitcoin, bitcoin_spend, derive_escrow, evm, tron
from ..chains.errors import ChainError
from ..chains.escrows import Call, funding_of_length
from ..chains.terms import (
    Allowance,
    BitcoinView,
    ChainView,
    Escrow,
    EscrowOutput,
    EscrowTerms,
    EvmView,
    SolanaView,
    SpendVerb,
    TronView,
)
from ..errors import VerificationError
from ..hashlock import hashlock_of
from .checks import as_json, must_be, must_equal
from .solana import solana_problems
from .tron import EnvelopeBounds, tron_problems
from .words import MISSING, get, is_number, text_of


@dataclass(frozen=True, slots=True)
class Fund:
    """``allowance``: the amount of an approval (EVM), that of the terms unless told.

    ``lane_signature``: the payee's, for a lane of its own (EVM and TRON).
    """

    allowance: Allowance = "exact"
    lane_signature: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """``secret``: 64 hex digits."""

    secret: str


@dataclass(frozen=True, slots=True)
class Refund:
    """Before the timelock too: ``release``, by the payee's signature (EVM and TRON);
    ``is_released``, by its own transaction (Solana)."""

    release: str | None = None
    is_released: bool = False


Asked = Fund | Claim | Refund


@dataclass(frozen=True, slots=True)
class Limits:
    """``valid_until``: the latest that one's own deadlines let it be sent; None: no limit.

    ``outputs``: the escrow's payments on Bitcoin from one's own node; inputs could be coins that
    do not exist. ``now``: Unix seconds, the machine's clock unless told. ``is_public``: whether
    the secret is, so that a claim on Bitcoin may cost nearly all that it takes.
    """

    valid_until: int | None = None
    outputs: tuple[EscrowOutput, ...] | None = None
    now: int | None = None
    is_public: bool = False


#: A funding on TRON that no block takes must die soon.
_LONGEST_TRON_LIFE_MS = 3_600_000
_LONGEST_WORD = 43


def verify_material(
    material: Mapping[str, Any] | BaseModel,
    asked: Asked,
    terms: EscrowTerms,
    view: ChainView,
    limits: Limits = Limits(),
) -> None:
    """Throws VerificationError unless it is what ``asked`` of these terms comes to.

    ``material``: JSON of a builder, or what ``parley.client`` made of it. Sign what was verified,
    and nothing else: ``alternatives`` are not, `verify_typed_data` is for those.
    """
    try:
        _verify_all(as_json(material), asked, terms, view, limits)
    except VerificationError as error:
        if not isinstance(asked, Claim):
            raise
        # A claim holds the secret: no error repeats it.
        short, said = _cut(error.expected), _cut(error.got)
        at = f", others from character {_first_other(error.expected, error.got)} on"
        told = f"{said}{at if short == said else ''}"
        raise VerificationError(error.field, short, told) from None


def _cut(text: str) -> str:
    """Long words, in whatever letters they are."""

    def shortened(found: re.Match[str]) -> str:
        return f"{found[0][:10]}… ({len(found[0])} characters)"

    return re.sub(rf"\S{{{_LONGEST_WORD},}}", shortened, text)


def _first_other(expected: str, got: str) -> int:
    pairs = enumerate(expected)
    return next((at for at, each in pairs if got[at : at + 1] != each), len(expected))


def escrow_of(field: str, terms: EscrowTerms, view: ChainView) -> Escrow:
    """The escrow of one's own terms. Throws VerificationError where they make none."""
    try:
        return derive_escrow(terms, view)
    except ChainError as error:
        raise VerificationError(field, "terms that make an escrow", str(error)) from error


def _verify_all(
    material: Mapping[str, Any], asked: Asked, terms: EscrowTerms, view: ChainView, limits: Limits
) -> None:
    escrow = escrow_of("terms", terms, view)
    if isinstance(asked, Claim) and not _opens(asked.secret, terms.hashlock):
        raise VerificationError("secret", f"a preimage of {terms.hashlock}", "another")
    must_equal("chain", view.chain, get(material, "chain"))
    must_equal("family", view.family, get(material, "family"))
    must_equal("escrow", escrow.address, get(material, "escrow"))
    _verify_valid_until(get(material, "validUntil"), limits.valid_until)
    match view:
        case EvmView():
            _verify_evm(material, asked, terms, view)
        case TronView():
            now = math.floor(time.time()) if limits.now is None else limits.now
            _verify_tron(material, asked, terms, view, now)
        case SolanaView():
            _verify_solana(material, asked, terms, view)
        case BitcoinView():
            if isinstance(asked, Fund):
                _verify_payment(material, escrow.address, terms)
            else:
                verb: SpendVerb = "claim" if isinstance(asked, Claim) else "refund"
                _verify_spend(material, verb, terms, view, limits)
    _verify_aliases(material, asked)


def _verify_aliases(material: Mapping[str, Any], asked: Asked) -> None:
    """A wallet that signs by a second name signs the bytes that were checked by the first."""
    right: dict[str, Any] = {}
    if material["sign"] == "solana-tx":
        right["transactionBase64"] = material["transaction"]
    if material["sign"] == "tron-txid" and len(material["transactions"]) == 1:
        right["txID"] = material["transactions"][0]["txID"]
    if material["sign"] == "btc-sighash" and len(material["sighashHexes"]) == 1:
        right["sighashHex"] = material["sighashHexes"][0]
    if material["sign"] == "btc-sighash" and isinstance(asked, Claim):
        right["preimageHex"] = asked.secret
    for name in ("transactionBase64", "txID", "sighashHex", "preimageHex"):
        if name in material:
            must_equal(name, right.get(name, "absent"), material[name])


def _opens(secret: str, hashlock: str) -> bool:
    is_secret = re.fullmatch(r"[0-9a-f]{64}", secret) is not None
    return is_secret and hashlock_of(secret) == hashlock


def _verify_valid_until(said: object, own: int | None) -> None:
    """The market may be stricter than one's own deadline, never laxer."""
    if own is None or said is None or said is MISSING:
        return
    if isinstance(said, (int, float)) and is_number(said) and said <= own:
        return
    raise VerificationError("validUntil", f"{own} at the latest", text_of(said))


def _must_sign(material: Mapping[str, Any], sign: str) -> None:
    said = get(material, "sign")
    if said != sign:
        raise VerificationError("sign", sign, text_of(said))


def _verify_evm(
    material: Mapping[str, Any], asked: Asked, terms: EscrowTerms, view: EvmView
) -> None:
    _must_sign(material, "evm-tx")
    txs = get(material, "txs")
    must_be("a list", "txs", txs)
    must_equal("chainId", view.chain_id, get(material, "chainId"))
    sender = get(material, "from")
    if isinstance(asked, Fund):
        must_equal("from", terms.refund.address, sender)
    elif sender is not MISSING:
        raise VerificationError("from", "absent", text_of(sender))
    with _consented(asked):
        expected = _calls_for(asked, terms, view, len(txs))
    must_equal("txs.length", len(expected), len(txs))
    for at, call in enumerate(expected):
        said = txs[at]
        must_equal(f"txs[{at}].to", call.to, get(said, "to"))
        _must_be_data(f"txs[{at}].data", f"0x{call.data.hex()}", get(said, "data"))
        must_equal(f"txs[{at}].value", f"0x{call.value:x}", get(said, "value"))
        for name in said:
            # A signer may obey it.
            if name not in ("to", "data", "value"):
                raise VerificationError(f"txs[{at}].{name}", "absent", "something")


@contextmanager
def _consented(asked: Asked) -> Iterator[None]:
    """A consent that was given to the customer is none of these terms."""
    try:
        yield
    except ChainError as error:
        if error.code != "bad_signature":
            raise
        field = "laneSignature" if isinstance(asked, Fund) else "release"
        raise VerificationError(field, "the payee's, for these terms", str(error)) from error


def _must_be_data(field: str, expected: str, got: object) -> None:
    """Says where it differs: 400 characters of it help nobody."""
    if got == expected:
        return
    must_be("text", field, got)
    text = str(got)
    place = f"{len(text)} characters, others from character {_first_other(expected, text)} on"
    raise VerificationError(field, _cut(expected), place)


def _calls_for(asked: Asked, terms: EscrowTerms, view: EvmView, count: int) -> list[Call]:
    """How many approvals come first depends on the token: zero, one, or a reset and one."""
    match asked:
        case Claim(secret):
            return [evm.claim_call(terms, view.deployment, secret)]
        case Refund(release):
            if release is not None:
                return [evm.release_call(terms, view.deployment, release)]
            return [evm.refund_call(terms, view.deployment)]
        case Fund(allowance, signature):
            return funding_of_length(
                terms.amount,
                count,
                lambda allowed: evm.fund_calls(
                    terms, view.deployment, allowed, allowance, signature
                ),
            )


def _tron_calls_for(
    asked: Asked, terms: EscrowTerms, view: TronView, count: int
) -> list[tron.TronCall]:
    match asked:
        case Claim(secret):
            return [tron.claim_call(terms, view.deployment, secret)]
        case Refund(release):
            if release is not None:
                return [tron.release_call(terms, view.deployment, release)]
            return [tron.refund_call(terms, view.deployment)]
        case Fund(_, signature):
            return funding_of_length(
                terms.amount,
                count,
                lambda allowed: tron.fund_calls(terms, view.deployment, allowed, signature),
            )


def _verb(asked: Asked) -> str:
    return type(asked).__name__.lower()


def _without_deadline(material: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in material.items() if name != "validUntil"}


def _verify_tron(
    material: Mapping[str, Any], asked: Asked, terms: EscrowTerms, view: TronView, now: int
) -> None:
    _must_sign(material, "tron-txid")
    must_be("a list", "transactions", get(material, "transactions"))
    bounds = EnvelopeBounds(now * 1_000, view.most_fee_limit_sun, _LONGEST_TRON_LIFE_MS)
    with _consented(asked):
        calls = _tron_calls_for(asked, terms, view, len(get(material, "transactions")))
    said = _without_deadline(material)
    _must_have_none(asked, tron_problems(said, calls, terms, view, bounds))


def _verify_solana(
    material: Mapping[str, Any], asked: Asked, terms: EscrowTerms, view: SolanaView
) -> None:
    _must_sign(material, "solana-tx")
    must_be("text", "transaction", get(material, "transaction"))
    secret = asked.secret if isinstance(asked, Claim) else ""
    is_released = isinstance(asked, Refund) and asked.is_released
    verb = "release" if is_released else _verb(asked)
    problems = solana_problems(material, verb, secret, terms, view)
    height = get(material, "lastValidBlockHeight")
    if not (is_number(height) and height == int(height) and 0 <= height < 2**53):
        problems.append(f"lastValidBlockHeight is {text_of(height)}, no height")
    _must_have_none(asked, problems)


def _must_have_none(asked: Asked, problems: Sequence[str]) -> None:
    """Each problem begins with the path of its field."""
    if not problems:
        return
    # Ids and bytes follow from the rest: any other difference says more.
    telling = [each for each in problems if not re.search(r"\.(txID|raw_data_hex) ", each)]
    field = (telling or problems)[0].split(" ", 1)[0]
    expected = f"as in the {_verb(asked)} of these terms"
    raise VerificationError(field, expected, "; ".join(problems))


def _verify_payment(material: Mapping[str, Any], escrow: str, terms: EscrowTerms) -> None:
    _must_sign(material, "btc-payment")
    must_equal("payTo", escrow, get(material, "payTo"))
    must_equal("amountSats", str(terms.amount), get(material, "amountSats"))
    must_equal("uri", bitcoin.payment_uri(escrow, terms.amount), get(material, "uri"))


def _verify_spend(
    material: Mapping[str, Any],
    verb: SpendVerb,
    terms: EscrowTerms,
    view: BitcoinView,
    limits: Limits,
) -> None:
    _must_sign(material, "btc-sighash")
    outputs = limits.outputs
    if outputs is None:
        raise VerificationError("outputs", "the escrow's payments, from your own source", "none")
    text, said = get(material, "psbtBase64"), get(material, "sighashHexes")
    must_be("text", "psbtBase64", text)
    must_be("a list", "sighashHexes", said)
    scheme = get(material, "scheme")
    must_equal("scheme", terms.form and "schnorr", None if scheme is MISSING else scheme)
    try:
        psbt = bitcoin_spend.read_psbt(text)
        must_equal("sighashHexes.length", len(psbt.inputs), len(said))
        for at, each in enumerate(psbt.inputs):
            must_equal(f"sighashHexes[{at}]", each.sighash.hex(), said[at])
        cap = view.most_fee_rate_sat_per_vbyte
        vsize = bitcoin_spend.check_spend(
            text, verb, terms, view.network, outputs, cap, is_public=limits.is_public
        )
    except ChainError as error:
        expected = f"the {verb} of these terms"
        raise VerificationError("psbtBase64", expected, str(error)) from error
    must_equal("feeSats", str(psbt.fee_sats), get(material, "feeSats"))
    rate = bitcoin_spend.rate_of(psbt.fee_sats, vsize)
    must_equal("feeRateSatPerVbyte", rate, get(material, "feeRateSatPerVbyte"))
    ladder = get(material, "ladder")
    must_be("a list", "ladder", ladder)
    # Later steps are advice, and an own node gives better: this code pays by none of them.
    first = ladder[0] if ladder else {}
    must_equal("ladder[0].feeSats", str(psbt.fee_sats), get(first, "feeSats"))
    must_equal("ladder[0].feeRateSatPerVbyte", rate, get(first, "feeRateSatPerVbyte"))


__all__ = [
    "Asked",
    "Claim",
    "Fund",
    "Limits",
    "Refund",
    "escrow_of",
    "verify_material",
]
