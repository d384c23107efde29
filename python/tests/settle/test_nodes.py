"""Several nodes of one chain: one that is silent, broken or lying stops nothing that the others let
pass.
"""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from parley._settle import claims
from parley._settle.facts import EscrowFacts, Sighting
from parley._settle.judge import Heads
from parley._settle.memory import Mark, Marks, Memory
from parley._settle.nodes import Look, Node, Signed, Source, WatchedEscrow
from parley._settle.observe import Asking, Hearing, Observed, observe
from parley._settle.record import Kept
from parley.chains.escrows import CLAIM as CLAIM_SELECTOR
from parley.chains.evm import read_transaction
from parley.chains.bitcoin_payment import pay
from parley.chains.terms import BitcoinView, ChainPolicy, EscrowOutput, EvmView
from parley.errors import Refusal
from parley.hashlock import hashlock_of
from parley.nodes import BitcoinNode, EvmNode
from parley.wallets import BitcoinWallet, EvmWallet

from ..verify.vectors import load

pytestmark = pytest.mark.anyio


class _View:
    chain, family = "evm-dev", "evm"
    policy = ChainPolicy.of(load("evidence")["judged"][0]["bounds"]["policy"])


def source_of(*nodes: object) -> Source:
    return Source(cast(Any, _View()), cast("list[Node]", list(nodes)))


async def hang() -> str:
    await asyncio.Event().wait()
    return "never"


def asking(*said: Callable[[], Any]) -> Any:
    """Each node is its place."""

    async def ask(node: Node) -> str:
        found = said[cast(int, node)]()
        return cast(str, await found if asyncio.iscoroutine(found) else found)

    return ask


async def test_a_node_that_hangs_is_asked_last_from_then_on() -> None:
    source = source_of(0, 1, 2)
    ask = asking(hang, hang, lambda: "well")
    for _ in range(2):
        with pytest.raises(Refusal, match="within 0.01 s"):
            await source.in_turn(ask, 0.01)
    assert await source.in_turn(ask, 0.01) == "well"
    assert await source.in_turn(ask, 0.01) == "well"


async def test_an_answer_that_cannot_be_read_is_silence_and_a_refusal_is_none() -> None:
    def broken() -> str:
        return cast(str, {}["result"])

    def refuses() -> str:
        raise Refusal("nothing_there", "the escrow holds nothing")

    assert await source_of(0, 1).in_turn(asking(broken, lambda: "well"), 1) == "well"
    with pytest.raises(Refusal, match="unreadable"):
        await source_of(0).in_turn(asking(broken), 1)
    with pytest.raises(Refusal, match="holds nothing"):
        await source_of(0, 1).in_turn(asking(refuses, lambda: "well"), 1)


class Shows(Node):
    """An escrow that is not funded, whose block at the height in question has this hash."""

    block_seconds = 12.0

    def __init__(self, block: str | None, facts: EscrowFacts = EscrowFacts()) -> None:
        self.block, self.facts = block, facts

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        return Look(Heads(120, "0x01", 1_900_000_000), tuple(self.facts for _ in escrows))

    async def block_hash(self, height: int) -> str | None:
        return self.block


@pytest.mark.parametrize("block", ["0xaa", "0xbb", None])
async def test_a_funding_seen_at_depth_is_taken_back_by_another_block_alone(
    block: str | None,
) -> None:
    funded = EscrowFacts(funded=Sighting("id", 20, True), balance=1, empty=False)
    memory = Memory(funded, Marks({"funded": Mark(100, "0xaa")}))
    observed = await seen_by(Shows(block), memory)
    is_reorganised = block == "0xbb"
    assert observed.facts == (EscrowFacts() if is_reorganised else funded)
    assert observed.evidence.agreed is is_reorganised


@pytest.mark.parametrize("shown", ["00" * 32, "11" * 32, "zz", "00" * 31])
async def test_a_text_that_opens_nothing_is_no_secret_whatever_a_node_says(shown: str) -> None:
    observed = await seen_by(Shows("0xaa", EscrowFacts(secret=shown)), Memory())
    assert observed.facts.secret == (shown if shown == "00" * 32 else None)


async def seen_by(node: Node, memory: Memory) -> Observed:
    async def now() -> int:
        return 1_900_000_000

    terms = SimpleNamespace(amount=1, hashlock=hashlock_of("00" * 32))
    watched = WatchedEscrow("e", cast(Any, terms), 12, 0)
    deadline = asyncio.get_running_loop().time() + 5
    hearing, wall = Hearing(), 1_900_000_000
    return await observe(
        Asking(source_of(node), watched, (), memory, hearing, wall, now, deadline, None)
    )


class Says(EvmNode):
    """``nonce``: of the account, by this node's pool. ``lies``: it says that all is mined."""

    def __init__(self, nonce: int, *, lies: bool = False) -> None:
        super().__init__("http://127.0.0.1:1", cast(EvmView, _View()))
        self.nonce, self.lies = nonce, lies

    async def heads(self) -> Heads:
        return Heads(100, "0x01", 1_900_000_000)

    async def mined(self, txid: str) -> tuple[int, bool] | None:
        return (50, True) if self.lies else None

    async def count(self, address: str, at: str = "pending") -> int:
        return self.nonce if at == "pending" else min(7, self.nonce)

    async def gas_price(self) -> int:
        return 10**9

    async def broadcast(self, raw: str) -> None:
        pass


WORD = bytes(32).hex()
DATA = f"0x{CLAIM_SELECTOR.hex()}{WORD * 4}"
CLAIM = {"chainId": 31_337, "txs": [{"to": f"0x{'22' * 20}", "value": "0x0", "data": DATA}]}
LEG = SimpleNamespace(
    name="b", chain="evm-dev", terms=None, leg=SimpleNamespace(required_confirmations=1)
)


@pytest.mark.parametrize("lies", [False, True])
async def test_a_claim_that_one_node_misplaces_is_made_anew_by_another(lies: bool) -> None:
    """Its nonce is far ahead of all blocks, or the node says that it is mined."""
    wallet = EvmWallet(b"\x01" * 32)
    source = source_of(Says(0 if lies else 10**6, lies=lies), Says(7))
    signed = await wallet.sign_spend(source, cast(Any, None), CLAIM)
    kept = {"claim": Kept(signed.txid, signed.raw, 0.0)}
    context = context_of(wallet, source, kept)
    for _ in range(3):
        if kept["claim"] is not None:
            context.waits_since.update({kept["claim"].txid: float("-inf")})
            await claims._tend(context, cast(Any, LEG), "claim", kept["claim"])
    assert kept["claim"] is None
    again = await wallet.sign_spend(source, cast(Any, None), CLAIM)
    assert read_transaction(again.raw).nonce == 7


async def test_a_claim_that_all_nodes_hold_is_raised_and_never_left() -> None:
    wallet, source = EvmWallet(b"\x01" * 32), source_of(Says(7), Says(7))
    signed = await wallet.sign_spend(source, cast(Any, None), CLAIM)
    for each in source.nodes:
        cast(Says, each).nonce = 8
    kept = {"claim": Kept(signed.txid, signed.raw, 0.0)}
    context = context_of(wallet, source, kept)
    for _ in range(4):
        context.waits_since.update({kept["claim"].txid: float("-inf")})
        await claims._tend(context, cast(Any, LEG), "claim", kept["claim"])
    assert len(kept["claim"].former) == 4


def context_of(wallet: EvmWallet, source: Source, kept: dict[str, Any]) -> Any:
    async def keep(**change: Any) -> None:
        kept.update(change)

    return SimpleNamespace(
        wallet_of=lambda _: wallet,
        source_of=lambda _: source,
        family_of=lambda _: "evm",
        patience=lambda _: 120.0,
        waits=lambda *_: None,
        emit=lambda *_: None,
        sent_at={},
        waits_since={},
        seconds=1.0,
        market=None,
        keep=keep,
    )


class Pays(BitcoinNode):
    def __init__(self, view: BitcoinView) -> None:
        super().__init__("http://127.0.0.1:1", view)

    async def unspent(self, txid: str, vout: int, *, with_waiting: bool) -> tuple[int, int] | None:
        return 90_000, 10

    async def rate(self, blocks: int) -> float:
        return 2.0


@pytest.mark.parametrize(("paid", "is_raised"), [(38.0, True), (42.0, False)])
async def test_no_fee_is_raised_above_what_the_customer_allows(
    paid: float, is_raised: bool
) -> None:
    view = BitcoinView("bitcoin-regtest", "regtest", most_fee_rate_sat_per_vbyte=50)
    wallet, key = BitcoinWallet(b"\x01" * 32, "regtest"), b"\x01" * 32
    coins = [EscrowOutput("ab" * 32, 0, 90_000)]
    before = pay(key, coins, wallet.address, 20_000, "regtest", paid)
    source = Source(view, [Pays(view)])
    raised = await wallet.cancelled(source, Signed("id", before.signed.raw), None)
    assert (raised is not None) is is_raised
