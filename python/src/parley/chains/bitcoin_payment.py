"""A payment from one's own P2WPKH coins, which is what funds a Bitcoin escrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bitcoin import DUST_SATS, NetworkName, parse_address
from .bitcoin_psbt import SIGHASH_ALL, Input, Output, Unsigned
from .bitcoin_spend import REPLACEABLE_SEQUENCE, SignedBitcoin
from .crypto import der_of, hash160, public_key, sign_compact
from .errors import ChainError
from .terms import EscrowOutput

#: The size of an input: outpoint, empty script and sequence, and a witness of a signature and a
#: key.
_INPUT_VBYTES = 68
#: Version, lock time, counts, and the marker of witnesses.
_BASE_VBYTES = 11
#: One transaction's inputs; the house's own builders stop there too.
_MOST_COINS = 50


@dataclass(frozen=True, slots=True)
class Payment:
    """``fee_sats`` is paid beside the amount; ``change_sats`` comes back to the payer."""

    signed: SignedBitcoin
    fee_sats: int
    change_sats: int


def pay(
    private_key: bytes,
    coins: Sequence[EscrowOutput],
    address: str,
    amount_sats: int,
    network: NetworkName,
    rate_sat_per_vbyte: float,
) -> Payment:
    """Pays ONE output of exactly the amount, largest coins first, and signs it.

    ``coins`` are the P2WPKH outputs of this key. ``nothing_there``: they are too few.
    """
    to = parse_address(address, network)
    if amount_sats < DUST_SATS[to.kind]:
        least = DUST_SATS[to.kind]
        raise ChainError("bad_amount", f"an output needs {least} sats, not {amount_sats}")
    own = b"\x00\x14" + hash160(public_key(private_key))
    size = _BASE_VBYTES + 9 + len(to.script) + 9 + len(own)
    chosen: list[EscrowOutput] = []
    for coin in sorted(coins, key=lambda each: -each.amount)[:_MOST_COINS]:
        chosen.append(coin)
        fee = -(-int(1_000 * rate_sat_per_vbyte * (size + _INPUT_VBYTES * len(chosen))) // 1_000)
        rest = sum(each.amount for each in chosen) - amount_sats - fee
        if rest >= 0:
            break
    else:
        held = sum(each.amount for each in chosen)
        sentence = f"{len(chosen)} coins hold {held} sats: too few for {amount_sats} and the fee"
        raise ChainError("nothing_there", sentence)
    change = rest if rest >= DUST_SATS["p2wpkh"] else 0
    outputs = [Output(to.script, amount_sats)] + ([Output(own, change)] if change else [])
    inputs = tuple(
        Input(
            bytes.fromhex(each.txid)[::-1] + each.vout.to_bytes(4, "little"), REPLACEABLE_SEQUENCE
        )
        for each in chosen
    )
    tx = Unsigned(2, 0, inputs, tuple(outputs))
    return Payment(_signed(private_key, tx, chosen), fee + rest - change, change)


def _signed(private_key: bytes, tx: Unsigned, coins: list[EscrowOutput]) -> SignedBitcoin:
    key = public_key(private_key)
    # BIP 143: the hashed script of P2WPKH is that of the key's P2PKH.
    script = b"\x76\xa9\x14" + hash160(key) + b"\x88\xac"
    witnesses = []
    for at, coin in enumerate(coins):
        signature = sign_compact(private_key, tx.sighash(at, script, coin.amount))
        witnesses.append([der_of(signature) + bytes([SIGHASH_ALL]), key])
    return SignedBitcoin(tx.encoded(witnesses).hex(), tx.txid())


@dataclass(frozen=True, slots=True)
class ReadPayment:
    """``inputs``: ids and places of what it spends. ``outputs``: scripts and satoshis."""

    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[bytes, int], ...]
    vsize: int


def read_payment(raw: str) -> ReadPayment:
    """Reads what one has signed oneself, with witnesses. Throws ``bad_transaction``."""
    data, at = bytes.fromhex(raw), 6

    def take(count: int) -> bytes:
        nonlocal at
        if at + count > len(data):
            raise ChainError("bad_transaction", "the Bitcoin transaction ends early")
        at += count
        return data[at - count : at]

    def number() -> int:
        first = take(1)[0]
        return first if first < 0xFD else int.from_bytes(take(1 << (first - 0xFC)), "little")

    if data[4:6] != b"\x00\x01":
        raise ChainError("bad_transaction", "the Bitcoin transaction has no witnesses")
    inputs: list[tuple[str, int]] = []
    for _ in range(number()):
        outpoint = take(36)
        inputs.append((outpoint[:32][::-1].hex(), int.from_bytes(outpoint[32:], "little")))
        take(number())
        take(4)
    outputs: list[tuple[bytes, int]] = []
    for _ in range(number()):
        amount = int.from_bytes(take(8), "little")
        outputs.append((take(number()), amount))
    # Witnesses and their marker weigh a quarter.
    light = len(data) - at - 4 + 2
    vsize = -(-(4 * (len(data) - light) + light) // 4)
    return ReadPayment(tuple(inputs), tuple(outputs), vsize)
