"""Drives one side of a swap to its end, by the customer's own trade, clock and nodes alone.

The market builds fundings and relays, and nothing it says is believed. Every effect can be
repeated after a crash at any point. Source: `packages/sdk/settle.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from ..chains.terms import Escrow
from ..errors import Refusal, SettleError, verdict_of
from ..verify.deadlines import LegName
from ..verify.trade import OwnTrade
from .claims import claim, refund, replace_stuck, reveal, take_rent, withdraw_claim
from .context import Chain, Context, Market, Options, Progress, loop_time
from .facts import leg_status
from .fund import cancel_funding, fund, raise_funding, tend_approval
from .giving_up import MOST_TRIES, release, take_released, take_wish, tell_wish
from .keeping import StoreSilent
from .machine import Effect, Facts, SettleState, next_of
from .market import code_of, heard_secret, take_own_word
from .polling import LEGS, Poll, poll, read_leg
from .prepare import prepare, take_moves
from .record import KeptEscrow, LegSeen, Seen, doubts_of, news_of, seen_of, told_of
from .store import Lock, Store
from .swap import SwapStatus, swap_status

T = TypeVar("T")
End = Literal["received", "refunded", "lost", "nothing"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``received``: paid what was promised; ``refunded``: own funds back; ``lost``: the own leg was
    taken, and nothing paid for it; ``nothing``: none moved.

    ``txids``: by leg and verb, as the chains show them, whoever sent them. ``remains``: base units
    that are left in the own escrow, which a run from ``remains_from`` on takes.
    """

    swap_id: str
    end: End
    status: SwapStatus
    txids: Mapping[LegName, Mapping[str, str | None]]
    remains: int = 0
    remains_from: int | None = None


async def settle(
    swap_id: str,
    market: Market | None,
    chains: Mapping[str, Chain],
    store: Store,
    trade: OwnTrade | None = None,
    options: Options = Options(),
    on_progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Runs until this side has nothing left to do, one run of a swap at a time.

    ``trade``: one's own, as `OwnTrade` has it; None: the swap is in the store already (a restart).
    ``market``: None where it is gone: claims and refunds need none. ``chains``: by their keys,
    those of both legs. ``store``: keeps secret, words and signed bytes before any of them leaves.

    Raises SettleError when a person is needed, and before its own funding also VerificationError
    and refusals of market and nodes: ``verdict_of`` says what each waits for. Call it again to go
    on, after a crash too.
    """
    context = Context(swap_id, trade, market, chains, store, options, on_progress)
    turn = await _turn(context)
    try:
        if not await _prepared(context):
            return _nothing(context)
        while True:
            outcome = await _pass(context)
            if outcome is not None:
                return outcome
            await options.pause(options.poll_seconds)
    finally:
        context.stop()
        if turn is not None:
            turn.release()


async def _turn(context: Context) -> Lock | None:
    """Two runs of one swap would fund twice: the other one is waited for."""
    name = f"settlement of {context.swap_id}"
    while (found := context.raw_store.lock(name)) is None:
        text = "another process settles this swap: this one goes on after it"
        context.emit("elsewhere", None, text)
        await asyncio.sleep(context.options.poll_seconds)
    return found


async def _prepared(context: Context) -> bool:
    """Without its record nothing can be done: a store that is silent is asked again."""
    while True:
        try:
            return await prepare(context)
        except StoreSilent as error:
            context.emit("store", None, f"the store is silent: {error}")
        await asyncio.sleep(context.options.poll_seconds)


_Failures = list[tuple[LegName | None, Exception]]


async def _trying(
    failures: _Failures, about: LegName | None, work: Callable[[], Awaitable[T]]
) -> T | None:
    """Each leg fails by itself: a chain, a market or a disk that is silent holds up nothing else."""
    try:
        return await work()
    except Exception as error:
        failures.append((about, error))
        return None


async def _pass(context: Context) -> Outcome | None:
    failures: _Failures = []

    async def look() -> Poll:
        found = await poll(context)
        await _remember(context, found)
        # Its facts are read from the next pass on.
        return await poll(context) if await _take_strayed(context, found) else found

    polled = await _trying(failures, None, look)
    await _trying(failures, None, lambda: take_wish(context))
    await _trying(failures, None, lambda: take_own_word(context))
    await _trying(failures, context.record.gives, lambda: take_released(context))
    if polled is None:
        _wait_on(context, failures, is_claiming=False)
        return None
    failures += list(polled.errors.items())
    found = next_of(context.state, _facts_of(context, polled))
    context.enter(found.unconfirmed or found.state)
    for effect in found.effects:
        if effect.is_alone:
            await _trying(failures, effect.leg, _doing(context, effect, polled))
    seen = _whole_of(context, polled)
    outcome: Outcome | None = None
    if seen is not None:
        together = [each for each in found.effects if not each.is_alone]
        outcome = await _trying(
            failures, None, lambda: _together(context, seen, together, found.state)
        )
    if outcome is None:
        _wait_on(context, failures, is_claiming=_is_claiming(context, polled))
        await context.store.write_again()
    return outcome


def _wait_on(context: Context, failures: _Failures, *, is_claiming: bool) -> None:
    """Raises what waiting cannot mend, and tells the rest."""
    gets = context.record.gets
    for about, error in failures:
        # A person is called for the other leg only when nothing is to be claimed.
        is_of_other = about != gets or not isinstance(error, SettleError)
        if not _is_passing(context, error) and not (is_claiming and is_of_other):
            raise error
        context.emit("waiting", about, str(error), None, code_of(error))


def _is_passing(context: Context, error: Exception) -> bool:
    """With money in an escrow nothing but a need for a person ends the watch."""
    if isinstance(error, SettleError):
        return False
    record = context.record
    if isinstance(error, StoreSilent) or record.may_be_funded or record.restored:
        return True
    return isinstance(error, Refusal) and verdict_of(error) == "again"


def _is_claiming(context: Context, polled: Poll) -> bool:
    """Whether this side may still be paid for a secret that is public."""
    record = context.record
    if record.public_secret is None:
        return False
    paying = polled.fresh.get(record.gets)
    return paying is None or leg_status(paying.leg.facts) in ("funded", "seen")


def _facts_of(context: Context, polled: Poll) -> Facts:
    record, heard = context.record, context.heard
    since = loop_time() - context.market_asked_at
    is_unsure = record.restored and context.market is not None and not heard.own_is_known
    return Facts(
        record=record,
        legs=polled.legs,
        fresh=frozenset(polled.fresh),
        wall=polled.wall,
        is_market_due=since > context.options.market_poll_seconds,
        is_refund_tried=context.is_refund_tried,
        is_release_tried=context.releasing.tries >= MOST_TRIES,
        may_be_given_up=is_unsure,
    )


def _whole_of(context: Context, polled: Poll) -> Seen | None:
    a, b = polled.legs.get("a"), polled.legs.get("b")
    return None if a is None or b is None else seen_of(context.record, a, b, polled.wall)


def _doing(context: Context, effect: Effect, polled: Poll) -> Callable[[], Awaitable[None]]:
    return lambda: _alone(context, effect, polled)


async def _alone(context: Context, effect: Effect, polled: Poll) -> None:
    seen = None if effect.leg is None else polled.fresh.get(effect.leg)
    if seen is None:
        return
    match effect.do:
        case "replace":
            await replace_stuck(context, seen.leg.leg)
        case "claim":
            await claim(context, seen)
        case "withdraw_claim":
            await withdraw_claim(context)
        case "refund":
            await refund(context, seen, polled.wall)


async def _together(
    context: Context, seen: Seen, effects: list[Effect], state: SettleState
) -> Outcome | None:
    """One after the other: a failure of one keeps the others for the next pass."""
    for effect in effects:
        if effect.do == "ask_market":
            # The look saw another escrow then.
            if await take_moves(context, seen):
                return None
        else:
            await _one(context, seen, effect)
    return await _end(context) if state == "settled" else None


async def _one(context: Context, seen: Seen, effect: Effect) -> None:
    match effect.do:
        case "take_rent":
            await take_rent(context)
        case "release":
            await release(context)
        case "tell_wish":
            await tell_wish(context)
        case "reveal":
            await reveal(context, seen)
        case "raise_funding":
            await raise_funding(context)
        case "fund":
            await fund(context)
        case "push_approval":
            await tend_approval(context)
        case "cancel_funding":
            await cancel_funding(context)
        case "wait":
            context.waits(effect.leg, effect.why)


def _tell_doubts(context: Context, name: LegName, seen: LegSeen) -> None:
    """Once, until it changes: doubts about the answers for a leg, and their end."""
    told = told_of(seen)
    if not told:
        if not doubts_of(seen) and context.doubted.pop(name, None) is not None:
            context.emit("evidence", name, f"the nodes of leg {name} are well again")
        return
    held = "; this side begins and ends nothing by it" if doubts_of(seen) else ""
    doubts = seen.evidence.doubts if seen.evidence else ()
    # Heights and ages in the sentences are others at each look.
    what = ",".join(f"{each.code} {each.node}" for each in doubts) + held
    if context.doubted.get(name) == what:
        return
    context.doubted[name] = what
    context.emit("evidence", name, "; ".join(told) + held, None, doubts[0].code)


async def _remember(context: Context, polled: Poll) -> None:
    """A chain may take back or forget what it showed: secret and facts are kept."""
    for name, each in polled.fresh.items():
        _tell_doubts(context, name, each)
    # A fact that one node alone shows, or an answer that was refused, is no memory.
    sure = [each for each in polled.fresh.values() if each.is_agreed]
    news = news_of(context.record, sure)
    if news is not None:
        try:
            await context.keep(seen=news.seen, marks=news.marks)
        except Exception as error:
            # The next pass sees it again, and tries again.
            text = f"the store did not keep the state of the chains: {error}"
            context.emit("store", None, text)
    for name, each in polled.fresh.items():
        facts = each.leg.facts
        last = facts.refunded or facts.claimed or facts.funded
        if last is not None:
            what = "refund" if facts.refunded else "claim" if facts.claimed else "funding"
            depth = "deep" if last.deep else f"not yet {each.leg.required_confirmations} deep"
            context.emit("seen", name, f"{what} of leg {name} is {depth}", last.txid)
    if context.record.public_secret is not None:
        return
    shown = [each.leg.facts.secret for each in polled.fresh.values() if each.leg.facts.secret]
    secret = shown[0] if shown else heard_secret(context)
    if secret is not None:
        await context.store.put_seen(replace(context.record, public_secret=secret))


async def _take_strayed(context: Context, polled: Poll) -> bool:
    """With the secret public a payment in an escrow that the leg moved off is claimed there."""
    record, name = context.record, context.record.gets
    seen = polled.fresh.get(name)
    strayed = None if seen is None or seen.evidence is None else seen.evidence.strayed
    if record.public_secret is None or seen is None or strayed is None or seen.leg.facts.funded:
        return False
    leg, address = record.swap.leg(name), strayed.address
    if leg.escrow is None or leg.terms is None:
        return False
    before = record.former.get(name, ())
    again = next(each for each in before if each.escrow.address == address)
    others = tuple(each for each in before if each.escrow.address != address)
    former = {**record.former, name: (KeptEscrow(leg.escrow, leg.terms), *others)}
    moved = replace(leg, escrow=Escrow(address, again.escrow.redeem_script), terms=strayed.terms)
    swap = replace(record.swap, a=moved) if name == "a" else replace(record.swap, b=moved)
    await context.keep(swap=swap, former=former)
    text = f"the payment of leg {name} is in its former escrow {address}"
    context.emit("verified", name, text)
    return True


async def _end(context: Context) -> Outcome | None:
    """The end, once each node has had its whole time to speak against it, and none did."""
    context.is_end_tried = True
    a, b = await asyncio.gather(*(read_leg(context, each, None) for each in LEGS))
    legs: dict[LegName, LegSeen] = {"a": a, "b": b}
    polled = Poll(await context.now(), legs, legs, {})
    await _remember(context, polled)
    state = next_of(context.state, _facts_of(context, polled)).state
    seen = _whole_of(context, polled)
    if state != "settled" or seen is None:
        return None
    context.enter(state)
    return _outcome_of(context, seen)


def _outcome_of(context: Context, seen: Seen) -> Outcome:
    record, state = context.record, seen.state
    own, paying = state.leg(record.gives), state.leg(record.gets)
    ends: dict[str, End] = {"claimed": "lost", "refunded": "refunded"}
    is_paid = leg_status(paying.facts) == "claimed"
    end: End = "received" if is_paid else ends.get(leg_status(own.facts), "nothing")
    status = swap_status(state, seen.clocks.wall)
    txids: dict[LegName, Mapping[str, str | None]] = {}
    for name in LEGS:
        facts = state.leg(name).facts
        sent = record.funding.txid if record.funding and name == record.gives else None
        txids[name] = {
            "fund": facts.funded.txid if facts.funded else sent,
            "claim": facts.claimed.txid if facts.claimed else None,
            "refund": facts.refunded.txid if facts.refunded else None,
        }
    left, since = own.facts.balance, own.timelock
    tail = f"; {left} base units are left: run it again from {since} on" if left else ""
    context.emit("ended", None, f"{end}; the swap is {status}{tail}")
    return Outcome(context.swap_id, end, status, txids, left, since if left else None)


def _nothing(context: Context) -> Outcome:
    text = "the addresses were not complete in time: the coins did not move"
    context.emit("ended", None, text)
    none: Mapping[str, str | None] = {"fund": None, "claim": None, "refund": None}
    return Outcome(context.swap_id, "nothing", "expired", {"a": none, "b": none})
