"""A node counts a payment at its depth, one whole payment, and shows a wallet no more than it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from parley._settle.judge import Heads
from parley._settle.nodes import Signed, Source, WatchedEscrow
from parley.chains import evm
from parley.chains.bitcoin_payment import pay, read_payment
from parley.chains.escrows import CLAIM
from parley.chains.evm import read_transaction, sign_transaction
from parley.chains.solana import DEV_DEPLOYMENT
from parley.chains.terms import (
    BitcoinView,
    ContractDeployment,
    EscrowOutput,
    EscrowTerms,
    EvmView,
    SolanaView,
)
from parley.errors import SettleError
from parley.nodes import BitcoinNode, EvmNode, SolanaNode
from parley.nodes.bitcoin import _Paid, _Spend, _take, _Track
from parley.nodes.solana import _Shown
from parley.wallets import BitcoinWallet, EvmWallet

from .test_nodes import Pays
from .world import AMOUNT, HASHLOCK, SECRET, terms_of

pytestmark = pytest.mark.anyio
URL = "http://127.0.0.1:1"
WATCHED = WatchedEscrow("escrow b", terms_of("b"), 3, 0)
EVM = EvmView("chain-b", 1, ContractDeployment(1, "0x"))
SOLANA = SolanaView("chain-b", DEV_DEPLOYMENT)
KEY = b"\x01" * 32


async def test_a_funding_on_evm_is_deep_from_its_last_block_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = Heads(100, "0x01", 0)
    node = EvmNode(URL, EVM)
    assert await node._deepest(WATCHED, heads) == 98
    tagged = EvmNode(URL, EVM, depth_tag="safe")
    for said, deepest in (({"number": "0x5f"}, 95), ({"number": "0x64"}, 98), (None, -1)):

        async def block(_: object, said: object = said) -> object:
            return said

        monkeypatch.setattr(tagged, "_block", block)
        assert await tagged._deepest(WATCHED, heads) == deepest


def on_bitcoin() -> EscrowTerms:
    home = BitcoinWallet(KEY, "regtest").destination
    return replace(WATCHED.terms, payout=home, refund=home)


def bitcoin(*paid: _Paid) -> Any:
    """``deep``: whether what it shows at this best block is."""
    node = BitcoinNode(URL, BitcoinView("chain-b", "regtest"))
    watched = replace(WATCHED, terms=on_bitcoin())
    track = _Track("script", HASHLOCK, 0, paid={str(at): each for at, each in enumerate(paid)})

    def deep(tip: int) -> bool | None:
        funded = node._facts_of(track, watched, tip).funded
        return None if funded is None else funded.deep

    return deep


def test_a_funding_on_bitcoin_is_one_whole_payment_at_its_depth() -> None:
    whole = _Paid("aa" * 32, 0, AMOUNT, 98, False)
    assert [bitcoin(whole)(tip) for tip in (99, 100)] == [False, True]
    assert [bitcoin(replace(whole, is_coinbase=True))(tip) for tip in (100, 197)] == [False, True]
    assert bitcoin(replace(whole, height=None))(1_000) is False
    parts = [replace(whole, vout=at, amount=AMOUNT - 1) for at in (0, 1)]
    assert bitcoin(*parts)(1_000) is None


def test_a_secret_is_found_by_its_hash_wherever_it_stands() -> None:
    for place in range(3):
        paid = {f"{'aa' * 32}:0": _Paid("aa" * 32, 0, 1, 1, False)}
        track = _Track("script", HASHLOCK, 0, paid=paid)
        items = ["11" * 32, "22" * 32]
        items.insert(place, SECRET)
        spend = {"txid": "aa" * 32, "vout": 0, "txinwitness": items}
        _take(track, {"txid": "bb" * 32, "vout": [], "vin": [spend]}, 7)
        assert track.secret == SECRET
        assert track.paid[f"{'aa' * 32}:0"].spend == _Spend("bb" * 32, 7, "claim")


async def test_a_funding_on_solana_is_deep_once_it_is_finalized(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = SolanaNode(URL, SOLANA)

    async def history(*_: object) -> dict[str, str]:
        return {"funded": "id"}

    monkeypatch.setattr(node, "_history", history)
    shown, none = _Shown("open", True, 0, 1), _Shown(None, False, 0, 0)
    for deep in (none, shown):
        found = (await node._facts(WATCHED, shown, deep)).funded
        assert found is not None and found.deep is (deep is shown)


class Estimates(EvmNode):
    asked: Sequence[bytes] = ()

    async def estimate(self, *call: Any) -> int:
        self.asked = [*self.asked, call[2]]
        return 50_000

    async def gas_price(self) -> int:
        return 10**9

    async def count(self, address: str, at: str = "pending") -> int:
        return 7



async def test_no_secret_is_shown_to_a_node_to_estimate_its_gas() -> None:
    node, wallet = Estimates(URL, EVM), EvmWallet(KEY)
    source = Source(cast(Any, None), [node])
    for data, is_asked in ((CLAIM + bytes(128), False), (b"\x00" * 132, True)):
        node.asked = ()
        call = {"to": f"0x{'22' * 20}", "value": "0x1", "data": f"0x{data.hex()}"}
        await wallet.sign_spend(source, terms_of("b"), {"chainId": 1, "txs": [call]})
        assert bool(node.asked) is is_asked


def test_a_fee_on_evm_is_raised_by_an_eighth_up_to_the_bound_of_the_customer() -> None:
    before = evm.EvmTransaction(1, 7, f"0x{'22' * 20}", b"", 0, 21_000, 1_000, 100)
    for most, raised in ((2_000, True), (1_125, False)):
        found = EvmWallet(KEY, most_fee_per_gas=most)._replaced(before, 400)
        assert (found is not None) is raised
        if found is not None:
            again = read_transaction(found.raw)
            assert again.nonce == 7 and again.max_fee_per_gas >= 1_125
            assert again.max_priority_fee_per_gas >= 112


async def test_a_late_funding_on_evm_is_ended_at_its_own_nonce() -> None:
    before = evm.EvmTransaction(1, 7, f"0x{'22' * 20}", b"\x01", 5, 90_000, 1_000, 100)
    signed = sign_transaction(KEY, before)
    wallet = EvmWallet(KEY)
    ended = await wallet.cancelled(
        Source(cast(Any, None), []), Signed(signed.txid, signed.raw), None
    )
    assert ended is not None
    again = read_transaction(ended.raw)
    assert (again.nonce, again.to, again.value) == (7, wallet.address, 0)


async def test_a_wallet_funds_only_what_goes_back_to_it() -> None:
    with pytest.raises(SettleError, match="is funded by home"):
        await EvmWallet(KEY).sign_funding(Source(cast(Any, None), []), terms_of("b"), {}, 0)


@pytest.mark.parametrize(("paid", "is_raised"), [(38.0, True), (42.0, False)])
async def test_a_funding_on_bitcoin_is_raised_up_to_the_bound_of_the_customer(
    paid: float, is_raised: bool
) -> None:
    view = BitcoinView("chain-b", "regtest", most_fee_rate_sat_per_vbyte=50)
    wallet, coins = BitcoinWallet(KEY, "regtest"), [EscrowOutput("ab" * 32, 0, 90_000)]
    before = pay(KEY, coins, wallet.address, 20_000, "regtest", paid).signed
    terms, source = replace(on_bitcoin(), amount=20_000), Source(view, [Pays(view)])
    raised = await wallet.raised(source, terms, Signed(before.txid, before.raw), None)
    assert (raised is not None) is is_raised
    if raised is not None:
        assert read_payment(raised.raw).inputs == (("ab" * 32, 0),)


class Coins(BitcoinNode):
    async def rate(self, blocks: int) -> float:
        return 2.0


async def test_no_coin_pays_two_swaps() -> None:
    view = BitcoinView("chain-b", "regtest")
    coins = [EscrowOutput("ab" * 32, at, 90_000) for at in (0, 1)]

    async def listed() -> list[EscrowOutput]:
        return coins

    wallet = BitcoinWallet(KEY, "regtest", coins=listed)
    source = Source(view, [Coins(URL, view)])
    built = {"payTo": wallet.address, "amountSats": "50000"}
    one, other = [await wallet.sign_funding(source, terms_of("b"), built, 0) for _ in range(2)]
    assert one.txid != other.txid
