"""A node of an EVM chain: the contract's word of an escrow at the best block and at its depth, and
the logs that explain it. The state is the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from .._settle.facts import NOTHING_SEEN, EscrowFacts, Sighting
from .._settle.judge import Heads
from .._settle.nodes import About, Look, Material, Payment, WatchedEscrow
from ..chains import evm
from ..chains.crypto import keccak256
from ..chains.errors import ChainError
from ..chains.escrows import STATE_OF, is_of_payee, selector, word
from ..chains.terms import EscrowTerms, EvmView, Lane
from ..chains.typed_data import consent_text
from ..errors import Refusal
from ..hashlock import hashlock_of
from .rpc import Http, RpcRefusal, unreadable

#: By the number that ``stateOf`` answers.
_STATES = ("never", "open", "claimed", "refunded", "ended", "void")
_TERMS = "(bytes32,address,address,address,uint256,uint256,uint256)"
_TOPICS = {
    "0x" + keccak256(f"Funded(bytes32,{_TERMS},uint96,uint32)".encode()).hex(): "funded",
    "0x" + keccak256(b"Claimed(bytes32,bytes32)").hex(): "claimed",
    "0x" + keccak256(b"Refunded(bytes32)").hex(): "refunded",
}
#: A chain's clock may be behind ours when a swap is agreed.
_SLACK_SECONDS = 600
#: What nodes give in one answer without complaint.
_LOG_BLOCKS = 10_000
_LEAST_LOG_BLOCKS = 64
#: An address that nobody has the key of sends trials.
_STRANGER = "0x9a11e4f1a6b4e51d5cb0e9a5e1b6a6f5d4c3b2a1"
_TRIAL_SECRET = "00" * 31 + "01"
_BALANCE_OF = selector("balanceOf(address)")
_GUESSED_SLOTS = 64
#: More than a claim takes, for what its payer must have: native coin, and token.
_CLAIM_GAS, _CLAIM_TOKEN_GAS = 80_000, 150_000


@dataclass(frozen=True, slots=True)
class _Mark:
    txid: str
    block: int
    block_hash: str
    secret: str | None = None


class EvmNode:
    """``url``: of JSON-RPC. ``depth_tag``: a block that counts besides confirmations, such as
    ``safe`` or ``finalized``. ``gas_factor``: how much more gas than on Ethereum a claim takes
    (Arbitrum: 10).
    """

    def __init__(
        self,
        url: str,
        view: EvmView,
        *,
        block_seconds: float = 12.0,
        depth_tag: str | None = None,
        gas_factor: int = 1,
        headers: dict[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.block_seconds = block_seconds
        self._view = view
        self._rpc = Http(view.chain, url, headers, http)
        self._depth_tag = depth_tag
        self._gas_factor = gas_factor
        self._marks: dict[str, dict[str, _Mark]] = {}
        self._first: dict[str, int] = {}

    async def aclose(self) -> None:
        await self._rpc.aclose()

    async def heads(self) -> Heads:
        block = await self._block("latest")
        if block is None:
            raise self._rpc.silent("has no block yet")
        return Heads(_int(block["number"]), str(block["hash"]), _int(block["timestamp"]))

    async def block_hash(self, height: int) -> str | None:
        block = await self._block(hex(height))
        return None if block is None else str(block["hash"])

    async def _block(self, at: str) -> Mapping[str, Any] | None:
        found = await self._rpc.must("eth_getBlockByNumber", at, False)
        if found is not None and not isinstance(found, dict):
            raise unreadable(self._rpc, "a block")
        if found is not None and at.startswith("0x") and _int(found["number"]) != int(at, 16):
            raise self._rpc.silent(f"asked for block {at}, gave block {found['number']}")
        return found

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        heads = await self.heads()
        facts = [await self._facts(each, heads) for each in escrows]
        # All that was read has to be of one chain.
        if escrows and await self.block_hash(heads.height) != heads.hash:
            raise self._rpc.silent("gave its best block back while it was read")
        return Look(heads, tuple(facts))

    async def _facts(self, escrow: WatchedEscrow, heads: Heads) -> EscrowFacts:
        now, covered = await self._state(escrow.terms, {"blockHash": heads.hash})
        if now in ("never", "void"):
            self._marks.pop(escrow.address, None)
            return NOTHING_SEEN
        deepest = await self._deepest(escrow, heads)
        was, was_covered = "never", True
        if deepest >= 0:
            was, was_covered = await self._old_state(escrow.terms, deepest, now, covered)
        marks = await self._history(escrow, heads, now)
        secret = marks["claimed"].secret if "claimed" in marks else None

        def sight(kind: str, shown: bool) -> Sighting | None:
            mark = marks.get(kind)
            if mark is None:
                return None
            deep = shown and mark.block <= deepest
            return Sighting(mark.txid, heads.height - mark.block + 1, deep)

        was_settled = was in ("claimed", "refunded", "ended")
        claimed = sight("claimed", was_settled) if now != "open" else None
        refunded = sight("refunded", was_settled) if now != "open" and not claimed else None
        if now == "ended" and not (claimed or refunded):
            return _unseen(escrow, sight("funded", True), secret)
        is_deep = was not in ("never", "void") and (was != "open" or was_covered)
        funded = sight("funded", is_deep and (now != "open" or covered))
        settled = claimed or refunded
        if funded is None and settled is not None:
            # Where the log of the funding is lost: it lies below what settled it.
            funded = replace(settled, txid="unknown")
        balance = escrow.terms.amount if now == "open" else 0
        is_empty = settled is not None and settled.deep
        return EscrowFacts(funded, claimed, refunded, secret, balance, is_empty)

    async def _deepest(self, escrow: WatchedEscrow, heads: Heads) -> int:
        by_count = heads.height - escrow.required_confirmations + 1
        if self._depth_tag is None:
            return by_count
        tagged = await self._block(self._depth_tag)
        return min(by_count, -1 if tagged is None else _int(tagged["number"]))

    async def _state(self, terms: EscrowTerms, at: object) -> tuple[str, bool]:
        """The contract's word, and whether it has the token that it owes."""
        contract = evm.PLAN.contract_of(terms, self._view.deployment)
        data = "0x" + (STATE_OF + evm.PLAN.words(terms)).hex()
        answer = await self._rpc.must("eth_call", {"to": contract, "data": data}, at)
        if answer == "0x" and isinstance(at, str):
            # The contract was deployed after that block.
            return "never", True
        number = _int(answer)
        if not 0 <= number < len(_STATES):
            raise unreadable(self._rpc, "a state of an escrow")
        state = _STATES[number]
        if state != "open" or terms.token is None:
            return state, True
        return state, await self._balance(terms.token, contract, at) >= terms.amount

    async def _old_state(
        self, terms: EscrowTerms, block: int, now: str, covered: bool
    ) -> tuple[str, bool]:
        """Where a node keeps no state that old, depth is judged by the logs' blocks."""
        try:
            return await self._state(terms, hex(block))
        except Refusal as error:
            if isinstance(error.__cause__, RpcRefusal):
                return now, covered
            raise

    async def _balance(self, token: str | None, holder: str, at: object) -> int:
        if token is None:
            return _int(await self._rpc.must("eth_getBalance", holder, at))
        data = "0x" + (_BALANCE_OF + word(bytes.fromhex(holder[2:]))).hex()
        answer = str(await self._rpc.must("eth_call", {"to": token, "data": data}, at))
        if len(answer) < 66:
            raise unreadable(self._rpc, f"a balance of {token}")
        return int(answer[:66], 16)

    async def _history(
        self, escrow: WatchedEscrow, heads: Heads, now: str
    ) -> Mapping[str, _Mark]:
        """The first funding, claim and refund up to the best block."""
        kept = self._marks.get(escrow.address, {})
        wanted = {"open": "funded", "claimed": "claimed", "refunded": "refunded"}.get(now)
        is_known = wanted in kept or (now == "ended" and ("claimed" in kept or "refunded" in kept))
        if is_known and all([await self._stands(each) for each in kept.values()]):
            return kept
        found = await self._scan(escrow, heads)
        if wanted is not None and wanted not in found:
            raise self._rpc.silent(f"shows {escrow.address} {now}, but no log of it")
        self._marks[escrow.address] = found
        return found

    async def _stands(self, mark: _Mark) -> bool:
        receipt = await self._rpc.must("eth_getTransactionReceipt", mark.txid)
        return isinstance(receipt, dict) and receipt.get("blockHash") == mark.block_hash

    async def _scan(self, escrow: WatchedEscrow, heads: Heads) -> dict[str, _Mark]:
        contract, _, id = escrow.address.partition(":")
        first = await self._first_block(escrow, heads)
        marks: dict[str, _Mark] = {}
        width, at = _LOG_BLOCKS, first
        while at <= heads.height:
            to = min(heads.height, at + width - 1)
            asked = {"address": contract, "topics": [None, f"0x{id}"]}
            span = {"fromBlock": hex(at), "toBlock": hex(to)}
            try:
                logs = await self._rpc.call("eth_getLogs", {**asked, **span})
            except RpcRefusal as error:
                if width <= _LEAST_LOG_BLOCKS:
                    raise self._rpc.silent(f"refused eth_getLogs: {error}") from error
                width //= 4
                continue
            for log in logs:
                kind = _TOPICS.get(str(log["topics"][0]))
                if kind is None or kind in marks or log.get("removed"):
                    continue
                secret = str(log["data"])[2:66] if kind == "claimed" else None
                block = _int(log["blockNumber"])
                txid = str(log["transactionHash"])
                marks[kind] = _Mark(txid, block, str(log["blockHash"]), secret)
            at = to + 1
        return marks

    async def _first_block(self, escrow: WatchedEscrow, heads: Heads) -> int:
        """At or below the first block that can hold a payment of the swap."""
        if escrow.address in self._first:
            return self._first[escrow.address]
        low, high, since = 0, heads.height, escrow.since - _SLACK_SECONDS
        while low < high:
            middle = (low + high) // 2
            block = await self._block(hex(middle))
            if block is None or _int(block["timestamp"]) < since:
                low = middle + 1
            else:
                high = middle
        self._first[escrow.address] = max(0, low - 1)
        return self._first[escrow.address]

    async def preflight(self, terms: EscrowTerms, about: About) -> None:
        """Tries a claim of a like escrow with a known secret: the contract is lent one that is
        open, and before the funding the money as well.
        """
        if about == "funding":
            await self._try_funding(terms)
            return
        lent = await self._lent(terms, about)
        if lent is None:
            return
        trial = replace(terms, hashlock=hashlock_of(_TRIAL_SECRET))
        call = evm.claim_call(trial, self._view.deployment, _TRIAL_SECRET)
        try:
            await self._try(_STRANGER, call.to, call.data, 0, lent)
        except RpcRefusal as error:
            sentence = f"{terms.payout.address} would not be paid on {terms.chain}: {error}"
            raise Refusal("payout_would_fail", sentence) from error
        if terms.token is None and about == "payout":
            await self._try_return(terms)

    async def _try_return(self, terms: EscrowTerms) -> None:
        """A funder that takes no coins could never be refunded."""
        to, amount = terms.refund.address, terms.amount
        lent = {_STRANGER: {"balance": hex(amount + 10**18)}}
        try:
            await self._try(_STRANGER, to, b"", amount, lent)
        except RpcRefusal as error:
            sentence = f"{to} would not take its refund on {terms.chain}: {error}"
            raise Refusal("payout_would_fail", sentence) from error

    async def _try(
        self, sender: str, to: str, data: bytes, value: int, lent: Mapping[str, Any] | None
    ) -> Any:
        call = {"from": sender, "to": to, "data": f"0x{data.hex()}", "value": hex(value)}
        given = [] if lent is None else [lent]
        return await self._rpc.call("eth_call", call, "latest", *given)

    async def _lent(self, terms: EscrowTerms, about: About) -> dict[str, Any] | None:
        """The overrides of a trial. A token whose balance cannot be lent is not tried: None."""
        trial = replace(terms, hashlock=hashlock_of(_TRIAL_SECRET))
        escrow = evm.evm_escrow(trial, self._view.deployment)
        contract, _, id = escrow.address.partition(":")
        lane = trial.lane or Lane("0" * 24, 1)
        owner = terms.payout if is_of_payee(lane.number) else terms.refund
        key = bytes.fromhex(owner.address[2:]) + bytes.fromhex(lane.number)
        start = int(id, 16) >> 32 << 32
        opened = start | 1 << 30 | lane.counter
        slot = keccak256(word(key) + word(0))
        diff = {f"0x{slot.hex()}": f"0x{opened:064x}"}
        lent: dict[str, Any] = {contract: {"stateDiff": diff}}
        if about == "claim":
            return lent
        if terms.token is None:
            lent[contract]["balance"] = hex(terms.amount)
            return lent
        if await self._balance(terms.token, contract, "latest") >= terms.amount:
            return lent
        of_token = await self._lent_balance(terms.token, contract, terms.amount)
        return None if of_token is None else {**lent, **of_token}

    async def _lent_balance(self, token: str, holder: str, amount: int) -> dict[str, Any] | None:
        """Looks where compilers put mappings: Solidity hashes key then slot, Vyper slot then key."""
        key = word(bytes.fromhex(holder[2:]))
        slots = [
            keccak256(each)
            for slot in range(_GUESSED_SLOTS)
            for each in (key + word(slot), word(slot) + key)
        ]
        # Each slot has another number, so that the answer says which of them it was.
        diff = {f"0x{each.hex()}": f"0x{amount + at:064x}" for at, each in enumerate(slots)}
        data = _BALANCE_OF + key
        try:
            answer = await self._try(holder, token, data, 0, {token: {"stateDiff": diff}})
            at = int(str(answer)[:66], 16) - amount
        except (RpcRefusal, ValueError):
            return None
        if not 0 <= at < len(slots):
            return None
        only = {f"0x{slots[at].hex()}": f"0x{amount:064x}"}
        return {token: {"stateDiff": only}}

    async def _try_funding(self, terms: EscrowTerms) -> None:
        funder, token = terms.refund.address, terms.token
        held = await self._balance(token, funder, "latest")
        if held < terms.amount:
            what = "of its coin" if token is None else f"of {token}"
            sentence = f"{funder} has {held} {what}, and the leg takes {terms.amount}"
            raise Refusal("funding_would_fail", sentence)
        if token is None and (terms.lane is None or not is_of_payee(terms.lane.number)):
            (call,) = evm.fund_calls(terms, self._view.deployment)
            try:
                await self._try(funder, call.to, call.data, call.value, None)
            except RpcRefusal as error:
                sentence = f"the funding on {terms.chain} would fail: {error}"
                raise Refusal("funding_would_fail", sentence) from error

    async def _must_hold(self, escrow: WatchedEscrow) -> None:
        state, _ = await self._state(escrow.terms, "latest")
        if state != "open":
            raise Refusal("nothing_there", f"the escrow {escrow.address} holds nothing: {state}")

    def _material(self, escrow: str, call: Any) -> Material:
        tx = {"to": call.to, "data": f"0x{call.data.hex()}", "value": hex(call.value)}
        about = {"chain": self._view.chain, "family": "evm", "sign": "evm-tx"}
        return {**about, "chainId": self._view.chain_id, "txs": [tx], "escrow": escrow}

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Material:
        await self._must_hold(escrow)
        call = evm.claim_call(escrow.terms, self._view.deployment, secret)
        return self._material(escrow.address, call)

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Material:
        await self._must_hold(escrow)
        terms, deployment = escrow.terms, self._view.deployment
        if release is None:
            return self._material(escrow.address, evm.refund_call(terms, deployment))
        return self._material(escrow.address, evm.release_call(terms, deployment, release))

    async def build_release(self, escrow: WatchedEscrow) -> Material:
        text = consent_text(evm.PLAN, "GiveUpClaim", escrow.terms, self._view.deployment)
        about = {"chain": self._view.chain, "family": "evm", "sign": "typed-data"}
        return {**about, "typedData": text, "escrow": escrow.address}

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        """The contract says by trial whether it takes it: a wallet may be a contract."""
        try:
            call = evm.release_call(terms, self._view.deployment, signature)
            await self._try(terms.refund.address, call.to, call.data, 0, None)
        except ChainError as error:
            raise Refusal("bad_signature", str(error)) from error
        except RpcRefusal as error:
            sentence = f"the contract does not take the release: {error}"
            raise Refusal("bad_signature", sentence) from error

    async def payments(self, escrow: WatchedEscrow) -> Sequence[Payment]:
        return ()

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        gas = (_CLAIM_GAS if terms.token is None else _CLAIM_TOKEN_GAS) * self._gas_factor
        price = _int(await self._rpc.must("eth_gasPrice"))
        need, payee = claims * gas * 2 * price, terms.payout.address
        held = await self._balance(None, payee, "latest")
        if held >= need:
            return None
        return f"{payee} has {held} wei on {terms.chain}, and {claims} claims may cost {need}"

    async def broadcast(self, raw: str) -> None:
        txid = f"0x{keccak256(bytes.fromhex(raw[2:])).hex()}"
        try:
            await self._rpc.call("eth_sendRawTransaction", raw)
        except RpcRefusal as error:
            if await self._rpc.must("eth_getTransactionByHash", txid) is None:
                raise Refusal("refused_by_node", f"the node says: {error}") from error

    async def count(self, address: str, at: str = "pending") -> int:
        """The lowest free nonce of an account."""
        return _int(await self._rpc.must("eth_getTransactionCount", address, at))

    async def gas_price(self) -> int:
        """Wei a unit of gas."""
        return _int(await self._rpc.must("eth_gasPrice"))

    async def estimate(self, sender: str, to: str, data: bytes, value: int) -> int:
        """Never of a call that shows an undecided secret."""
        call = {"from": sender, "to": to, "data": f"0x{data.hex()}", "value": hex(value)}
        try:
            return _int(await self._rpc.call("eth_estimateGas", call))
        except RpcRefusal as error:
            raise Refusal("funding_would_fail", f"it would fail: {error}") from error

    async def mined(self, txid: str) -> tuple[int, bool] | None:
        """Block and success of a transaction; None: it is in none."""
        receipt = await self._rpc.must("eth_getTransactionReceipt", txid)
        if not isinstance(receipt, dict) or receipt.get("blockNumber") is None:
            return None
        return _int(receipt["blockNumber"]), receipt.get("status") == "0x1"


def _unseen(
    escrow: WatchedEscrow, funding: Sighting | None, secret: str | None
) -> EscrowFacts:
    """A later escrow has its lane, and no log tells how it ended: all there is was stored."""
    kept = escrow.stored or NOTHING_SEEN
    facts = replace(
        kept, funded=funding or kept.funded, secret=secret or kept.secret, balance=0, empty=True
    )
    settled = kept.claimed or kept.refunded
    return replace(facts, is_unknown=settled is None or not settled.deep)


def _int(value: object) -> int:
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    raise Refusal("chain_unavailable", f"a node gives {str(value)[:40]!r} where a number is due")

