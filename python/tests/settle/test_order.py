"""The order in which things leave: gates are passed after signing, bytes are on disk before
they are sent, and a public secret waits for no other chain.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from parley._settle import claims, fund, machine, polling, run, sign
from parley._settle.context import Chain, Context, Options, timed_text
from parley._settle.facts import EscrowFacts
from parley._settle.machine import is_late
from parley._settle.nodes import Signed
from parley._settle.record import Kept, LegSeen, SwapRecord
from parley._settle.steps import Step
from parley.errors import Refusal

pytestmark = pytest.mark.anyio
SECRET = "00" * 32
KEPT = Kept("id", "raw", 0.0)


class Side:
    """One side whose calls are noted: ``sign``, ``read``, ``gate``, ``put`` and ``send``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.kept: SwapRecord | None = None
        self.fails = ""
        leg = SimpleNamespace(
            leg="b", chain="x", escrow=SimpleNamespace(address="e"), terms="t",
            required_confirmations=1,
        )  # fmt: skip
        blank = SimpleNamespace(escrow=None)
        swap = SimpleNamespace(
            id="swap", hashlock="hash", role="initiator", leg=lambda _: leg, a=blank, b=blank
        )
        view = SimpleNamespace(family="evm", chain="x")
        source = SimpleNamespace(view=view, broadcast=self.noting("send"))
        wallet = SimpleNamespace(
            family="evm",
            signing_lock=asyncio.Lock(),
            funding_lock=asyncio.Lock(),
            funding_steps=lambda _: 1,
            sign_funding=self.noting("sign", Signed("id", "raw")),
            sign_spend=self.noting("sign", Signed("id", "raw")),
        )
        chains = {"x": Chain(cast(Any, source), cast(Any, wallet))}
        options = Options(poll_seconds=0)
        self.context = Context("swap", None, None, chains, cast(Any, self), options, None)
        trade = SimpleNamespace(party="taker")
        self.context.store.latest = SwapRecord(cast(Any, trade), cast(Any, swap))
        names = {claims: "built_spend snapshot may_reveal _in_time", sign: "snapshot announce"}
        for module, some in names.items():
            for name in some.split():
                monkeypatch.setattr(module, name, self.noting(name, SimpleNamespace(state=0, clocks=0)))
        monkeypatch.setattr(sign, "fund_gate", lambda *_: self.note("fund_gate"))

    def note(self, what: str) -> None:
        self.log.append(what)
        if what == self.fails:
            raise Refusal("too_late", what)

    def noting(self, what: str, answer: object = None) -> Callable[..., Any]:
        async def call(*_: object) -> object:
            self.note(what)
            return answer

        return call

    async def put_swap(self, record: SwapRecord) -> None:
        self.kept = record
        what = [name for name in ("funding", "claim", "public_secret") if getattr(record, name)]
        self.note(f"put {' '.join(what)}".strip())

    async def put_secret(self, hashlock: str, secret: str) -> None:
        self.note(f"put_secret {hashlock} {secret}")

    async def swap_ids(self) -> list[str]:
        return []


async def test_a_funding_is_sent_after_a_last_look_and_from_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = Side(monkeypatch)
    await fund._sign_and_send(side.context, {})
    assert side.log == ["sign", "snapshot", "fund_gate", "put funding", "send"]
    refused = Side(monkeypatch)
    refused.fails = "fund_gate"
    with pytest.raises(Refusal):
        await fund._sign_and_send(refused.context, {})
    assert refused.kept is None and "send" not in refused.log


REVEAL = ["built_spend", "sign", "snapshot", "may_reveal", "announce", "put"]


async def test_a_secret_leaves_after_a_last_look_and_from_the_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = Side(monkeypatch)
    await claims._claim_now(side.context, SECRET)
    assert side.log == [*REVEAL, "put claim public_secret", "_in_time", "send"]


@pytest.mark.parametrize("gate", ["snapshot", "may_reveal", "announce", "_in_time"])
async def test_a_gate_that_shuts_keeps_the_secret(
    monkeypatch: pytest.MonkeyPatch, gate: str
) -> None:
    side = Side(monkeypatch)
    side.fails = gate
    with pytest.raises(Refusal):
        await claims._claim_now(side.context, SECRET)
    assert "send" not in side.log
    assert side.context.record.public_secret is None
    assert side.kept is None or side.kept.public_secret is None


async def test_a_public_secret_waits_for_no_other_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Side(monkeypatch).context
    context.store.latest = SwapRecord(
        context.record.trade, context.record.swap, public_secret=SECRET
    )

    async def read(_: Context, name: str) -> str:
        if name == "a":
            await asyncio.Event().wait()
        return name

    monkeypatch.setattr(polling, "read_leg", read)
    async with asyncio.timeout(5):
        polled = await polling.poll(context)
    assert list(polled.fresh) == ["b"]
    context.stop()


async def test_a_secret_that_one_node_alone_shows_is_on_disk_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = Side(monkeypatch)
    leg = SimpleNamespace(leg="a", facts=EscrowFacts(secret=SECRET))
    evidence = SimpleNamespace(agreed=False, doubts=(), is_brief=False)
    seen: Any = {"a": LegSeen(cast(Any, leg), 0, cast(Any, evidence))}
    await run._remember(side.context, polling.Poll(0, seen, seen, {}))
    assert side.log == ["put public_secret", f"put_secret hash {SECRET}"]


def test_a_funding_that_comes_too_late_is_taken_back() -> None:
    record = SwapRecord(cast(Any, SimpleNamespace(party="taker")), cast(Any, None), KEPT)
    leg = SimpleNamespace(facts=SimpleNamespace(funded=None, claimed=None, refunded=None))
    state = SimpleNamespace(leg=lambda _: leg, fund_by=lambda _: 100)
    for wall, chain, late in [(101, 101, True), (101, 100, False), (100, 101, False)]:
        clocks = SimpleNamespace(wall=wall, of=lambda _, at=chain: at)
        assert is_late(record, cast(Any, SimpleNamespace(state=state, clocks=clocks))) is late


@pytest.mark.parametrize("restored", [False, True])
def test_a_swap_that_a_lost_device_may_have_funded_is_not_funded(
    monkeypatch: pytest.MonkeyPatch, restored: bool
) -> None:
    record = replace(Side(monkeypatch).context.record, restored=restored)
    step = Step("fund", record.gives, 100, "")
    monkeypatch.setattr(machine, "_open_steps", lambda *_: [step])
    state = SimpleNamespace(leg=lambda _: SimpleNamespace(family="evm", facts=EscrowFacts()), fund_by=lambda _: 100)
    seen = cast(Any, SimpleNamespace(state=state))
    facts = cast(Any, SimpleNamespace(record=record))
    effects = machine._most_urgent(facts, seen)
    assert [each.do for each in effects] == ["wait" if restored else "fund"]


def test_no_leg_moves_that_may_hold_money(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Side(monkeypatch).context.record
    leg = SimpleNamespace(facts=EscrowFacts())
    state = SimpleNamespace(leg=lambda _: leg)

    def moving(role: str, doubt: str | None = None, **change: Any) -> list[str]:
        record.swap.role = role  # type: ignore[misc, assignment]
        seen = cast(Any, SimpleNamespace(state=state, doubt=doubt))
        now = replace(record, **change)
        which = {"own": now.gives, "other": now.gets}
        return [each for each, leg in which.items() if machine.may_move(now, seen, leg)]

    for role in ("initiator", "counterparty"):
        assert moving(role) == ["own", "other"]
        assert moving(role, doubt="nodes differ") == []
        assert moving(role, public_secret=SECRET) == moving(role, restored=True) == []
        for mine in ({"funding": KEPT}, {"by_hand": True}):
            assert moving(role, **mine) == (["other"] if role == "initiator" else [])


@pytest.mark.parametrize(
    ("clock", "family", "agreed", "is_over"),
    [
        (1_061, "evm", True, True),
        (1_060, "evm", True, False),
        (1_061, "evm", False, False),
        (9_999, "bitcoin", True, False),
    ],
)
async def test_a_late_funding_that_its_contract_refuses_keeps_no_run_open(
    monkeypatch: pytest.MonkeyPatch, clock: int, family: str, agreed: bool, is_over: bool
) -> None:
    side = Side(monkeypatch)
    context = side.context
    context.store.latest = replace(context.record, funding=KEPT, cancel=KEPT)
    chain = cast(Any, context.chains["x"])
    chain.wallet.outcome = side.noting("outcome", "stranded")
    depth = SimpleNamespace(confirmations=1, outage_seconds=20)
    chain.source.view.policy = SimpleNamespace(
        late_claim_seconds=40, window_seconds=None, normal=depth, high=depth
    )
    leg = SimpleNamespace(
        family=family, timelock=1_000, facts=EscrowFacts(), required_confirmations=1
    )
    evidence = SimpleNamespace(agreed=agreed)
    context.last_seen["b"] = LegSeen(cast(Any, leg), clock, cast(Any, evidence))
    await fund.cancel_funding(context)
    assert (context.record.funding is None) is is_over


def test_an_instant_in_a_sentence_is_a_time_for_people_and_an_amount_stays_a_number() -> None:
    assert timed_text("its chain's clock passes 1795910481") == (
        "its chain's clock passes 2026-11-29 00:01 UTC"
    )
    for said in ("a claim takes from 1795910481 wei on", "1795910481 are in its escrow"):
        assert timed_text(said) == said
