"""Deliveries, by the published vectors; and any other byte is refused."""

import hashlib
import hmac
import json
from email.message import Message
from typing import Any, cast

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parley.errors import WebhookError
from parley.models import SwapFundedEvent
from parley.webhooks import UnknownEvent, verify_webhook

from .conftest import vectors
from .customers import runs

VECTORS = vectors("webhooks")
SECRET = "whsec_5f2d0c9a7be14d63a8f01b27c4e6d590"
NOW = 1_800_000_000
DELIVERY = {
    "type": "swap.funded",
    "deliveryId": "0193f0a0-0000-7000-8000-0000000000d9",
    "createdAt": "2027-01-15T08:00:00.000Z",
    "swapId": "0193f0a0-0000-7000-8000-0000000000d8",
    "status": "initiator_funded",
}


def verified(request: dict[str, Any]) -> Any:
    return verify_webhook(
        secret=request["secret"],
        headers=request["headers"],
        body=request["body"],
        short_name=request.get("shortName", "parley"),
        tolerance_seconds=request["toleranceSeconds"],
        now=request["now"],
    )


def signed(body: bytes, at: int = NOW) -> dict[str, str]:
    mac = hmac.new(SECRET.encode(), str(at).encode() + b"." + body, hashlib.sha256)
    return {"X-Parley-Timestamp": str(at), "x-parley-signature": f"sha256={mac.hexdigest()}"}


@pytest.mark.parametrize("each", VECTORS["accepted"])
def test_a_delivery_that_the_market_signs_is_taken(each: Any) -> None:
    event = verified(each["request"])
    assert isinstance(event, UnknownEvent)
    assert event.delivery_id == each["delivery"]["deliveryId"]
    assert event.model_extra == {"note": each["delivery"]["note"]}


@pytest.mark.parametrize("each", VECTORS["refused"], ids=lambda each: each["why"])
def test_a_delivery_that_it_does_not_sign_is_refused_by_code(each: Any) -> None:
    with pytest.raises(WebhookError) as refused:
        verified(each["request"])
    assert refused.value.code == each["code"]


def test_a_known_event_is_typed_and_a_time_has_its_zone() -> None:
    body = json.dumps(DELIVERY).encode()
    event = verify_webhook(secret=SECRET, headers=signed(body), body=body, now=NOW)
    assert isinstance(event, SwapFundedEvent)
    assert event.swap_id == DELIVERY["swapId"]
    assert event.created_at.timestamp() == NOW


def test_headers_bodies_and_secrets_are_taken_as_frameworks_and_files_give_them() -> None:
    body = json.dumps(DELIVERY).encode()
    headers = signed(body)
    message = Message()
    for name, value in headers.items():
        message[name] = value
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    lists = {name.upper(): [value] for name, value in headers.items()}
    for each in (message, raw, list(headers.items()), lists, httpx.Headers(headers)):
        assert verify_webhook(secret=SECRET, headers=each, body=body, now=NOW)
    for given_body in (body.decode(), bytearray(body), memoryview(body)):
        assert verify_webhook(secret=SECRET, headers=headers, body=given_body, now=NOW)
    assert verify_webhook(secret=f" {SECRET}\r\n", headers=headers, body=body, now=NOW)
    for none in (None, 5, "x", ["x"], {}, {**headers, "x-parley-signature": []}):
        with pytest.raises(WebhookError) as refused:
            verify_webhook(secret=SECRET, headers=cast(Any, none), body=body, now=NOW)
        assert refused.value.code == "bad_header"
    for other in ("whsec_ \n", None, SECRET.encode()):
        with pytest.raises(WebhookError) as refused:
            verify_webhook(secret=cast(Any, other), headers=headers, body=body, now=NOW)
        assert refused.value.code == "bad_secret"


@given(at=st.integers(0, len(json.dumps(DELIVERY)) - 1), flip=st.integers(1, 255))
@settings(max_examples=runs(50), deadline=None)
def test_another_byte_of_the_body_is_refused(at: int, flip: int) -> None:
    body = bytearray(json.dumps(DELIVERY).encode())
    headers = signed(bytes(body))
    body[at] ^= flip
    with pytest.raises(WebhookError) as refused:
        verify_webhook(secret=SECRET, headers=headers, body=bytes(body), now=NOW)
    assert refused.value.code == "bad_signature"


@pytest.mark.parametrize("age", [-300, 300])
def test_the_window_ends_to_the_second_and_0_means_any_age(age: int) -> None:
    body = json.dumps(DELIVERY).encode()
    beyond = NOW - age - (1 if age > 0 else -1)
    assert verify_webhook(secret=SECRET, headers=signed(body, NOW - age), body=body, now=NOW)
    with pytest.raises(WebhookError, match="301 s (ago|ahead), and 300 s are allowed"):
        verify_webhook(secret=SECRET, headers=signed(body, beyond), body=body, now=NOW)
    assert verify_webhook(
        secret=SECRET, headers=signed(body, 5), body=body, now=NOW, tolerance_seconds=0
    )
    for tolerance, now in ((-1.0, float(NOW)), (300.0, float("nan"))):
        with pytest.raises(ValueError):
            verify_webhook(
                secret=SECRET,
                headers=signed(body),
                body=body,
                tolerance_seconds=tolerance,
                now=now,
            )
