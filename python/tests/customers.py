"""Customers of the market, each with keys of its own."""

import asyncio
import os
import secrets
import subprocess
from pathlib import Path

from parley import models as m
from parley.client import ParleyClient
from parley.feed import LinkState, MakerFeed
from parley.keys import link_wallet, mint_key
from parley.signers import EvmSigner, bitcoin_signer, evm_signer

LIMIT = 120.0
"""Seconds for what takes one: test files share two cores."""


def runs(usual: int) -> int:
    """The runs of a property: more where PARLEY_FUZZ_RUNS says so, 60 of those of parley.verify."""
    return max(1, usual * int(os.environ.get("PARLEY_FUZZ_RUNS", "60")) // 60)


async def customer(market: ParleyClient) -> tuple[ParleyClient, EvmSigner]:
    """With a key of all scopes; signs in by an EVM wallet, and may give bitcoin too."""
    signer = evm_signer(secrets.token_bytes(32))
    mine = market.with_key((await mint_key(market, signer)).key)
    await link_wallet(mine, bitcoin_signer(secrets.token_bytes(32), "regtest"), signer)
    return mine, signer


async def pair(market: ParleyClient) -> tuple[m.Asset, m.Asset]:
    """The coins of the Bitcoin chain and of an EVM chain."""
    found: dict[str, m.Asset] = {}
    cursor: str | None = None
    while True:
        page = await market.list_assets_openly(limit=100, cursor=cursor)
        for each in page.assets:
            if each.enabled and each.address is None:
                found.setdefault(each.symbol, each)
        cursor = page.next_cursor
        if cursor is None:
            return found["BTC"], found["ETH"]


async def ask(
    taker: ParleyClient, base: m.Asset, quote: m.Asset, *, base_amount: int = 100_000
) -> m.Rfq:
    """Sells Bitcoin for the coin of the EVM chain."""
    reply = await taker.create_rfq(
        direction="sell_base",
        base_asset_id=base.id,
        base_amount=base_amount,
        quote_asset_id=quote.id,
        ttl_seconds=600,
    )
    return reply.rfq


async def until_state(feed: MakerFeed, state: LinkState) -> None:
    async with asyncio.timeout(LIMIT):
        while feed.state != state:
            await asyncio.sleep(0.01)


async def own_certificate(folder: Path) -> tuple[str, str]:
    """The files of a certificate for loopback that no authority signed, and of its key."""
    key, certificate = str(folder / "key"), str(folder / "certificate")
    await asyncio.to_thread(
        subprocess.run,
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-subj", "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    return certificate, key
