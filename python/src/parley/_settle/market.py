"""Questions to the market, each with a limit: the chains are read again soon."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar

from ..errors import ParleyApiError, ParleyError, Refusal, SettleError
from ..hashlock import opens
from ..verify.checks import as_json
from .context import Answer, Context, loop_time
from .record import GivenUp

T = TypeVar("T")
#: For the retries too. Far less than any deadline leaves: the shortest time to react is 30 min.
MARKET_SECONDS = 20.0
#: A reveal waits so long for the market's word.
_WORD_SECONDS = 5.0
#: Between two questions for the secret, in pauses between questions to the market.
_PAUSES_BETWEEN = 5
_HEX32 = re.compile(r"[0-9a-f]{64}")


async def asked(ask: Callable[[], Awaitable[T]], seconds: float = MARKET_SECONDS) -> T:
    """Raises ParleyApiError ``no_answer`` when the limit is reached."""
    try:
        async with asyncio.timeout(seconds):
            return await ask()
    except TimeoutError as error:
        message = f"the market took longer than {seconds:g} s"
        raise ParleyApiError(message, status=0, code="no_answer") from error


def swap_in(answer: Answer) -> Mapping[str, Any]:
    """The swap of an answer that has it inside, or is it."""
    said = as_json(answer)
    inside = said.get("swap")
    return inside if isinstance(inside, Mapping) else said


def heard_secret(context: Context) -> str | None:
    """A preimage proves itself: no trust is needed. The answer counts in a later pass."""
    market, heard, record = context.market, context.heard, context.record
    pause = context.options.market_poll_seconds * _PAUSES_BETWEEN
    is_due = not heard.is_asking and loop_time() - heard.asked_at > pause
    may_hold_money = record.may_be_funded or record.restored
    if market is None or not may_hold_money or heard.secret is not None or not is_due:
        return heard.secret
    # Not again before it has answered, or the limit has passed.
    heard.is_asking = True
    context.beside(lambda: _hear(context))
    return None


async def _hear(context: Context) -> None:
    heard, market = context.heard, context.market
    if market is None:
        return
    try:
        swap = swap_in(await asked(lambda: market.get_swap(context.swap_id)))
        heard.is_silent = False
        note_releases(context, swap)
        secret = swap.get("secret")
        if secret is not None:
            if _opens(secret, context.record.swap.hashlock):
                heard.secret = secret
            else:
                text = "the secret that the market shows opens nothing"
                context.emit("market_lied", None, text)
    except Exception as error:
        heard.is_silent = isinstance(error, ParleyApiError) and error.silent
        context.emit("market_refused", None, str(error), None, code_of(error))
    finally:
        heard.is_asking = False
        heard.asked_at = loop_time()


def code_of(error: BaseException) -> str | None:
    found = getattr(error, "code", None)
    return found if isinstance(found, str) else None


def _opens(secret: object, hashlock: str) -> bool:
    is_secret = isinstance(secret, str) and _HEX32.fullmatch(secret) is not None
    return is_secret and opens(str(secret), hashlock)


def note_releases(context: Context, swap: Mapping[str, Any]) -> None:
    """Both sides' words as the market shows them."""
    heard, record = context.heard, context.record
    legs = swap.get("legs")
    if not isinstance(legs, Mapping):
        return
    heard.release = _word_of(legs, record.gives) or heard.release
    heard.own = _word_of(legs, record.gets) or heard.own
    heard.own_is_known = True


def _word_of(legs: Mapping[str, Any], leg: str) -> Mapping[str, Any] | None:
    said = legs.get(leg)
    word = said.get("release") if isinstance(said, Mapping) else None
    return word if isinstance(word, Mapping) else None


async def take_own_word(context: Context) -> None:
    """The word of another device, as the market has it, binds this one until the secret is
    public."""
    own = context.heard.own
    if own is not None:
        await keep_own_word(context, "wish" if own.get("at") is None else "release")


async def keep_own_word(context: Context, told: Literal["wish", "release"]) -> None:
    """That device releases. A market that lies gains no release by this one."""
    record = context.record
    if record.given_up is not None or record.public_secret is not None:
        return
    await context.keep(given_up=_given_up(told))
    text = "this swap was given up on another device of this account"
    context.emit("waiting", None, text)


def _given_up(told: Literal["wish", "release"] | None) -> GivenUp:
    return GivenUp(kept_at=time.time(), by_person=False, told=told)


async def heed_words(context: Context) -> None:
    """A swap that either side has given up is not funded, although the funding is signed."""
    market = context.market
    if market is None:
        return
    note_releases(context, swap_in(await asked(lambda: market.get_swap(context.swap_id))))
    await take_own_word(context)
    record = context.record
    if context.heard.release is None or record.given_up or record.public_secret:
        return
    await context.keep(given_up=_given_up(None))


async def keep_word(context: Context, **change: Any) -> None:
    given_up = context.record.given_up or _given_up(None)
    await context.keep(given_up=replace(given_up, **change))


async def announce(context: Context) -> None:
    """Another device may have given the swap up a moment ago; once this one has announced its
    claim, the market lets none do so. A market that is silent is no reason to wait.
    """
    market, leg = context.market, context.paying_leg.name
    if market is None:
        return
    try:
        await asked(lambda: market.announce_claim(context.swap_id, leg), _WORD_SECONDS)
    except ParleyApiError as error:
        if error.code == "given_up":
            await keep_own_word(context, "wish")
        # A market that refuses is there, and may know of a release.
        elif not error.silent:
            raise
    await take_own_word(context)
    if context.record.given_up is not None:
        sentence = "this swap is given up: a claim now would reveal the secret"
        raise Refusal("given_up", sentence)


async def relay(context: Context, chain: str, raw: str, seconds: float) -> None:
    """The market sends it beside one's own nodes."""
    market = context.market
    if market is None:
        return
    is_tron = raw.startswith("{")
    signed: Any = json.loads(raw) if is_tron else raw
    await asked(lambda: market.broadcast(chain=chain, signed=signed), seconds)


_LONG_WORD = re.compile(r"\S{43,}")
_HEX_WORD = re.compile(r"\b(?:0x)?[0-9a-f]{16,}\b", re.IGNORECASE)
#: Bytes one by one, or in groups, quoted or not.
_BYTES_IN_A_ROW = re.compile(
    r"(?:[\"'`]?\b(?:0x)?[0-9a-f]{1,8}\b[\"'`]?[\s,:]*){8,}", re.IGNORECASE
)
#: Bytes as letters, or as Python and JSON spell them, where a blank parts them: no words at all.
_RAW = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\\(?:x[0-9a-f]{2}|u[0-9a-f]{4})")


async def unquoted(work: Callable[[], Awaitable[T]]) -> T:
    """Does it, and lets it fail in words that hold no more than a few bytes: a node, a disk or a
    library could quote an undecided secret.
    """
    try:
        return await work()
    except (Refusal, SettleError, ParleyApiError):
        raise
    except Exception as error:
        words = str(error) or type(error).__name__
        if _RAW.search(words):
            raise ParleyError("it failed, and not in words") from None
        for each in (_LONG_WORD, _HEX_WORD, _BYTES_IN_A_ROW):
            words = each.sub("…", words)
        raise ParleyError(words) from None
