"""Deliveries of a market's webhooks: are they the market's, and recent?"""

import hashlib
import hmac
import json
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeAlias

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from . import models as m
from ._http import AROUND
from ._model import OpenAnswer
from .errors import WebhookError

DEFAULT_TOLERANCE_SECONDS = 300.0
_EVENT: TypeAdapter[m.WebhookEvent] = TypeAdapter(
    Annotated[m.WebhookEvent, Field(discriminator="type")]
)
_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"[0-9]{1,15}")

_Text: TypeAlias = str | bytes
_Value: TypeAlias = _Text | Sequence[_Text]


class _Items(Protocol):
    """A mapping, or what has its `items`, as headers of web frameworks do."""

    def items(self) -> Iterable[tuple[str, Any]]: ...


Headers: TypeAlias = _Items | Mapping[str, _Value] | Iterable[tuple[_Text, _Value]]


class UnknownEvent(OpenAnswer):
    """An event of a type that only a newer market has: answer 2xx. Its other fields are
    `model_extra`."""

    type: str
    delivery_id: str
    created_at: AwareDatetime | str


def verify_webhook(
    *,
    secret: str,
    headers: Headers,
    body: str | bytes | bytearray | memoryview,
    short_name: str = "parley",
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    now: float | None = None,
) -> m.WebhookEvent | UnknownEvent:
    """The delivery, verified; `delivery_id` is the same each time it is tried: do the work once.

    secret: the whole of it, `whsec_…`; white space around it is left out
    headers: those of the request, names in any case; a mapping or pairs, a value may be a list
    body: as it came, not parsed
    short_name: the market's, as in `x-parley-signature`
    tolerance_seconds: how old a delivery may be, and how far ahead; 0 = any age
    now: Unix seconds; default the machine's clock

    Raises WebhookError, and ValueError for a tolerance or time that is none.
    """
    at = time.time() if now is None else now
    # Anybody can sign with an empty secret, and nothing is older than NaN.
    secret = secret.strip(AROUND) if isinstance(secret, str) else ""
    if not secret.startswith("whsec_") or len(secret) < 7:
        raise WebhookError("bad_secret", "a secret is whsec_ and more, as registration showed it")
    if not tolerance_seconds >= 0 or not math.isfinite(at):
        raise ValueError("tolerance_seconds must be 0 or more, and now Unix seconds")
    raw = body.encode() if isinstance(body, str) else body
    if not isinstance(raw, bytes | bytearray | memoryview):
        raise WebhookError("bad_body", "the body must be as it came, text or bytes, not parsed")
    timestamp = _header(headers, f"x-{short_name}-timestamp")
    signature = _header(headers, f"x-{short_name}-signature")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise WebhookError("bad_header", f"x-{short_name}-timestamp is not Unix seconds")
    if not _SIGNATURE.fullmatch(signature):
        raise WebhookError(
            "bad_header", f"x-{short_name}-signature is not sha256=<64 hex digits>"
        )
    mac = hmac.new(secret.encode(), f"{timestamp}.".encode(), hashlib.sha256)
    mac.update(raw)
    if not hmac.compare_digest(f"sha256={mac.hexdigest()}", signature):
        raise WebhookError("bad_signature", "the signature is not of this secret and this body")
    age = at - int(timestamp)
    if tolerance_seconds > 0 and abs(age) > tolerance_seconds:
        when = f"{age:.0f} s ago" if age > 0 else f"{-age:.0f} s ahead"
        raise WebhookError(
            "bad_timestamp", f"signed {when}, and {tolerance_seconds:g} s are allowed"
        )
    return _parsed(bytes(raw))


def _header(headers: Headers, name: str) -> str:
    pairs = headers.items() if isinstance(headers, Mapping) or hasattr(headers, "items") else headers
    try:
        found = [value for each, value in pairs if _text(each).lower() == name]
    except (TypeError, ValueError) as cause:
        words = "the headers must be the request's, as a mapping or as pairs of name and value"
        raise WebhookError("bad_header", words) from cause
    if len(found) == 1 and isinstance(found[0], list | tuple):
        found = list(found[0])
    if len(found) == 1 and isinstance(found[0], str | bytes):
        return _text(found[0])
    raise WebhookError("bad_header", f"{name} is missing, or there more than once")


def _text(value: object) -> str:
    """Servers give headers as bytes too."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _parsed(body: bytes) -> m.WebhookEvent | UnknownEvent:
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as cause:
        raise WebhookError("bad_body", "the body is not JSON") from cause
    fields = value if isinstance(value, dict) else {}
    for name in ("type", "deliveryId", "createdAt"):
        if not isinstance(fields.get(name), str):
            raise WebhookError("bad_body", f"the body has no {name}")
    try:
        return _EVENT.validate_python(fields)
    except ValidationError:
        return UnknownEvent.model_validate(fields)
