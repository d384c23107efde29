"""The gates hold by themselves: what is signed is held against them once more, whatever was open
when it was begun. Both sides of each boundary.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from parley._settle.facts import EscrowFacts, holds_payment, is_much, leg_status
from parley._settle.gates import claim_gate, fund_gate, release_gate
from parley._settle.judge import Doubt
from parley._settle.keeping import without_sent
from parley._settle.machine import may_move
from parley._settle.market import unquoted
from parley._settle.memory import Marks
from parley._settle.observe import Evidence
from parley._settle.record import (
    GivenUp,
    Kept,
    LegSeen,
    Released,
    Seen,
    doubts_of,
    is_unsure,
    leg_with,
    news_of,
    seen_of,
    told_of,
)
from parley._settle.store import must_be_only
from parley._settle.swap import is_out
from parley.errors import ParleyError, Refusal, SettleError

from .world import (
    AMOUNT,
    CLAIMED,
    FUND_A,
    FUND_B,
    FUNDED,
    HASHLOCK,
    LOCK_A,
    LOCK_B,
    NOTHING,
    NOW,
    REFUNDED,
    REVEAL,
    SECRET,
    Disk,
    World,
    seen,
)

UNKNOWN = EscrowFacts(is_unknown=True)
WAITS = replace(FUNDED, funded=seen("funding", 2))


def stand(
    world: World,
    a: EscrowFacts,
    b: EscrowFacts,
    at: int = NOW,
    *,
    strayed: str = "",
    chain: int = 0,
) -> Seen:
    """``chain``: the clock of chain b, where it is another one."""
    legs = [
        LegSeen(leg_with(world.record, leg, facts, "evm", strayed=leg in strayed), clock)
        for leg, facts, clock in (("a", a, at), ("b", b, chain or at))  # type: ignore[arg-type]
    ]
    return seen_of(world.record, legs[0], legs[1], at)


def code(gate: Any, at: Seen, leg: str) -> str | None:
    try:
        gate(at.state, leg, at.clocks)
    except Refusal as error:
        return error.code
    return None


def test_a_funding_passes_its_gate_in_time_and_beside_nothing_else(counterparty: World) -> None:
    def gate(
        a: EscrowFacts = NOTHING, b: EscrowFacts = FUNDED, *args: Any, **how: Any
    ) -> str | None:
        return code(fund_gate, stand(counterparty, a, b, *args, **how), "a")

    assert gate(NOTHING, FUNDED, FUND_A) is None
    assert gate(NOTHING, FUNDED, FUND_A + 1) == "too_late_to_fund"
    assert gate(NOTHING, FUNDED, NOW, chain=FUND_A + 1) == "too_late_to_fund"
    assert gate(NOTHING, WAITS) == "not_fundable_yet"
    for pooled in (replace(FUNDED, funded=seen("f", 0)), WAITS, FUNDED, CLAIMED, REFUNDED):
        assert gate(pooled) == "already_funded"
    assert gate(UNKNOWN) == gate(NOTHING, UNKNOWN) == "outcome_unknown"
    assert gate(NOTHING, replace(FUNDED, secret=SECRET)) == "too_late_to_fund"
    for spent in ("claimed", "refunded"):
        assert gate(NOTHING, replace(FUNDED, **{spent: seen("s", 0)})) == f"already_{spent}"
    for each in ("a", "b"):
        assert gate(strayed=each) == "former_escrow_funded"
    counterparty.keeps(given_up=GivenUp(NOW, False))
    assert gate() == "given_up"


def test_a_secret_passes_its_gate_in_time_and_for_two_deep_legs(initiator: World) -> None:
    def gate(
        a: EscrowFacts = FUNDED, b: EscrowFacts = FUNDED, *args: Any, **how: Any
    ) -> str | None:
        return code(claim_gate, stand(initiator, a, b, *args, **how), "a")

    assert gate(FUNDED, FUNDED, REVEAL) is None
    assert gate(FUNDED, FUNDED, REVEAL + 1) == "too_late_to_reveal"
    assert gate(FUNDED, FUNDED, NOW, chain=REVEAL + 1) == "too_late_to_reveal"
    assert gate(WAITS) == gate(FUNDED, WAITS) == "not_both_funded"
    assert gate(FUNDED, replace(FUNDED, refunded=seen("back", 0))) == "already_refunded"
    assert gate(REFUNDED) == "already_refunded"
    assert gate(FUNDED, replace(FUNDED, is_unknown=True)) == "outcome_unknown"
    for each in ("a", "b"):
        assert gate(strayed=each) == "former_escrow_funded"
    # With the secret public only the chain may refuse.
    assert gate(replace(WAITS, secret=SECRET), REFUNDED, LOCK_A) is None
    initiator.keeps(given_up=GivenUp(NOW, False))
    assert gate() == "given_up"


def test_a_counterparty_releases_what_pays_it_once_its_own_leg_is_out(counterparty: World) -> None:
    def gate(a: EscrowFacts, at: int = NOW) -> str | None:
        return code(release_gate, stand(counterparty, a, FUNDED, at), "b")

    assert gate(NOTHING) is gate(REFUNDED) is None
    assert gate(FUNDED) == gate(WAITS) == gate(CLAIMED) == "not_releasable"
    counterparty.keeps(funding=Kept("id", "raw", NOW))
    assert gate(NOTHING, LOCK_A - 1) == "not_releasable"
    assert gate(NOTHING, LOCK_A) is None
    assert gate(replace(NOTHING, balance=1), LOCK_A) == "not_releasable"
    counterparty.keeps(public_secret=SECRET)
    assert gate(NOTHING, LOCK_A) == "not_releasable"


def test_a_leg_is_out_where_nothing_is_in_it_or_may_come(initiator: World) -> None:
    def out(facts: EscrowFacts, at: int = NOW, strayed: str = "") -> bool:
        found = stand(initiator, NOTHING, facts, at, strayed=strayed)
        return is_out(found.state.b, found.clocks, "counts")

    assert out(NOTHING) and not out(NOTHING, strayed="b") and not out(UNKNOWN)
    assert not out(replace(NOTHING, balance=1))
    initiator.keeps(restored=True)
    assert not out(NOTHING, LOCK_B - 1) and out(NOTHING, LOCK_B)


@pytest.mark.parametrize(
    ("units", "much"), [(0, False), (AMOUNT // 100 - 1, False), (AMOUNT // 100, True)]
)
def test_dust_stops_no_swap_and_a_hundredth_does(units: int, much: bool) -> None:
    assert is_much(units, AMOUNT) is much
    assert holds_payment(EscrowFacts(balance=units), AMOUNT) is much
    assert holds_payment(UNKNOWN, AMOUNT) and holds_payment(WAITS, AMOUNT)
    assert not holds_payment(CLAIMED, AMOUNT)
    assert leg_status(UNKNOWN) == "seen"


def test_a_release_of_another_escrow_brings_nothing_back(initiator: World) -> None:
    for escrow, signature in (("former b", None), ("escrow b", "released")):
        initiator.keeps(released=Released(escrow, "released"))
        leg = leg_with(initiator.record, "b", FUNDED, "evm")
        assert (leg.release and leg.release.signature) == signature


def test_what_no_node_can_tell_leaves_what_was_seen(initiator: World) -> None:
    initiator.keeps(seen={"escrow b": FUNDED})
    leg = leg_with(initiator.record, "b", UNKNOWN, "evm")
    assert news_of(initiator.record, [LegSeen(leg, NOW)]) is None
    found = news_of(initiator.record, [LegSeen(replace(leg, facts=CLAIMED), NOW)])
    assert found is not None and found.seen["escrow b"] == CLAIMED


def test_a_phrase_gives_back_what_is_agreed_and_nothing_that_was_sent(initiator: World) -> None:
    kept = Kept("id", "raw", NOW)
    initiator.keeps(funding=kept, claim=kept, refund=kept, public_secret=SECRET, by_hand=True)
    initiator.keeps(given_up=GivenUp(NOW, True), seen={"escrow b": FUNDED}, cancel=kept)
    given = without_sent(initiator.record)
    plain = replace(given, restored=False)
    assert given.restored and plain == type(plain)(initiator.record.trade, initiator.record.swap)


@pytest.mark.anyio
async def test_one_hashlock_one_thread_and_one_rfq_have_one_swap(initiator: World) -> None:
    mine = initiator.record
    other = replace(mine, swap=replace(mine.swap, id="2"))
    for hashlock, thread, rfq, restored in [
        (HASHLOCK, "other", "other", False),
        ("11" * 32, "thread", "other", False),
        ("11" * 32, "other", "rfq", False),
        ("11" * 32, "other", "rfq", True),
        ("11" * 32, "other", "other", False),
    ]:
        trade = replace(other.trade, thread_id=thread, rfq_id=rfq)
        swap = replace(other.swap, hashlock=hashlock)
        initiator.others = {"2": replace(other, trade=trade, swap=swap)}
        is_refused = hashlock == HASHLOCK or thread == "thread" or (rfq == "rfq" and not restored)
        try:
            await must_be_only(Disk(initiator), replace(mine, restored=restored))
            assert not is_refused
        except SettleError as error:
            assert is_refused and error.code == "hashlock_used"


SPOKEN = "12 34 56 78 9a bc de f0 " * 4
BYTES = bytes.fromhex("11" * 32)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "words",
    [
        "11" * 32,
        f"0x{'11' * 32}",
        SPOKEN,
        str(list(BYTES)),
        repr(BYTES),
        BYTES.decode(),
        repr(b"\x11\xf1 34 " * 6),
        json.dumps("\x11\xf1 34 " * 6),
    ],
)
async def test_no_error_quotes_a_secret_in_any_spelling(words: str) -> None:
    async def fails() -> None:
        raise RuntimeError(f"it does not take {words}")

    with pytest.raises(ParleyError) as error:
        await unquoted(fails)
    assert words not in str(error.value) and "34" not in str(error.value)
    assert error.value.__cause__ is None and "17, 17" not in str(error.value)


def test_the_first_side_funds_until_its_own_time(initiator: World) -> None:
    for at, said in ((FUND_B, None), (FUND_B + 1, "too_late_to_fund")):
        assert code(fund_gate, stand(initiator, NOTHING, NOTHING, at), "b") == said


def test_a_momentary_difference_is_no_news_and_every_other_doubt_is(initiator: World) -> None:
    doubts = tuple(Doubt(each, each) for each in ("nodes_disagree", "node_behind"))
    for brief, told in ((True, ["node_behind"]), (False, ["nodes_disagree", "node_behind"])):
        evidence = Evidence(0, NOW, False, doubts, Marks(), None, brief)
        leg = LegSeen(leg_with(initiator.record, "b", NOTHING, "evm"), NOW, evidence)
        assert told_of(leg) == told and is_unsure(leg)
        assert doubts_of(leg) == ["nodes_disagree", "node_behind"]
    unheard = replace(leg, evidence=replace(evidence, doubts=()))
    assert is_unsure(unheard) and "has yet to answer" in doubts_of(unheard)[0]


def test_no_leg_moves_that_was_once_in_a_block(initiator: World) -> None:
    for blocks, may in ((0, True), (1, False)):
        initiator.keeps(seen={"escrow a": replace(FUNDED, funded=seen("funding", blocks))})
        assert may_move(initiator.record, stand(initiator, NOTHING, NOTHING), "a") is may
