"""Every escrow follows from its terms, as docs/vectors/escrows.json has it."""

from __future__ import annotations

import pytest

from parley.chains import bitcoin, derive_escrow, evm, solana, tron
from parley.chains.errors import ChainError
from parley.chains.terms import EvmView, TronView

from .vectors import Json, load, terms_of, view_of

VECTORS = load("escrows")


def _name(case: Json) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", VECTORS["escrows"], ids=_name)
def test_terms_come_to_theirderive_escrow(case: Json) -> None:
    escrow = derive_escrow(terms_of(case["terms"]), view_of(case["view"]))
    assert escrow.address == case["escrow"]["address"]
    assert escrow.redeem_script == case["escrow"]["redeemScript"]


@pytest.mark.parametrize("case", load("taproot")["escrows"])
def test_both_sides_come_to_one_tree_of_taproot(case: Json) -> None:
    terms = terms_of(case["terms"])
    found = bitcoin.escrow_bytes(terms, case["network"])
    assert (found.address, found.script.hex()) == (case["address"], case["script"])
    assert found.redeem_script == case["descriptor"]
    for verb, branch in found.branches.items():
        script, control = branch.ends
        assert {"script": script.hex(), "control": control.hex()} == case["leaves"][verb]


@pytest.mark.parametrize("case", VECTORS["refused"], ids=_name)
def test_terms_that_lose_money_make_noderive_escrow(case: Json) -> None:
    with pytest.raises(ChainError) as refused:
        derive_escrow(terms_of(case["terms"]), view_of(case["view"]))
    assert (refused.value.code, str(refused.value)) == (case["code"], case["message"])


@pytest.mark.parametrize("case", VECTORS["contractFor"], ids=lambda case: case["funder"])
def test_a_funder_keeps_its_contract_of_several(case: Json) -> None:
    contract, *shards = case["open"]
    deployment = evm.evm_deployment(31_337, contract, tuple(shards))
    assert evm.PLAN.contract_for(case["funder"], deployment) == case["contract"]


@pytest.mark.parametrize("case", VECTORS["holdings"], ids=lambda case: case["program"])
def test_tokens_on_solana_are_where_they_are(case: Json) -> None:
    account, _ = solana.associated_token(case["wallet"], case["mint"], case["program"])
    assert account == case["account"]
    assert solana.vault_address(case["escrow"], case["program"]) == case["vault"]


@pytest.mark.parametrize("case", load("batches")["batches"], ids=lambda case: case["verb"])
def test_a_batch_settles_many_escrows_by_one_call(case: Json) -> None:
    view = view_of(case["view"])
    assert isinstance(view, (EvmView, TronView))
    plan = evm.PLAN if isinstance(view, EvmView) else tron.PLAN
    legs = [(terms_of(each["terms"]), each["secret"]) for each in case["legs"]]
    call = plan.batch(case["verb"], legs, view.deployment)
    data = case["call"]["data"].removeprefix("0x")
    assert (call.to, call.data.hex(), call.value) == (case["call"]["to"], data, 0)
