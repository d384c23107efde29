"""Signing in by wallet. A text says what it is for, so that its signature serves nothing else."""

import re
from collections.abc import Sequence

from . import models as m
from ._lists import Scope as Scope
from .client import ParleyClient
from .errors import VerificationError
from .signers import MessageSigner

_NONCE = re.compile(r"[0-9A-Za-z]{1,128}")


def mint_message(
    *,
    address: str,
    nonce: str,
    name: str | None = None,
    scopes: Sequence[Scope] | None = None,
    product_name: str = "Parley",
) -> str:
    """The text that mints a key, with all three scopes where none is named."""
    more = [] if name is None else [f"Key name: {name}"]
    if scopes is not None:
        more.append(f"Scopes: {', '.join(scopes)}")
    return _text("create an API key", address, nonce, product_name, more)


def link_message(*, address: str, nonce: str, product_name: str = "Parley") -> str:
    return _text("link this wallet", address, nonce, product_name)


def authorize_message(
    *, address: str, login_address: str, nonce: str, product_name: str = "Parley"
) -> str:
    """The text that the login wallet signs, so that `address` may receive money."""
    more = [f"Login: {login_address}"]
    return _text("authorise this wallet", address, nonce, product_name, more)


async def mint_key(
    market: ParleyClient,
    signer: MessageSigner,
    *,
    name: str | None = None,
    scopes: Sequence[Scope] | None = None,
) -> m.ApiKey:
    """A key of the account of that wallet. Its `key` is shown this once: `market.with_key(key)`."""
    nonce = (await market.get_key_nonce()).nonce
    message = mint_message(
        address=signer.address,
        nonce=nonce,
        name=name,
        scopes=scopes,
        product_name=market.product_name,
    )
    return await market.mint_key(
        rail=signer.family,
        address=signer.address,
        message=message,
        signature=await signer.sign_message(message),
    )


async def link_wallet(
    market: ParleyClient, wallet: MessageSigner, login: MessageSigner | None = None
) -> m.ProvenWallet:
    """Proves a further wallet. Only one that `login` vouches for may receive money."""
    nonce = (await market.get_wallet_nonce(purpose="link")).nonce
    named = market.product_name
    message = link_message(address=wallet.address, nonce=nonce, product_name=named)
    signature = await wallet.sign_message(message)
    vouched = None if login is None else await _authorization(market, wallet, login)
    prove = {
        "evm": market.prove_evm_wallet,
        "tron": market.prove_tron_wallet,
        "bitcoin": market.prove_bitcoin_wallet,
        "solana": market.prove_solana_wallet,
    }[wallet.family]
    return await prove(
        address=wallet.address, message=message, signature=signature, authorization=vouched
    )


async def _authorization(
    market: ParleyClient, wallet: MessageSigner, login: MessageSigner
) -> m.Authorization:
    nonce = (await market.get_wallet_nonce(purpose="authorize")).nonce
    message = authorize_message(
        address=wallet.address,
        login_address=login.address,
        nonce=nonce,
        product_name=market.product_name,
    )
    signature = await login.sign_message(message)
    return m.Authorization(address=login.address, message=message, signature=signature)


def _text(
    what: str, address: str, nonce: str, product_name: str, more: Sequence[str] = ()
) -> str:
    # A market that put lines into it would have a key sign them, for whatever they are good for.
    if not _NONCE.fullmatch(nonce):
        raise VerificationError("nonce", "1 to 128 letters and digits", repr(nonce)[:80])
    first = f"{product_name} asks you to sign to {what}."
    return "\n".join([first, "", f"Address: {address}", *more, f"Nonce: {nonce}"])
