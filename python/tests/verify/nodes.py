"""The dev network's nodes, and a key on each: verified material is signed and sent there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from parley.chains import bitcoin_payment, bitcoin_spend, evm, solana, tron
from parley.chains.bitcoin import NetworkName, addresses_of_public_key, public_key_of
from parley.chains.terms import Destination, EscrowOutput, EscrowTerms, Family

Json = Any
#: Blocks of the dev chains come every second or two; machines are shared.
WAIT_SECONDS = 240
NETWORK: NetworkName = "regtest"


async def until(what: str, look: Callable[[], Awaitable[Json]]) -> Json:
    """Waits for what is not None."""
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while (found := await look()) is None:
                await asyncio.sleep(0.2)
            return found
    except TimeoutError:
        raise AssertionError(f"{what} did not come in {WAIT_SECONDS} s") from None


@dataclass(frozen=True)
class Node:
    """``chain``: as the control server's status tells of it."""

    http: httpx.AsyncClient
    chain: Mapping[str, Json]

    async def rpc(self, method: str, *params: Json) -> Json:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        reply = (await self.http.post(self.chain["rpcUrl"], json=body)).json()
        assert reply.get("error") is None, f"{method}: {reply['error']}"
        return reply["result"]

    async def tron(self, path: str, body: Json) -> Json:
        return (await self.http.post(f"{self.chain['rpcUrl']}/{path}", json=body)).json()

    async def outputs(self, address: str) -> tuple[EscrowOutput, ...]:
        """On Bitcoin: the payments to an address that it still has, in blocks."""

        async def scan() -> Json:
            # A node scans for one caller at a time.
            body = {"method": "scantxoutset", "params": ["start", [f"addr({address})"]]}
            reply = (await self.http.post(self.chain["rpcUrl"], json=body)).json()
            return reply["result"]

        found = await until("a scan", scan)
        return tuple(
            EscrowOutput(each["txid"], each["vout"], round(each["amount"] * 10**8))
            for each in found["unspents"]
        )


@dataclass(frozen=True)
class Wallet:
    """One key on one chain. It signs what it is given: verify before."""

    node: Node
    key: bytes

    @property
    def family(self) -> Family:
        family: Family = self.node.chain["family"]
        return family

    @property
    def destination(self) -> Destination:
        match self.family:
            case "evm":
                return Destination(evm.address_of_key(self.key))
            case "tron":
                return Destination(tron.address_of_key(self.key))
            case "solana":
                return Destination(solana.address_of_seed(self.key))
            case "bitcoin":
                pubkey = public_key_of(self.key)
                address = addresses_of_public_key(pubkey, NETWORK)["p2wpkh"]
                return Destination(address, pubkey, "p2tr")

    async def send(self, material: Json, secret: str | None = None) -> None:
        """Signs and sends each in order, and waits until it has succeeded in a block."""
        match material["sign"]:
            case "evm-tx":
                for call in material["txs"]:
                    await self._send_evm(call)
            case "tron-txid":
                for each in material["transactions"]:
                    await self._send_tron(each)
            case "solana-tx":
                signed = solana.sign_transaction(self.key, material["transaction"])
                options = {"encoding": "base64", "preflightCommitment": "processed"}
                await self.node.rpc("sendTransaction", signed.transaction, options)
                await until(f"transaction {signed.txid}", lambda: self._solana(signed.txid))
            case "btc-payment":
                coins = await self.node.outputs(self.destination.address)
                amount = int(material["amountSats"])
                paid = bitcoin_payment.pay(self.key, coins, material["payTo"], amount, NETWORK, 5)
                await self.node.rpc("sendrawtransaction", paid.signed.raw)
            case "btc-sighash":
                signatures = bitcoin_spend.sign_psbt(self.key, material["psbtBase64"])
                spent = bitcoin_spend.assemble(material["psbtBase64"], signatures, secret)
                await self.node.rpc("sendrawtransaction", spent.raw)

    async def _send_evm(self, call: Json) -> None:
        address = self.destination.address
        nonce, price = await asyncio.gather(
            self.node.rpc("eth_getTransactionCount", address, "pending"),
            self.node.rpc("eth_gasPrice"),
        )
        transaction = evm.EvmTransaction(
            chain_id=self.node.chain["chainId"],
            nonce=int(nonce, 16),
            to=call["to"],
            data=bytes.fromhex(call["data"][2:]),
            value=int(call["value"], 16),
            gas=500_000,
            max_fee_per_gas=2 * int(price, 16) + 10**9,
            max_priority_fee_per_gas=10**9,
        )
        signed = evm.sign_transaction(self.key, transaction)
        assert await self.node.rpc("eth_sendRawTransaction", signed.raw) == signed.txid

        async def receipt() -> Json:
            return await self.node.rpc("eth_getTransactionReceipt", signed.txid)

        found = await until(f"transaction {signed.txid}", receipt)
        assert found["status"] == "0x1", found

    async def _send_tron(self, transaction: Json) -> None:
        signed = tron.sign_transaction(self.key, transaction)
        sent = await self.node.tron("wallet/broadcasthex", {"transaction": signed.hex})
        assert sent.get("result") is True, sent

        async def info() -> Json:
            body = {"value": signed.txid}
            found = await self.node.tron("wallet/gettransactioninfobyid", body)
            return found or None

        found = await until(f"transaction {signed.txid}", info)
        assert found["receipt"]["result"] == "SUCCESS", found

    async def _solana(self, txid: str) -> Json:
        options = {"searchTransactionHistory": True}
        reply = await self.node.rpc("getSignatureStatuses", [txid], options)
        status = reply["value"][0]
        assert status is None or status["err"] is None, status
        return status

    async def spendable(self, terms: EscrowTerms, escrow: str) -> tuple[EscrowOutput, ...] | None:
        """The escrow's payments by one's own node, where a spend of them is to be verified."""
        return await self.node.outputs(escrow) if self.family == "bitcoin" else None
