"""A payment from own coins pays the escrow exactly, and nobody but its payer the rest."""

from __future__ import annotations

import pytest

from parley.chains import bitcoin_payment
from parley.chains.bitcoin import addresses_of_public_key, parse_address, public_key_of
from parley.chains.bitcoin_psbt import Input, Output, Unsigned
from parley.chains.crypto import compact_of, hash160, verify_compact
from parley.chains.errors import ChainError
from parley.chains.terms import EscrowOutput

from .vectors import load

KEY = bytes([7]) * 32
ESCROW = next(
    case["escrow"]["address"]
    for case in load("escrows")["escrows"]
    if case["name"] == "Bitcoin on regtest"
)
COINS = [EscrowOutput(f"{at:02x}" * 32, at, 40_000 * at) for at in (1, 2, 3)]


def _pay(amount: int, rate: float = 2) -> bitcoin_payment.Payment:
    return bitcoin_payment.pay(KEY, COINS, ESCROW, amount, "regtest", rate)


def _witnesses(raw: bytes, count: int) -> list[list[bytes]]:
    """The signature and the key of each input, which stand before the lock time."""
    found: list[list[bytes]] = []
    end = len(raw) - 4
    for _ in range(count):
        key = raw[end - 33 : end]
        length = next(each for each in (70, 71, 72) if raw[end - 35 - each] == each)
        found.append([raw[end - 34 - length : end - 34], key])
        end -= 36 + length
    return found[::-1]


@pytest.mark.parametrize("amount", [100_000, 119_500, 200_000])
def test_it_pays_one_output_of_exactly_the_amount_and_the_change_to_its_payer(amount: int) -> None:
    paid = _pay(amount)
    chosen = sorted(COINS, key=lambda each: -each.amount)
    spent = next(
        chosen[:count]
        for count in (1, 2, 3)
        if sum(each.amount for each in chosen[:count]) >= amount + paid.fee_sats
    )
    own = addresses_of_public_key(public_key_of(KEY), "regtest")["p2wpkh"]
    outputs = [Output(parse_address(ESCROW, "regtest").script, amount)]
    if paid.change_sats:
        outputs.append(Output(parse_address(own, "regtest").script, paid.change_sats))
    inputs = tuple(
        Input(bytes.fromhex(each.txid)[::-1] + each.vout.to_bytes(4, "little"), 0xFFFFFFFD)
        for each in spent
    )
    tx = Unsigned(2, 0, inputs, tuple(outputs))
    assert sum(each.amount for each in spent) == amount + paid.fee_sats + paid.change_sats
    assert tx.txid() == paid.signed.txid
    raw = bytes.fromhex(paid.signed.raw)
    witnesses = _witnesses(raw, len(inputs))
    assert tx.encoded(witnesses) == raw
    script = b"\x76\xa9\x14" + hash160(witnesses[0][1]) + b"\x88\xac"
    for at, (coin, (signature, key)) in enumerate(zip(spent, witnesses, strict=True)):
        digest = tx.sighash(at, script, coin.amount)
        assert verify_compact(key, digest, compact_of(signature[:-1])) and signature[-1] == 1


def test_change_below_dust_goes_to_the_fee() -> None:
    paid = _pay(119_500)
    assert (paid.change_sats, paid.fee_sats) == (0, 500)


def test_coins_that_are_too_few_pay_nothing() -> None:
    with pytest.raises(ChainError, match="3 coins hold 240000 sats") as refused:
        _pay(240_000)
    assert refused.value.code == "nothing_there"
    with pytest.raises(ChainError, match="an output needs 330 sats, not 329"):
        _pay(329)
