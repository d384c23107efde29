"""Reads a swap from the customer's own chains. With the secret public a silent chain holds up
nothing on the other one. Source: `packages/sdk/settle/chains.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..errors import Refusal
from ..verify.deadlines import LegName
from .context import Context, loop_time
from .observe import OTHERS_SECONDS, Asking, observe
from .record import (
    LegSeen,
    Seen,
    doubts_of,
    former_of,
    leg_of,
    leg_with,
    memory_of,
    seen_of,
    watched_of,
)
from .swap import Clocks

LEGS: tuple[LegName, LegName] = ("a", "b")
#: For the other nodes before something is begun: as long as to name their heads.
_GATE_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Poll:
    """``fresh``: legs that were read just now; ``legs``: those, and others as they were last."""

    wall: int
    fresh: Mapping[LegName, LegSeen]
    legs: Mapping[LegName, LegSeen]
    errors: Mapping[LegName, Exception]


async def poll(context: Context) -> Poll:
    """Waits for both chains; with the secret public for one, and a moment for the other."""
    tasks = [_read_of(context, name) for name in LEGS]
    if context.record.public_secret is None:
        await asyncio.wait(tasks)
    else:
        _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if pending:
            await asyncio.wait(pending, timeout=context.options.poll_seconds)
    fresh: dict[LegName, LegSeen] = {}
    errors: dict[LegName, Exception] = {}
    for name in LEGS:
        task = context.reads.get(name)
        if task is None or not task.done():
            continue
        del context.reads[name]
        context.last_seen.pop(name, None)
        failure = task.exception()
        if failure is None:
            fresh[name] = context.last_seen[name] = task.result()
        elif isinstance(failure, Exception):
            errors[name] = failure
        else:
            raise failure
    return Poll(await context.now(), fresh, dict(context.last_seen), errors)


def _read_of(context: Context, name: LegName) -> asyncio.Task[LegSeen]:
    begun = context.reads.get(name)
    if begun is None:
        begun = asyncio.create_task(read_leg(context, name))
        context.reads[name] = begun
    return begun


async def snapshot(context: Context) -> Seen:
    """The present state of both chains. Raises ``sources_disagree`` where nothing may begin."""
    a, b = await asyncio.gather(*(read_leg(context, each, _GATE_SECONDS) for each in LEGS))
    return _sure(context, seen_of(context.record, a, b, await context.now()))


def _sure(context: Context, seen: Seen) -> Seen:
    """With a public secret nothing waits for nodes to agree."""
    if seen.doubt is None or context.record.public_secret is not None:
        return seen
    raise Refusal("sources_disagree", f"no step begins now: {seen.doubt}")


async def refreshed(context: Context, seen: Seen, name: LegName) -> Seen:
    """The same with one leg read anew."""
    found = await read_leg(context, name, _GATE_SECONDS)
    state, clocks = seen.state, seen.clocks
    secret = state.secret or found.leg.facts.secret
    is_a = name == "a"
    a, b = (found.leg, state.b) if is_a else (state.a, found.leg)
    times = (found.clock, clocks.b) if is_a else (clocks.a, found.clock)
    doubts = doubts_of(found)
    now = Clocks(await context.now(), *times)
    doubt = doubts[0] if doubts else None
    return _sure(context, Seen(replace(state, a=a, b=b, secret=secret), now, doubt))


async def read_leg(
    context: Context, name: LegName, others_seconds: float | None = OTHERS_SECONDS
) -> LegSeen:
    """``others_seconds``: for other nodes once one has answered; None: for each the whole limit."""
    record = context.record
    source = context.source_of(leg_of(record, name).chain)
    watched = watched_of(record, name)
    wall = context.last_wall if context.last_wall is not None else await context.now()
    asking = Asking(
        source=source,
        watched=watched,
        former=former_of(record, name),
        memory=memory_of(record, watched.address),
        hearing=context.hearing,
        wall=wall,
        now=context.now,
        deadline=loop_time() + context.seconds,
        others_seconds=others_seconds,
    )
    observed = await observe(asking)
    evidence = observed.evidence
    # Each leg takes the clock, among those of its nodes, that ends nothing too early.
    clock = observed.latest if name == record.gives else evidence.earliest
    family = source.view.family
    is_strayed = evidence.strayed is not None
    leg = leg_with(record, name, observed.facts, family, strayed=is_strayed)
    return LegSeen(leg, clock, evidence)
