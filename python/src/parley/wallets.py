"""Keys of one's own that `parley.settle` signs with, one a chain. They hold a private key in memory,
ask nodes for nonces, fees and coins, and send nothing by themselves.

Give one wallet object to all swaps of an account: nonces and coins are chosen under its lock.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ._settle.nodes import Material, Node, Outcome, Signed, Source
from .chains import bitcoin, bitcoin_spend, evm, solana, tron
from .chains.bitcoin_payment import ReadPayment, pay, read_payment
from .chains.escrows import CLAIM
from .chains.terms import BitcoinView, Destination, EscrowOutput, EscrowTerms, Form
from .chains.typed_data import sign_typed_data
from .errors import SettleError
from .nodes import BitcoinNode, EvmNode, SolanaNode, TronNode

#: A transaction that takes another's place pays this much more: nodes want an eighth.
_RAISE_PERCENT = 125
_MARGIN_PERCENT = 130
#: For a claim with an undecided secret, which no node may estimate: the coin, and a token.
_CLAIM_GAS, _CLAIM_TOKEN_GAS = 300_000, 500_000


def _nodes(source: Source, kind: type) -> Sequence[Node]:
    for each in source.nodes:
        if not isinstance(each, kind):
            raise SettleError("no_wallet", f"the wallet of {source.view.chain} needs {kind.__name__}")
    return source.nodes


_SECONDS = 15.0


async def _told(source: Source, ask: Callable[[Node], Awaitable[Outcome]]) -> Outcome:
    """By every node: one alone could say for ever that a claim is mined, or waits."""
    answers = set(await source.by_each(ask, _SECONDS))
    return answers.pop() if len(answers) == 1 else "stranded"


def _lock() -> asyncio.Lock:
    return asyncio.Lock()


@dataclass
class EvmWallet:
    """``private_key``: 32 bytes. ``most_fee_per_gas``: wei, the most that it offers.

    ``gas_factor``: how much more gas than on Ethereum a call takes (Arbitrum: 10).
    """

    private_key: bytes = field(repr=False)
    most_fee_per_gas: int = 500 * 10**9
    gas_factor: int = 1
    signing_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    funding_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    family: Literal["evm"] = field(default="evm", init=False)
    pays_by_hand: bool = field(default=False, init=False)

    @property
    def address(self) -> str:
        return evm.address_of_key(self.private_key)

    @property
    def destination(self) -> Destination:
        return Destination(self.address)

    def funding_steps(self, built: Material) -> int:
        return len(built["txs"])

    async def sign_funding(
        self, source: Source, terms: EscrowTerms, built: Material, step: int
    ) -> Signed:
        _must_be(self.address, terms.refund.address)
        return await self._signed(source, built, step, is_secret=False)

    async def sign_spend(self, source: Source, terms: EscrowTerms, built: Material) -> Signed:
        is_claim = bytes.fromhex(built["txs"][0]["data"][2:10]) == CLAIM
        return await self._signed(source, built, 0, is_secret=is_claim)

    async def _signed(
        self, source: Source, built: Material, step: int, *, is_secret: bool
    ) -> Signed:
        call = built["txs"][step]
        to, data, value = call["to"], bytes.fromhex(call["data"][2:]), int(call["value"], 16)
        _nodes(source, EvmNode)

        async def ask(node: Node) -> evm.EvmTransaction:
            assert isinstance(node, EvmNode)
            if is_secret:
                gas = _CLAIM_TOKEN_GAS if value == 0 and _has_token(built) else _CLAIM_GAS
                gas *= self.gas_factor
            else:
                gas = await node.estimate(self.address, to, data, value) * _MARGIN_PERCENT // 100
            price = await node.gas_price()
            most = min(2 * price, self.most_fee_per_gas)
            nonce = await node.count(self.address)
            tip = min(most, price, 10**9)
            return evm.EvmTransaction(built["chainId"], nonce, to, data, value, gas, most, tip)

        transaction = await source.in_turn(ask, _SECONDS)
        signed = evm.sign_transaction(self.private_key, transaction)
        return Signed(signed.txid, signed.raw)

    async def sign_text(self, built: Material) -> str | None:
        return sign_typed_data(self.private_key, built["typedData"])

    async def outcome(self, source: Source, kept: Signed, depth: int) -> Outcome:
        _nodes(source, EvmNode)

        async def ask(node: Node) -> Outcome:
            assert isinstance(node, EvmNode)
            heads = await node.heads()
            found = await node.mined(kept.txid)
            if found is not None:
                block, is_good = found
                is_deep = heads.height - block + 1 >= depth
                return "mined" if is_good or not is_deep else "failed"
            nonce = evm.read_transaction(kept.raw).nonce
            deepest = max(0, heads.height - depth + 1)
            if await node.count(self.address, hex(deepest)) > nonce:
                return "dead"
            # A pool that holds it, and all before it, counts it.
            return "waiting" if await node.count(self.address) > nonce else "stranded"

        return await _told(source, ask)

    async def raised(
        self, source: Source, terms: EscrowTerms, kept: Signed, built: Material | None
    ) -> Signed | None:
        _nodes(source, EvmNode)

        async def ask(node: Node) -> int:
            assert isinstance(node, EvmNode)
            return await node.gas_price()

        price = await source.in_turn(ask, _SECONDS)
        return self._replaced(evm.read_transaction(kept.raw), price)

    def _replaced(self, before: evm.EvmTransaction, price: int) -> Signed | None:
        wanted = min(2 * price, self.most_fee_per_gas)
        most = max(before.max_fee_per_gas * _RAISE_PERCENT // 100 + 1, wanted)
        tip = before.max_priority_fee_per_gas * _RAISE_PERCENT // 100 + 1
        if most > self.most_fee_per_gas:
            return None
        signed = evm.sign_transaction(self.private_key, evm.with_fees(before, most, tip))
        return Signed(signed.txid, signed.raw)

    async def cancelled(
        self, source: Source, funding: Signed, former: Signed | None
    ) -> Signed | None:
        """A payment of nothing to oneself takes the nonce."""
        before = evm.read_transaction(funding.raw)
        own = evm.EvmTransaction(
            before.chain_id,
            before.nonce,
            self.address,
            b"",
            0,
            21_000 * self.gas_factor,
            before.max_fee_per_gas,
            before.max_priority_fee_per_gas,
        )
        return self._replaced(own, before.max_fee_per_gas)


def _has_token(built: Material) -> bool:
    """By the terms in the call: the fourth word is the token."""
    data = built["txs"][0]["data"][10:]
    return int(data[3 * 64 : 4 * 64], 16) != 0


def _must_be(own: str, funder: str) -> None:
    if own.lower() != funder.lower():
        sentence = f"the leg is funded by {funder}, and the wallet is {own}"
        raise SettleError("no_wallet", sentence)


@dataclass
class TronWallet:
    """``private_key``: 32 bytes."""

    private_key: bytes = field(repr=False)
    signing_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    funding_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    family: Literal["tron"] = field(default="tron", init=False)
    pays_by_hand: bool = field(default=False, init=False)

    @property
    def address(self) -> str:
        return tron.address_of_key(self.private_key)

    @property
    def destination(self) -> Destination:
        return Destination(self.address)

    def funding_steps(self, built: Material) -> int:
        return len(built["transactions"])

    async def sign_funding(
        self, source: Source, terms: EscrowTerms, built: Material, step: int
    ) -> Signed:
        _must_be(self.address, terms.refund.address)
        return self._signed(built, step)

    async def sign_spend(self, source: Source, terms: EscrowTerms, built: Material) -> Signed:
        return self._signed(built, 0)

    def _signed(self, built: Material, step: int) -> Signed:
        signed = tron.sign_transaction(self.private_key, built["transactions"][step])
        return Signed(signed.txid, json.dumps(signed.as_json()))

    async def sign_text(self, built: Material) -> str | None:
        return sign_typed_data(self.private_key, built["typedData"])

    async def outcome(self, source: Source, kept: Signed, depth: int) -> Outcome:
        _nodes(source, TronNode)
        expires = tron.expiration_of(json.loads(kept.raw)["raw_data_hex"])

        async def ask(node: Node) -> Outcome:
            assert isinstance(node, TronNode)
            # Before the look: one that lands meanwhile is not called dead.
            solid = await node.solid_ms()
            is_good = await node.mined(kept.txid)
            if is_good is not None:
                return "mined" if is_good else "failed"
            return "dead" if solid > expires else "waiting"

        return await _told(source, ask)

    async def raised(
        self, source: Source, terms: EscrowTerms, kept: Signed, built: Material | None
    ) -> Signed | None:
        return None

    async def cancelled(
        self, source: Source, funding: Signed, former: Signed | None
    ) -> Signed | None:
        return None


@dataclass
class SolanaWallet:
    """``seed``: 32 bytes, of Ed25519."""

    seed: bytes = field(repr=False)
    signing_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    funding_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    family: Literal["solana"] = field(default="solana", init=False)
    pays_by_hand: bool = field(default=False, init=False)

    @property
    def address(self) -> str:
        return solana.address_of_seed(self.seed)

    @property
    def destination(self) -> Destination:
        return Destination(self.address)

    def funding_steps(self, built: Material) -> int:
        return 1

    async def sign_funding(
        self, source: Source, terms: EscrowTerms, built: Material, step: int
    ) -> Signed:
        _must_be(self.address, terms.refund.address)
        return self._signed(built)

    async def sign_spend(self, source: Source, terms: EscrowTerms, built: Material) -> Signed:
        return self._signed(built)

    def _signed(self, built: Material) -> Signed:
        signed = solana.sign_transaction(self.seed, built["transaction"])
        return Signed(signed.txid, signed.transaction, int(built["lastValidBlockHeight"]))

    async def sign_text(self, built: Material) -> str | None:
        return None

    async def outcome(self, source: Source, kept: Signed, depth: int) -> Outcome:
        _nodes(source, SolanaNode)
        last = kept.last_valid_block_height

        async def ask(node: Node) -> Outcome:
            assert isinstance(node, SolanaNode)
            # Before the look: one that lands meanwhile is not called dead.
            final = await node.final_height()
            found = await node.outcome(kept.txid)
            if found is not None:
                has_failed, is_final = found
                return "failed" if has_failed and is_final else "mined"
            return "dead" if last is not None and final > last else "waiting"

        return await _told(source, ask)

    async def raised(
        self, source: Source, terms: EscrowTerms, kept: Signed, built: Material | None
    ) -> Signed | None:
        return None

    async def cancelled(
        self, source: Source, funding: Signed, former: Signed | None
    ) -> Signed | None:
        return None


@dataclass
class BitcoinWallet:
    """``private_key``: 32 bytes; its coins are those of its P2WPKH address.

    ``pays_by_hand``: a person pays the escrow from another wallet. ``coins``: where coins are
    listed; by default the node scans all outputs, which takes minutes on the main network.
    ``form``: ``p2tr`` asks for an escrow of Taproot, whose leaves this key signs.
    """

    private_key: bytes = field(repr=False)
    network: Literal["mainnet", "testnet", "regtest"]
    pays_by_hand: bool = False
    coins: Callable[[], Awaitable[Sequence[EscrowOutput]]] | None = field(default=None, repr=False)
    form: Form | None = None
    signing_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    funding_lock: asyncio.Lock = field(default_factory=_lock, repr=False)
    family: Literal["bitcoin"] = field(default="bitcoin", init=False)
    _reserved: set[str] = field(default_factory=set, init=False, repr=False)

    @property
    def pubkey(self) -> str:
        """Compressed, 66 hex."""
        return bitcoin.public_key_of(self.private_key)

    @property
    def address(self) -> str:
        return bitcoin.addresses_of_public_key(self.pubkey, self.network)["p2wpkh"]

    @property
    def destination(self) -> Destination:
        return Destination(self.address, self.pubkey, self.form)

    def funding_steps(self, built: Material) -> int:
        return 1

    async def sign_funding(
        self, source: Source, terms: EscrowTerms, built: Material, step: int
    ) -> Signed:
        _nodes(source, BitcoinNode)

        async def ask(node: Node) -> tuple[Sequence[EscrowOutput], float]:
            assert isinstance(node, BitcoinNode)
            given = await (node.coins(self.address) if self.coins is None else self.coins())
            return given, await node.rate(2)

        coins, rate = await source.in_turn(ask, 600.0)
        free = [each for each in coins if f"{each.txid}:{each.vout}" not in self._reserved]
        return self._paid(free, built["payTo"], int(built["amountSats"]), rate)

    def _paid(
        self, coins: Sequence[EscrowOutput], address: str, amount: int, rate: float
    ) -> Signed:
        made = pay(self.private_key, coins, address, amount, self.network, rate)
        for txid, vout in read_payment(made.signed.raw).inputs:
            self._reserved.add(f"{txid}:{vout}")
        return Signed(made.signed.txid, made.signed.raw)

    async def sign_spend(self, source: Source, terms: EscrowTerms, built: Material) -> Signed:
        signatures = bitcoin_spend.sign_psbt(self.private_key, built["psbtBase64"])
        secret = built.get("preimageHex")
        signed = bitcoin_spend.assemble(built["psbtBase64"], signatures, secret)
        return Signed(signed.txid, signed.raw)

    async def sign_text(self, built: Material) -> str | None:
        return None

    async def outcome(self, source: Source, kept: Signed, depth: int) -> Outcome:
        _nodes(source, BitcoinNode)
        read = read_payment(kept.raw)
        for txid, vout in read.inputs:
            self._reserved.add(f"{txid}:{vout}")

        async def ask(node: Node) -> Outcome:
            assert isinstance(node, BitcoinNode)
            return await _outcome_at(node, kept.txid, read, depth)

        return await _told(source, ask)

    async def _again(self, source: Source, read: ReadPayment) -> tuple[list[EscrowOutput], float]:
        """The same coins, those that no block has spent, and a higher rate."""
        _nodes(source, BitcoinNode)

        async def ask(node: Node) -> tuple[list[EscrowOutput], float]:
            assert isinstance(node, BitcoinNode)
            coins: list[EscrowOutput] = []
            for txid, vout in read.inputs:
                found = await node.unspent(txid, vout, with_waiting=False)
                if found is not None:
                    coins.append(EscrowOutput(txid, vout, found[0]))
            return coins, await node.rate(2)

        coins, rate = await source.in_turn(ask, _SECONDS)
        spent = sum(each.amount for each in coins) - sum(amount for _, amount in read.outputs)
        before = max(0, spent) / read.vsize
        return coins, max(rate, before * _RAISE_PERCENT / 100 + 1)

    async def raised(
        self, source: Source, terms: EscrowTerms, kept: Signed, built: Material | None
    ) -> Signed | None:
        """A funding pays the same escrow out of the same coins."""
        coins, rate = await self._again(source, read_payment(kept.raw))
        if rate > _most_rate(source):
            return None
        escrow = bitcoin.bitcoin_escrow(terms, self.network).address
        try:
            return self._paid(coins, escrow, terms.amount, rate)
        except ValueError:
            # The coins and the change leave no room for a higher fee.
            return None

    async def cancelled(
        self, source: Source, funding: Signed, former: Signed | None
    ) -> Signed | None:
        """The coins go back to oneself."""
        coins, rate = await self._again(source, read_payment(funding.raw))
        if rate > _most_rate(source):
            return None
        held = sum(each.amount for each in coins)
        try:
            return self._paid(coins, self.address, held // 2, rate)
        except ValueError:
            return None


def _most_rate(source: Source) -> float:
    """Satoshis a virtual byte that the customer allows."""
    return source.view.most_fee_rate_sat_per_vbyte if isinstance(source.view, BitcoinView) else 0.0


async def _outcome_at(node: BitcoinNode, txid: str, read: ReadPayment, depth: int) -> Outcome:
    if await node.is_waiting(txid):
        return "waiting"
    for vout in range(len(read.outputs)):
        found = await node.unspent(txid, vout, with_waiting=True)
        if found is not None:
            return "mined" if found[1] > 0 else "waiting"
    for spent, vout in read.inputs:
        if await node.unspent(spent, vout, with_waiting=True) is not None:
            continue
        by = await node.spent_by(spent, vout, depth + 144)
        if by is not None and by[0] == txid:
            return "mined"
        if by is not None and by[1] >= depth:
            return "dead"
    return "waiting"

