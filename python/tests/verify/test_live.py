"""Swaps of a live market, driven from Python: transactions that are verified and signed here are
taken there.

``PARLEY_TEST_SWAPS=all``: every family in both directions, of coins and tokens, and refunds, which moves
the clocks of the dev network. The soak asks for it. Without it the trade of the README is the one that is
live (``test_readme.py``).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import httpx
import pytest

from parley.client import ParleyClient

from ..conftest import given
from .sides import Ground, agreed, ground, settle, side

ALL = os.environ.get("PARLEY_TEST_SWAPS") == "all"
#: The coin that the taker gives, and the coin that it gets.
PAIRS = [
    ("bitcoin", "evm"),
    ("evm token", "bitcoin"),
    ("bitcoin", "tron token"),
    ("solana", "bitcoin"),
    ("tron", "solana token"),
    ("evm", "tron"),
    ("solana token", "evm token"),
]
pytestmark = pytest.mark.anyio


@pytest.fixture
async def on(market: ParleyClient) -> AsyncIterator[Ground]:
    async with httpx.AsyncClient(timeout=30) as http:
        yield await ground(market, http, given("PARLEY_TEST_DEV"))


if ALL:

    @pytest.mark.parametrize(("b", "a"), PAIRS)
    async def test_a_swap_driven_from_python_settles(on: Ground, b: str, a: str) -> None:
        taker, maker = await side(on, b, a), await side(on, a, b)
        initiator, counterparty = await agreed(taker, maker, b, a)
        shown = await settle(initiator, counterparty)
        assert shown.legs.a.claim_tx is not None and shown.legs.b.claim_tx is not None
        for leg in (shown.legs.a, shown.legs.b):
            is_taproot = leg.redeem_script is not None and leg.redeem_script.startswith("tr(")
            assert is_taproot == leg.chain.startswith("bitcoin")

    @pytest.mark.parametrize(
        ("b", "a"), [("bitcoin", "evm token"), ("solana token", "tron"), ("tron token", "solana")]
    )
    async def test_a_swap_that_stops_is_refunded_from_python(on: Ground, b: str, a: str) -> None:
        taker, maker = await side(on, b, a), await side(on, a, b)
        initiator, counterparty = await agreed(taker, maker, b, a)
        await initiator.fund()
        await counterparty.until_status("initiator_funded")
        await counterparty.fund()
        shown = await initiator.until_status("counterparty_funded")
        last = max(shown.deadlines.refund_at.a, shown.deadlines.refund_at.b)
        await on.control("time", {"seconds": last + 7_200 - await on.now()})
        for own in (initiator, counterparty):
            await own.refund()
        await initiator.until_status("refunded")
