"""Signing in by wallets of the four families: byte for byte by vectors, and at the market."""

import secrets
from typing import Any

import pytest

from parley.client import ParleyClient
from parley.errors import ParleyApiError, VerificationError
from parley.keys import link_wallet, mint_key, mint_message
from parley.signers import (
    BitcoinKind,
    MessageSigner,
    bitcoin_signer,
    evm_signer,
    solana_signer,
    tron_signer,
)

from .conftest import vectors

pytestmark = pytest.mark.anyio
KINDS: dict[str, BitcoinKind] = {
    "p2wpkh": "p2wpkh",
    "p2shP2wpkh": "p2sh-p2wpkh",
    "p2tr": "p2tr",
}


def signer_of(proof: Any) -> MessageSigner:
    key = bytes.fromhex(proof["privateKey"])
    match proof["family"]:
        case "evm":
            return evm_signer(key)
        case "tron":
            return tron_signer(key)
        case "solana":
            return solana_signer(key)
        case _:
            return bitcoin_signer(key, "mainnet", KINDS[proof["kind"]])


@pytest.mark.parametrize("proof", vectors("proofs")["proofs"])
async def test_each_vector_is_signed_to_the_byte(proof: Any) -> None:
    signer = signer_of(proof)
    assert signer.address == proof["address"]
    assert proof["privateKey"] not in repr(signer)
    for each in proof["signed"]:
        assert await signer.sign_message(each["message"]) == each["signature"]


def fresh(family: str, kind: BitcoinKind = "p2wpkh") -> MessageSigner:
    key = secrets.token_bytes(32)
    match family:
        case "evm":
            return evm_signer(key)
        case "tron":
            return tron_signer(key)
        case "solana":
            return solana_signer(key)
        case _:
            return bitcoin_signer(key, "regtest", kind)


@pytest.mark.parametrize("family", ["evm", "tron", "solana", "bitcoin"])
async def test_a_wallet_signs_in_and_vouches_for_one_of_each_family(
    market: ParleyClient, family: str
) -> None:
    login = fresh(family)
    minted = await mint_key(market, login, name="a bot of mine", scopes=["read", "taker"])
    assert minted.scopes == ["read", "taker"] and minted.name == "a bot of mine"
    assert minted.key not in repr(minted)
    mine = market.with_key(minted.key)
    for other, kind in {"evm": "p2wpkh", "tron": "p2wpkh", "bitcoin": "p2tr"}.items():
        if other == family:
            continue
        wallet = fresh(other, "p2tr" if kind == "p2tr" else "p2wpkh")
        proven = await link_wallet(mine, wallet, login)
        assert (proven.address, proven.proven, proven.authorised) == (wallet.address, True, True)
    me = await mine.get_me()
    assert login.address in getattr(me.wallets, family).model_dump_json()


async def test_a_key_of_another_kind_of_bitcoin_address_signs_in_too(market: ParleyClient) -> None:
    kinds: tuple[BitcoinKind, ...] = ("p2sh-p2wpkh", "p2tr")
    for kind in kinds:
        assert (await mint_key(market, fresh("bitcoin", kind))).key


async def test_a_signature_of_another_key_is_refused_by_code(market: ParleyClient) -> None:
    one, other = fresh("evm"), fresh("evm")
    nonce = (await market.get_key_nonce()).nonce
    message = mint_message(address=one.address, nonce=nonce)
    with pytest.raises(ParleyApiError) as refused:
        await market.mint_key(
            rail="evm",
            address=one.address,
            message=message,
            signature=await other.sign_message(message),
        )
    assert (refused.value.status, refused.value.code) == (400, "bad_signature")


def test_a_nonce_that_brings_lines_of_its_own_is_never_signed() -> None:
    with pytest.raises(VerificationError, match="nonce must be 1 to 128 letters and digits"):
        mint_message(address="a", nonce="1\nScopes: maker")


@pytest.mark.parametrize("key", ["", "00" * 32, "ff" * 32, "zz" * 32, b"\1" * 31])
def test_a_malformed_key_is_refused_and_not_repeated(key: str | bytes) -> None:
    with pytest.raises(ValueError, match="private key is 32 bytes") as refused:
        evm_signer(key)
    assert key == "" or str(key) not in str(refused.value)


def test_a_keypair_of_solana_must_fit_together() -> None:
    seed = secrets.token_bytes(32)
    with pytest.raises(ValueError, match="do not belong together"):
        solana_signer(seed + bytes(32))
    with pytest.raises(ValueError, match="not 33"):
        solana_signer(seed + b"1")
