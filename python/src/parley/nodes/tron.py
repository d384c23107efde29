"""A node of TRON (java-tron's HTTP API): the contract's word of an escrow at the newest block and
at the newest solid one, which is never taken back, and the blocks that explain it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx

from .._settle.facts import NOTHING_SEEN, EscrowFacts, Sighting
from .._settle.judge import Heads
from .._settle.nodes import About, Look, Material, Payment, WatchedEscrow
from ..chains import tron
from ..chains.crypto import keccak256
from ..chains.errors import ChainError
from ..chains.escrows import STATE_OF, selector, word
from ..chains.terms import EscrowTerms, TronView
from ..chains.typed_data import consent_text
from ..errors import Refusal
from .rpc import Http, RpcRefusal, unreadable

View = Literal["wallet", "walletsolidity"]
_STATES = ("never", "open", "claimed", "refunded", "ended", "void")
_TERMS = "(bytes32,address,address,address,uint256,uint256,uint256)"
_TOPICS = {
    keccak256(f"Funded(bytes32,{_TERMS},uint96,uint32)".encode()).hex(): "funded",
    keccak256(b"Claimed(bytes32,bytes32)").hex(): "claimed",
    keccak256(b"Refunded(bytes32)").hex(): "refunded",
}
_SLOT_SECONDS = 3
_SLACK_SECONDS = 600
#: Where a node has no index of logs, so many blocks are read: an hour's.
_MOST_BLOCKS = 1_200
_SIGN_MS = 600_000
#: More than a claim or a refund burns: of TRX, and of a token that the receiver never had.
_ENERGY, _TOKEN_ENERGY = 120_000, 220_000
#: Bytes of a transaction at their price, and a new account.
_BYTES_SUN, _ACCOUNT_SUN = 1_000_000, 1_100_000
_BALANCE_OF = selector("balanceOf(address)")
_NO_SENDER = "41" + "00" * 20


@dataclass(frozen=True, slots=True)
class _Block:
    number: int
    hash: str
    time_ms: int

    @property
    def second(self) -> int:
        return self.time_ms // 1_000


@dataclass(frozen=True, slots=True)
class _Mark:
    txid: str
    block: int
    secret: str | None = None


class TronNode:
    """``url``: such as ``http://127.0.0.1:8090``. ``key``: of TronGrid, ``TRON-PRO-API-KEY``."""

    block_seconds: float = float(_SLOT_SECONDS)

    def __init__(
        self,
        url: str,
        view: TronView,
        *,
        key: str | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._view = view
        headers = None if key is None else {"TRON-PRO-API-KEY": key}
        self._http = Http(view.chain, url, headers, http)
        self._marks: dict[str, dict[str, _Mark]] = {}

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        answer = await self._http.post(f"/{path}", dict(body))
        if isinstance(answer, dict) and "Error" in answer:
            raise self._http.silent(f"refused {path}: {str(answer['Error'])[:200]}")
        return answer

    async def _newest(self, view: View) -> _Block:
        return self._block(await self._ask(f"{view}/getnowblock", {}))

    def _block(self, said: Any) -> _Block:
        try:
            raw = said["block_header"]["raw_data"]
            return _Block(int(raw.get("number", 0)), said["blockID"], int(raw.get("timestamp", 0)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise unreadable(self._http, "a block") from error

    async def heads(self) -> Heads:
        head = await self._newest("wallet")
        return Heads(head.number, head.hash, head.second)

    async def block_hash(self, height: int) -> str | None:
        said = await self._ask("wallet/getblockbynum", {"num": height})
        if not isinstance(said, dict) or "blockID" not in said:
            return None
        block = self._block(said)
        if block.number != height:
            raise self._http.silent(f"asked for block {height}, gave block {block.number}")
        return block.hash

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        # Before the words: what they do not show solid lies in a block above this one.
        before = await self._newest("walletsolidity")
        words = [
            (await self._word(each.terms, "walletsolidity"), await self._word(each.terms, "wallet"))
            for each in escrows
        ]
        head = await self._newest("wallet")
        facts = [
            await self._facts(each, *words[at], head, before) for at, each in enumerate(escrows)
        ]
        return Look(Heads(head.number, head.hash, head.second), tuple(facts))

    async def _constant(self, view: View, sender: str, to: str, data: bytes, value: int) -> Any:
        body = {
            "owner_address": sender,
            "contract_address": tron.hex_of(to),
            "data": data.hex(),
            "call_value": value,
        }
        return await self._ask(f"{view}/triggerconstantcontract", body)

    async def _view_of(self, view: View, to: str, data: bytes) -> int:
        said = await self._constant(view, _NO_SENDER, to, data, 0)
        try:
            return int(str(said["constant_result"][0])[:64], 16)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise unreadable(self._http, "an answer of a contract") from error

    async def _word(self, terms: EscrowTerms, view: View) -> tuple[str, bool]:
        contract = tron.PLAN.contract_of(terms, self._view.deployment)
        number = await self._view_of(view, contract, STATE_OF + tron.PLAN.words(terms))
        if number >= len(_STATES):
            raise unreadable(self._http, "a state of an escrow")
        state = _STATES[number]
        if state != "open" or terms.token is None:
            return state, True
        held = await self._balance(terms.token, contract, view)
        return state, held >= terms.amount

    async def _balance(self, token: str, holder: str, view: View = "wallet") -> int:
        data = _BALANCE_OF + word(tron.PLAN.bare(holder))
        return await self._view_of(view, token, data)

    async def _facts(
        self,
        escrow: WatchedEscrow,
        deep: tuple[str, bool],
        now: tuple[str, bool],
        head: _Block,
        solid: _Block,
    ) -> EscrowFacts:
        # Behind a load balancer one machine's head may be older than another's solid block.
        (state, covered) = now if _rank(now[0]) >= _rank(deep[0]) else deep
        was, was_covered = deep
        if _rank(state) == 0:
            self._marks.pop(escrow.address, None)
            return NOTHING_SEEN
        marks = await self._history(escrow, state, head, solid)
        secret = marks["claimed"].secret if "claimed" in marks else None

        def sight(kind: str, is_deep: bool) -> Sighting:
            mark, required = marks.get(kind), escrow.required_confirmations
            if mark is None:
                return Sighting("unknown", required if is_deep else 0, is_deep)
            return Sighting(mark.txid, max(1, head.number - mark.block + 1), is_deep)

        is_settled = was in ("claimed", "refunded", "ended")
        is_claimed = state == "claimed" or (state == "ended" and "claimed" in marks)
        is_refunded = state == "refunded" or (state == "ended" and "refunded" in marks)
        if state == "ended" and not (is_claimed or is_refunded):
            kept = escrow.stored or NOTHING_SEEN
            done = kept.claimed or kept.refunded
            is_unknown = done is None or not done.deep
            return replace(kept, balance=0, empty=True, is_unknown=is_unknown)
        is_funded_deep = _rank(was) > 0 and (was != "open" or was_covered)
        return EscrowFacts(
            funded=sight("funded", is_funded_deep and (state != "open" or covered)),
            claimed=sight("claimed", is_settled) if is_claimed else None,
            refunded=sight("refunded", is_settled) if is_refunded and not is_claimed else None,
            secret=secret,
            balance=escrow.terms.amount if state == "open" else 0,
            empty=(is_claimed or is_refunded) and is_settled,
        )

    async def _history(
        self, escrow: WatchedEscrow, state: str, head: _Block, solid: _Block
    ) -> Mapping[str, _Mark]:
        """Marks of solid blocks stay; others are searched for again."""
        kept = self._marks.setdefault(escrow.address, {})
        for kind in [each for each, mark in kept.items() if mark.block > solid.number]:
            del kept[kind]
        wanted = {"open": "funded"}.get(state, state)
        if wanted in kept or (state == "ended" and ("claimed" in kept or "refunded" in kept)):
            return kept
        age = max(0, head.second - escrow.since + _SLACK_SECONDS)
        first = max(0, head.number - age // _SLOT_SECONDS)
        try:
            logs = await self._indexed(escrow, first, head.number)
        except (RpcRefusal, Refusal):
            logs = await self._scanned(escrow, max(first, head.number - _MOST_BLOCKS), head.number)
        for kind, mark in logs:
            kept.setdefault(kind, mark)
        return kept

    async def _indexed(
        self, escrow: WatchedEscrow, first: int, last: int
    ) -> list[tuple[str, _Mark]]:
        contract, _, id = escrow.address.partition(":")
        asked = {
            "address": f"0x{tron.hex_of(contract)[2:]}",
            "topics": [None, f"0x{id}"],
            "fromBlock": hex(first),
            "toBlock": hex(last),
        }
        found = await self._http.call("eth_getLogs", asked, path="/jsonrpc")
        marks: list[tuple[str, _Mark]] = []
        for log in found:
            kind = _TOPICS.get(str(log["topics"][0]).removeprefix("0x"))
            if kind is not None:
                data = str(log["data"]).removeprefix("0x")
                secret = data[:64] if kind == "claimed" else None
                txid = str(log["transactionHash"]).removeprefix("0x")
                marks.append((kind, _Mark(txid, int(log["blockNumber"], 16), secret)))
        return marks

    async def _scanned(
        self, escrow: WatchedEscrow, first: int, last: int
    ) -> list[tuple[str, _Mark]]:
        """The newest first, since what changed a moment ago is wanted as a rule."""
        contract, _, id = escrow.address.partition(":")
        bare = tron.hex_of(contract)[2:]
        marks: list[tuple[str, _Mark]] = []
        for number in range(last, first - 1, -1):
            infos = await self._ask("wallet/gettransactioninfobyblocknum", {"num": number})
            for info in infos if isinstance(infos, list) else []:
                for log in info.get("log", []):
                    topics = log.get("topics", [])
                    kind = _TOPICS.get(topics[0]) if len(topics) > 1 else None
                    is_ours = str(log.get("address", ""))[-40:] == bare
                    if kind is not None and is_ours and topics[1] == id:
                        secret = str(log.get("data", ""))[:64] if kind == "claimed" else None
                        marks.append((kind, _Mark(info["id"], number, secret)))
            if marks and marks[-1][0] == "funded":
                break
        return marks

    async def preflight(self, terms: EscrowTerms, about: About) -> None:
        """java-tron lends no state: a payment of a token is tried from an account that has it."""
        contract = tron.PLAN.contract_of(terms, self._view.deployment)
        funder, payee, token = terms.refund.address, terms.payout.address, terms.token
        if about == "funding":
            held = await (self.sun(funder) if token is None else self._balance(token, funder))
            if held < terms.amount:
                what = "sun" if token is None else f"of {token}"
                sentence = f"{funder} has {held} {what}, and the leg takes {terms.amount}"
                raise Refusal("funding_would_fail", sentence)
            return
        if token is None:
            return
        holders = [contract] if about == "claim" else [contract, funder]
        for holder in holders:
            if await self._balance(token, holder) < terms.amount:
                continue
            data = selector("transfer(address,uint256)")
            data += word(tron.PLAN.bare(payee)) + word(terms.amount)
            said = await self._constant("wallet", tron.hex_of(holder), token, data, 0)
            reason = _failure(said)
            if reason is not None:
                sentence = f"{payee} would not be paid on {terms.chain}: {reason}"
                raise Refusal("payout_would_fail", sentence)
            return

    async def _material(self, escrow: WatchedEscrow, call: tron.TronCall) -> Material:
        head, solid = await self._newest("wallet"), await self._newest("walletsolidity")
        energy = _ENERGY if escrow.terms.token is None else _TOKEN_ENERGY
        limit = min(energy * await self._energy_sun(), self._view.most_fee_limit_sun)
        envelope = tron.Envelope(
            # A solid block is never taken back: no reorganisation makes this void.
            ref_block_bytes=f"{solid.number & 0xFFFF:04x}",
            ref_block_hash=solid.hash[16:32],
            expiration=head.time_ms + _SIGN_MS,
            timestamp=head.time_ms,
            fee_limit_sun=limit,
        )
        about = {"chain": self._view.chain, "family": "tron", "sign": "tron-txid"}
        made = tron.tron_transaction(call, envelope)
        return {**about, "from": call.sender, "transactions": [made], "escrow": escrow.address}

    async def _energy_sun(self) -> int:
        said = await self._ask("wallet/getchainparameters", {})
        for each in said.get("chainParameter", []):
            if each.get("key") == "getEnergyFee":
                return int(each["value"])
        raise unreadable(self._http, "the price of energy")

    async def _must_hold(self, escrow: WatchedEscrow) -> None:
        state, _ = await self._word(escrow.terms, "wallet")
        if state != "open":
            raise Refusal("nothing_there", f"the escrow {escrow.address} holds nothing: {state}")

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Material:
        await self._must_hold(escrow)
        call = tron.claim_call(escrow.terms, self._view.deployment, secret)
        return await self._material(escrow, call)

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Material:
        await self._must_hold(escrow)
        terms, deployment = escrow.terms, self._view.deployment
        if release is None:
            return await self._material(escrow, tron.refund_call(terms, deployment))
        return await self._material(escrow, tron.release_call(terms, deployment, release))

    async def build_release(self, escrow: WatchedEscrow) -> Material:
        text = consent_text(tron.PLAN, "GiveUpClaim", escrow.terms, self._view.deployment)
        about = {"chain": self._view.chain, "family": "tron", "sign": "typed-data"}
        return {**about, "typedData": text, "escrow": escrow.address}

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        try:
            call = tron.release_call(terms, self._view.deployment, signature)
        except ChainError as error:
            raise Refusal("bad_signature", str(error)) from error
        sender = tron.hex_of(call.sender)
        reason = _failure(await self._constant("wallet", sender, call.to, call.data, 0))
        if reason is not None:
            sentence = f"the contract does not take the release: {reason}"
            raise Refusal("bad_signature", sentence)

    async def payments(self, escrow: WatchedEscrow) -> Sequence[Payment]:
        return ()

    async def sun(self, address: str) -> int:
        said = await self._ask("wallet/getaccount", {"address": tron.hex_of(address)})
        return int(said.get("balance", 0)) if isinstance(said, dict) else 0

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        """By burning TRX: staked energy is not reckoned with."""
        energy = _ENERGY if terms.token is None else _TOKEN_ENERGY
        each = energy // 2 * await self._energy_sun() + _BYTES_SUN
        payee, need = terms.payout.address, claims * each
        held = await self.sun(payee)
        if held >= need:
            return None
        what = "an address that never received TRX cannot claim" if held == 0 else ""
        sentence = f"{payee} has {held} sun on {terms.chain}, and {claims} claims may cost {need}"
        return f"{sentence}; {what}" if what else sentence

    async def broadcast(self, raw: str) -> None:
        signed = json.loads(raw)
        fields = [(1, bytes.fromhex(signed["raw_data_hex"]))]
        fields += [(2, bytes.fromhex(each)) for each in signed["signature"]]
        whole = tron.encode_fields(list(fields)).hex()
        said = await self._ask("wallet/broadcasthex", {"transaction": whole})
        code = str(said.get("code", ""))
        if said.get("result") is True or code == "DUP_TRANSACTION_ERROR":
            return
        if code in ("SERVER_BUSY", "NO_CONNECTION", "NOT_ENOUGH_EFFECTIVE_CONNECTION"):
            raise self._http.silent(f"is busy ({code})")
        words = bytes.fromhex(str(said.get("message", ""))) if _is_hex(said.get("message")) else b""
        raise Refusal("refused_by_node", f"the node says: {code} {words.decode(errors='replace')}")

    async def mined(self, txid: str) -> bool | None:
        """Whether it succeeded; None: no block has it."""
        said = await self._ask("wallet/gettransactioninfobyid", {"value": txid})
        if not isinstance(said, dict) or "id" not in said:
            return None
        result = said.get("receipt", {}).get("result", "SUCCESS")
        return said.get("result") != "FAILED" and result == "SUCCESS"

    async def solid_ms(self) -> int:
        return (await self._newest("walletsolidity")).time_ms


def _rank(state: str) -> int:
    return {"never": 0, "void": 0, "open": 1, "ended": 3}.get(state, 2)


def _is_hex(text: object) -> bool:
    return isinstance(text, str) and len(text) % 2 == 0 and all(c in "0123456789abcdef" for c in text)


def _failure(said: Any) -> str | None:
    """The words of a trial that fails; None: it would succeed."""
    result = said.get("result", {})
    ret = (said.get("transaction", {}).get("ret") or [{}])[0]
    if result.get("result") is True and "message" not in result and ret.get("ret") != "FAILED":
        return None
    message = result.get("message", "")
    words = bytes.fromhex(message).decode(errors="replace") if _is_hex(message) else str(message)
    return words[:200] or "it reverts without a reason"
