"""Sending what was kept. Bytes are kept before they are sent, and at most one version is mined.

Source: `packages/sdk/settle/send.ts`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable

from ..errors import ParleyApiError, Refusal
from .context import Context, loop_time
from .market import MARKET_SECONDS, heed_words, relay
from .record import Kept, SetLeg

#: A transaction that nobody shows is sent again after so long, through one's own nodes.
_RESEND_SECONDS = 5.0
#: The market relays beside one's own nodes: it is not worth much waiting.
_RELAY_SECONDS = 5.0
_FEE_TOO_LOW = re.compile(r"min(imum)? (relay )?fee|insufficient fee|fee too low|underpriced", re.I)


def due(context: Context, leg: SetLeg, kept: Kept) -> bool:
    last = context.sent_at.get(kept.txid)
    after = min(_RESEND_SECONDS, context.patience(context.family_of(leg.chain)))
    return last is None or loop_time() - last > after


def looked_after(context: Context, kept: Kept) -> None:
    context.sent_at[kept.txid] = loop_time()


def overdue(context: Context, leg: SetLeg, txid: str, kept_at: float | None = None) -> bool:
    """Counted from when it was kept: a restart is no reason to wait anew."""
    now = loop_time()
    # A clock that was set back must not make a wait longer than it is known to be.
    before = 0.0 if kept_at is None else max(0.0, time.time() - kept_at)
    since = context.waits_since.setdefault(txid, now - before)
    return now - since > context.patience(context.family_of(leg.chain))


def kept_too_long(context: Context, leg: SetLeg, kept: Kept) -> bool:
    return overdue(context, leg, kept.txid, kept.kept_at)


def wait_anew(context: Context, txid: str) -> None:
    context.waits_since[txid] = loop_time()


Sender = Callable[[Context, SetLeg, Kept], Awaitable[None]]


async def send(context: Context, leg: SetLeg, kept: Kept) -> None:
    """First through the market, then by one's own nodes. Claims and refunds go to all."""
    if context.market is not None and kept.txid not in context.sent_at:
        looked_after(context, kept)
        try:
            await relay(context, leg.chain, kept.raw, MARKET_SECONDS)
            return
        except ParleyApiError as error:
            context.emit("market_refused", leg.name, str(error))
            if error.code == "given_up":
                # Another device may have released what would pay for it.
                context.sent_at.pop(kept.txid, None)
                await heed_words(context)
                raise
    await send_alone(context, leg, kept)


async def send_to_all(context: Context, leg: SetLeg, kept: Kept) -> None:
    """A claim shows the secret to whoever gets it: no answer of the market ends the sending."""
    own, theirs = await asyncio.gather(
        send_alone(context, leg, kept),
        relay(context, leg.chain, kept.raw, _RELAY_SECONDS),
        return_exceptions=True,
    )
    if isinstance(theirs, Exception):
        context.emit("market_refused", leg.name, str(theirs))
    if isinstance(own, BaseException):
        raise own


async def send_alone(context: Context, leg: SetLeg, kept: Kept) -> None:
    looked_after(context, kept)
    kept_too_long(context, leg, kept)
    await context.source_of(leg.chain).broadcast(kept.raw, context.seconds)


async def send_waiting(context: Context, leg: SetLeg, kept: Kept, by: Sender = send) -> None:
    """A refusal changes nothing by itself: the next pass asks what became of it."""
    try:
        await by(context, leg, kept)
    except Refusal as error:
        if error.code != "refused_by_node":
            raise
        # No pool holds it: waiting longer at this fee is of no use.
        if _FEE_TOO_LOW.search(str(error)):
            context.waits_since[kept.txid] = float("-inf")
        context.waits(leg.name, str(error), kept.txid)
