"""Giving a swap up. This side's word is kept before it leaves: from then on nothing is funded, and
no undecided secret is shown. The other side's release brings the own leg back before its timelock.

Source: `packages/sdk/settle/giving-up.ts`. This package signs nothing
together with the other key of a Taproot escrow: such a leg goes back from its timelock on.
"""

from __future__ import annotations

from ..errors import ParleyApiError, Refusal
from ..verify.release import verify_release
from .context import Context
from .gates import release_gate
from .market import asked, keep_word
from .nodes import Material
from .polling import snapshot
from .record import Released, SetLeg, kept_now, watched_of
from .send import due, kept_too_long, send_to_all, send_waiting

#: Each after twice the pause: 17 minutes in all. The leg goes back from its timelock all the same.
MOST_TRIES = 10


def _rests(context: Context) -> bool:
    """By the own clock; one that was set back makes no pause longer."""
    releasing, wall = context.releasing, context.last_wall or 0
    if releasing.tries > 0 and abs(wall - releasing.tried_at) < 2**releasing.tries:
        return True
    releasing.tried_at = wall
    return False


async def take_wish(context: Context) -> None:
    """A person's wish is kept. It comes too late once the secret is public."""
    record = context.record
    is_kept = record.given_up is not None and record.given_up.by_person
    if is_kept or not context.options.gives_up():
        return
    if record.public_secret is None:
        await keep_word(context, by_person=True)
        return
    text = "the secret is public: the swap goes on, and claims"
    context.waits(record.gets, text)


async def take_released(context: Context) -> None:
    """The other side's word, as the market has it. By the wish a side that has funded nothing gives
    up too. A release is kept once the own nodes say that the contract takes it.
    """
    record, heard = context.record, context.heard
    word = heard.release
    if word is None:
        return
    is_free = not record.may_be_funded and not record.restored and record.public_secret is None
    if is_free and record.given_up is None:
        await keep_word(context)
    leg, signature = context.own_leg, word.get("signature")
    family = context.family_of(leg.chain)
    if not isinstance(signature, str) or family not in ("evm", "tron"):
        return
    is_known = record.released is not None and record.released.signature == signature
    if is_known or heard.refused == signature:
        return
    source = context.source_of(leg.chain)
    try:
        await source.in_turn(lambda node: node.check_release(leg.terms, signature), context.seconds)
    except Refusal as error:
        if error.code != "bad_signature":
            raise
        heard.refused = signature
        text = f"a release that opens nothing: {error}"
        context.emit("market_lied", leg.name, text)
        return
    await context.keep(released=Released(leg.address, signature))
    context.emit("released", leg.name, f"the other side has released leg {leg.name}")


async def tell_wish(context: Context) -> None:
    """Tells the market, which lets nothing be funded from then on."""
    if not _rests(context):
        await _told(context, None)


async def _told(context: Context, signature: str | None) -> bool:
    """Whether the market takes it, or is gone."""
    market, leg = context.market, context.record.gets
    context.releasing.tries += 1
    if market is None:
        return True
    try:
        await asked(lambda: market.release_leg(context.swap_id, leg, signature=signature))
    except ParleyApiError as error:
        context.emit("market_refused", leg, str(error), None, error.code)
        return error.silent
    await keep_word(context, told="wish" if signature is None else "release")
    return True


async def release(context: Context) -> None:
    """Releases the leg that pays this side."""
    leg, given_up = context.paying_leg, context.record.given_up
    if _rests(context):
        return
    if leg.terms.form == "p2tr":
        await _leave_to_time(context, leg)
        return
    if given_up is not None and given_up.signature is not None:
        await _told(context, given_up.signature)
        return
    sent = None if given_up is None else given_up.sent
    if sent is not None and not kept_too_long(context, leg, sent):
        if due(context, leg, sent):
            context.releasing.tries += 1
            await send_waiting(context, leg, sent, send_to_all)
        return
    await _may_release(context)
    await keep_word(context)
    source, escrow = context.source_of(leg.chain), watched_of(context.record, leg.name)
    built = await source.in_turn(lambda node: node.build_release(escrow), context.seconds)
    verify_release(built, leg.terms, source.view)
    try:
        await _signed(context, leg, built)
    except Exception as error:
        # A wallet that signs it wrongly ends no run: the leg goes back from its timelock on.
        context.waits(leg.name, f"leg {leg.name} is not released: {error}")


async def _leave_to_time(context: Context, leg: SetLeg) -> None:
    given_up = context.record.given_up
    if given_up is not None and given_up.told is None and context.market is not None:
        await _told(context, None)
        return
    context.releasing.tries = MOST_TRIES
    text = f"leg {leg.name} goes back to its funder from its timelock on"
    context.waits(leg.name, text)


async def _may_release(context: Context) -> None:
    """By both chains once more, and by every node of them."""
    seen = await snapshot(context)
    release_gate(seen.state, context.record.gets, seen.clocks)


async def _signed(context: Context, leg: SetLeg, built: Material) -> None:
    wallet, source = context.wallet_of(leg.chain), context.source_of(leg.chain)
    context.releasing.tries += 1
    if built.get("sign") == "typed-data":
        signature = await wallet.sign_text(built)
        if signature is None:
            context.releasing.tries = MOST_TRIES
            return
        await source.in_turn(lambda node: node.check_release(leg.terms, signature), context.seconds)
        await keep_word(context, signature=signature)
        context.emit("released", leg.name, f"gives leg {leg.name} back to its funder")
        await _told(context, signature)
        return
    # The market knows whether another device has shown the secret there.
    given_up = context.record.given_up
    is_known = given_up is not None and given_up.told is not None
    if not is_known and not await _told(context, None):
        return
    sent = kept_now(await wallet.sign_spend(source, leg.terms, built))
    await keep_word(context, sent=sent)
    context.emit("released", leg.name, f"sends leg {leg.name} back to its funder", sent.txid)
    await send_waiting(context, leg, sent, send_to_all)
