"""The common ground of all models of the API."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

# 2^256 has 78 digits.
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,77}")


def _amount(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return int(value)
    raise ValueError("an amount is a whole number of base units")


Amount = Annotated[int, BeforeValidator(_amount), PlainSerializer(str, return_type=str)]
"""Base units: `int` here, a decimal string on the wire."""


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[
    AwareDatetime, PlainSerializer(_written, return_type=str, when_used="json-unless-none")
]
"""Aware `datetime` here, RFC 3339 in UTC with milliseconds on the wire."""


def _any_word(value: Any, known: ValidatorFunctionWrapHandler) -> Any:
    try:
        return known(value)
    except ValidationError:
        if isinstance(value, str):
            return value
        raise


AnyWord = WrapValidator(_any_word)
"""Lets a word through that only a newer market knows: a swap with one can still be settled."""


class _Model(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        allow_inf_nan=False,
        # An input may be a key or a secret.
        hide_input_in_errors=True,
    )


class Answer(_Model):
    """An answer of the market. Unknown fields are left out."""


class OpenAnswer(_Model):
    """The same, and unknown fields are kept."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")


class Body(_Model):
    """A request's body. Unknown fields are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
