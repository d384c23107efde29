"""The steps between building and sending. Claims and refunds are built by the customer alone: a
market could lie, be slow, or learn too much. Source: `packages/sdk/settle/sign.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from ..errors import Refusal
from ..verify.material import Asked, Claim, Limits, Refund, verify_material
from .context import Context
from .facts import is_much
from .gates import fund_gate
from .market import announce, unquoted
from .nodes import Material, Node, Signed
from .polling import snapshot
from .record import Kept, SetLeg, SwapRecord, kept_now, watched_of
from .store import must_be_only

T = TypeVar("T")
Verb = Literal["claim", "refund"]
Still = Callable[[], Awaitable[None]]
Gate = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Spending:
    """``secret``: of a claim. ``release``: the payee's, for a refund before the timelock."""

    verb: Verb
    secret: str = ""
    release: str | None = None

    @property
    def asked(self) -> Asked:
        return Claim(self.secret) if self.verb == "claim" else Refund(self.release)


async def open_gate() -> None:
    """For what may always be sent: a claim with a public secret, and a refund."""


async def sign_and_keep(
    context: Context,
    leg: SetLeg,
    sign: Callable[[], Awaitable[Signed]],
    keeps: Callable[[Kept], dict[str, Any]],
    gate: Gate,
    still: Still | None = None,
    in_place_of: Kept | None = None,
) -> Kept:
    """Signing may take long: the gate is passed after it, and then it is kept, and then sent.

    ``still``: whether a transaction with an undecided secret may be sent once it is on disk.
    """
    async with context.wallet_of(leg.chain).signing_lock:
        signed = await sign()
        await gate()
        # From this moment on it is on its way.
        kept = kept_now(signed, in_place_of)
        change = keeps(kept)
        if still is None:
            await context.keep(**change)
        else:
            await put_telling(context, change, still)
        return kept


async def put_telling(context: Context, change: Mapping[str, Any], still: Still) -> None:
    """The secret counts as public once this has returned, and not before."""
    await announce(context)
    before = context.record
    after: SwapRecord = replace(before, **change)
    await unquoted(lambda: context.store.put_telling(after, before, still))


async def built_spend(context: Context, leg: SetLeg, asked: Spending) -> Material:
    """A claim or refund of this leg, built and checked."""
    record = context.record
    source = context.source_of(leg.chain)
    escrow = watched_of(record, leg.name)
    is_public = record.public_secret is not None

    async def build(node: Node) -> Material:
        if asked.verb == "claim":
            return await node.build_claim(escrow, asked.secret, is_public=is_public)
        return await node.build_refund(escrow, asked.release)

    is_reveal = asked.verb == "claim" and not is_public
    builds = context.builds.get(leg.name, 0)
    context.builds[leg.name] = builds + 1
    # Before a reveal no node may refuse.
    built = (
        await source.in_turn(build, context.seconds)
        if is_reveal
        else await _by_any_node(context, leg, build, builds)
    )
    outputs = None
    if source.view.family == "bitcoin":
        found = await source.by_each(lambda node: node.payments(escrow), context.seconds)
        outputs = tuple({each.output for some in found for each in some})
    limits = Limits(outputs=outputs, now=await context.now(), is_public=is_public)
    verify_material(built, asked.asked, leg.terms, source.view, limits)
    return built


async def _by_any_node(
    context: Context, leg: SetLeg, build: Callable[[Node], Awaitable[T]], builds: int
) -> T:
    """By all nodes in turn; where they refuse, by each alone, the one that shows the most to do
    first: one that says "already claimed" stops no claim. Each second time another one alone is
    first: one may build what no block takes, and take it. Raises what the first one said.
    """
    source = context.source_of(leg.chain)
    several = list(source.nodes) if len(source.nodes) > 1 else []
    seen = context.last_seen.get(leg.name)
    tries: list[Node | None] = []
    if builds % 2 == 1 and several:
        tries.append(several[::-1][((builds - 1) // 2) % len(several)])
    if seen is not None and seen.evidence is not None and not seen.evidence.agreed and several:
        tries.append(several[seen.evidence.node])
    tries += [None, *several]
    refusals: list[Exception] = []
    done: list[Node | None] = []
    for node in tries:
        if any(each is node for each in done):
            continue
        done.append(node)
        try:
            if node is None:
                return await source.in_turn(build, context.seconds)
            async with asyncio.timeout(context.seconds):
                return await build(node)
        except Exception as error:
            refusals.append(error)
    raise refusals[0]


async def funding_gate(context: Context) -> None:
    """Signing a funding may have taken long: all is read once more, right before sending."""
    seen = await snapshot(context)
    fund_gate(seen.state, context.record.gives, seen.clocks)
    await must_be_only(context.raw_store, context.record)


async def must_afford(context: Context) -> None:
    """A claim that cannot be paid for leaves this side with neither."""
    leg = context.paying_leg
    source = context.source_of(leg.chain)
    claims = 1 + await _other_claims(context, leg)
    found = await source.by_each(
        lambda node: node.claim_shortage(leg.terms, claims), context.seconds
    )
    lack = next((each for each in found if each is not None), None)
    if lack is not None:
        raise Refusal("claim_unpayable", lack)


async def _other_claims(context: Context, leg: SetLeg) -> int:
    """Claims that this account owes for other swaps of the store: no balance shows them."""
    payee, now = leg.terms.payout.address, await context.now()
    count = 0
    for other in await context.store.others():
        paying = other.swap.leg(other.gets)
        is_ours = paying.chain == leg.chain and paying.terms is not None
        if not is_ours or paying.terms is None or paying.terms.payout.address != payee:
            continue
        facts = None if paying.escrow is None else other.seen.get(paying.escrow.address)
        is_over = facts is not None and bool(facts.claimed or facts.refunded)
        count += other.may_be_funded and not is_over and now < paying.timelock
    return count


async def must_hold_no_more(context: Context) -> None:
    """Bitcoin paid by hand: the secret would open what was paid too much as well."""
    record, leg = context.record, context.own_leg
    source = context.source_of(leg.chain)
    # A restored record does not know who paid.
    if source.view.family != "bitcoin" or not (record.by_hand or record.restored):
        return
    escrow = watched_of(record, leg.name)
    found = await source.by_each(lambda node: node.payments(escrow), context.seconds)
    held = max(sum(each.output.amount for each in some) for some in found)
    extra = max(0, held - leg.leg.amount)
    if not is_much(extra, leg.leg.amount) or context.options.gives_extra(extra):
        return
    sentence = (
        f"the escrow of leg {leg.name} holds {extra} sats more than the {leg.leg.amount} agreed: "
        "the secret would let the other side take them too. Say `gives_extra`, or wait for the "
        "refund"
    )
    raise Refusal("paid_too_much", sentence)
