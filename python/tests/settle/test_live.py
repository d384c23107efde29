"""Swaps of a live market, settled by both sides from Python on all families.

``PARLEY_TEST_SWAPS=all``: coins and tokens, runs that end in the middle, and refunds, which move the clocks of
the dev network. The soak asks for it. Without it the trade of the README is the one that is live.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from pathlib import Path

import httpx
import pytest

from parley.agree import Terms, accept, pinned, swap_of
from parley.dev import DevAccount, dev_account
from parley.settle import FileStore, Options, Outcome, Progress, settle
from parley.verify.trade import Party
from parley.wallets import BitcoinWallet

from ..conftest import given

ALL = os.environ.get("PARLEY_TEST_SWAPS") == "all"
COINS = {"evm": 10**17, "solana": 2 * 10**9, "tron": 500 * 10**6, "bitcoin": 200_000}
TOKENS = 10**6
CHAINS = {
    "evm": "evm-dev",
    "solana": "solana-dev",
    "tron": "tron-dev",
    "bitcoin": "bitcoin-regtest",
}
#: What the taker gives, and what it gets.
PAIRS = [
    ("bitcoin", "evm token"),
    ("tron token", "bitcoin"),
    ("evm", "solana token"),
    ("solana", "tron"),
]
LIMIT = 300.0
pytestmark = pytest.mark.anyio


class Killed(Exception):
    """The process of a side ends here."""


async def account(*given_to: str) -> DevAccount:
    """An account with these tokens beside its coins, and an escrow of Taproot on Bitcoin."""
    control = given("PARLEY_TEST_DEV")
    me = await dev_account(given("PARLEY_TEST_URL"), control)
    wallet = me.chains[CHAINS["bitcoin"]].wallet
    assert isinstance(wallet, BitcoinWallet)
    wallet.form = "p2tr"
    async with httpx.AsyncClient(base_url=control, timeout=60) as dev:
        status = (await dev.get("status")).json()
        for each in given_to:
            family, _, token = each.partition(" ")
            if not token:
                continue
            chain = CHAINS[family]
            about = next(one for one in status["chains"] if one["chain"] == chain)
            found = next(one for one in about["tokens"] if one["symbol"] == "USDD")
            address = me.chains[chain].wallet.destination.address
            body = {"chain": chain, "address": address, "asset": "USDD"}
            assert (await dev.post("faucet", json=body)).is_success
            assets = (await me.market.list_assets(chain=chain, limit=100)).assets
            me.coins[chain] = pinned(assets, chain, found["address"], found["decimals"])

    async def now() -> int:
        async with httpx.AsyncClient(base_url=control, timeout=60) as dev:
            offset: int = (await dev.get("status")).json()["clockOffsetSeconds"]
        return int(time.time()) + offset

    return dataclasses.replace(me, options=Options(now=now))


def amount_of(side: str) -> int:
    family, _, token = side.partition(" ")
    return TOKENS if token else COINS[family]


async def side_of(
    me: DevAccount, party: Party, thread: str, pair: tuple[str, str], folder: Path, *, dies: bool
) -> Outcome:
    """Settles; ``dies``: its process ends once, right after it has sent its funding."""
    base, quote = (me.coins[CHAINS[each.split()[0]]] for each in pair)
    terms = Terms(party, "sell_base", base, amount_of(pair[0]), quote, amount_of(pair[1]))
    store = FileStore(folder)
    trade = await accept(me.market, thread, terms, me.chains, store, me.options)
    swap_id = await swap_of(me.market, trade, me.options)
    funded = asyncio.Event()

    def told(progress: Progress) -> None:
        if progress.step == "funded":
            funded.set()

    run = asyncio.create_task(
        settle(swap_id, me.market, me.chains, store, trade, me.options, told)
    )
    if dies:
        waiting = asyncio.create_task(funded.wait())
        await asyncio.wait([run, waiting], return_when=asyncio.FIRST_COMPLETED)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        # Another process has the files alone.
        run = asyncio.create_task(
            settle(swap_id, me.market, me.chains, FileStore(folder), options=me.options)
        )
    return await run


async def traded(pair: tuple[str, str]) -> tuple[DevAccount, DevAccount, str]:
    taker, maker = await asyncio.gather(account(*pair), account(*pair))
    base, quote = (taker.coins[CHAINS[each.split()[0]]] for each in pair)
    asked = await taker.market.create_rfq(
        direction="sell_base",
        base_asset_id=base.id,
        base_amount=amount_of(pair[0]),
        quote_asset_id=quote.id,
        ttl_seconds=600,
    )
    quoted = await maker.market.quote_rfq(asked.rfq.id, quote_amount=amount_of(pair[1]))
    return taker, maker, quoted.thread.id


if ALL:

    @pytest.mark.parametrize("pair", PAIRS)
    async def test_both_sides_are_paid_through_the_end_of_a_process(
        pair: tuple[str, str], tmp_path: Path
    ) -> None:
        taker, maker, thread = await traded(pair)
        async with asyncio.timeout(LIMIT):
            ends = await asyncio.gather(
                side_of(taker, "taker", thread, pair, tmp_path / "taker", dies=True),
                side_of(maker, "maker", thread, pair, tmp_path / "maker", dies=True),
            )
        assert [each.end for each in ends] == ["received", "received"]

    @pytest.mark.parametrize("pair", PAIRS)
    async def test_a_leg_whose_other_side_is_gone_comes_back(
        pair: tuple[str, str], tmp_path: Path
    ) -> None:
        taker, maker, thread = await traded(pair)
        sides: list[tuple[DevAccount, Party]] = [(taker, "taker"), (maker, "maker")]
        runs = [
            asyncio.create_task(side_of(me, party, thread, pair, tmp_path / party, dies=False))
            for me, party in sides
        ]
        async with httpx.AsyncClient(base_url=given("PARLEY_TEST_DEV"), timeout=60) as dev:
            await until_one_is_funded(taker, maker, thread)
            long_gone = await gone_of(taker, thread)
            runs[long_gone].cancel()
            for _ in range(8):
                await asyncio.sleep(10)
                await dev.post("time", json={"seconds": 6 * 3_600})
        async with asyncio.timeout(LIMIT):
            outcome = await runs[1 - long_gone]
        assert outcome.end == "refunded"


async def until_one_is_funded(taker: DevAccount, maker: DevAccount, thread: str) -> None:
    while True:
        swap_id = (await taker.market.get_thread(thread)).swap_id
        if swap_id is not None:
            shown = await taker.market.get_swap(swap_id)
            if shown.status == "initiator_funded":
                return
        await asyncio.sleep(0.2)


async def gone_of(taker: DevAccount, thread: str) -> int:
    """The counterparty, by its place: it goes before it funds."""
    shown = await taker.market.get_thread(thread)
    return 1 if shown.initiator == "taker" else 0
