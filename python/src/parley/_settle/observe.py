"""Asks each node of a chain about an escrow, and holds every answer against what was seen before.

Source: `packages/sdk/evidence/observe.ts`. Its times are seconds of the event loop's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import Refusal
from ..hashlock import opens
from .facts import EscrowFacts, holds_payment
from .judge import Answer, Bounds, Doubt, Heads, Judged, first_block_of, is_ahead, judge, name_of
from .memory import (
    KINDS,
    Kind,
    Mark,
    Marks,
    Memory,
    Place,
    doubtful_by,
    fact_of,
    held_against,
    remembered,
    withdrawn_by,
    without,
)
from .nodes import Node, Source, WatchedEscrow

#: Once one node has answered the others have so long: one that hangs must not hold up all.
OTHERS_SECONDS = 2.0
#: Longer than any limit of one look.
_MOST_SECONDS = 600.0
#: A node that has not reached another one's newest block is waited for so long.
_PATIENCE_SECONDS = 60
#: A node that fails after it has spoken holds up beginnings and ends for so long, and one that has
#: not spoken yet holds up ends: a busy one answers again by then, and may speak against it.
_SILENCE_SECONDS = 600
#: One that fails is told after so long.
_SILENT_TELL_SECONDS = 20
#: Nodes that differ are told after so long: a block takes a moment to reach all of them.
_DIFFER_TELL_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """How sure it is what a leg shows.

    ``marks``: blocks of all that is at depth, once the nodes agree on it. ``strayed``: the former
    escrow that holds a payment. ``is_brief``: nodes differ for a moment only, which is no news.
    """

    node: int
    earliest: int
    agreed: bool
    doubts: tuple[Doubt, ...]
    marks: Marks
    strayed: WatchedEscrow | None
    is_brief: bool


@dataclass(frozen=True, slots=True)
class Observed:
    facts: EscrowFacts
    latest: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Looked:
    """An answer. ``denies``: facts that were confirmed, and that this node does not show."""

    answer: Answer
    former: tuple[EscrowFacts, ...]
    denies: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """The answer of a node, or its failure. ``at``: when it was asked, Unix seconds."""

    looked: Looked | None
    failure: BaseException | None
    at: int


@dataclass(frozen=True, slots=True)
class Silence:
    """``failed_at``: since when it fails; None: it does not."""

    has_spoken: bool
    failed_at: int | None


@dataclass(slots=True)
class Late:
    """A look that goes on beside the passes; ``last``: the result of the one before it."""

    task: asyncio.Task[Word]
    last: Word | None


@dataclass(slots=True)
class Hearing:
    """The behaviour of nodes, learnt over all looks of a settlement."""

    differing: dict[str, int] = field(default_factory=dict)
    denied: dict[str, int] = field(default_factory=dict)
    silent: dict[str, Silence] = field(default_factory=dict)
    late: dict[str, Late] = field(default_factory=dict)
    tasks: set[asyncio.Task[Word]] = field(default_factory=set)

    def stop(self) -> None:
        for each in list(self.tasks):
            each.cancel()


@dataclass(frozen=True, slots=True)
class Asking:
    """``former``: escrows that the leg moved off, which the same secret opens.

    ``deadline``: by the loop's clock, of one look of one node. ``others_seconds``: for the others
    once one has answered; None: for each the whole limit, and a look of now.
    """

    source: Source
    watched: WatchedEscrow
    former: tuple[WatchedEscrow, ...]
    memory: Memory
    hearing: Hearing
    wall: int
    now: Callable[[], Awaitable[int]]
    deadline: float
    others_seconds: float | None

    @property
    def bounds(self) -> Bounds:
        view = self.source.view
        assert view.policy is not None
        return Bounds(
            chain=view.chain,
            nodes=len(self.source.nodes),
            family=view.family,
            policy=view.policy,
            required_confirmations=self.watched.required_confirmations,
            block_seconds=self.source.nodes[0].block_seconds,
        )


async def observe(asking: Asking) -> Observed:
    """Raises what the first node fails with where none answers."""
    bounds, hearing, address = asking.bounds, asking.hearing, asking.watched.address
    looked, is_whole, unheard = await _look_at_all(asking)
    answers = [each.answer for each in looked]
    is_newer = any(is_ahead(each.heads, bounds, asking.wall) for each in answers)
    wall = await asking.now() if is_newer else asking.wall
    since = hearing.differing.get(address)
    lasted = 0 if since is None else abs(wall - since)
    judged = judge(answers, bounds, wall, is_patient=lasted < _PATIENCE_SECONDS)
    if not any(each.code == "nodes_disagree" for each in judged.doubts):
        hearing.differing.pop(address, None)
    elif since is None:
        hearing.differing[address] = wall
    forgotten: list[Kind] = []
    if is_whole:
        forgotten = _forgotten_by(judged, looked, asking, wall)
    else:
        hearing.denied.pop(address, None)
    if forgotten:
        again = await observe(replace(asking, memory=without(asking.memory, forgotten)))
        doubts = (_forgetting(forgotten, bounds), *again.evidence.doubts)
        return replace(again, evidence=replace(again.evidence, doubts=doubts))
    # One that is yet to speak may speak against it.
    agreed = judged.agreed and is_whole
    marks = asking.memory.marks
    if agreed:
        sure = [asking.source.nodes[place] for place in judged.counting]
        picked = next(each for each in answers if each.node == judged.node)
        marks = await _marks_of(sure, picked, asking)
    evidence = Evidence(
        node=judged.node,
        earliest=judged.earliest,
        agreed=agreed,
        doubts=(*judged.doubts, *unheard),
        marks=marks,
        strayed=_strayed(looked, asking.former),
        is_brief=lasted < _DIFFER_TELL_SECONDS,
    )
    secret = judged.facts.secret or next(
        (facts.secret for each in looked for facts in each.former if facts.secret), None
    )
    # One that fails for a moment may know that the others invent the time.
    latest = judged.latest if is_whole else min(judged.latest, wall)
    return Observed(replace(judged.facts, secret=secret), latest, evidence)


def _strayed(looked: Sequence[Looked], former: Sequence[WatchedEscrow]) -> WatchedEscrow | None:
    for place, escrow in enumerate(former):
        if any(holds_payment(each.former[place], escrow.terms.amount) for each in looked):
            return escrow
    return None


def _forgotten_by(
    judged: Judged, looked: Sequence[Looked], asking: Asking, wall: int
) -> list[Kind]:
    """Facts that all counting nodes deny for longer than an outage, and that one alone has shown.

    That one by itself does not withdraw it: an honest node that is stale for so long has shown it
    itself, or is a customer's only one.
    """
    denied, address = asking.hearing.denied, asking.watched.address
    sure = [each for each in looked if each.answer.node in judged.counting]
    if not sure or not all(each.answer.is_refused for each in sure):
        denied.pop(address, None)
        return []
    since = denied.setdefault(address, wall)
    if wall - since <= asking.bounds.outage_seconds:
        return []
    of = len(asking.source.nodes)
    deniers = [Place(each.answer.node, of) for each in sure]
    return [
        kind
        for kind in doubtful_by(asking.memory, deniers)
        if all(kind in each.denies for each in sure)
    ]


def _forgetting(forgotten: Sequence[Kind], bounds: Bounds) -> Doubt:
    what = f"that an escrow was {' and '.join(forgotten)}"
    sentence = f"one node of {bounds.chain} alone showed {what}, and all others have denied it"
    seconds = bounds.outage_seconds
    return Doubt("answer_refused", f"{sentence} for {seconds} s: that is forgotten")


async def _look_at_all(asking: Asking) -> tuple[list[Looked], bool, list[Doubt]]:
    """A slow node is asked on, but not waited for: its last answer counts until it gives another.

    The second value: no node is left that may speak against what the others say.
    """
    hearing, waits = asking.hearing, asking.others_seconds
    asked: list[Late] = []
    prompt: list[asyncio.Task[Word]] = []
    has_old: list[bool] = []
    for place, node in enumerate(asking.source.nodes):
        key = f"{place} {asking.watched.address}"
        before = None if waits is None else hearing.late.get(key)
        is_going = before is not None and not before.task.done()
        now = before if before and is_going else _begin(node, place, asking, _last_of(before))
        hearing.late[key] = now
        asked.append(now)
        if before is None:
            prompt.append(now.task)
        last = _last_of(before)
        has_old.append(asking.wall - (last.at if last else asking.wall) > _PATIENCE_SECONDS)
    tasks = [each.task for each in asked]
    await _first_answer(tasks)
    # Passes are far apart where a word is old: a node that is slow would seem to stand still.
    rest = tasks if waits is None or any(has_old) else prompt
    pending = [each for each in rest if not each.done()]
    if pending:
        limit = _MOST_SECONDS if waits is None or any(has_old) else waits
        left = asking.deadline - asyncio.get_running_loop().time()
        await asyncio.wait(pending, timeout=max(0.0, min(limit, left)))
    said: list[Word | None] = []
    for place, each in enumerate(asked):
        if each.task.done():
            said.append(each.task.result())
            if not has_old[place]:
                hearing.late.pop(f"{place} {asking.watched.address}", None)
        else:
            said.append(each.last)
    is_answered = any(each.task.done() and each.task.result().looked for each in asked)
    if not is_answered:
        failure = tasks[0].result().failure if tasks[0].done() else None
        raise failure or Refusal("chain_timeout", f"no node of {asking.bounds.chain} answers")
    looked = [each.looked for each in said if each is not None and each.looked is not None]
    is_whole, unheard = _silences(said, looked, asking)
    return looked, is_whole, unheard


def _last_of(before: Late | None) -> Word | None:
    if before is None:
        return None
    return before.task.result() if before.task.done() else before.last


def _begin(node: Node, place: int, asking: Asking, last: Word | None) -> Late:
    async def word() -> Word:
        try:
            return Word(await _look_at(node, place, asking), None, asking.wall)
        except Exception as error:
            return Word(None, error, asking.wall)

    task = asyncio.create_task(word())
    asking.hearing.tasks.add(task)
    task.add_done_callback(asking.hearing.tasks.discard)
    return Late(task, last)


async def _first_answer(tasks: Sequence[asyncio.Task[Word]]) -> None:
    """Until one has answered, or all have failed."""
    pending = set(tasks)
    while pending:
        if any(each.done() and each.result().looked is not None for each in tasks):
            return
        _, pending = await asyncio.wait(
            [each for each in tasks if not each.done()], return_when=asyncio.FIRST_COMPLETED
        )


def _silences(
    said: Sequence[Word | None], looked: Sequence[Looked], asking: Asking
) -> tuple[bool, list[Doubt]]:
    silent, wall = asking.hearing.silent, asking.wall
    is_late = asyncio.get_running_loop().time() >= asking.deadline
    unheard: list[Doubt] = []
    is_whole = True
    for place, word in enumerate(said):
        # By the node, and not by an escrow: a leg moves, and who has spoken may fail then.
        key = f"{place} {asking.bounds.chain}"
        before = silent.get(key, Silence(has_spoken=False, failed_at=None))
        if word is not None and word.looked is not None:
            silent[key] = Silence(has_spoken=True, failed_at=None)
            continue
        failed_at = wall if before.failed_at is None else before.failed_at
        silent[key] = replace(before, failed_at=failed_at)
        if wall - failed_at >= _SILENT_TELL_SECONDS:
            unheard.append(_silence_of(place, len(looked), asking.bounds))
        if wall - failed_at > _SILENCE_SECONDS:
            continue
        # One that spoke a moment ago may have spoken against it.
        has_had_time = is_late or word is not None
        if asking.others_seconds is None or before.has_spoken or not has_had_time:
            is_whole = False
    return is_whole, unheard


def _silence_of(place: int, heard: int, bounds: Bounds) -> Doubt:
    others = f"{heard} of {bounds.nodes} {'is' if heard == 1 else 'are'} heard"
    sentence = f"{name_of(place, bounds)} does not answer; {others}"
    return Doubt("node_silent", sentence, place)


async def _look_at(node: Node, place: int, asking: Asking) -> Looked:
    """One node's look, held against memory by what the same node shows of the blocks."""
    memory, bounds = asking.memory, asking.bounds
    try:
        async with asyncio.timeout_at(asking.deadline):
            look = await node.look([asking.watched, *asking.former])
    except TimeoutError as error:
        sentence = f"{name_of(place, bounds)} did not answer in time"
        raise Refusal("chain_timeout", sentence) from error
    shown, *former = (
        _proven(facts, escrow.terms.hashlock)
        for facts, escrow in zip(look.facts, (asking.watched, *asking.former), strict=True)
    )
    withdrawn = withdrawn_by(shown, memory)
    if not withdrawn or await _proves_change(node, look.heads, withdrawn, asking):
        return Looked(Answer(place, look.heads, shown, False), tuple(former), ())
    held = held_against(shown, withdrawn, asking.watched.required_confirmations)
    # An open escrow leaves more to be done: a try too many costs a fee.
    is_open = "funded" not in withdrawn
    kept = shown if is_open else replace(remembered(memory), secret=shown.secret)
    answer = Answer(place, look.heads, held or kept, held is None)
    return Looked(answer, tuple(former), tuple(withdrawn))


def _proven(facts: EscrowFacts, hashlock: str) -> EscrowFacts:
    """A preimage proves itself, and no node's word makes another text one: what is taken for the
    secret is never forgotten, and claims are made of it.
    """
    try:
        is_one = facts.secret is not None and opens(facts.secret, hashlock)
    except ValueError:
        is_one = False
    return facts if is_one or facts.secret is None else replace(facts, secret=None)


async def _proves_change(
    node: Node, heads: Heads, withdrawn: Sequence[Kind], asking: Asking
) -> bool:
    """Whether this node has another block at the height of what it does not show any more."""
    for kind in withdrawn:
        mark = asking.memory.marks.blocks.get(kind)
        if mark is None or heads.height < mark.height:
            return False
        # One too slow to name it has spoken all the same: its denial is not proven.
        found = await _hash_at(node, mark.height, asking.deadline)
        if found is None or found == mark.hash:
            return False
    return True


async def _hash_at(node: Node, height: int, deadline: float) -> str | None:
    try:
        async with asyncio.timeout_at(deadline):
            return await node.block_hash(height)
    except Exception:
        return None


async def _marks_of(nodes: Sequence[Node], answer: Answer, asking: Asking) -> Marks:
    """The hash comes from each node that agrees: one alone could name a block that never was, and
    have a true one refused by it.
    """
    memory, of = asking.memory, len(asking.source.nodes)
    is_alone = len(nodes) == 1 and of > 1
    blocks: dict[Kind, Mark] = {}
    alone: dict[Kind, Place] = {}
    for kind in KINDS:
        found = fact_of(answer.facts, kind)
        if found is None or not found.deep:
            continue
        before = fact_of(memory.facts, kind)
        is_known = before is not None and before.deep and before.txid == found.txid
        known = memory.marks.blocks.get(kind) if is_known else None
        if known is None:
            height = first_block_of(answer.heads, found)
            shown = await _hash_by(nodes, height, asking.deadline)
            known = None if shown is None else Mark(height, shown)
        if known is not None:
            blocks[kind] = known
        here = Place(answer.node, of)
        by = memory.marks.alone.get(kind) if is_known else here
        # One of two that have shown it may be silent by now.
        if is_alone and by == here:
            alone[kind] = here
    return Marks(blocks, alone)


async def _hash_by(nodes: Sequence[Node], height: int, deadline: float) -> str | None:
    """The hash that all of them name, if any says one."""
    asked = await asyncio.gather(*(_hash_at(each, height, deadline) for each in nodes))
    hashes = {each for each in asked if each}
    return hashes.pop() if len(hashes) == 1 else None
