"""A dev network alone: keys with coins that are worth nothing, and its nodes. Never on a real one,
where keys, nodes, policies and contracts are your own (docs/nodes.md, docs/timelocks.md).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from . import models as m
from ._settle.context import Chain, Options
from ._settle.nodes import Source
from .agree import pinned
from .chains import evm, solana, tron
from .chains.terms import (
    BitcoinView,
    ChainPolicy,
    ContractDeployment,
    EvmView,
    SolanaView,
    TronView,
)
from .client import ParleyClient
from .keys import link_wallet, mint_key
from .nodes import BitcoinNode, EvmNode, SolanaNode, TronNode
from .signers import MessageSigner, bitcoin_signer, evm_signer, solana_signer, tron_signer
from .verify.trade import PinnedAsset
from .wallets import BitcoinWallet, EvmWallet, SolanaWallet, TronWallet

_SECONDS = 60.0
#: Of the chains' own coins, by family.
_DECIMALS = {"evm": 18, "tron": 6, "solana": 9, "bitcoin": 8}


@dataclass(frozen=True)
class DevAccount:
    """An account with a key on each chain. ``coins``: by chain, as one's own pins."""

    market: ParleyClient
    chains: dict[str, Chain]
    coins: dict[str, PinnedAsset]
    options: Options

    async def aclose(self) -> None:
        await self.market.aclose()


async def dev_account(url: str, control: str) -> DevAccount:
    """``url``: of the market. ``control``: of its dev network, which `npm start` prints as ``dev``.

    Takes contracts and policies from the market, which nobody does with real money. Raises
    ``OSError`` where no dev network answers.
    """
    key = secrets.token_bytes(32)
    signers: list[MessageSigner] = [solana_signer(key), tron_signer(key), bitcoin_signer(key, "regtest")]
    async with httpx.AsyncClient(base_url=control, timeout=_SECONDS) as dev:
        try:
            status = (await dev.get("status")).json()
        except httpx.TransportError as cause:
            raise OSError(f"no dev network answers at {control}: is `npm start` running?") from cause
        login = evm_signer(key)
        market = ParleyClient(url)
        market = market.with_key((await mint_key(market, login)).key)
        # Vouched for by the login wallet: they may be paid.
        for each in signers:
            await link_wallet(market, each, login)
        rules = {each.chain: each.policy for each in (await market.get_rules()).chains}
        chains: dict[str, Chain] = {}
        coins: dict[str, PinnedAsset] = {}
        for about in status["chains"]:
            name = about["chain"]
            policy = ChainPolicy.of(rules[name].model_dump())
            chains[name] = _chain(about, policy, key)
            address = chains[name].wallet.destination.address
            paid = await dev.post("faucet", json={"chain": name, "address": address})
            paid.raise_for_status()
            assets: list[m.Asset] = (await market.list_assets(chain=name, limit=100)).assets
            coins[name] = pinned(assets, name, None, _DECIMALS[about["family"]])
    return DevAccount(market, chains, coins, _options(status["clockOffsetSeconds"]))


def _options(offset: int) -> Options:
    async def now() -> int:
        return int(time.time()) + offset

    return Options(now=now)


def _chain(about: dict[str, Any], policy: ChainPolicy, key: bytes) -> Chain:
    made: dict[str, Callable[[], Chain]] = {
        "evm": lambda: _evm(about, policy, key),
        "tron": lambda: _tron(about, policy, key),
        "solana": lambda: _solana(about, policy, key),
        "bitcoin": lambda: _bitcoin(about, policy, key),
    }
    return made[about["family"]]()


def _evm(about: dict[str, Any], policy: ChainPolicy, key: bytes) -> Chain:
    id = about["chainId"]
    view = EvmView(about["chain"], id, evm.evm_deployment(id), policy)
    return Chain(Source(view, [EvmNode(about["rpcUrl"], view)]), EvmWallet(key))


def _tron(about: dict[str, Any], policy: ChainPolicy, key: bytes) -> Chain:
    contract = tron.parse_address(about["escrows"])
    view = TronView(about["chain"], ContractDeployment(about["chainId"], contract), policy)
    return Chain(Source(view, [TronNode(about["rpcUrl"], view)]), TronWallet(key))


def _solana(about: dict[str, Any], policy: ChainPolicy, key: bytes) -> Chain:
    view = SolanaView(about["chain"], solana.DEV_DEPLOYMENT, policy)
    return Chain(Source(view, [SolanaNode(about["rpcUrl"], view)]), SolanaWallet(key))


def _bitcoin(about: dict[str, Any], policy: ChainPolicy, key: bytes) -> Chain:
    view = BitcoinView(about["chain"], "regtest", policy)
    node = BitcoinNode(about["rpcUrl"], view)
    return Chain(Source(view, [node]), BitcoinWallet(key, "regtest"))
