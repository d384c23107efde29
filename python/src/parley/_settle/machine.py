"""The next step of one side of a swap, as a pure state machine. Gates are passed once more right
before anything is sent. Source: `packages/sdk/settle/machine.ts`, whose states these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import Refusal
from ..verify.deadlines import LegName
from .facts import (
    LATE_WATCH_SECONDS,
    MEDIAN_TIME,
    NOTHING_SEEN,
    Sighting,
    is_mined,
    is_much,
    leg_status,
)
from .gates import fund_gate
from .record import LegSeen, Seen, SwapRecord, alone_of, is_unsure, leg_of, seen_of
from .steps import Action, Step, next_steps
from .swap import Clocks, SwapState, is_out, leg_has_passed

SettleState = Literal[
    "preparing",
    "waiting_to_fund",
    "funding",
    "cancelling",
    "giving_up",
    "funded",
    "revealing",
    "claiming",
    "refunding",
    "received",
    "settled",
]
Do = Literal[
    # These need one chain alone, in whatever state the other one is.
    "claim",
    "withdraw_claim",
    "refund",
    "replace",
    # These need both chains.
    "ask_market",
    "reveal",
    "raise_funding",
    "fund",
    "push_approval",
    "cancel_funding",
    "take_rent",
    "release",
    "tell_wish",
    "wait",
]
_ALONE: tuple[Do, ...] = ("claim", "withdraw_claim", "refund", "replace")
_LEGS: tuple[LegName, LegName] = ("a", "b")


@dataclass(frozen=True, slots=True)
class Effect:
    """``before``: Unix seconds until which it is open; None: no limit of ours."""

    do: Do
    leg: LegName | None
    before: int | None = None
    why: str = ""

    @property
    def is_alone(self) -> bool:
        return self.do in _ALONE


@dataclass(frozen=True, slots=True)
class Facts:
    """``fresh``: legs whose chain answered just now; ``legs`` are as it showed them last.

    ``is_market_due``: whether it is time to ask the market where the legs are.
    ``is_refund_tried``: whether this run has sent a refund, or found that none can be paid.
    ``is_release_tried``: whether it has tried to release the other leg often enough.
    ``may_be_given_up``: whether a restored swap may have been given up on the lost device, for all
    that is known: its secret is not told then.
    """

    record: SwapRecord
    legs: Mapping[LegName, LegSeen]
    fresh: frozenset[LegName]
    wall: int
    is_market_due: bool
    is_refund_tried: bool
    is_release_tried: bool
    may_be_given_up: bool

    @property
    def seen(self) -> Seen | None:
        a, b = self.legs.get("a"), self.legs.get("b")
        return None if a is None or b is None else seen_of(self.record, a, b, self.wall)


@dataclass(frozen=True, slots=True)
class Next:
    """``unconfirmed``: where a swap is that seems to have ended, until each node had its time to
    speak against it."""

    state: SettleState
    effects: tuple[Effect, ...]
    unconfirmed: SettleState | None = None


def next_of(state: SettleState, facts: Facts) -> Next:
    """``state`` is the last one. A silent chain keeps it, but for the claim of a public secret."""
    record, seen = facts.record, facts.seen
    gives, gets = record.gives, record.gets
    if seen is not None and seen.doubt is None and _has_ended(facts, seen):
        own = seen.state.leg(gives)
        # A claim without the funder's account leaves rent behind.
        has_rent = own.family == "solana" and own.facts.claimed is not None
        rent = (Effect("take_rent", gives),) if has_rent else ()
        return Next("settled", rent, _near_end(state, seen, gives, gets))
    alone: list[Effect] = []
    for name in (gets, gives):
        leg = facts.legs.get(name)
        if leg is not None and name in facts.fresh:
            alone += _alone_effects(record, leg, facts.wall)
    paying = facts.legs.get(gets)
    if seen is None:
        is_refunding = any(each.do == "refund" for each in alone)
        half = _half_seen(state, record, paying, is_refunding)
        return Next(_forward(state, half, paying), tuple(alone))
    is_past = paying is not None and _takes_no_claim(paying)
    now = _forward(state, _state_of(record, seen, is_past), paying)
    return Next(now, (*alone, *_together_effects(facts, seen, alone)))


def _near_end(last: SettleState, seen: Seen, gives: LegName, gets: LegName) -> SettleState:
    """Paid, or paid back; else it stays where it was."""
    if leg_status(seen.state.leg(gets).facts) == "claimed":
        return "received"
    return "refunding" if leg_status(seen.state.leg(gives).facts) == "refunded" else last


def _forward(last: SettleState, now: SettleState, paying: LegSeen | None) -> SettleState:
    """A swap that was told as received stays so while nodes differ, though the claim is tried."""
    is_doubted = paying is not None and not paying.is_agreed
    return last if last == "received" and now == "claiming" and is_doubted else now


def _half_seen(
    state: SettleState, record: SwapRecord, paying: LegSeen | None, is_refunding: bool
) -> SettleState:
    """By one chain: a payment that was observed stays paid while the other chain is silent."""
    if record.public_secret is None:
        return "refunding" if is_refunding else state
    if paying is None:
        is_paid = state in ("received", "refunding")
    else:
        is_paid = leg_status(paying.leg.facts) == "claimed"
    if is_paid:
        return "refunding" if is_refunding or state == "refunding" else "received"
    is_past = paying is not None and _takes_no_claim(paying)
    return "refunding" if is_past and is_refunding else "claiming"


def _takes_no_claim(seen: LegSeen) -> bool:
    """Only Bitcoin takes a claim past its timelock. In doubt a claim is tried."""
    is_late = seen.leg.family not in MEDIAN_TIME and seen.clock >= seen.leg.timelock
    return is_late and seen.is_agreed


def _open_steps(record: SwapRecord, seen: Seen) -> list[Step]:
    """Steps that the rules open to this side."""
    return next_steps(seen.state, seen.clocks, record.swap.role)


def _find(steps: Sequence[Step], action: Action, leg: LegName) -> Step | None:
    return next((each for each in steps if (each.action, each.leg) == (action, leg)), None)


def _state_of(record: SwapRecord, seen: Seen, is_past: bool) -> SettleState:
    gives, gets = record.gives, record.gets
    own, other = seen.state.leg(gives), seen.state.leg(gets)
    own_status, other_status = leg_status(own.facts), leg_status(other.facts)
    steps = _open_steps(record, seen)
    # The claimer of the own leg has shown the secret, found yet or not.
    is_public = seen.state.secret is not None or own_status == "claimed"
    is_paying = other_status in ("seen", "funded") or own_status == "claimed"
    if is_public and is_paying and other_status != "claimed" and not is_past:
        return "claiming"
    if own.facts.refunded is not None or _find(steps, "refund", gives):
        return "refunding"
    if other_status == "claimed":
        return "received"
    if is_late(record, seen):
        return "cancelling"
    if record.given_up is not None:
        return "giving_up"
    is_sure = seen.doubt is None
    if is_sure and _find(steps, "claim", gets) and not is_public:
        return "revealing"
    if own_status == "funded":
        return "funded"
    is_begun = record.may_be_funded or record.approval is not None or own_status == "seen"
    may_begin = is_sure and _find(steps, "fund", gives) is not None and not record.restored
    return "funding" if is_begun or may_begin else "waiting_to_fund"


def _has_ended(facts: Facts, seen: Seen) -> bool:
    """Whether nothing can be gained or lost by this side any more."""
    # The other side waits for its word.
    if _word_effects(facts, seen):
        return False
    record, state, clocks = facts.record, seen.state, seen.clocks
    gives, gets = record.gives, record.gets
    own, other = state.leg(gives), state.leg(gets)
    own_status, other_status = leg_status(own.facts), leg_status(other.facts)
    own_clock = _own_earliest(facts)
    shown = own.facts
    # A balance beside the funding is tried once a run: strangers could renew it without end.
    is_due = shown.balance > 0 and leg_has_passed(own, clocks) and not facts.is_refund_tried
    # Too little, paid by hand, is refunded. A restored record does not know who paid.
    is_unmined = not (shown.claimed or shown.refunded) and not is_mined(shown.funded)
    is_by_others = record.by_hand or record.restored
    is_watched = own_clock <= own.timelock + LATE_WATCH_SECONDS
    is_coming = is_unmined and not shown.empty
    is_left = is_by_others and is_watched and (shown.balance > 0 or is_coming)
    is_begun = record.is_funding_signed or record.approval is not None or is_left
    # A payment that this side never signed, and that no block takes, is a stranger's.
    is_of_nobody = shown.funded is not None and is_unmined
    # A payee that uses its lane up hides that the leg was never funded.
    is_hidden = shown.is_unknown and shown.funded is None and not is_by_others
    is_untouched = (own_status == "unfunded" or is_of_nobody or is_hidden) and not is_begun
    # A funding that a lost device signed may still come: on Bitcoin no time ends it.
    last = own.timelock if record.restored else state.fund_by(own)
    is_past = clocks.latest > last or state.secret is not None or record.given_up is not None
    # A payment of others is not known to this device: its chain has to be past the time.
    is_over = own_clock > last if is_by_others else is_past
    # A person who paid twice by hand gets it back in the same run.
    is_double = is_much(shown.balance, own.amount)
    is_twice = is_by_others and is_watched and not facts.is_refund_tried and is_double
    is_spent = own_status in ("claimed", "refunded") and not is_twice
    if is_due or not (is_spent or (is_untouched and is_over)):
        return False
    # A reorganisation took its funding back: it may come again.
    is_taken_back = other_status == "unfunded" and clocks.of(gets) < other.timelock
    is_paid_for = own_status == "claimed"
    is_open = other_status in ("funded", "seen") or (is_paid_for and is_taken_back)
    return not is_open or not (state.secret is not None or is_paid_for)


def _own_earliest(facts: Facts) -> int:
    """The earliest clock among the nodes of the own leg's chain."""
    own = facts.legs.get(facts.record.gives)
    if own is None:
        return 0
    return own.clock if own.evidence is None else own.evidence.earliest


def _alone_effects(record: SwapRecord, seen: LegSeen, wall: int) -> list[Effect]:
    """Effects that this chain alone opens to this side: a claim with a public secret, or a refund."""
    leg = seen.leg
    verb: Literal["claim", "refund"] = "refund" if leg.leg == record.gives else "claim"
    if verb == "claim" and record.public_secret is None:
        return []
    shown = leg.facts.claimed if verb == "claim" else leg.facts.refunded
    kept = record.claim if verb == "claim" else record.refund
    # Elsewhere the wallet that looks after it raises it.
    is_raised = leg.family == "bitcoin" and kept is not None
    waits = is_raised and kept is not None and _is_waiting(shown, (kept.txid,))
    replaces = [Effect("replace", leg.leg)] if waits else []
    step = _find(_open_steps(record, alone_of(record, seen, wall)), verb, leg.leg)
    if step is None:
        return replaces
    # Sending it then could only tell the secret.
    is_over = verb == "claim" and _takes_no_claim(seen)
    return [*replaces, Effect("withdraw_claim" if is_over else verb, leg.leg, step.before)]


def _is_waiting(shown: Sighting | None, txids: Sequence[str]) -> bool:
    return shown is not None and shown.confirmations == 0 and shown.txid in txids


def _word_effects(facts: Facts, seen: Seen) -> list[Effect]:
    """To give up: the leg that pays this side is released, or the market hears the wish alone."""
    if facts.is_release_tried:
        return []
    record = facts.record
    gives, gets, given_up = record.gives, record.gets, record.given_up
    steps = _open_steps(record, seen)
    step = next((each for each in steps if each.action == "release"), None)
    own = seen.state.leg(gives)
    earliest = _with_clock(seen.clocks, gives, _own_earliest(facts))
    # With its own leg open a device of the initiator releases for its person alone.
    is_wanted = own.long and given_up is not None and given_up.by_person
    if step is not None and (is_out(own, earliest, "counts") or is_wanted):
        return [Effect("release", gets, step.before)]
    if given_up is not None and given_up.told is None:
        return [Effect("tell_wish", gets)]
    return []


def _with_clock(clocks: Clocks, leg: LegName, clock: int) -> Clocks:
    return replace(clocks, a=clock) if leg == "a" else replace(clocks, b=clock)


def _together_effects(facts: Facts, seen: Seen, before: Sequence[Effect]) -> list[Effect]:
    """Effects that need both chains: funding and revealing."""
    record = facts.record
    is_movable = any(may_move(record, seen, each) for each in _LEGS)
    effects = [Effect("ask_market", None)] if facts.is_market_due and is_movable else []
    if any(each.do != "replace" for each in before):
        return effects
    if seen.doubt is None:
        return [*effects, *_word_effects(facts, seen), *_most_urgent(facts, seen)]
    # In the same words at each look: the doubt is told beside it, with its numbers.
    unsure = [each for each in _LEGS if each in facts.legs and is_unsure(facts.legs[each])]
    if not unsure:
        return effects
    why = f"no step begins or ends while the nodes of leg {' and '.join(unsure)} are not sure"
    return [*effects, Effect("wait", None, None, why)]


def may_move(record: SwapRecord, seen: Seen, name: LegName) -> bool:
    """Whether a leg may still move to another escrow: with the secret public none may be funded.

    No leg moves once it may hold money, however one look shows it: else a market could replace the
    escrow that pays this side by an empty one. So a counterparty that may have funded moves
    nothing; an initiator follows the other side's lane until its escrow was once in a block.
    """
    is_open = leg_status(seen.state.leg(name).facts) == "unfunded"
    kept = record.seen.get(leg_of(record, name).address)
    was_funded = kept is not None and is_mined(kept.funded)
    fixes = name == record.gives or record.swap.role == "counterparty"
    is_fixed = record.restored or (fixes and record.may_be_funded)
    is_free = record.public_secret is None and seen.doubt is None
    return is_free and is_open and not was_funded and not is_fixed


def _most_urgent(facts: Facts, seen: Seen) -> list[Effect]:
    """The most urgent step that the rules open to this side by both chains."""
    record, state = facts.record, seen.state
    gives, gets = record.gives, record.gets
    steps = _open_steps(record, seen)
    claim = _find(steps, "claim", gets)
    if claim is not None:
        return _revealing(facts, state, claim)
    own = state.leg(gives)
    by = state.fund_by(own)
    raises = [Effect("raise_funding", gives, by)] if may_raise(record, seen) else []
    if _find(steps, "fund", gives) and not record.restored:
        return [*raises, Effect("fund", gives, by)]
    # The transaction that takes the late funding's nonce waits behind a waiting approval.
    push = [Effect("push_approval", gives)] if record.approval is not None else []
    if is_late(record, seen):
        return [*push, Effect("cancel_funding", gives)]
    if push or not steps:
        return [*raises, *push]
    first = steps[0]
    return [*raises, Effect("wait", first.leg, first.before, first.why)]


def _revealing(facts: Facts, state: SwapState, claim: Step) -> list[Effect]:
    refund, gets = facts.record.refund, facts.record.gets
    # A secret that was seen a moment ago is kept first.
    if state.secret is not None:
        return []
    if refund is not None:
        why = f"the refund {refund.txid} is out: this side tells no secret"
        return [Effect("wait", gets, None, why)]
    if facts.may_be_given_up:
        why = "the market has yet to say that this swap was not given up on another device"
        return [Effect("wait", gets, None, why)]
    return [Effect("reveal", gets, claim.before)]


def is_late(record: SwapRecord, seen: Seen) -> bool:
    """By the own clock AND its chain's. After an own claim the funding is left to arrive: it was
    promised.
    """
    shown = seen.state.leg(record.gives).facts
    if not record.is_funding_signed or record.claim is not None:
        return False
    if is_mined(shown.funded) or shown.claimed or shown.refunded:
        return False
    earlier = min(seen.clocks.wall, seen.clocks.of(record.gives))
    return earlier > seen.state.fund_by(seen.state.leg(record.gives))


def may_raise(record: SwapRecord, seen: Seen) -> bool:
    """Whether a funding on Bitcoin that waits for a block may be replaced by one that pays more."""
    own, funding = seen.state.leg(record.gives), record.funding
    is_other = own.family != "bitcoin" or record.cancel is not None or record.claim is not None
    if is_other or funding is None or own.facts.claimed or own.facts.refunded:
        return False
    versions = (funding.txid, *funding.former)
    if own.facts.funded is not None and not _is_waiting(own.facts.funded, versions):
        return False
    unseen = replace(own, facts=NOTHING_SEEN)
    is_a = own.leg == "a"
    state = replace(seen.state, a=unseen) if is_a else replace(seen.state, b=unseen)
    try:
        fund_gate(state, own.leg, seen.clocks)
    except Refusal:
        return False
    return True
