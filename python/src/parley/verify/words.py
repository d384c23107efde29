"""JSON values compared and told as the other clients do, so that every client refuses alike.

Numbers are equal by value, texts only to texts, and nothing is equal to a list or an object.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final


class _Missing:
    """In the place of a field that is not there."""

    def __repr__(self) -> str:
        return "undefined"


MISSING: Final = _Missing()
_MOST_SHOWN = 400


def is_number(value: object) -> bool:
    """Finite: JSON of Python has NaN and Infinity, which are no numbers here."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def same(one: object, other: object) -> bool:
    """Strict: 1 is not "1", True is not 1, and no list is the same as another."""
    if is_number(one) and is_number(other):
        return one == other
    if one is None or other is None or one is MISSING or other is MISSING:
        return one is other
    return type(one) is type(other) and isinstance(one, (str, bool)) and one == other


def get(holder: object, name: str) -> Any:
    """A field of what should be an object."""
    return holder.get(name, MISSING) if isinstance(holder, Mapping) else MISSING


def _plain(value: object) -> object:
    """Whole numbers without a point, as JSON of other languages has them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return (
        [_plain(each) for each in value]
        if isinstance(value, Sequence) and is_list(value)
        else value
    )


def text_of(value: object) -> str:
    """One word for a value that should be a plain one."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(_plain(value))
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, Sequence) and is_list(value):
        return ",".join("" if each is None else text_of(each) for each in value)
    return repr(value)


def shown(value: object) -> str:
    """A text as it is, all else as JSON, cut."""
    if value is MISSING:
        return "nothing"
    text = value if isinstance(value, str) else _json(value)
    cut = f"{text[:_MOST_SHOWN]}… ({len(text)} characters)"
    return cut if len(text) > _MOST_SHOWN else text


def _json(value: object) -> str:
    try:
        separators = (",", ":")
        return json.dumps(_plain(value), separators=separators, ensure_ascii=False, default=repr)
    except RecursionError:
        return "a value nested too deeply"
