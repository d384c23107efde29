"""Two sides of a swap on a live market, each with keys, pins and nodes of its own.

A side believes nothing: the market's words are compared, material is verified, and only then
signed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import httpx

from parley import models as m
from parley.chains.evm import evm_deployment
from parley.chains.solana import DEV_DEPLOYMENT
from parley.chains.terms import (
    BitcoinView,
    ChainPolicy,
    ChainView,
    ContractDeployment,
    EvmView,
    SolanaView,
    TronView,
)
from parley.client import ParleyClient
from parley.hashlock import hashlock_of, new_secret
from parley.keys import link_wallet, mint_key
from parley.signers import (
    MessageSigner,
    bitcoin_signer,
    evm_signer,
    solana_signer,
    tron_signer,
)
from parley.verify import (
    Asked,
    Claim,
    Fund,
    Limits,
    OwnTrade,
    PinnedAsset,
    Refund,
    VerifiedLeg,
    VerifiedSwap,
    verify_asset,
    verify_material,
    verify_swap,
    verify_to_fund,
)
from parley.verify.checks import as_json
from parley.verify.deadlines import LegName
from parley.verify.trade import Party, given_leg, other_leg, own_legs

from .nodes import NETWORK, Json, Node, Wallet, until

#: The amount of each coin and token in a swap, and a side's balance before.
AMOUNTS = {"bitcoin": 1_000_000, "evm": 10**17, "tron": 500 * 10**6, "solana": 2 * 10**9}
TOKEN_AMOUNT = 25 * 10**6


@dataclass(frozen=True)
class Ground:
    """A market and its dev network."""

    market: ParleyClient
    http: httpx.AsyncClient
    dev: str
    chains: Mapping[str, Json]
    views: Mapping[str, ChainView]
    assets: Mapping[str, m.Asset] = field(repr=False)

    async def now(self) -> int:
        """The market's clock, which tests may move."""
        status = (await self.http.get(f"{self.dev}/status")).json()
        now: int = status["now"]
        return now

    async def control(self, path: str, body: Json) -> Json:
        reply = await self.http.post(f"{self.dev}/{path}", json=body, timeout=120)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def asset(self, name: str) -> PinnedAsset:
        """``evm`` is the chain's coin, ``evm token`` its dollar; its contract was pinned before."""
        family, _, kind = name.partition(" ")
        chain = next(each for each in self.chains.values() if each["family"] == family)
        tokens = {each["symbol"]: each["address"] for each in chain.get("tokens", [])}
        token = tokens["USDD"] if kind else None
        found = next(
            each
            for each in self.assets.values()
            if (each.chain, each.address) == (chain["chain"], token)
        )
        pinned = PinnedAsset(found.id, chain["chain"], token, found.decimals)
        verify_asset(found, pinned)
        return pinned


def _view(chain: Json, policy: ChainPolicy) -> ChainView:
    """The pins: on a dev network its own status tells them, which no market does."""
    name = chain["chain"]
    match chain["family"]:
        case "evm":
            return EvmView(name, chain["chainId"], evm_deployment(chain["chainId"]), policy)
        case "tron":
            deployment = ContractDeployment(chain["chainId"], chain["escrows"])
            return TronView(name, deployment, policy)
        case "solana":
            return SolanaView(name, DEV_DEPLOYMENT, policy)
    return BitcoinView(name, NETWORK, policy)


async def ground(market: ParleyClient, http: httpx.AsyncClient, dev: str) -> Ground:
    chains = {each["chain"]: each for each in (await http.get(f"{dev}/status")).json()["chains"]}
    reader = await mint_key(market, evm_signer(secrets.token_bytes(32)), scopes=["read"])
    rules = await market.with_key(reader.key).get_rules()
    policies = {each.chain: as_json(each)["policy"] for each in rules.chains}
    views = {
        name: _view(chain, ChainPolicy.of(policies[name]))
        for name, chain in chains.items()
        if name in policies
    }
    assets: dict[str, m.Asset] = {}
    cursor: str | None = None
    while True:
        page = await market.list_assets_openly(limit=100, cursor=cursor)
        assets |= {each.id: each for each in page.assets}
        cursor = page.next_cursor
        if cursor is None:
            return Ground(market, http, dev, chains, views, assets)


@dataclass(frozen=True)
class Side:
    ground: Ground
    client: ParleyClient
    user_id: str
    wallets: Mapping[str, Wallet]

    def wallet(self, chain: str) -> Wallet:
        return self.wallets[chain]


def _signer(wallet: Wallet) -> MessageSigner:
    match wallet.family:
        case "evm":
            return evm_signer(wallet.key)
        case "tron":
            return tron_signer(wallet.key)
        case "solana":
            return solana_signer(wallet.key)
        case "bitcoin":
            return bitcoin_signer(wallet.key, NETWORK)


async def side(on: Ground, *names: str) -> Side:
    """An account with a wallet on each of these chains, and funds there."""
    pinned = [on.asset(name) for name in names]
    wallets = {
        each.chain: Wallet(Node(on.http, on.chains[each.chain]), secrets.token_bytes(32))
        for each in pinned
    }
    login, *others = [_signer(each) for each in wallets.values()]
    client = on.market.with_key((await mint_key(on.market, login)).key)
    for other in others:
        await link_wallet(client, other, login)
    for each in pinned:
        wallet = wallets[each.chain]
        gift = {"chain": each.chain, "address": wallet.destination.address}
        coins = 10 * AMOUNTS[wallet.family]
        await on.control("faucet", {**gift, "amount": str(coins)})
        if each.token is not None:
            amount = str(2 * TOKEN_AMOUNT)
            await on.control("faucet", {**gift, "asset": each.token, "amount": amount})
    return Side(on, client, (await client.get_me()).user_id, wallets)


@dataclass(frozen=True)
class Own:
    """A side's own view of a swap."""

    side: Side
    trade: OwnTrade
    swap_id: str
    secret: str | None

    async def look(self) -> tuple[m.Swap, VerifiedSwap]:
        """Reads it again, and compares all of it."""
        shown = await self.side.client.get_swap(self.swap_id)
        now = await self.side.ground.now()
        views = self.side.ground.views
        trade = self.trade
        return shown, verify_swap(shown, trade, views, swap_id=self.swap_id, now=now)

    async def leg(self, name: LegName) -> VerifiedLeg:
        _, verified = await self.look()
        return verified.leg(name)

    async def _act(self, name: LegName, asked: Asked, material: Json) -> None:
        leg = await self.leg(name)
        assert leg.escrow is not None and leg.terms is not None
        wallet = self.side.wallet(leg.chain)
        view = self.side.ground.views[leg.chain]
        outputs = await wallet.spendable(leg.terms, leg.escrow.address)
        limits = Limits(outputs=outputs, now=await self.side.ground.now())
        verify_material(material, asked, leg.terms, view, limits)
        secret = asked.secret if isinstance(asked, Claim) else None
        await wallet.send(as_json(material), secret)

    async def fund(self) -> None:
        name = given_leg(self.trade.party)
        shown, kept = await self.look()
        now, views = await self.side.ground.now(), self.side.ground.views
        assert verify_to_fund(shown, self.trade, kept, views, now=now) == kept
        built = await self.side.client.build_fund(self.swap_id, name)
        legs = (await self.side.client.get_swap(self.swap_id)).legs
        lent = (legs.a if name == "a" else legs.b).lane_signature
        await self._act(name, Fund(lane_signature=lent), built)

    async def claim(self, secret: str) -> None:
        name = other_leg(given_leg(self.trade.party))
        built = await self.side.client.build_claim(self.swap_id, name, secret=secret)
        await self._act(name, Claim(secret), built)

    async def refund(self) -> None:
        name = given_leg(self.trade.party)
        await self._act(name, Refund(), await self.side.client.build_refund(self.swap_id, name))

    async def until_status(self, *statuses: str) -> m.Swap:
        async def look() -> m.Swap | None:
            shown, _ = await self.look()
            return shown if shown.status in statuses else None

        found: m.Swap = await until(f"status {' or '.join(statuses)}", look)
        return found


async def agreed(taker: Side, maker: Side, b: str, a: str) -> tuple[Own, Own]:
    """The taker gives ``b`` for ``a``. Initiator and counterparty, in this order."""
    on = taker.ground
    base, quote = on.asset(b), on.asset(a)
    base_amount = TOKEN_AMOUNT if base.token else AMOUNTS[b]
    quote_amount = TOKEN_AMOUNT if quote.token else AMOUNTS[a]
    rfq = (
        await taker.client.create_rfq(
            direction="sell_base",
            base_asset_id=base.id,
            base_amount=base_amount,
            quote_asset_id=quote.id,
            ttl_seconds=3_600,
        )
    ).rfq
    thread = (await maker.client.quote_rfq(rfq.id, quote_amount=quote_amount)).thread

    def trade(own: Side, party: Party, now: int, hashlock: str | None) -> OwnTrade:
        gives, gets = (base, quote) if party == "taker" else (quote, base)
        return OwnTrade(
            party=party,
            rfq_id=rfq.id,
            thread_id=thread.id,
            maker_id=maker.user_id,
            taker_id=taker.user_id,
            direction="sell_base",
            base=base,
            base_amount=base_amount,
            quote=quote,
            quote_amount=quote_amount,
            hashlock=hashlock,
            accepted_at=now,
            refund_to=own.wallet(gives.chain).destination,
            pay_to=own.wallet(gets.chain).destination,
        )

    now = await on.now()
    trades = [trade(taker, "taker", now, None), trade(maker, "maker", now, None)]
    if own_legs(trades[0], on.views).long == "a":
        trades.reverse()
    sides = [taker if each.party == "taker" else maker for each in trades]
    secret = new_secret()
    first, second = trades
    await sides[1].client.accept_price(thread.id, quote_amount=quote_amount)
    first = replace(first, hashlock=hashlock_of(secret))
    done = await sides[0].client.accept_price(
        thread.id, quote_amount=quote_amount, hashlock=first.hashlock
    )
    assert done.swap is not None
    owns = (Own(sides[0], first, done.swap.id, secret), Own(sides[1], second, done.swap.id, None))
    await asyncio.gather(*(_set_addresses(each, done.swap.id) for each in sides))
    return owns


async def _set_addresses(side: Side, swap_id: str) -> None:
    """Names an address on both its chains; on Bitcoin a key is named."""
    for chain, wallet in side.wallets.items():
        to = wallet.destination
        address = to.pubkey or to.address
        await side.client.set_address(swap_id, chain=chain, address=address, form=to.form)


async def settle(initiator: Own, counterparty: Own) -> m.Swap:
    """As docs/lifecycle.md has it, each acting when its turn has come."""
    await initiator.fund()
    await counterparty.until_status("initiator_funded")
    await counterparty.fund()
    await initiator.until_status("counterparty_funded")
    assert initiator.secret is not None
    await initiator.claim(initiator.secret)
    shown = await counterparty.until_status("initiator_claimed", "counterparty_claimed")
    assert shown.secret == initiator.secret
    await counterparty.claim(shown.secret)
    return await initiator.until_status("counterparty_claimed")
