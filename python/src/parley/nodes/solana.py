"""A node of Solana: the escrow's account at ``confirmed`` and ``finalized``, joined with the
transactions that say how it came about. As long as there is an account, it says what is true.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx

from .._settle.facts import NOTHING_SEEN, EscrowFacts, Sighting
from .._settle.judge import Heads
from .._settle.nodes import About, Look, Material, Payment, WatchedEscrow
from ..chains import solana
from ..chains.codecs import base58_decode
from ..chains.solana_message import read_transaction
from ..chains.terms import EscrowTerms, SolanaView
from ..errors import Refusal
from ..hashlock import hashlock_of
from .rpc import Http, RpcRefusal, unreadable

_CLOCK = "SysvarC1ock11111111111111111111111111111111"
Commitment = Literal["confirmed", "finalized"]
Status = Literal["open", "claimed", "refunded"]
#: By their numbers; a released one is refunded. Source: contracts/solana/layout.json.
_STATUSES: tuple[Status | None, ...] = (None, "open", "claimed", "refunded")
_FULL_BYTES, _TOMBSTONE_BYTES, _TERMS_AT, _VAULT_AT = 184, 1, 8, 152
_BLOCKHASH_BLOCKS = 150
#: The escrow's transactions are few: more are a stranger's.
_MOST_TRANSACTIONS = 100
_CLAIM_VERB = 1
_VERBS: dict[int, str] = {0: "funded", 1: "claimed", 2: "refunded", 4: "refunded"}
_FROZEN_AT, _FROZEN, _AMOUNT_AT = 108, b"\x02", 64
_SIGNATURE_LAMPORTS = 5_000
#: What a customer offers at most for speed by itself, in lamports.
_MOST_OFFERED_LAMPORTS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Shown:
    """``status`` None: no account of the program. ``is_full``: more than a tombstone is there."""

    status: Status | None
    is_full: bool
    clock: int
    lamports: int

    @property
    def stage(self) -> int:
        return 0 if self.status is None else 1 if self.status == "open" else 2


@dataclass(frozen=True, slots=True)
class _Account:
    owner: str
    lamports: int
    data: bytes
    executable: bool


class SolanaNode:
    """``url``: of JSON-RPC. It must keep transactions since the swap was agreed."""

    block_seconds: float = 0.4

    def __init__(
        self,
        url: str,
        view: SolanaView,
        *,
        headers: dict[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._view = view
        self._rpc = Http(view.chain, url, headers, http)
        self._marks: dict[str, dict[str, str]] = {}
        self._secrets: dict[str, str] = {}

    async def aclose(self) -> None:
        await self._rpc.aclose()

    async def _accounts(
        self, addresses: Sequence[str], commitment: Commitment
    ) -> list[_Account | None]:
        config = {"commitment": commitment, "encoding": "base64"}
        answer = await self._rpc.must("getMultipleAccounts", list(addresses), config)
        found: list[_Account | None] = []
        for each in answer["value"]:
            if each is None:
                found.append(None)
                continue
            data = base64.b64decode(each["data"][0])
            found.append(_Account(each["owner"], each["lamports"], data, each["executable"]))
        return found

    async def heads(self) -> Heads:
        return (await self.look([])).heads

    async def block_hash(self, height: int) -> str | None:
        """A finalized slot is never taken back."""
        return None

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        latest = await self._latest()
        # The older one first: a finalized state is confirmed a moment later.
        deep = await self._shown(escrows, "finalized")
        now = await self._shown(escrows, "confirmed")
        height = latest["lastValidBlockHeight"] - _BLOCKHASH_BLOCKS
        heads = Heads(height, latest["blockhash"], now[1])
        facts = [
            await self._facts(each, now[0][at], deep[0][at]) for at, each in enumerate(escrows)
        ]
        return Look(heads, tuple(facts))

    async def _latest(self) -> Mapping[str, Any]:
        answer = await self._rpc.must("getLatestBlockhash", {"commitment": "confirmed"})
        value: Mapping[str, Any] = answer["value"]
        return value

    async def _shown(
        self, escrows: Sequence[WatchedEscrow], commitment: Commitment
    ) -> tuple[list[_Shown], int]:
        addresses = [*(each.address for each in escrows), _CLOCK]
        *accounts, clock_account = await self._accounts(addresses, commitment)
        if clock_account is None or len(clock_account.data) < 40:
            raise self._rpc.silent("shows no clock")
        clock = int.from_bytes(clock_account.data[32:40], "little", signed=True)
        shown = [
            self._state(account, escrow.terms, clock)
            for account, escrow in zip(accounts, escrows, strict=True)
        ]
        return shown, clock

    def _state(self, account: _Account | None, terms: EscrowTerms, clock: int) -> _Shown:
        if account is None or account.owner != self._view.deployment.program:
            return _Shown(None, False, clock, 0 if account is None else account.lamports)
        data, lamports = account.data, account.lamports
        number = data[0] if data else 0
        status = _STATUSES[number] if number < len(_STATUSES) else None
        if len(data) == _TOMBSTONE_BYTES and status in ("claimed", "refunded"):
            return _Shown(status, False, clock, lamports)
        is_ours = data[_TERMS_AT:_VAULT_AT] == solana.encode_terms(terms)
        if len(data) == _FULL_BYTES and is_ours and status in ("open", "claimed"):
            return _Shown(status, True, clock, lamports)
        raise unreadable(self._rpc, "an escrow")

    async def _facts(self, escrow: WatchedEscrow, now: _Shown, deep: _Shown) -> EscrowFacts:
        timelock = escrow.terms.timelock
        is_gone = now.status is None and now.clock >= timelock and deep.status is None
        if now.status is None and deep.status is None and not is_gone:
            return NOTHING_SEEN
        marks = await self._history(escrow, now)
        secret = self._secrets.get(escrow.terms.hashlock)
        if is_gone:
            return self._ended(escrow, deep, marks, secret)
        # One that was open and is gone was refunded: after a claim something stays until closed.
        shown = now if now.stage >= deep.stage else deep
        status: Status | None = shown.status
        if now.status is None and now.clock >= timelock and deep.status == "open":
            status = "refunded"
        has_ended_deep = status != "open" and deep.status == status

        def sight(kind: str, is_deep: bool) -> Sighting:
            required = escrow.required_confirmations
            count = required if is_deep else 1
            return Sighting(marks.get(kind, "unknown"), count, is_deep)

        return EscrowFacts(
            funded=sight("funded", deep.status is not None),
            claimed=sight("claimed", has_ended_deep) if status == "claimed" else None,
            refunded=sight("refunded", has_ended_deep) if status == "refunded" else None,
            secret=secret,
            balance=escrow.terms.amount if status == "open" else 0,
            empty=status != "open" and has_ended_deep,
        )

    def _ended(
        self,
        escrow: WatchedEscrow,
        deep: _Shown,
        marks: Mapping[str, str],
        secret: str | None,
    ) -> EscrowFacts:
        """An account that is gone held no money, whatever became of it."""
        kept = escrow.stored or NOTHING_SEEN
        required = escrow.required_confirmations
        is_deep = deep.clock >= escrow.terms.timelock

        def sight(kind: str, before: Sighting | None) -> Sighting | None:
            if kind not in marks:
                return before
            return Sighting(marks[kind], required if is_deep else 1, is_deep)

        claimed = sight("claimed", kept.claimed)
        refunded = None if claimed else sight("refunded", kept.refunded)
        funded = sight("funded", kept.funded)
        if not (funded or claimed or refunded):
            # Its node keeps transactions since the agreement, by its contract with us.
            return replace(NOTHING_SEEN, secret=secret)
        is_unknown = claimed is None and refunded is None
        known = secret or kept.secret
        return EscrowFacts(funded, claimed, refunded, known, 0, is_deep, is_unknown)

    async def _history(self, escrow: WatchedEscrow, now: _Shown) -> Mapping[str, str]:
        marks = self._marks.setdefault(escrow.address, {})
        lacks_secret = escrow.terms.hashlock not in self._secrets
        wants = {"open": "funded", "claimed": "claimed"}.get(now.status or "", "refunded")
        if wants in marks and not (wants == "claimed" and lacks_secret):
            return marks
        config = {"commitment": "confirmed", "limit": _MOST_TRANSACTIONS}
        found = await self._rpc.must("getSignaturesForAddress", escrow.address, config)
        for each in reversed(found):
            await self._learn(escrow, each["signature"], has_failed=each["err"] is not None)
        return marks

    async def _learn(self, escrow: WatchedEscrow, txid: str, *, has_failed: bool) -> None:
        marks = self._marks[escrow.address]
        if txid in marks.values():
            return
        config = {
            "commitment": "confirmed",
            "encoding": "base64",
            "maxSupportedTransactionVersion": 0,
        }
        answer = await self._rpc.must("getTransaction", txid, config)
        if answer is None:
            return
        message = read_transaction(answer["transaction"][0])
        for each in message.instructions:
            if each.program == self._view.deployment.program:
                self._note(escrow, each.data, txid, has_failed=has_failed)
        program = self._view.deployment.program
        for group in (answer.get("meta") or {}).get("innerInstructions") or []:
            for inner in group["instructions"]:
                at = inner["programIdIndex"]
                if at < len(message.keys) and message.keys[at] == program:
                    data = base58_decode(inner["data"])
                    self._note(escrow, data, txid, has_failed=has_failed)

    def _note(self, escrow: WatchedEscrow, data: bytes, txid: str, *, has_failed: bool) -> None:
        """A failed transaction has shown the secret as well."""
        if not data:
            return
        if data[0] == _CLAIM_VERB and len(data) >= 40:
            secret = data[8:40].hex()
            self._secrets.setdefault(hashlock_of(secret), secret)
        kind = _VERBS.get(data[0])
        if kind is not None and not has_failed:
            self._marks[escrow.address].setdefault(kind, txid)

    async def _token_program(self, terms: EscrowTerms) -> str | None:
        if terms.token is None:
            return None
        (mint,) = await self._accounts([terms.token], "confirmed")
        if mint is None or mint.owner not in (solana.TOKEN_PROGRAM, solana.TOKEN_2022_PROGRAM):
            raise Refusal("payout_would_fail", f"{terms.token} is no token on {terms.chain}")
        return mint.owner

    async def preflight(self, terms: EscrowTerms, about: About) -> None:
        owner = await self._token_program(terms)
        refund, payout = terms.refund.address, terms.payout.address
        plain = await self._accounts([payout, refund], "confirmed")
        for address, account in zip((payout, refund), plain, strict=True):
            is_plain = account is None or account.owner == solana.SYSTEM_PROGRAM
            if not is_plain and (about != "claim" or address == payout):
                raise Refusal("payout_would_fail", f"{address} is a program's account: no wallet")
        if terms.token is None or owner is None:
            if about == "funding":
                held = plain[1].lamports if plain[1] else 0
                _must_have(terms, held)
            return
        escrow = solana.escrow_address(terms, self._view.deployment)[0]
        places = [
            solana.associated_token(payout, terms.token, owner)[0],
            solana.vault_address(escrow, owner),
            solana.associated_token(refund, terms.token, owner)[0],
        ]
        accounts = await self._accounts(places, "confirmed")
        for address, account in zip(places, accounts, strict=True):
            is_frozen = account is not None and account.data[_FROZEN_AT : _FROZEN_AT + 1] == _FROZEN
            if is_frozen:
                raise Refusal("payout_would_fail", f"the token account {address} is frozen")
        if about == "funding":
            data = accounts[2].data if accounts[2] else bytes(72)
            _must_have(terms, int.from_bytes(data[_AMOUNT_AT : _AMOUNT_AT + 8], "little"))

    async def _build(
        self, escrow: WatchedEscrow, wanted: solana.Wanted, missing_rent: int = 0
    ) -> Material:
        owner = await self._token_program(escrow.terms)
        latest = await self._latest()
        limit = solana.UNIT_LIMIT_SOL if owner is None else solana.UNIT_LIMIT_TOKEN
        price = min(await self._unit_price(escrow.address), _MOST_OFFERED_LAMPORTS * 10**6 // limit)
        around = solana.Circumstances(latest["blockhash"], price, owner, missing_rent)
        made = solana.solana_transaction(escrow.terms, self._view.deployment, wanted, around)
        about = {"chain": self._view.chain, "family": "solana", "sign": "solana-tx"}
        height = latest["lastValidBlockHeight"]
        return {
            **about,
            "transaction": made,
            "lastValidBlockHeight": height,
            "escrow": escrow.address,
        }

    async def _unit_price(self, escrow: str) -> int:
        """Micro-lamports that most who wrote there have offered lately."""
        places = [self._view.deployment.program, escrow]
        recent = await self._rpc.must("getRecentPrioritizationFees", places)
        fees = sorted(each["prioritizationFee"] for each in recent)
        return int(fees[len(fees) * 3 // 4]) if fees else 0

    async def _one(self, escrow: WatchedEscrow) -> _Shown:
        return (await self._shown([escrow], "confirmed"))[0][0]

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Material:
        shown = await self._one(escrow)
        if shown.status != "open":
            raise _nothing(escrow)
        (funder,) = await self._accounts([escrow.terms.refund.address], "confirmed")
        # The funder could make its wallet a program, which takes no rent back.
        is_plain = funder is None or funder.owner == solana.SYSTEM_PROGRAM
        is_plain = is_plain and not (funder is not None and funder.executable)
        kept = _TOMBSTONE_BYTES if is_plain else _FULL_BYTES
        least = await self._rpc.must("getMinimumBalanceForRentExemption", kept)
        deposit = shown.lamports - (escrow.terms.amount if escrow.terms.token is None else 0)
        wanted = solana.Wanted("claim", secret, without_refund=not is_plain)
        return await self._build(escrow, wanted, max(0, int(least) - deposit))

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Material:
        shown = await self._one(escrow)
        if shown.is_full:
            after = shown.status == "claimed"
            return await self._build(escrow, solana.Wanted("refund", after_claim=after))
        if shown.clock >= escrow.terms.timelock and shown.lamports > 0:
            return await self._build(escrow, solana.Wanted("close"))
        raise _nothing(escrow)

    async def build_release(self, escrow: WatchedEscrow) -> Material:
        if (await self._one(escrow)).status != "open":
            raise _nothing(escrow)
        return await self._build(escrow, solana.Wanted("release"))

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        raise Refusal("bad_signature", "on Solana the payee's own transaction releases")

    async def payments(self, escrow: WatchedEscrow) -> Sequence[Payment]:
        return ()

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        payee = terms.payout.address
        owner = await self._token_program(terms)
        least = int(await self._rpc.must("getMinimumBalanceForRentExemption", 0))
        need = least + claims * (_SIGNATURE_LAMPORTS + _MOST_OFFERED_LAMPORTS)
        places = [payee]
        if terms.token is not None and owner is not None:
            places.append(solana.associated_token(payee, terms.token, owner)[0])
        accounts = await self._accounts(places, "confirmed")
        if len(places) > 1 and accounts[1] is None:
            need += int(await self._rpc.must("getMinimumBalanceForRentExemption", 165))
        held = accounts[0].lamports if accounts[0] else 0
        if held >= need:
            return None
        return f"{payee} has {held} lamports on {terms.chain}, and {claims} claims may cost {need}"

    async def broadcast(self, raw: str) -> None:
        config = {"encoding": "base64", "skipPreflight": True, "preflightCommitment": "confirmed"}
        try:
            await self._rpc.call("sendTransaction", raw, config)
        except RpcRefusal as error:
            if "already" not in str(error):
                raise Refusal("refused_by_node", f"the node says: {error}") from error

    async def outcome(self, txid: str) -> tuple[bool, bool] | None:
        """Whether it has failed, and whether that is final; None: no block has it."""
        config = {"searchTransactionHistory": True}
        answer = await self._rpc.must("getSignatureStatuses", [txid], config)
        found = answer["value"][0]
        if found is None:
            return None
        return found["err"] is not None, found["confirmationStatus"] == "finalized"

    async def final_height(self) -> int:
        return int(await self._rpc.must("getBlockHeight", {"commitment": "finalized"}))


def _nothing(escrow: WatchedEscrow) -> Refusal:
    return Refusal("nothing_there", f"the escrow {escrow.address} holds nothing to take")


def _must_have(terms: EscrowTerms, held: int) -> None:
    if held < terms.amount:
        what = "lamports" if terms.token is None else f"of {terms.token}"
        sentence = f"{terms.refund.address} has {held} {what}, and the leg takes {terms.amount}"
        raise Refusal("funding_would_fail", sentence)
