"""Honest unsigned transactions are accepted; each lie is refused for its reason."""

from __future__ import annotations

import copy

import pytest

from parley.chains.bitcoin import bitcoin_escrow
from parley.chains.bitcoin_spend import build_spend, rate_of
from parley.verify import VerificationError, verify_material

from .vectors import Json, asked_of, changed, limits_of, load, outputs_of, terms_of, view_of

CASES = load("transactions")["cases"]
#: The vectors have the beginning of a reason.
MOST_REASON = 200


def check(case: Json) -> None:
    verify_material(
        case["material"],
        asked_of(case["asked"]),
        terms_of(case["terms"]),
        view_of(case["view"]),
        limits_of(case["limits"]),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_honest_transaction_is_accepted_and_no_lie(case: Json) -> None:
    honest = {name: case[name] for name in ("material", "asked", "terms", "view", "limits")}
    check(honest)
    for each in case["accepted"]:
        check(changed(honest, each["change"]))
    assert len(case["refused"]) >= 10
    for lie in case["refused"]:
        with pytest.raises(VerificationError) as refused:
            check(changed(honest, lie["change"]))
            pytest.fail(f"{lie['why']} was believed")
        error = refused.value
        assert error.field == lie["field"], lie["why"]
        assert error.expected[:MOST_REASON] == lie["expected"], lie["why"]
        assert error.got[:MOST_REASON] == lie["got"], lie["why"]


def test_a_spend_of_taproot_names_its_scheme_and_no_other_does() -> None:
    plain = next(each for each in CASES if each["material"]["sign"] == "btc-sighash")
    case = copy.deepcopy(plain)
    case["terms"]["form"] = "p2tr"
    terms, verb = terms_of(case["terms"]), plain["asked"]["verb"]
    outputs = list(outputs_of(case["limits"]["outputs"]))
    spend = build_spend(terms, "regtest", verb, outputs, 400)
    fee = {"feeSats": "400", "feeRateSatPerVbyte": rate_of(400, spend.vsize)}
    built = {
        "escrow": bitcoin_escrow(terms, "regtest").address,
        "psbtBase64": spend.psbt_base64,
        "sighashHexes": [each.hex() for each in spend.sighashes],
        "scheme": "schnorr",
        "ladder": [fee],
    }
    case["material"].update(built | fee)
    check(case)
    del case["material"]["scheme"]
    named = changed(plain, [{"op": "add", "path": "/material/scheme", "value": "schnorr"}])
    for each in (case, named):
        with pytest.raises(VerificationError) as refused:
            check(each)
        assert refused.value.field == "scheme"
