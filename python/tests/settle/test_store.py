"""The store on disk: what it keeps is private, whole, and never written over where that loses money."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from parley.chains.bitcoin_payment import pay, read_payment
from parley.chains.evm import EvmTransaction, address_of_key, read_transaction, sign_transaction
from parley.chains.terms import Destination, EscrowOutput
from parley.chains.tron import Envelope, TronCall, address_of_key as tron_address
from parley.chains.tron import expiration_of, tron_transaction
from parley.errors import SettleError
from parley.settle import FileStore, new_hashlock
from parley.verify import OwnTrade, PinnedAsset

pytestmark = pytest.mark.anyio
SECRET, HASHLOCK = "00" * 32, "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"


def trade() -> OwnTrade:
    coins = PinnedAsset("one", "evm-dev", None, 18), PinnedAsset("two", "solana-dev", None, 9)
    home = Destination("here")
    return OwnTrade(
        party="taker", rfq_id="rfq", thread_id="thread", maker_id="maker", taker_id="taker",
        direction="sell_base", base=coins[0], base_amount=2**255, quote=coins[1], quote_amount=7,
        hashlock=HASHLOCK, accepted_at=1_800_000_000, refund_to=home, pay_to=home,
    )  # fmt: skip


async def test_a_secret_is_private_and_never_written_over(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "swaps")
    await store.put_secret(HASHLOCK, SECRET)
    await store.put_secret(HASHLOCK, SECRET)
    for other in ("11" * 32, "00" * 31):
        with pytest.raises(SettleError):
            await store.put_secret(HASHLOCK, other)
    assert await FileStore(tmp_path / "swaps").get_secret(HASHLOCK) == SECRET
    made = await new_hashlock(store)
    assert await store.get_secret(made) is not None
    for folder, _, files in os.walk(tmp_path / "swaps"):
        assert Path(folder).stat().st_mode & 0o777 == 0o700
        for each in files:
            assert (Path(folder) / each).stat().st_mode & 0o777 == 0o600


async def test_a_trade_comes_back_as_it_was_and_what_is_unreadable_is_left(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await store.put_trade(trade())
    assert await store.get_trade("thread") == trade()
    (tmp_path / "trades" / "thread").write_text("{}")
    with pytest.raises(SettleError, match="keep it as it is"):
        await store.get_trade("thread")
    for bad in ("../thread", "a" * 65, ""):
        with pytest.raises(SettleError):
            await store.get_swap(bad)


async def test_ids_that_differ_in_case_are_two_files_on_any_disk(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for thread_id in ("Ab", "ab"):
        await store.put_trade(replace(trade(), thread_id=thread_id))
    names = os.listdir(tmp_path / "trades")
    assert len({each.lower() for each in names}) == 2
    held = await store.get_trade("Ab")
    assert held is not None and held.thread_id == "Ab"
    for each in names:
        (tmp_path / "swaps" / each).touch()
    assert await store.swap_ids() == ["Ab", "ab"]
    (tmp_path / "trades" / "+ab").rename(tmp_path / "trades" / "Ab")
    assert await store.get_trade("Ab") == held, "as an older version has named it"
    (tmp_path / "swaps" / "+ab").rename(tmp_path / "swaps" / "Ab")
    assert await store.swap_ids() == ["Ab", "ab"]


async def test_one_run_has_a_swap_at_a_time(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    lock = store.lock("swap")
    assert lock is not None
    assert FileStore(tmp_path).lock("swap") is None
    assert store.lock("another") is not None
    lock.release()
    assert store.lock("swap") is not None


def test_signed_bytes_are_read_back() -> None:
    key = b"\x01" * 32
    call = EvmTransaction(1, 7, address_of_key(key), b"\x02" * 60, 5, 90_000, 300, 2)
    assert read_transaction(sign_transaction(key, call).raw) == call
    paid = pay(key, [EscrowOutput("ab" * 32, 1, 90_000)], ADDRESS, 50_000, "regtest", 2.0)
    read = read_payment(paid.signed.raw)
    assert read.inputs == (("ab" * 32, 1),)
    assert [amount for _, amount in read.outputs] == [50_000, paid.change_sats]
    assert abs(paid.fee_sats / read.vsize - 2) < 0.1
    home = tron_address(key)
    envelope = Envelope("0001", "00" * 8, 1_800_000_000_000, 1_700_000_000_000, 10**8)
    made = tron_transaction(TronCall(home, home, b"\x03" * 40, 1), envelope)
    assert expiration_of(made["raw_data_hex"]) == envelope.expiration


ADDRESS = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
