"""Texts of bytes: base58, base58check, and the segregated witness addresses of BIP 173 and 350."""

from __future__ import annotations

import base64
import binascii

from .crypto import sha256d

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE58_VALUES = {letter: value for value, letter in enumerate(_BASE58)}
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_VALUES = {letter: value for value, letter in enumerate(_BECH32)}
#: The checksum's remainder for witness version 0, and for all later ones.
_BECH32_CONSTANT, _BECH32M_CONSTANT = 1, 0x2BC830A3


def base58_encode(data: bytes) -> str:
    number, text = int.from_bytes(data), ""
    while number > 0:
        number, digit = divmod(number, 58)
        text = _BASE58[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\x00"))) + text


def base58_decode(text: str) -> bytes:
    """ValueError: a letter that base58 has not. Give it no text without a limit."""
    number = 0
    for letter in text:
        if letter not in _BASE58_VALUES:
            raise ValueError(f"{letter!r} is not base58")
        number = number * 58 + _BASE58_VALUES[letter]
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def base58check_encode(payload: bytes) -> str:
    return base58_encode(payload + sha256d(payload)[:4])


def base58check_decode(text: str) -> bytes:
    """The payload. ValueError: a wrong checksum."""
    data = base58_decode(text)
    payload, checksum = data[:-4], data[-4:]
    if len(data) < 5 or sha256d(payload)[:4] != checksum:
        raise ValueError("a wrong checksum")
    return payload


def base64_decode(text: str) -> bytes:
    """ValueError unless it is written in the one right way, padding included."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    if base64.b64encode(data).decode() != text:
        raise ValueError("not canonical base64")
    return data


def _polymod(values: list[int]) -> int:
    """BIP 173: the remainder by its generator."""
    generator = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, factor in enumerate(generator):
            check ^= factor if top >> bit & 1 else 0
    return check


def _prefix_values(prefix: str) -> list[int]:
    return [ord(each) >> 5 for each in prefix] + [0] + [ord(each) & 31 for each in prefix]


def _regroup(values: list[int], width: int, to: int, pad: bool) -> list[int]:
    """Bits in groups of another width. ValueError where bits are left that are not padding."""
    number, bits, groups = 0, 0, []
    for value in values:
        number, bits = number << width | value, bits + width
        while bits >= to:
            bits -= to
            groups.append(number >> bits & ((1 << to) - 1))
        number &= (1 << bits) - 1
    if pad and bits > 0:
        groups.append(number << (to - bits) & ((1 << to) - 1))
    elif not pad and (bits >= width or number != 0):
        raise ValueError("bits are left over")
    return groups


def segwit_encode(prefix: str, version: int, program: bytes) -> str:
    data = [version, *_regroup(list(program), 8, 5, True)]
    constant = _BECH32_CONSTANT if version == 0 else _BECH32M_CONSTANT
    check = _polymod(_prefix_values(prefix) + data + [0] * 6) ^ constant
    data += [check >> 5 * (5 - at) & 31 for at in range(6)]
    return f"{prefix}1{''.join(_BECH32[each] for each in data)}"


def segwit_decode(prefix: str, text: str) -> tuple[int, bytes]:
    """Version and program. ValueError: another prefix, a wrong checksum, two cases."""
    if len(text) > 90 or text not in (text.lower(), text.upper()):
        raise ValueError("not bech32")
    found, _, rest = text.lower().rpartition("1")
    data = [_BECH32_VALUES.get(letter, -1) for letter in rest]
    if found != prefix or len(data) < 7 or -1 in data:
        raise ValueError("not bech32 of this network")
    version = data[0]
    constant = _BECH32_CONSTANT if version == 0 else _BECH32M_CONSTANT
    if version > 16 or _polymod(_prefix_values(prefix) + data) != constant:
        raise ValueError("a wrong checksum")
    return version, bytes(_regroup(data[1:-6], 5, 8, False))
