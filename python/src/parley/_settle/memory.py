"""The memory of an escrow: all that was seen at depth, with the block that held it.

Only the node that shows something else can take it back, by another block at that height. Pure.
Source: `packages/sdk/evidence/memory.ts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .facts import NOTHING_SEEN, EscrowFacts, Sighting

Kind = Literal["funded", "claimed", "refunded"]
KINDS: tuple[Kind, ...] = ("funded", "claimed", "refunded")


@dataclass(frozen=True, slots=True)
class Mark:
    """The block that held a transaction when it was seen at depth."""

    height: int
    hash: str


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a node, of so many that were configured."""

    node: int
    of: int


@dataclass(frozen=True, slots=True)
class Marks:
    """``alone``: facts that one of several nodes alone has shown, while others were silent."""

    blocks: dict[Kind, Mark] = field(default_factory=dict)
    alone: dict[Kind, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """``facts`` as the nodes agreed on them last; None before the first observation."""

    facts: EscrowFacts | None = None
    marks: Marks = field(default_factory=Marks)


def fact_of(facts: EscrowFacts | None, kind: Kind) -> Sighting | None:
    if facts is None:
        return None
    return {"funded": facts.funded, "claimed": facts.claimed, "refunded": facts.refunded}[kind]


def _is_deep(facts: EscrowFacts | None, kind: Kind) -> bool:
    found = fact_of(facts, kind)
    return found is not None and found.deep


def withdrawn_by(facts: EscrowFacts, memory: Memory) -> list[Kind]:
    """All that was at depth and is not any more in this answer."""
    return [each for each in KINDS if _is_deep(memory.facts, each) and not _is_deep(facts, each)]


def with_fact(facts: EscrowFacts, kind: Kind, found: Sighting | None) -> EscrowFacts:
    if kind == "funded":
        return replace(facts, funded=found)
    return replace(facts, claimed=found) if kind == "claimed" else replace(facts, refunded=found)


def held_against(
    facts: EscrowFacts, withdrawn: Sequence[Kind], required: int
) -> EscrowFacts | None:
    """The answer with the depth that is known of a transaction whose block the node holds and that
    it counts too few blocks on. The result is None where it denies what was at depth. A funding with all its blocks
    that is not deep lacks its tokens: an issuer has taken them.
    """
    held = facts
    for kind in withdrawn:
        shown = fact_of(facts, kind)
        if shown is None or shown.confirmations == 0:
            return None
        if shown.confirmations < required:
            held = with_fact(held, kind, replace(shown, deep=True))
    return held


def doubtful_by(memory: Memory, deniers: Sequence[Place]) -> list[Kind]:
    """Facts that were confirmed by one of several nodes alone, with another node among these."""
    alone = memory.marks.alone
    return [
        kind
        for kind in KINDS
        if kind in alone and any(each != alone[kind] for each in deniers)
    ]


def without(memory: Memory, forgotten: Sequence[Kind]) -> Memory:
    facts = memory.facts
    for kind in forgotten:
        facts = None if facts is None else with_fact(facts, kind, None)
    blocks = {each: mark for each, mark in memory.marks.blocks.items() if each not in forgotten}
    return Memory(facts, Marks(blocks))


def remembered(memory: Memory) -> EscrowFacts:
    """Believed where no answer can be: all that was at depth, and nothing that was not."""
    return memory.facts or NOTHING_SEEN
