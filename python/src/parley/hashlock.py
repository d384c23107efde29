"""The secret of a swap and its hashlock: SHA-256 of 32 bytes."""

import hashlib
import hmac
import re
import secrets
from typing import NewType

Secret = NewType("Secret", str)
"""32 bytes in hex, lower case. Its holder can take the locked amount: never log it."""
Hashlock = NewType("Hashlock", str)
"""SHA-256 of the secret's bytes in hex, lower case."""

_HEX32 = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")


def new_secret() -> Secret:
    """Draws from the system's randomness. Keep it before anybody hears its hashlock."""
    return Secret(secrets.token_hex(32))


def parse_secret(text: str) -> Secret:
    """64 hex characters in any case, with or without 0x. Raises ValueError, without the text."""
    return Secret(_hex32(text, "a secret"))


def parse_hashlock(text: str) -> Hashlock:
    """64 hex characters in any case, with or without 0x. Raises ValueError."""
    return Hashlock(_hex32(text, "a hashlock"))


def hashlock_of(secret: str) -> Hashlock:
    """Raises ValueError for what is no secret."""
    return Hashlock(hashlib.sha256(bytes.fromhex(parse_secret(secret))).hexdigest())


def opens(secret: str, hashlock: str) -> bool:
    """Whether it is the secret of that hashlock. Raises ValueError for what is neither."""
    return hmac.compare_digest(hashlock_of(secret), parse_hashlock(hashlock))


def _hex32(text: str, what: str) -> str:
    found = _HEX32.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{what} is 32 bytes as 64 hex characters")
    return found[1].lower()
