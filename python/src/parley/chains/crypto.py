"""Hashes, keys and signatures. The curves are those of libraries; this module writes none."""

from __future__ import annotations

import hashlib

from coincurve import PrivateKey, PublicKey, PublicKeyXOnly
from coincurve.utils import GROUP_ORDER_INT
from Crypto.Hash import RIPEMD160, keccak
from Crypto.PublicKey import ECC
from Crypto.Signature import eddsa

from .errors import ChainError


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def sha256d(data: bytes) -> bytes:
    """SHA-256 twice, as Bitcoin hashes transactions."""
    return sha256(sha256(data))


def hash160(data: bytes) -> bytes:
    """RIPEMD-160 of SHA-256. OpenSSL 3 may not have RIPEMD-160, so ``hashlib`` may not either."""
    return RIPEMD160.new(sha256(data)).digest()


def keccak256(data: bytes) -> bytes:
    """As Ethereum and TRON hash; not the SHA3-256 of the standard."""
    return keccak.new(digest_bits=256, data=data).digest()


def _key(private_key: bytes) -> PrivateKey:
    if len(private_key) != 32:
        raise ValueError(f"a secp256k1 key has 32 bytes, not {len(private_key)}")
    return PrivateKey(private_key)


def public_key(private_key: bytes, compressed: bool = True) -> bytes:
    """The public key of secp256k1: 33 bytes, or 65."""
    return _key(private_key).public_key.format(compressed=compressed)


def is_public_key(data: bytes) -> bool:
    """Whether these 33 bytes are a point of secp256k1."""
    try:
        PublicKey(data)
    except (ValueError, TypeError):
        return False
    return len(data) == 33


def key_hash(private_key: bytes) -> bytes:
    """The 20 bytes that stand for a key on EVM and TRON."""
    return keccak256(public_key(private_key, compressed=False)[1:])[12:]


def sign_recoverable(private_key: bytes, digest: bytes) -> tuple[bytes, int]:
    """64 bytes r and s with low s, and the recovery id. Deterministic (RFC 6979)."""
    signature = _key(private_key).sign_recoverable(digest, hasher=None)
    return signature[:64], signature[64]


def sign_compact(private_key: bytes, digest: bytes) -> bytes:
    """64 bytes r and s with low s."""
    return sign_recoverable(private_key, digest)[0]


def recover_key_hash(digest: bytes, signature: bytes, recovery: int) -> bytes:
    """The 20 bytes of who signed. Throws ``bad_signature``."""
    try:
        found = PublicKey.from_signature_and_message(
            signature + bytes([recovery]), digest, hasher=None
        )
    except Exception as error:  # coincurve raises it plain.
        raise ChainError("bad_signature", "r and s belong to no key") from error
    return keccak256(found.format(compressed=False)[1:])[12:]


def low_s(signature: bytes) -> bytes:
    """The same 64 bytes with s in the lower half. ValueError: numbers out of range."""
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    if not (len(signature) == 64 and 0 < r < GROUP_ORDER_INT and 0 < s < GROUP_ORDER_INT):
        raise ValueError("r and s are no numbers of the curve")
    return signature[:32] + min(s, GROUP_ORDER_INT - s).to_bytes(32)


def verify_compact(key: bytes, digest: bytes, signature: bytes) -> bool:
    """Whether 64 bytes with low s are by this public key."""
    try:
        return PublicKey(key).verify(der_of(signature), digest, hasher=None)
    except (ValueError, TypeError):
        return False


def der_of(signature: bytes) -> bytes:
    """64 bytes r and s as DER (BIP 66)."""
    numbers = b""
    for number in (signature[:32], signature[32:64]):
        short = number.lstrip(b"\x00") or b"\x00"
        padded = b"\x00" + short if short[0] & 0x80 else short
        numbers += bytes([2, len(padded)]) + padded
    return bytes([0x30, len(numbers)]) + numbers


def compact_of(der: bytes) -> bytes:
    """DER as 64 bytes. ValueError where it is not exactly that."""
    numbers: list[bytes] = []
    at = 2
    for _ in range(2):
        if at + 2 > len(der) or der[at] != 2:
            raise ValueError("no integer")
        length = der[at + 1]
        number = der[at + 2 : at + 2 + length]
        numbers.append(number.lstrip(b"\x00").rjust(32, b"\x00"))
        at += 2 + length
    compact = b"".join(numbers)
    if len(compact) != 64 or der_of(compact) != der:
        raise ValueError("not strict DER")
    return compact


def ed25519_public_key(seed: bytes) -> bytes:
    """The 32 bytes that are a Solana address, of a seed of 32."""
    return ECC.construct(curve="Ed25519", seed=seed).public_key().export_key(format="raw")


def ed25519_sign(seed: bytes, message: bytes) -> bytes:
    """64 bytes, deterministic (RFC 8032)."""
    key = ECC.construct(curve="Ed25519", seed=seed)
    return eddsa.new(key, "rfc8032").sign(message)


#: The field and curve of edwards25519 (RFC 8032, 5.1).
_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P


def is_on_curve(point: bytes) -> bool:
    """Whether 32 bytes are a point of edwards25519, as Solana's runtime sees it.

    It takes y above the prime, and x of zero with a sign: libraries refuse both.
    """
    y = int.from_bytes(point, "little") & ((1 << 255) - 1)
    squared = y * y % _P
    x_squared = (squared - 1) * pow(_D * squared + 1, -1, _P) % _P
    return x_squared == 0 or pow(x_squared, (_P - 1) // 2, _P) == 1


def tagged_hash(tag: str, data: bytes) -> bytes:
    """BIP 340."""
    return sha256(sha256(tag.encode()) * 2 + data)


def tweaked_point(x_only: bytes, root: bytes = b"") -> bytes:
    """The output key over a script tree, or over none (BIP 341, BIP 86): 33 bytes."""
    return PublicKey(b"\x02" + x_only).add(tagged_hash("TapTweak", x_only + root)).format()


def aggregate_keys(keys: list[bytes]) -> bytes:
    """The key of all these together, in this order (BIP 327): 33 bytes."""
    listed = tagged_hash("KeyAgg list", b"".join(keys))
    second = next((each for each in keys if each != keys[0]), None)
    points = []
    for key in keys:
        digest = int.from_bytes(tagged_hash("KeyAgg coefficient", listed + key)) % GROUP_ORDER_INT
        factor = 1 if key == second else digest
        points.append(PublicKey(key).multiply(factor.to_bytes(32)))
    return PublicKey.combine_keys(points).format()


def sign_schnorr(private_key: bytes, digest: bytes) -> bytes:
    """64 bytes (BIP 340), without randomness: the same for the same."""
    return _key(private_key).sign_schnorr(digest, bytes(32))


def verify_schnorr(x_only: bytes, digest: bytes, signature: bytes) -> bool:
    """Whether 64 bytes are by this x-only key (BIP 340)."""
    try:
        return PublicKeyXOnly(x_only).verify(signature, digest)
    except (ValueError, TypeError):
        return False
