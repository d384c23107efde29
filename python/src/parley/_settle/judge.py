"""Which answers of a chain's nodes count, and what follows. Pure: no node is asked here.

Source: `packages/sdk/evidence/judge.ts`, and docs/dont-trust-verify.md for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .._lists import Family
from ..chains.terms import ChainPolicy
from ..verify.swap import CLOCK_TOLERANCE_SECONDS
from .facts import MEDIAN_TIME, EscrowFacts, Sighting, is_mined, leg_status

DoubtCode = Literal[
    "node_behind",
    "node_ahead",
    "node_silent",
    "chain_stands",
    "answer_refused",
    "nodes_disagree",
]
#: Below it a pause between two blocks is no reason to doubt a node: else one that invents a newer
#: head would be heard alone.
_LEAST_BEHIND_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Heads:
    """Height and hash of the best block, and the chain's own clock: on Bitcoin median time past."""

    height: int
    hash: str
    clock: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The escrow as one node displayed it. ``node``: its place among the chain's, from 0.

    ``is_refused``: it denies what was seen at depth, and proves no reorganisation.
    """

    node: int
    heads: Heads
    facts: EscrowFacts
    is_refused: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why an answer does not count, or why nothing may end by these. Names no URL."""

    code: DoubtCode
    sentence: str
    node: int | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """``nodes``: those configured, whether they answer or not."""

    chain: str
    nodes: int
    family: Family
    policy: ChainPolicy
    required_confirmations: int
    block_seconds: float

    @property
    def outage_seconds(self) -> int:
        """The outage of the depth that is waited for."""
        normal, high = self.policy.normal, self.policy.high
        is_normal = self.required_confirmations == normal.confirmations
        return (normal if is_normal else high).outage_seconds

    @property
    def trails_by(self) -> int:
        """By so much the chain's clock trails where nothing is wrong."""
        is_median = self.family in MEDIAN_TIME
        return self.policy.late_claim_seconds if is_median else self.policy.drift_seconds

    @property
    def most_behind_wall(self) -> int:
        return self.outage_seconds + self.trails_by

    @property
    def most_ahead_of_wall(self) -> int:
        return self.policy.drift_seconds + CLOCK_TOLERANCE_SECONDS


@dataclass(frozen=True, slots=True)
class Judged:
    """``node``: whose facts these are. ``counting``: the nodes whose answers count.

    ``earliest``, ``latest``: best blocks' times of the nodes that count and are not ahead.
    ``agreed``: all nodes that count show the same. Only then something is ended or begun by it.
    """

    facts: EscrowFacts
    node: int
    counting: tuple[int, ...]
    earliest: int
    latest: int
    agreed: bool
    doubts: tuple[Doubt, ...]


def is_ahead(heads: Heads, bounds: Bounds, wall: int) -> bool:
    return heads.clock - wall > bounds.most_ahead_of_wall


def _is_behind(one: Heads, other: Heads, bounds: Bounds, wall: int) -> bool:
    """By height and by time: an invented head makes nobody else old that has the time of now."""
    if is_ahead(other, bounds, wall):
        return False
    half = bounds.required_confirmations * bounds.block_seconds / 2
    most = max(_LEAST_BEHIND_SECONDS, bounds.trails_by, half)
    is_low = other.height - one.height > bounds.required_confirmations
    return is_low and min(other.clock, wall) - one.clock > most


def judge(answers: Sequence[Answer], bounds: Bounds, wall: int, *, is_patient: bool) -> Judged:
    """``is_patient``: a node that has not reached the block of what another shows is waited for.

    There is at least one answer.
    """
    doubts: list[Doubt] = []
    counting: list[Answer] = []
    for each in answers:
        doubt = _age_doubt(each, answers, bounds, wall)
        if doubt is None:
            counting.append(each)
        else:
            doubts.append(doubt)
    # By a clock of this machine that is behind all honest nodes are ahead.
    ahead = [each for each in counting if is_ahead(each.heads, bounds, wall)]
    doubts += [_ahead_doubt(each, bounds, wall) for each in ahead]
    # The memory may be one node's lie: another one that denies it is no silence.
    refused = [each for each in counting if each.is_refused]
    doubts += [_refusal(each, bounds) for each in refused]
    # Where no answer counts the least old one says what may be tried.
    every = counting or [max(answers, key=lambda each: each.heads.clock)]
    is_same = all(_shape_of(each.facts) == _shape_of(every[0].facts) for each in every)
    if not is_same:
        doubts.append(_disagreement(every, bounds))
    picked = _most_open(_reached(every) if is_patient else every)
    secrets = [each.facts.secret for each in answers if each.facts.secret is not None]
    clocks = [each.heads.clock for each in every]
    timely = [each.heads.clock for each in every if each not in ahead]
    return Judged(
        facts=replace(picked.facts, secret=secrets[0] if secrets else None),
        node=picked.node,
        counting=tuple(each.node for each in counting),
        earliest=min(timely or clocks),
        latest=max(timely) if timely else min(clocks),
        agreed=len(counting) > len(ahead) and is_same and not refused,
        doubts=tuple(doubts),
    )


def name_of(node: int, bounds: Bounds) -> str:
    """By its place among several, and by no address."""
    return f"node {node + 1} of {bounds.chain}" if bounds.nodes > 1 else f"the node of {bounds.chain}"


def _age_doubt(
    answer: Answer, answers: Sequence[Answer], bounds: Bounds, wall: int
) -> Doubt | None:
    heads, name = answer.heads, name_of(answer.node, bounds)
    for other in answers:
        if _is_behind(heads, other.heads, bounds, wall):
            behind = other.heads.height - heads.height
            sentence = f"{name} stands at block {heads.height}, {behind} behind another one"
            return Doubt("node_behind", sentence, answer.node)
    old, most = wall - heads.clock, bounds.most_behind_wall
    if old <= most:
        return None
    limit = f"more than {most} s: the chain, its node or this clock stands still"
    sentence = f"the newest block of {name} is {old} s older than now, {limit}"
    return Doubt("chain_stands", sentence, answer.node)


def _ahead_doubt(answer: Answer, bounds: Bounds, wall: int) -> Doubt:
    by = f"{answer.heads.clock - wall} s newer than now, more than {bounds.most_ahead_of_wall} s"
    sentence = f"the newest block of {name_of(answer.node, bounds)} is {by}"
    why = "it lies, or this clock is behind"
    return Doubt("node_ahead", f"{sentence}: {why}", answer.node)


def _refusal(answer: Answer, bounds: Bounds) -> Doubt:
    name = name_of(answer.node, bounds)
    sentence = f"{name} denies what was seen at depth, and proves no reorganisation"
    return Doubt("answer_refused", sentence, answer.node)


def _disagreement(answers: Sequence[Answer], bounds: Bounds) -> Doubt:
    shown = ", ".join(f"node {each.node + 1}: {_status_of(each.facts)}" for each in answers)
    sentence = f"the nodes of {bounds.chain} show an escrow differently ({shown})"
    return Doubt("nodes_disagree", sentence)


def _shape_of(facts: EscrowFacts) -> tuple[object, ...]:
    """As far as two nodes may not differ. A fact that waits for a block may be with one of them alone."""
    seen = (is_mined(facts.funded), is_mined(facts.claimed), is_mined(facts.refunded))
    return (_status_of(facts), *seen, facts.is_unknown)


def _status_of(facts: EscrowFacts) -> str:
    is_seen = any(is_mined(each) for each in (facts.claimed, facts.refunded, facts.funded))
    status = leg_status(facts)
    return "unfunded" if status == "seen" and not is_seen else status


def _openness_of(facts: EscrowFacts) -> int:
    """How much an escrow leaves to be done: an open one is claimed or refunded in doubt."""
    for found in (facts.claimed, facts.refunded):
        if found is not None and found.deep:
            return 1
    if is_mined(facts.claimed) or is_mined(facts.refunded):
        return 2
    if facts.funded is None:
        return 0
    return 4 if facts.funded.deep else 3


def _most_open(answers: Sequence[Answer]) -> Answer:
    """Among equals one that shows more in the escrow: a run ends too late by it, never too early."""
    most = answers[0]
    for each in answers[1:]:
        if _weight_of(each.facts) > _weight_of(most.facts):
            most = each
    return most


def _weight_of(facts: EscrowFacts) -> tuple[int, int, bool]:
    return _openness_of(facts), facts.balance, not facts.empty


def _reached(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Those that have the blocks of all that any of them shows."""
    wanted = 0
    for each in answers:
        for found in (each.facts.funded, each.facts.claimed, each.facts.refunded):
            if found is not None and found.confirmations > 0:
                wanted = max(wanted, each.heads.height - found.confirmations + 1)
    return [each for each in answers if each.heads.height >= wanted] or answers


def first_block_of(heads: Heads, found: Sighting) -> int:
    return heads.height - found.confirmations + 1
