"""One node of a chain, all of them together, and a wallet, as far as settling needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from .._lists import Family
from ..chains.terms import ChainView, Destination, EscrowOutput, EscrowTerms
from ..errors import ParleyError, Refusal
from .facts import EscrowFacts
from .judge import Heads

T = TypeVar("T")
#: Unsigned bytes as the market's builders write them (docs/openapi.json, `FundReply`).
Material = Mapping[str, Any]
About = Literal["payout", "funding", "claim"]
#: For one node beside those in turn: this part of what those may take.
_ONE_NODE_SHARE = 1 / 3
_SILENCES = ("chain_unavailable", "chain_timeout")
#: What reading an answer of a broken node ends in.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class WatchedEscrow:
    """An escrow to look at. ``required_confirmations``: the depth that its amount wants.

    ``since``: no payment to it can be older, Unix seconds. ``stored``: what was last kept of it:
    all there is where its chain has forgotten.
    """

    address: str
    terms: EscrowTerms
    required_confirmations: int
    since: int
    stored: EscrowFacts | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """``facts``: of the escrows asked for, in their order, at the best block."""

    heads: Heads
    facts: tuple[EscrowFacts, ...]


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment to a Bitcoin escrow that nothing has spent. ``confirmations`` 0: mempool."""

    output: EscrowOutput
    confirmations: int


class Node(Protocol):
    """One node of one's own. Each call raises ``Refusal`` with ``chain_unavailable`` or
    ``chain_timeout`` where it has no answer, and ``refused_by_node`` for what it does not take.
    A busy, lagging or broken node is never the chain's "no".
    """

    @property
    def block_seconds(self) -> float:
        """The usual time between blocks."""
        ...

    async def heads(self) -> Heads: ...

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look: ...

    async def block_hash(self, height: int) -> str | None:
        """The result is None above the best block, and where blocks are final (Solana)."""
        ...

    async def preflight(self, terms: EscrowTerms, about: About) -> None:
        """Raises ``Refusal`` where the money could not move, tried without any secret."""
        ...

    async def build_claim(
        self, escrow: WatchedEscrow, secret: str, *, is_public: bool
    ) -> Material:
        """Shows no undecided secret to any node, not even to estimate."""
        ...

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Material: ...

    async def build_release(self, escrow: WatchedEscrow) -> Material:
        """EVM, TRON: ``sign`` is ``typed-data``. Solana: the payee's transaction."""
        ...

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        """Raises ``bad_signature`` unless the contract takes it."""
        ...

    async def payments(self, escrow: WatchedEscrow) -> Sequence[Payment]:
        """Bitcoin: unspent payments to the escrow. Empty elsewhere."""
        ...

    async def claim_shortage(self, terms: EscrowTerms, claims: int) -> str | None:
        """Says in one sentence what the payee lacks to pay for so many claims, if anything."""
        ...

    async def broadcast(self, raw: str) -> None:
        """Bytes that it has already are no refusal."""
        ...


@dataclass(slots=True)
class Source:
    """One's pinned facts of a chain and its nodes: two or more, of different people, or one."""

    view: ChainView
    nodes: Sequence[Node]
    _first: int = field(default=0, init=False)

    async def in_turn(self, ask: Callable[[Node], Awaitable[T]], seconds: float) -> T:
        """The answer of the node that answered last, or of the next one where it is silent.

        One that hangs takes the whole time once: the next question begins with another node.
        """
        failure: Exception | None = None
        first, count = self._first, len(self.nodes)
        asked = first
        try:
            async with asyncio.timeout(seconds):
                for asked in (each % count for each in range(first, first + count)):
                    try:
                        answer = await ask(self.nodes[asked])
                    except Exception as error:
                        failure = self._silence_of(error)
                        continue
                    self._first = asked
                    return answer
        except TimeoutError as error:
            # Another question may have found a better one meanwhile.
            if self._first == first:
                self._first = (asked + 1) % count
            sentence = f"no node of {self.view.chain} answered within {seconds:g} s"
            raise Refusal("chain_timeout", sentence) from error
        raise failure or Refusal("chain_unavailable", f"{self.view.chain} has no node")

    def _silence_of(self, error: Exception) -> Exception:
        """The error of a node that is silent or broken; raises every other one."""
        if isinstance(error, Refusal) and error.code in _SILENCES:
            return error
        if isinstance(error, ParleyError) or not isinstance(error, _UNREADABLE):
            raise error
        # Its words may be a secret.
        kind = type(error).__name__
        return Refusal("chain_unavailable", f"a node of {self.view.chain} is unreadable ({kind})")

    def turn_on(self) -> None:
        """The next question begins with another node."""
        self._first = (self._first + 1) % len(self.nodes)

    async def by_each(self, ask: Callable[[Node], Awaitable[T]], seconds: float) -> list[T]:
        """The answer of all in turn, and then of each alone: one may hide what another refuses.

        A silent one that is asked alone says nothing.
        """

        async def alone(node: Node) -> list[T]:
            try:
                async with asyncio.timeout(seconds * _ONE_NODE_SHARE):
                    return [await ask(node)]
            except Refusal as error:
                if error.code in _SILENCES:
                    return []
                raise
            except Exception:
                # A node that fails in other words has not spoken either.
                return []

        async def turn() -> list[T]:
            return [await self.in_turn(ask, seconds)]

        several = self.nodes if len(self.nodes) > 1 else ()
        answers = await asyncio.gather(turn(), *(alone(each) for each in several))
        return [each for some in answers for each in some]

    async def broadcast(self, raw: str, seconds: float) -> None:
        """To every node. Raises a refusal where none of them takes it."""

        async def send(node: Node) -> None:
            try:
                async with asyncio.timeout(seconds):
                    await node.broadcast(raw)
            except TimeoutError as error:
                sentence = f"a node of {self.view.chain} did not take it within {seconds:g} s"
                raise Refusal("chain_timeout", sentence) from error

        told = await asyncio.gather(*(send(each) for each in self.nodes), return_exceptions=True)
        failures = [each for each in told if isinstance(each, BaseException)]
        if len(failures) < len(told):
            return
        for each in failures:
            if isinstance(each, Refusal) and each.code == "refused_by_node":
                raise each
        raise failures[0]


Outcome = Literal["waiting", "stranded", "mined", "failed", "dead"]


@dataclass(frozen=True, slots=True)
class Signed:
    """``last_valid_block_height``: Solana; no block above it takes the transaction."""

    txid: str
    raw: str
    last_valid_block_height: int | None = None


class Wallet(Protocol):
    """A key of one's own on one chain, which signs and sends nothing by itself."""

    @property
    def family(self) -> Family: ...

    @property
    def destination(self) -> Destination:
        """Where this key is paid, and refunded."""
        ...

    @property
    def signing_lock(self) -> asyncio.Lock:
        """The account's: under it no other signing chooses the same nonce or coin."""
        ...

    @property
    def funding_lock(self) -> asyncio.Lock:
        """The account's: allowance and balance are one number for all its swaps."""
        ...

    @property
    def pays_by_hand(self) -> bool:
        """Bitcoin: a person pays the escrow from another wallet."""
        ...

    async def sign_funding(
        self, source: Source, terms: EscrowTerms, built: Material, step: int
    ) -> Signed:
        """One transaction of the funding: approvals come first, the funding is the last."""
        ...

    def funding_steps(self, built: Material) -> int:
        """How many transactions the funding takes."""
        ...

    async def sign_spend(self, source: Source, terms: EscrowTerms, built: Material) -> Signed:
        """A claim, refund or Solana release. Asks no node anything that shows the secret."""
        ...

    async def sign_text(self, built: Material) -> str | None:
        """EVM, TRON: typed data. A wallet that signs none gives None."""
        ...

    async def outcome(self, source: Source, kept: Signed, depth: int) -> Outcome:
        """``dead``: no block can take it any more, at that depth. ``failed``: one took it, in
        vain. ``stranded``: it waits, and nodes differ about it, or one does not hold it."""
        ...

    async def raised(
        self, source: Source, terms: EscrowTerms, kept: Signed, built: Material | None
    ) -> Signed | None:
        """The same with a higher fee, of which at most one is mined; None where it stays as it is."""
        ...

    async def cancelled(self, source: Source, funding: Signed, former: Signed | None) -> Signed | None:
        """Takes the nonce or a coin of a late funding; None where that dies by itself."""
        ...
