"""Signatures of all four families, byte for byte as docs/vectors has them."""

from __future__ import annotations

import pytest

from parley.chains import bitcoin, bitcoin_spend, evm, solana, tron, typed_data
from parley.chains.errors import ChainError
from parley.chains.terms import EvmView
from parley.verify import SigningView, VerificationError, typed_data_problems, verify_typed_data

from .vectors import Json, changed, load, outputs_of, terms_of, view_of

SIGNED = load("signed")
TAPROOT = load("taproot")
TEXTS = load("typed-data")


def test_an_evm_transaction_is_signed_as_eip_1559_has_it() -> None:
    key = bytes.fromhex(SIGNED["evm"]["privateKey"][2:])
    assert evm.address_of_key(key) == SIGNED["evm"]["address"]
    for case in SIGNED["evm"]["signed"]:
        said = case["transaction"]
        transaction = evm.EvmTransaction(
            chain_id=said["chainId"],
            nonce=said["nonce"],
            to=said["to"],
            data=bytes.fromhex(said["data"][2:]),
            value=int(said["value"]),
            gas=int(said["gas"]),
            max_fee_per_gas=int(said["maxFeePerGas"]),
            max_priority_fee_per_gas=int(said["maxPriorityFeePerGas"]),
        )
        signed = evm.sign_transaction(key, transaction)
        assert (signed.raw, signed.txid) == (case["raw"], case["txid"])


def test_a_tron_transaction_is_signed_over_its_bytes_and_not_over_an_id_that_is_said() -> None:
    key = bytes.fromhex(SIGNED["tron"]["privateKey"])
    assert tron.address_of_key(key) == SIGNED["tron"]["address"]
    for case in SIGNED["tron"]["signed"]:
        signed = tron.sign_transaction(key, case)
        assert signed.as_json() == {each: case[each] for each in signed.as_json()}
        assert signed.hex == case["hex"]
        with pytest.raises(ChainError, match="but its raw_data_hex is of"):
            tron.sign_transaction(key, {**case, "txID": "00" * 32})


def test_a_solana_transaction_is_signed_by_its_one_signer_alone() -> None:
    case = SIGNED["solana"]
    seed = bytes.fromhex(case["seed"])
    assert solana.address_of_seed(seed) == case["address"]
    signed = solana.sign_transaction(seed, case["transaction"])
    assert (signed.transaction, signed.txid) == (case["signed"], case["txid"])
    with pytest.raises(ChainError, match="not "):
        solana.sign_transaction(bytes(32), case["transaction"])


@pytest.mark.parametrize(
    "case", [*SIGNED["bitcoin"]["spends"], *TAPROOT["byLeaf"]], ids=lambda case: case["verb"]
)
def test_a_bitcoin_spend_is_built_signed_and_assembled(case: Json) -> None:
    terms = terms_of(case.get("terms", TAPROOT["escrows"][0]["terms"]))
    outputs = list(outputs_of(case["outputs"]))
    verb, network = case["verb"], case.get("network", "regtest")
    spend = bitcoin_spend.build_spend(terms, network, verb, outputs, int(case["feeSats"]))
    assert spend.psbt_base64 == case["psbtBase64"]
    assert [each.hex() for each in spend.sighashes] == case["sighashHexes"]
    assert (spend.vsize, spend.pays_sats) == (case["vsize"], int(case["paysSats"]))
    key = bytes.fromhex(case["privateKey"])
    assert bitcoin.public_key_of(key) in (terms.payout.pubkey, terms.refund.pubkey)
    signatures = bitcoin_spend.sign_psbt(key, spend.psbt_base64)
    assert signatures == case["signaturesHex"]
    signed = bitcoin_spend.assemble(spend.psbt_base64, signatures, case.get("preimageHex"))
    assert (signed.raw, signed.txid) == (case["raw"], case["txid"])


def test_a_bitcoin_signature_with_high_s_is_made_low() -> None:
    claim, high = SIGNED["bitcoin"]["spends"][0], SIGNED["bitcoin"]["high"]
    psbt, preimage = claim["psbtBase64"], claim["preimageHex"]
    assert bitcoin_spend.assemble(psbt, high["signaturesHex"], preimage).raw == high["raw"]


@pytest.mark.parametrize(
    "case", [*SIGNED["bitcoin"]["refused"], *TAPROOT["refused"]], ids=lambda case: case["why"]
)
def test_a_bitcoin_spend_with_wrong_signatures_is_not_assembled(case: Json) -> None:
    said = case["signed"]
    with pytest.raises(ChainError) as refused:
        bitcoin_spend.assemble(said["psbtBase64"], said["signaturesHex"], said.get("preimageHex"))
    assert (refused.value.code, str(refused.value)) == (case["code"], case["message"])


def _signing(said: Json) -> SigningView:
    nonce = said["nonce"]
    return SigningView(
        separator=said["separator"],
        latest_deadline=said["latestDeadline"],
        allowance=said["allowance"],
        nonce=None if nonce is None else int(nonce),
        lane_signature=said.get("laneSignature"),
    )


@pytest.mark.parametrize("case", TEXTS["cases"], ids=lambda case: case["name"])
def test_a_text_of_eip_712_is_verified_and_signed(case: Json) -> None:
    terms, view = terms_of(case.get("terms", TEXTS["terms"])), view_of(TEXTS["view"])
    assert isinstance(view, EvmView)
    alternative, signing = case["alternative"], _signing(case["signing"])
    verify_typed_data(alternative, terms, view.deployment, signing)
    text = alternative["typedData"]
    assert typed_data.domain_separator(text["domain"]).hex() == case["separator"][2:]
    assert typed_data.digest_of(text).hex() == case["digest"][2:]
    signature = typed_data.sign_typed_data(bytes.fromhex(TEXTS["privateKey"][2:]), text)
    assert signature == case["signature"]
    assert typed_data.signer_of(text, signature) == terms.refund.address
    assert typed_data.signed_call(alternative["call"], signature) == case["call"]
    for lie in case["refused"]:
        lying = changed({"alternative": alternative}, lie["change"])["alternative"]
        found = typed_data_problems(lying, terms, view.deployment, signing)
        assert found == lie["problems"], lie["why"]
        with pytest.raises(VerificationError):
            verify_typed_data(lying, terms, view.deployment, signing)
    for other in case["otherViews"]:
        own = _signing(other["signing"])
        found = typed_data_problems(alternative, terms, view.deployment, own)
        assert found == other["problems"], other["why"]


@pytest.mark.parametrize("case", TEXTS["consents"], ids=lambda case: case["typedData"]["primaryType"])
def test_a_payee_signs_what_the_contract_asks_of_it(case: Json) -> None:
    terms, view = terms_of(case["terms"]), view_of(TEXTS["view"])
    assert isinstance(view, EvmView)
    kind = case["typedData"]["primaryType"]
    text = typed_data.consent_text(evm.PLAN, kind, terms, view.deployment)
    assert text == case["typedData"]
    assert typed_data.digest_of(text).hex() == case["digest"][2:]
    assert evm.PLAN.consent_digest(kind, terms, view.deployment).hex() == case["digest"][2:]
    assert typed_data.signer_of(text, case["signature"]) == terms.payout.address
