"""An acceptance said again, as after a crash: it is the first one, with its secret and its moment."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from parley.agree import Terms, _must_not_have_begun, accept
from parley.errors import SettleError
from parley.settle import FileStore, Options

from ..verify.test_swaps import trade_of
from ..verify.vectors import load, view_of

pytestmark = pytest.mark.anyio
CASE = load("threads")["threads"][0]
TRADE = trade_of(CASE["trade"])


@pytest.mark.parametrize("has_accepted", [True, False])
async def test_an_acceptance_that_stands_keeps_its_moment_and_its_secret(
    tmp_path: Path, has_accepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str | None] = []
    thread = SimpleNamespace(
        rfq_id=TRADE.rfq_id, maker_id=TRADE.maker_id, taker_id=TRADE.taker_id,
        swap_id=None, taker_accepted=False, maker_accepted=True,
    )  # fmt: skip

    async def get_thread(_: str) -> Any:
        return thread

    async def get_me() -> Any:
        return SimpleNamespace(user_id=TRADE.taker_id)

    async def accept_price(*_: object, hashlock: str | None, **__: object) -> None:
        said.append(hashlock)
        thread.taker_accepted = has_accepted

    monkeypatch.setattr("parley.agree.verify_thread", lambda _, trade, *__: trade)
    market = SimpleNamespace(get_thread=get_thread, get_me=get_me, accept_price=accept_price)
    homes = {TRADE.base.chain: TRADE.refund_to, TRADE.quote.chain: TRADE.pay_to}
    chains = {
        each["chain"]: SimpleNamespace(
            source=SimpleNamespace(view=view_of(each)),
            wallet=SimpleNamespace(destination=homes[each["chain"]]),
        )
        for each in CASE["views"]
    }
    terms = Terms(
        "taker", TRADE.direction, TRADE.base, TRADE.base_amount, TRADE.quote, TRADE.quote_amount
    )
    times = iter([1_800_000_000, 1_800_000_000, 1_800_000_400, 1_800_000_400])

    async def now() -> int:
        return next(times)

    store, options = FileStore(tmp_path), Options(now=now)
    trades = [
        await accept(cast(Any, market), TRADE.thread_id, terms, cast(Any, chains), store, options)
        for _ in range(2)
    ]
    assert said[0] is not None and said[0] == said[1]
    assert trades[1].accepted_at == (1_800_000_000 if has_accepted else 1_800_000_400)


@pytest.mark.parametrize("same", ["rfq_id", "thread_id", "hashlock", "nothing"])
@pytest.mark.parametrize("begun", [{"by_hand": True}, {"public_secret": "00"}, {}])
async def test_what_has_begun_is_not_agreed_to_again(same: str, begun: dict[str, Any]) -> None:
    other = {"rfq_id": "1", "thread_id": "1", "hashlock": "1"}
    record = SimpleNamespace(
        **{"may_be_funded": False, "public_secret": None, **begun},
        trade=SimpleNamespace(**{**other, same: getattr(TRADE, same, "1")}),
        swap=SimpleNamespace(hashlock=TRADE.hashlock if same == "hashlock" else "1"),
    )
    record.may_be_funded = "by_hand" in begun

    async def swap_ids() -> list[str]:
        return ["swap"]

    async def get_swap(_: str) -> Any:
        return record

    store = cast(Any, SimpleNamespace(swap_ids=swap_ids, get_swap=get_swap))
    if not begun or same == "nothing":
        await _must_not_have_begun(store, TRADE)
        return
    with pytest.raises(SettleError) as refused:
        await _must_not_have_begun(store, TRADE)
    assert refused.value.code == "hashlock_used"
