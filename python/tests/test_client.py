"""The client against the market: answers are typed, refusals have codes, a repeat does nothing
twice.
"""

import uuid
from datetime import UTC, datetime

import pytest

from parley import models as m
from parley.client import ParleyClient
from parley.errors import ParleyApiError
from parley.hashlock import hashlock_of, new_secret

from .customers import ask, customer, pair

pytestmark = pytest.mark.anyio


async def test_a_trade_is_agreed_by_two_customers_in_typed_calls(market: ParleyClient) -> None:
    (taker, _), (maker, _) = await customer(market), await customer(market)
    base, quote = await pair(market)
    assert base.chain != quote.chain and base.decimals == 8
    rfq = await ask(taker, base, quote)
    assert (rfq.base_amount, rfq.ask_amount, rfq.status) == (100_000, None, "open")
    assert rfq.expires_at > datetime.now(UTC)
    thread = (await maker.quote_rfq(rfq.id, quote_amount=2 * 10**16)).thread
    assert thread.quote_amount == 2 * 10**16
    secret = new_secret()
    hashlock = hashlock_of(secret)
    parties = {"maker": maker, "taker": taker}
    sides = ("maker", "taker") if thread.initiator == "maker" else ("taker", "maker")
    replies = [
        await parties[side].accept_price(
            thread.id,
            quote_amount=thread.quote_amount,
            hashlock=hashlock if side == thread.initiator else None,
        )
        for side in sides
    ]
    swap = replies[1].swap
    assert swap is not None and swap.hashlock == hashlock and swap.secret is None
    assert {swap.legs.a.amount, swap.legs.b.amount} == {100_000, 2 * 10**16}
    read = await taker.get_swap(swap.id)
    assert read.id == swap.id and read.next
    assert [each.id for each in (await maker.list_swaps()).swaps] == [swap.id]


async def test_a_list_goes_on_by_its_cursor_and_queries_are_written_as_the_market_reads_them(
    market: ParleyClient,
) -> None:
    taker, _ = await customer(market)
    base, quote = await pair(market)
    asked = {(await ask(taker, base, quote)).id for _ in range(3)}
    first = await taker.list_rfqs(own=True, limit=2)
    assert first.next_cursor is not None
    rest = await taker.list_rfqs(own=True, limit=2, cursor=first.next_cursor)
    assert {each.id for each in [*first.rfqs, *rest.rfqs]} == asked
    priced = await taker.get_pair(
        direction="sell_base",
        base_asset_id=base.id,
        quote_asset_id=quote.id,
        base_amount=100_000,
    )
    assert priced.legs.a.chain in (base.chain, quote.chain)
    for each in asked:
        await taker.cancel_rfq(each)


async def test_a_refusal_has_status_code_and_sentence(market: ParleyClient) -> None:
    taker, _ = await customer(market)
    with pytest.raises(ParleyApiError) as refused:
        await taker.get_rfq(str(uuid.uuid4()))
    assert (refused.value.status, refused.value.code) == (404, "unknown_rfq")
    assert not refused.value.unreachable
    with pytest.raises(ParleyApiError) as missing:
        await market.get_me()
    assert missing.value.status == 401
    with pytest.raises(ParleyApiError) as wrong:
        await market.with_key("parley_test_none").get_me()
    assert (wrong.value.status, wrong.value.code) == (401, "key_invalid")


async def test_one_idempotency_key_is_one_effect(market: ParleyClient) -> None:
    taker, _ = await customer(market)
    base, quote = await pair(market)
    key = str(uuid.uuid4())

    async def create(amount: int) -> m.RfqReply:
        return await taker.create_rfq(
            direction="sell_base",
            base_asset_id=base.id,
            base_amount=amount,
            quote_asset_id=quote.id,
            ttl_seconds=600,
            idempotency_key=key,
        )

    assert (await create(100_000)) == (await create(100_000))
    assert len((await taker.list_rfqs(own=True)).rfqs) == 1
    with pytest.raises(ParleyApiError) as other:
        await create(100_001)
    assert (other.value.status, other.value.code) == (422, "key_reused")


async def test_a_malformed_request_is_refused_before_it_is_sent(market: ParleyClient) -> None:
    for amount in (-1, 1.5, True, "1e5"):
        with pytest.raises(ValueError, match="whole number of base units"):
            await market.quote_rfq("x", quote_amount=amount)  # type: ignore[arg-type]
    for id in ("", ".", ".."):
        with pytest.raises(ValueError, match="is no id"):
            await market.get_swap(id)
    with pytest.raises(ParleyApiError) as strange:
        await (await customer(market))[0].get_swap("../me?x=/")
    assert strange.value.status in (400, 404)
