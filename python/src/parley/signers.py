"""Private keys that sign the texts of `parley.keys`, as wallets of the four families do.

docs/signing.md has the signed texts: EIP-191 on EVM, signMessageV2 on TRON, the plain bytes on
Solana, BIP-322 simple on Bitcoin. A wallet of your own keeps to `MessageSigner`.
"""

import base64
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from coincurve.utils import GROUP_ORDER_INT

from ._lists import Family as Family
from .chains import evm, tron
from .chains.bitcoin import addresses_of_public_key
from .chains.bitcoin_tree import output_script
from .chains.codecs import base58_decode, base58_encode
from .chains.crypto import (
    der_of,
    ed25519_public_key,
    ed25519_sign,
    hash160,
    keccak256,
    public_key,
    sha256,
    sha256d,
    sign_compact,
    sign_recoverable,
    sign_schnorr,
    tagged_hash,
)

BitcoinNetwork: TypeAlias = Literal["mainnet", "testnet", "signet", "regtest"]
BitcoinKind: TypeAlias = Literal["p2wpkh", "p2sh-p2wpkh", "p2tr"]
_NAMES: dict[BitcoinKind, str] = {
    "p2wpkh": "p2wpkh",
    "p2sh-p2wpkh": "p2shP2wpkh",
    "p2tr": "p2tr",
}


class MessageSigner(Protocol):
    """A signer of texts as `address`; it may ask a person or a device."""

    @property
    def family(self) -> Family: ...
    @property
    def address(self) -> str: ...
    async def sign_message(self, message: str) -> str: ...


@dataclass(frozen=True)
class EvmSigner:
    """Signs by EIP-191; `address` is written with its checksum (EIP-55)."""

    private_key: bytes = field(repr=False)
    family: Literal["evm"] = field(default="evm", init=False)

    @property
    def address(self) -> str:
        return evm.address_of_key(self.private_key)

    async def sign_message(self, message: str) -> str:
        """65 bytes r, s, v in hex with 0x."""
        return _by_hash(self.private_key, "\x19Ethereum Signed Message:\n", message)


@dataclass(frozen=True)
class TronSigner:
    """Signs as `signMessageV2` (TIP-191); `address` is base58check."""

    private_key: bytes = field(repr=False)
    family: Literal["tron"] = field(default="tron", init=False)

    @property
    def address(self) -> str:
        return tron.address_of_key(self.private_key)

    async def sign_message(self, message: str) -> str:
        """65 bytes r, s, v in hex with 0x."""
        return _by_hash(self.private_key, "\x19TRON Signed Message:\n", message)


@dataclass(frozen=True)
class SolanaSigner:
    """Signs by ed25519; `seed` is the first half of a keypair file of Solana's tools."""

    seed: bytes = field(repr=False)
    family: Literal["solana"] = field(default="solana", init=False)

    @property
    def address(self) -> str:
        return base58_encode(ed25519_public_key(self.seed))

    async def sign_message(self, message: str) -> str:
        """64 bytes in base58."""
        return base58_encode(ed25519_sign(self.seed, message.encode()))


@dataclass(frozen=True)
class BitcoinSigner:
    """Signs by BIP-322 simple; a Taproot address is that of BIP 86."""

    private_key: bytes = field(repr=False)
    network: BitcoinNetwork
    kind: BitcoinKind = "p2wpkh"
    family: Literal["bitcoin"] = field(default="bitcoin", init=False)

    @property
    def public_key(self) -> str:
        """Compressed, 66 hex: the key that `set_address` takes."""
        return public_key(self.private_key).hex()

    @property
    def address(self) -> str:
        # Signet writes addresses as testnet does.
        network = "testnet" if self.network == "signet" else self.network
        return addresses_of_public_key(self.public_key, network)[_NAMES[self.kind]]

    async def sign_message(self, message: str) -> str:
        """Base64 of the witness."""
        if self.kind == "p2tr":
            digest = _taproot_digest(message, self._script)
            stack = [sign_schnorr(self._tweaked, digest)]
        else:
            digest = _witness_digest(message, self._script, hash160(self._compressed))
            stack = [der_of(sign_compact(self.private_key, digest)) + b"\x01", self._compressed]
        witness = b"".join(bytes([len(each)]) + each for each in stack)
        return base64.b64encode(bytes([len(stack)]) + witness).decode()

    @property
    def _compressed(self) -> bytes:
        return public_key(self.private_key)

    @property
    def _tweaked(self) -> bytes:
        """BIP 341, without a tree of scripts."""
        number = int.from_bytes(self.private_key)
        even = number if self._compressed[0] == 2 else GROUP_ORDER_INT - number
        tweak = int.from_bytes(tagged_hash("TapTweak", self._compressed[1:]))
        return ((even + tweak) % GROUP_ORDER_INT).to_bytes(32)

    @property
    def _script(self) -> bytes:
        if self.kind == "p2tr":
            return output_script(public_key(self._tweaked)[1:])
        program = b"\x00\x14" + hash160(self._compressed)
        return program if self.kind == "p2wpkh" else b"\xa9\x14" + hash160(program) + b"\x87"


def evm_signer(private_key: str | bytes) -> EvmSigner:
    """private_key: 32 bytes, or their hex with or without 0x. Raises ValueError, as do the others."""
    return EvmSigner(_secp256k1(private_key))


def tron_signer(private_key: str | bytes) -> TronSigner:
    return TronSigner(_secp256k1(private_key))


def bitcoin_signer(
    private_key: str | bytes, network: BitcoinNetwork, kind: BitcoinKind = "p2wpkh"
) -> BitcoinSigner:
    return BitcoinSigner(_secp256k1(private_key), network, kind)


def solana_signer(secret: str | bytes) -> SolanaSigner:
    """secret: the seed of 32 bytes, or the keypair of 64; bytes or base58."""
    # 64 bytes are at most 88 letters.
    if isinstance(secret, str) and len(secret) > 88:
        raise ValueError("a key of Solana has 32 bytes, or 64 as a keypair")
    data = base58_decode(secret) if isinstance(secret, str) else bytes(secret)
    if len(data) not in (32, 64):
        raise ValueError(f"a key of Solana has 32 bytes, or 64 as a keypair, not {len(data)}")
    if len(data) == 64 and ed25519_public_key(data[:32]) != data[32:]:
        raise ValueError("the halves of this keypair do not belong together")
    return SolanaSigner(data[:32])


def _secp256k1(key: str | bytes) -> bytes:
    try:
        data = bytes.fromhex(key.removeprefix("0x")) if isinstance(key, str) else bytes(key)
    except ValueError:
        raise ValueError("a private key is 32 bytes in hex") from None
    if len(data) != 32 or not 0 < int.from_bytes(data) < GROUP_ORDER_INT:
        raise ValueError("a private key is 32 bytes, above 0 and below the order of the curve")
    return data


def _by_hash(private_key: bytes, prefix: str, message: str) -> str:
    text = message.encode()
    digest = keccak256(prefix.encode() + str(len(text)).encode() + text)
    signature, recovery = sign_recoverable(private_key, digest)
    return f"0x{signature.hex()}{27 + recovery:02x}"


_NOTHING = bytes(4)
# The one output of the signed transaction: zero, to OP_RETURN.
_OUTPUTS = bytes(8) + b"\x01\x6a"


def _outpoint(message: str, script: bytes) -> bytes:
    """The output, with `script`, of the virtual transaction that is spent (BIP-322)."""
    proof = b"\x00\x20" + tagged_hash("BIP0322-signed-message", message.encode())
    spent = b"\x01" + bytes(32) + b"\xff" * 4 + bytes([len(proof)]) + proof + _NOTHING
    paid = b"\x01" + bytes(8) + bytes([len(script)]) + script
    return sha256d(_NOTHING + spent + paid + _NOTHING) + _NOTHING


def _witness_digest(message: str, script: bytes, hashed: bytes) -> bytes:
    """BIP 143: the digest of the virtual transaction with one input, by its key's hash."""
    outpoint = _outpoint(message, script)
    code = b"\x19\x76\xa9\x14" + hashed + b"\x88\xac"
    head = _NOTHING + sha256d(outpoint) + sha256d(_NOTHING) + outpoint + code
    return sha256d(head + bytes(8) + _NOTHING + sha256d(_OUTPUTS) + _NOTHING + b"\x01\0\0\0")


def _taproot_digest(message: str, script: bytes) -> bytes:
    """BIP 341: the same by the key path, SIGHASH_DEFAULT."""
    parts = (
        *(_outpoint(message, script), bytes(8), bytes([len(script)]) + script),
        *(_NOTHING, _OUTPUTS),
    )
    hashes = b"".join(sha256(each) for each in parts)
    return tagged_hash("TapSighash", b"\0\0" + _NOTHING + _NOTHING + hashes + b"\0" + _NOTHING)
