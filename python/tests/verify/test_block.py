"""A block is read where its bytes are those of the hash that was asked for, and not otherwise."""

import httpx
import pytest

from parley.chains.bitcoin_block import read_block
from parley.chains.crypto import sha256d
from parley.chains.terms import BitcoinView, ContractDeployment, EvmView, TronView
from parley.errors import Refusal
from parley.nodes import BitcoinNode, EvmNode, TronNode

# Bitcoin Core, src/kernel/chainparams.cpp.
GENESIS = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
HEADER = bytes.fromhex(
    f"01000000{'00' * 32}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a"
    "29ab5f49ffff001d1dac2b7c"
)
COINBASE = bytes.fromhex(
    f"0100000001{'00' * 32}ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f323030392043"
    "68616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73"
    "ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61"
    "deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"
)


def spending(coin: int, item: bytes | None) -> bytes:
    """``item``: its witness; None leaves it out."""
    body = b"\1" + bytes([coin] * 36) + b"\0" + b"\xff" * 4 + b"\1" + bytes(9)
    if item is None:
        return b"\2\0\0\0" + body + bytes(4)
    return b"\2\0\0\0\0\1" + body + b"\1" + bytes([len(item)]) + item + bytes(4)


def coinbase(commitment: bytes, is_segwit: bool = True) -> bytes:
    output = bytes(8) + b"\x26" + bytes.fromhex("6a24aa21a9ed") + commitment
    body = b"\1" + bytes(32) + b"\xff" * 4 + b"\0" + b"\xff" * 4 + b"\1" + output
    if not is_segwit:
        return b"\1\0\0\0" + body + bytes(4)
    return b"\1\0\0\0\0\1" + body + b"\1\x20" + bytes(32) + bytes(4)


def root(one: bytes, two: bytes, three: bytes) -> bytes:
    return sha256d(sha256d(one + two) + sha256d(three + three))


def raw(header: bytes, *txs: bytes) -> bytes:
    return header + bytes([len(txs)]) + b"".join(txs)


A, B = spending(7, b"secret"), spending(8, None)
TOP = coinbase(sha256d(root(bytes(32), sha256d(A), sha256d(B)) + bytes(32)))
BARE = coinbase(TOP[TOP.index(b"\xaa\x21\xa9\xed") + 4 :][:32], is_segwit=False)
LIKE = bytes(36) + root(sha256d(BARE), sha256d(spending(7, None)), sha256d(B)) + bytes(12)
HASH = sha256d(LIKE)[::-1].hex()


def test_a_block_is_read_where_it_is_whole() -> None:
    (first,) = read_block(raw(HEADER, COINBASE), GENESIS)
    assert first.txid == "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
    assert (first.is_coinbase, first.outputs[0].amount) == (True, 5_000_000_000)
    _, spent, _ = read_block(raw(LIKE, TOP, A, B), HASH)
    assert spent.shown() == {
        "txid": sha256d(spending(7, None))[::-1].hex(),
        "vin": [{"txid": "07" * 32, "vout": 0x07070707, "txinwitness": [b"secret".hex()]}],
        "vout": [{"n": 0, "value": 0.0, "scriptPubKey": {"hex": ""}}],
    }


SEGWIT = COINBASE[:4] + b"\0\1" + COINBASE[4:-4] + b"\0" + COINBASE[-4:]


@pytest.mark.parametrize(
    ("lie", "asked", "why"),
    [
        (raw(LIKE, TOP, A, B), GENESIS, f"asked for block {GENESIS}, it gave block {HASH}"),
        (raw(LIKE, TOP, A, B, B), HASH, "repeats transactions"),
        (raw(LIKE, TOP, A), HASH, "has the Merkle root [0-9a-f]{64}, and .* [0-9a-f]{64}$"),
        (raw(LIKE, A, TOP, B), HASH, "begins with no coinbase"),
        (raw(LIKE, TOP, spending(7, b"sECRET"), B), HASH, "witnesses of its commitment"),
        (raw(HEADER, SEGWIT), GENESIS, "witnesses of its commitment"),
        (raw(LIKE, TOP, A, B)[:-1], HASH, "too early"),
    ],
)
def test_a_block_that_is_another_is_not_read(lie: bytes, asked: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_block(lie, asked)


def saying(answer: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    )


URL = "http://127.0.0.1:1"


@pytest.mark.anyio
async def test_a_lie_is_a_failure_of_its_node() -> None:
    lie = saying({"result": raw(LIKE, TOP, A, B).hex()})
    node = BitcoinNode(URL, BitcoinView("chain-b", "regtest"), http=lie)
    with pytest.raises(Refusal, match=f"asked for block {GENESIS}, it gave block {HASH}") as refused:
        await node._block(GENESIS)
    assert refused.value.code == "chain_unavailable"


@pytest.mark.anyio
async def test_a_block_of_another_number_is_a_failure_of_its_node() -> None:
    deployment = ContractDeployment(1, "0x")
    evm = saying({"result": {"number": "0x7", "hash": "0x01"}})
    tron = saying({"blockID": "01", "block_header": {"raw_data": {"number": 7}}})
    for node in (
        EvmNode(URL, EvmView("chain-b", 1, deployment), http=evm),
        TronNode(URL, TronView("chain-b", deployment), http=tron),
    ):
        assert await node.block_hash(7) is not None
        with pytest.raises(Refusal, match="asked for block (8|0x8), gave block (7|0x7)"):
            await node.block_hash(8)
