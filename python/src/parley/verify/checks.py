"""Single comparisons. Each throws VerificationError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from ..errors import VerificationError
from .words import get, is_list, same, shown


def as_json(answer: Mapping[str, Any] | BaseModel) -> Mapping[str, Any]:
    """An answer of ``parley.client`` as the market wrote it, as far as the client knows it."""
    if isinstance(answer, BaseModel):
        return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return answer


def must_equal(field: str, expected: object, got: object) -> None:
    if not same(expected, got):
        raise VerificationError(field, shown(expected), shown(got))


def must_match(at: str, expected: Mapping[str, object], got: object) -> None:
    """The same of each of these fields, ``at`` being the path to them."""
    for name, value in expected.items():
        must_equal(f"{at}{name}", value, get(got, name))


def must_be(what: Literal["an object", "a list", "text"], field: str, got: object) -> None:
    """Throws unless there is something to read inside."""
    holds = {
        "an object": isinstance(got, Mapping),
        "a list": is_list(got),
        "text": isinstance(got, str),
    }
    if not holds[what]:
        raise VerificationError(field, what, shown(got))
