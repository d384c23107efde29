"""A node of Bitcoin Core, read without an index: blocks since the swap was agreed are searched for
the escrow's output and for what spends it.

Funded is ONE payment of at least the amount; the first one that the chain took counts, and a
claimed one before that. Everything else in the escrow is balance, which a refund takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from .._settle.facts import EscrowFacts, Sighting
from .._settle.judge import Heads
from .._settle.nodes import About, Look, Material, Payment, WatchedEscrow
from ..chains import bitcoin, bitcoin_spend
from ..chains.bitcoin_block import BlockTx, read_block
from ..chains.crypto import sha256
from ..chains.errors import ChainError
from ..chains.terms import BitcoinView, EscrowOutput, EscrowTerms, SpendVerb
from ..errors import Refusal
from .rpc import Http, RpcRefusal

#: Block times may be off by two hours (consensus), and the median is of eleven blocks (BIP 113).
_SKEW_SECONDS, _MEDIAN_BLOCKS = 7_200, 11
_MOST_SEARCHED = 9_000
#: Blocks of one look: the next looks read the rest.
_MOST_BLOCKS, _TOGETHER = 64, 8
#: A longer list of waiting transactions is not read: payments show once they are mined.
_MOST_WAITING = 3_000
#: Blocks beyond its depth that a spend is looked after.
_FURTHER_BLOCKS = 6
_COINBASE_DEPTH = 100
_LEAST_PAID_SATS = 546
#: Blocks by which a claim or refund should be mined.
_TARGET_BLOCKS = 2
_FLOOR_RATE = 2.0


@dataclass(slots=True)
class _Spend:
    txid: str
    height: int | None
    by: Literal["claim", "refund"]


@dataclass(slots=True)
class _Paid:
    txid: str
    vout: int
    amount: int
    height: int | None
    is_coinbase: bool
    spend: _Spend | None = None

    @property
    def key(self) -> str:
        """The outpoint as blocks have it, in hex."""
        return bytes.fromhex(self.txid)[::-1].hex() + self.vout.to_bytes(4, "little").hex()

    @property
    def output(self) -> EscrowOutput:
        return EscrowOutput(self.txid, self.vout, self.amount)


@dataclass(slots=True)
class _Track:
    """``blocks``: those searched, with their hashes, the newest last."""

    script: str
    hashlock: str
    next: int
    blocks: list[tuple[int, str]] = field(default_factory=list)
    paid: dict[str, _Paid] = field(default_factory=dict)
    secret: str | None = None
    waiting: set[str] = field(default_factory=set)


class BitcoinNode:
    """``url``: with user and password, such as ``http://user:password@127.0.0.1:8332``."""

    block_seconds: float = 600.0

    def __init__(
        self, url: str, view: BitcoinView, *, http: httpx.AsyncClient | None = None
    ) -> None:
        self._view = view
        self._rpc = Http(view.chain, url, None, http)
        self._tracks: dict[str, _Track] = {}
        self._lock = asyncio.Lock()

    async def aclose(self) -> None:
        await self._rpc.aclose()

    async def heads(self) -> Heads:
        info = await self._rpc.must("getblockchaininfo")
        # On regtest a moved clock alone makes a node think that it is behind.
        if info["initialblockdownload"] and self._view.network != "regtest":
            raise self._rpc.silent(f"is still catching up, at block {info['blocks']}")
        return Heads(info["blocks"], info["bestblockhash"], info["mediantime"])

    async def block_hash(self, height: int) -> str | None:
        try:
            return str(await self._rpc.call("getblockhash", height))
        except RpcRefusal:
            return None

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        heads = await self.heads()
        facts = [await self._facts(each, heads) for each in escrows]
        return Look(heads, tuple(facts))

    async def _track(self, escrow: WatchedEscrow) -> _Track:
        found = self._tracks.get(escrow.address)
        if found is None:
            script = bitcoin.parse_address(escrow.address, self._view.network).script.hex()
            first = await self._first_height(escrow.since)
            found = _Track(script, escrow.terms.hashlock, first)
            self._tracks[escrow.address] = found
        return found

    async def _first_height(self, since: int) -> int:
        """At or below the first block that can hold a payment sent then."""
        top = int(await self._rpc.must("getblockcount"))
        low, high = max(0, top - _MOST_SEARCHED), top
        while low < high:
            middle = (low + high) // 2
            block = await self.block_hash(middle)
            header = await self._rpc.must("getblockheader", block)
            if header["hash"] != block:
                raise self._rpc.silent(f"asked for block {block}, gave {header['hash']}")
            if header["mediantime"] < since - _SKEW_SECONDS:
                low = middle + 1
            else:
                high = middle
        return max(0, low - _MEDIAN_BLOCKS)

    async def _facts(self, escrow: WatchedEscrow, heads: Heads) -> EscrowFacts:
        # One after the other: a look and a gate may ask for one escrow at once.
        async with self._lock:
            track = await self._track(escrow)
            await self._follow(track, heads)
            await self._wait_for(track)
            return self._facts_of(track, escrow, heads.height)

    async def _follow(self, track: _Track, heads: Heads) -> None:
        while track.blocks and await self.block_hash(track.blocks[-1][0]) != track.blocks[-1][1]:
            height, _ = track.blocks.pop()
            _take_back(track, height)
            track.next = height
        last = min(heads.height, track.next + _MOST_BLOCKS - 1)
        while track.next <= last:
            heights = range(track.next, min(last, track.next + _TOGETHER - 1) + 1)
            found = await asyncio.gather(*(self._at(each) for each in heights))
            for height, (block, raw, txs) in zip(heights, found, strict=True):
                _search(track, height, raw, txs)
                track.blocks.append((height, block))
                track.next = height + 1
        if track.next <= heads.height:
            left = heads.height - track.next + 1
            raise self._rpc.silent(f"has {left} blocks left to be read")

    async def _at(self, height: int) -> tuple[str, str, list[BlockTx]]:
        block = await self.block_hash(height)
        if block is None:
            raise self._rpc.silent(f"took back block {height} while it was read")
        return block, *await self._block(block)

    async def _block(self, block: str) -> tuple[str, list[BlockTx]]:
        raw = str(await self._rpc.must("getblock", block, 0))
        try:
            # A full block takes 100 ms.
            return raw, await asyncio.to_thread(read_block, bytes.fromhex(raw), block)
        except ValueError as error:
            raise self._rpc.silent(f"gave no block that can be read: {error}") from error

    async def _wait_for(self, track: _Track) -> None:
        """Reads the mempool: spends of known payments, and payments where its list is short."""
        waiting = await self._rpc.must("getrawmempool")
        open_ones = [each for each in track.paid.values() if _is_open(each)]
        spenders: set[str] = set()
        if open_ones:
            asked = [{"txid": each.txid, "vout": each.vout} for each in open_ones]
            found = await self._rpc.must("gettxspendingprevout", asked)
            spenders = {each["spendingtxid"] for each in found if "spendingtxid" in each}
        for each in [*track.paid.values()]:
            if each.height is None and each.txid not in waiting:
                del track.paid[f"{each.txid}:{each.vout}"]
            elif each.spend is not None and each.spend.height is None:
                each.spend = None
        fresh = set(waiting) - track.waiting if len(waiting) <= _MOST_WAITING else set()
        track.waiting = set(waiting) if len(waiting) <= _MOST_WAITING else set()
        for txid in sorted(fresh | spenders):
            try:
                tx = await self._rpc.call("getrawtransaction", txid, True)
            except RpcRefusal:
                # It left the mempool between the two calls.
                continue
            _take(track, tx, None)

    def _facts_of(self, track: _Track, escrow: WatchedEscrow, tip: int) -> EscrowFacts:
        required = escrow.required_confirmations

        def sight(txid: str, height: int | None, least: int = required) -> Sighting:
            count = 0 if height is None else max(0, tip - height + 1)
            return Sighting(txid, count, count >= least)

        funding = _funding(track, escrow.terms.amount)
        spend = None if funding is None else funding.spend
        spent = None if spend is None else sight(spend.txid, spend.height)
        worth = [each for each in track.paid.values() if self._is_worth(each, escrow.terms)]
        unspent = [each for each in worth if each.spend is None]
        is_gone = all(
            each.spend is not None
            and each.spend.height is not None
            and tip - each.spend.height + 1 >= required + _FURTHER_BLOCKS
            for each in worth
        )
        funded = None
        if funding is not None:
            least = max(required, _COINBASE_DEPTH) if funding.is_coinbase else required
            funded = sight(funding.txid, funding.height, least)
        return EscrowFacts(
            funded=funded,
            claimed=spent if spend is not None and spend.by == "claim" else None,
            refunded=spent if spend is not None and spend.by == "refund" else None,
            secret=track.secret,
            balance=sum(each.amount for each in unspent if each.height is not None),
            empty=is_gone and not unspent,
        )

    def _is_worth(self, paid: _Paid, terms: EscrowTerms) -> bool:
        """Dust that no refund can bring back counts for nothing: it must keep no swap open."""
        vsize = bitcoin_spend.vsize_of(terms, self._view.network, "refund", 1)
        return paid.amount - bitcoin_spend.least_fee(vsize) >= _LEAST_PAID_SATS

    async def preflight(self, terms: EscrowTerms, about: About) -> None:
        """An amount that is too small to be claimed at today's rate is not worth funding."""
        vsize = bitcoin_spend.vsize_of(terms, self._view.network, "claim", 1)
        fee = int(vsize * await self.rate(_TARGET_BLOCKS))
        if terms.amount - fee < _LEAST_PAID_SATS:
            sentence = f"{terms.amount} sats less a fee of {fee} are too few for a payment"
            raise Refusal("payout_would_fail", sentence)

    async def rate(self, blocks: int) -> float:
        """Satoshis a virtual byte, within the customer's bounds."""
        found = await self._rpc.must("estimatesmartfee", blocks)
        pool = await self._rpc.must("getmempoolinfo")
        least = float(pool["mempoolminfee"]) * 1e8 / 1_000
        rate = float(found.get("feerate", 0)) * 1e8 / 1_000
        return min(max(rate, least, _FLOOR_RATE), self._view.most_fee_rate_sat_per_vbyte)

    async def _build(self, escrow: WatchedEscrow, verb: SpendVerb, *, is_public: bool) -> Material:
        heads = await self.heads()
        await self._facts(escrow, heads)
        track = self._tracks[escrow.address]
        mine = [
            each
            for each in track.paid.values()
            if each.height is not None and _is_open(each) and self._is_worth(each, escrow.terms)
        ]
        if not mine or (verb == "claim" and sum(e.amount for e in mine) < escrow.terms.amount):
            raise Refusal("nothing_there", f"the escrow {escrow.address} holds no payment to take")
        terms, network = escrow.terms, self._view.network
        outputs = [each.output for each in sorted(mine, key=lambda each: (each.txid, each.vout))]
        vsize = bitcoin_spend.vsize_of(terms, network, verb, len(outputs))
        value = sum(each.amount for each in outputs)
        most = bitcoin_spend.most_fee(
            vsize,
            value,
            self._view.most_fee_rate_sat_per_vbyte,
            is_public_claim=verb == "claim" and is_public,
        )
        wanted = max(int(vsize * await self.rate(_TARGET_BLOCKS)), await self._to_replace(mine, vsize))
        fee = max(min(wanted, most), bitcoin_spend.least_fee(vsize))
        try:
            built = bitcoin_spend.build_spend(terms, network, verb, outputs, fee)
        except ChainError as error:
            raise Refusal("nothing_there", str(error)) from error
        about = {"chain": self._view.chain, "family": "bitcoin", "sign": "btc-sighash"}
        scheme = {"scheme": "schnorr"} if terms.form == "p2tr" else {}
        fees = {"feeSats": str(fee), "feeRateSatPerVbyte": bitcoin_spend.rate_of(fee, vsize)}
        return {
            **about,
            **scheme,
            **fees,
            "psbtBase64": built.psbt_base64,
            "sighashHexes": [each.hex() for each in built.sighashes],
            "escrow": escrow.address,
            "ladder": [fees],
        }

    async def _to_replace(self, mine: Sequence[_Paid], vsize: int) -> int:
        """The fee above that of what waits and spends the same payments (BIP 125)."""
        fee = 0
        for txid in {each.spend.txid for each in mine if each.spend is not None}:
            try:
                entry = await self._rpc.call("getmempoolentry", txid)
            except RpcRefusal:
                continue
            fee += round(float(entry["fees"]["descendant"]) * 1e8)
        return fee + vsize if fee else 0

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Material:
        built = await self._build(escrow, "claim", is_public=is_public)
        return {**built, "preimageHex": secret}

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Material:
        return await self._build(escrow, "refund", is_public=False)

    async def build_release(self, escrow: WatchedEscrow) -> Material:
        raise Refusal("not_releasable", "on Bitcoin a leg goes back from its timelock on")

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        raise Refusal("bad_signature", "on Bitcoin no signature releases a leg")

    async def payments(self, escrow: WatchedEscrow) -> Sequence[Payment]:
        heads = await self.heads()
        await self._facts(escrow, heads)
        found = [each for each in self._tracks[escrow.address].paid.values() if _is_open(each)]
        return [
            Payment(each.output, 0 if each.height is None else heads.height - each.height + 1)
            for each in found
        ]

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        """A claim pays its fee out of what it takes."""
        return None

    async def broadcast(self, raw: str) -> None:
        try:
            await self._rpc.call("sendrawtransaction", raw)
        except RpcRefusal as error:
            if "already" not in str(error):
                raise Refusal("refused_by_node", f"the node says: {error}") from error

    async def coins(self, address: str) -> list[EscrowOutput]:
        """Unspent outputs of an address that blocks hold. It scans them all: minutes on the main
        network."""
        found = await self._rpc.must("scantxoutset", "start", [f"addr({address})"])
        if found is None or not found.get("success"):
            raise self._rpc.silent("did not end its scan of all outputs")
        return [
            EscrowOutput(each["txid"], each["vout"], round(float(each["amount"]) * 1e8))
            for each in found["unspents"]
        ]

    async def unspent(self, txid: str, vout: int, *, with_waiting: bool) -> tuple[int, int] | None:
        """Satoshis and confirmations of an output; None: it is spent, or nobody has it."""
        found = await self._rpc.must("gettxout", txid, vout, with_waiting)
        if found is None:
            return None
        return round(float(found["value"]) * 1e8), int(found["confirmations"])

    async def is_waiting(self, txid: str) -> bool:
        try:
            await self._rpc.call("getmempoolentry", txid)
        except RpcRefusal:
            return False
        return True

    async def spent_by(self, txid: str, vout: int, back: int) -> tuple[str, int] | None:
        """The transaction of the last blocks that spends an output, and its confirmations."""
        key = bytes.fromhex(txid)[::-1].hex() + vout.to_bytes(4, "little").hex()
        top = int(await self._rpc.must("getblockcount"))
        for height in range(top, max(-1, top - back), -1):
            block = await self.block_hash(height)
            if block is None:
                continue
            for tx in (await self._block(block))[1]:
                if any(each.outpoint.hex() == key for each in tx.inputs):
                    return tx.txid, top - height + 1
        return None


def _search(track: _Track, height: int, raw: str, txs: Sequence[BlockTx]) -> None:
    if track.script not in raw and not any(each.key in raw for each in track.paid.values()):
        return
    for tx in txs:
        _take(track, tx.shown(), height)


def _is_open(paid: _Paid) -> bool:
    """Whether no transaction of a block has spent it."""
    return paid.spend is None or paid.spend.height is None


def _take_back(track: _Track, height: int) -> None:
    for place, each in list(track.paid.items()):
        if each.height == height:
            del track.paid[place]
        elif each.spend is not None and each.spend.height == height:
            each.spend = None


def _take(track: _Track, tx: Any, height: int | None) -> None:
    for out in tx["vout"]:
        if out["scriptPubKey"]["hex"] == track.script:
            is_coinbase = "coinbase" in tx["vin"][0]
            amount = round(float(out["value"]) * 1e8)
            place = f"{tx['txid']}:{out['n']}"
            before = track.paid.get(place)
            paid = _Paid(tx["txid"], out["n"], amount, height, is_coinbase)
            paid.spend = None if before is None else before.spend
            track.paid[place] = paid
    for each in tx["vin"]:
        found = track.paid.get(f"{each.get('txid')}:{each.get('vout')}")
        if found is None:
            continue
        # By hash over every item, and never by its place.
        items = [item for item in each.get("txinwitness", []) if len(item) == 64]
        shown = [item for item in items if sha256(bytes.fromhex(item)).hex() == track.hashlock]
        if shown:
            track.secret = shown[0]
        found.spend = _Spend(tx["txid"], height, "claim" if shown else "refund")


def _funding(track: _Track, amount: int) -> _Paid | None:
    def place(each: _Paid) -> tuple[float, str, int]:
        return float("inf") if each.height is None else each.height, each.txid, each.vout

    enough = sorted((each for each in track.paid.values() if each.amount >= amount), key=place)
    claimed = [each for each in enough if each.spend is not None and each.spend.by == "claim"]
    # A mined claim before one that may still be replaced.
    mined = [each for each in claimed if each.spend is not None and each.spend.height is not None]
    return next(iter([*mined, *claimed, *enough]), None)
