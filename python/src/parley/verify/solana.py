"""An unsigned Solana transaction held against the terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..chains import solana
from ..chains.errors import ChainError
from ..chains.solana_message import ReadMessage, read_transaction
from ..chains.terms import EscrowTerms, SolanaView
from .tron import comparing


def solana_problems(
    material: Mapping[str, Any], verb: str, secret: str, terms: EscrowTerms, view: SolanaView
) -> list[str]:
    """Open are blockhash, token program, price up to 0.01 SOL, rent up to 0.02, and the forms.

    Each of these pays nobody else.
    """
    escrow = solana.solana_escrow(terms, view.deployment).address
    expected = {"chain": terms.chain, "family": "solana", "sign": "solana-tx", "escrow": escrow}
    problems = comparing(material, expected)
    try:
        shown = read_transaction(material["transaction"])
    except ChainError as error:
        return [*problems, f"transaction is unreadable: {error}"]
    price = _number_in(shown, solana.COMPUTE_BUDGET_PROGRAM, b"\x03")
    limit = solana.UNIT_LIMIT_SOL if terms.token is None else solana.UNIT_LIMIT_TOKEN
    if price * limit > solana.MOST_PRIORITY_LAMPORTS * 1_000_000:
        what = f"transaction offers {price} millionths of a lamport a unit, beyond any need"
        problems.append(what)
    rent = _number_in(shown, solana.SYSTEM_PROGRAM, solana.TRANSFER_HEAD)
    if rent > solana.MOST_RENT_LAMPORTS:
        problems.append(f"transaction adds {rent} lamports of rent, beyond any need")
    owners: tuple[str | None, ...] = (solana.TOKEN_PROGRAM, solana.TOKEN_2022_PROGRAM)
    forms = [
        solana.solana_transaction(
            terms, view.deployment, form, solana.Circumstances(shown.blockhash, price, owner, rent)
        )
        for owner in (owners if terms.token is not None else (None,))
        for form in _forms_of(verb, secret)
    ]
    if material["transaction"] in forms:
        return problems
    return [*problems, "transaction is none of those that the terms give"]


def _forms_of(verb: str, secret: str) -> list[solana.Wanted]:
    if verb == "fund":
        return [solana.Wanted("fund")]
    if verb == "claim":
        return [solana.Wanted("claim", secret, without_refund=each) for each in (False, True)]
    if verb == "release":
        return [solana.Wanted("release")]
    # The whole balance goes to the funder, by any verb.
    refunds = [solana.Wanted("refund", after_claim=each) for each in (False, True)]
    return [*refunds, solana.Wanted("close")]


def _number_in(shown: ReadMessage, program: str, first: bytes) -> int:
    """The number at the end of the first instruction of this form; 0 where there is none."""
    for each in shown.instructions:
        is_wanted = each.program == program and each.data.startswith(first)
        if is_wanted and len(each.data) == len(first) + 8:
            return int.from_bytes(each.data[len(first) :], "little")
    return 0
