"""The rules of the driver give what those of the SDK give: docs/vectors/evidence.json."""

from __future__ import annotations


from typing import Any

import pytest

from parley._settle.facts import EscrowFacts, Sighting
from parley._settle.gates import claim_gate, fund_gate, refund_gate, release_gate
from parley._settle.judge import Answer, Bounds, Heads, judge
from parley._settle.steps import next_steps
from parley._settle.swap import Clocks, Leg, Release, SwapState, swap_status
from parley.chains.terms import ChainPolicy
from parley.errors import Refusal
from parley.verify.deadlines import Deadlines
from parley.verify.trade import Role

from ..verify.vectors import load

Json = Any
ALL = load("evidence")


def facts_of(said: Json) -> EscrowFacts:
    found = {
        kind: None if said[kind] is None else Sighting(**said[kind])
        for kind in ("funded", "claimed", "refunded")
    }
    return EscrowFacts(
        **found, secret=said["secret"], balance=int(said["balance"]), empty=said["empty"]
    )


@pytest.mark.parametrize("case", ALL["judged"])
def test_the_same_answers_count(case: Json) -> None:
    about = case["bounds"]
    bounds = Bounds(
        about["chain"],
        about["nodes"],
        about["family"],
        ChainPolicy.of(about["policy"]),
        about["requiredConfirmations"],
        about["blockSeconds"],
    )
    answers = [
        Answer(each["node"], Heads(**each["heads"]), facts_of(each["facts"]), each["isRefused"])
        for each in case["answers"]
    ]
    judged, wanted = judge(answers, bounds, case["wall"], is_patient=case["isPatient"]), case["judged"]
    assert judged.facts == facts_of(wanted["facts"])
    assert list(judged.counting) == wanted["counting"]
    for name in ("node", "earliest", "latest", "agreed"):
        assert getattr(judged, name) == wanted[name], name
    told = [{"code": d.code, "sentence": d.sentence, "node": d.node} for d in judged.doubts]
    assert told == wanted["doubts"]


def leg_of(said: Json) -> Leg:
    word = said["release"]
    release = None
    if word is not None:
        release = Release(word["askedAt"], word["at"] is not None, word["signature"])
    return Leg(
        leg=said["leg"],
        chain=said["chain"],
        family=said["family"],
        amount=int(said["amount"]),
        long=said["long"],
        timelock=said["timelock"],
        required_confirmations=said["requiredConfirmations"],
        escrow=said["escrow"],
        is_taproot=False,
        facts=facts_of(said["facts"]),
        strayed=said["strayed"],
        handed=said["handed"],
        release=release,
    )


@pytest.mark.parametrize("case", ALL["states"])
def test_the_same_steps_and_gates_are_open(case: Json) -> None:
    times = case["deadlines"]
    deadlines = Deadlines(
        times["initiatorFundBy"],
        times["expiresAt"],
        times["counterpartyFundBy"],
        times["revealBy"],
        times["refundAt"]["a"],
        times["refundAt"]["b"],
    )
    a, b = (leg_of(each) for each in case["legs"])
    state = SwapState("00" * 32, a, b, deadlines, case["secret"])
    clocks = Clocks(**case["clocks"])
    assert swap_status(state, clocks.wall) == case["status"]
    roles: tuple[Role, Role] = ("initiator", "counterparty")
    found = [
        {"by": role, "action": each.action, "leg": each.leg, "before": each.before}
        for role in roles
        for each in next_steps(state, clocks, role)
    ]
    assert found == case["steps"]
    for wanted in case["gates"]:
        name = wanted["leg"]
        assert code_of(lambda: fund_gate(state, name, clocks)) == wanted["fund"]
        assert code_of(lambda: claim_gate(state, name, clocks)) == wanted["claim"]
        assert code_of(lambda: refund_gate(state.leg(name), clocks)) == wanted["refund"]
        assert code_of(lambda: release_gate(state, name, clocks)) == wanted["release"]


def code_of(gate: Any) -> str | None:
    try:
        gate()
    except Refusal as error:
        return error.code
    return None


