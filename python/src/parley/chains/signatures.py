"""Signatures of 65 bytes, r, s and v, as contracts take them."""

from __future__ import annotations

import re

from .errors import ChainError


def signature_parts(signature: str) -> tuple[int, str, str]:
    """v as 27 or 28, r and s. Throws ``bad_signature``."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", signature):
        has = max(0, (len(signature) - 2) // 2)
        sentence = f"must be 65 bytes of hex with 0x (r, s, v); it has {has}"
        raise ChainError("bad_signature", f"the signature {sentence}")
    v = int(signature[130:], 16)
    if v not in (0, 1, 27, 28):
        raise ChainError("bad_signature", f"the signature has v {v}, not 27, 28, 0 or 1")
    return (v if v >= 27 else v + 27), signature[2:66].lower(), signature[66:130].lower()
