"""Errors on the customer's side. Each is a code and its facts."""

from typing import Literal


class ParleyError(Exception):
    """All errors of this package but those of Python itself."""


class ParleyApiError(ParleyError):
    """The market answered with an error, or not at all (`status` 0)."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        retry_after_seconds: float | None = None,
        txid: str | None = None,
        reasons: tuple[str, ...] = (),
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status; 0 = no answer was had."""
        self.code = code
        """The stable machine code of the header `x-parley-error`; `no_answer`, `bad_answer`."""
        self.retry_after_seconds = retry_after_seconds
        self.txid = txid
        """On a 504 of a broadcast: the transaction to look up before sending again."""
        self.reasons = reasons
        """On a 422 of `list_asset`: why the token can never be traded."""
        self.request_id = request_id
        """The market's id of the request (`X-Request-Id`): its operator finds log lines by it."""

    @property
    def unreachable(self) -> bool:
        """The request was not decided: the market is gone, overloaded or shutting down."""
        return self.status in (0, 429) or self.status >= 500

    @property
    def silent(self) -> bool:
        """The market has no word on it: it is gone, or does not know it. One that refuses, or asks
        for patience, may have one."""
        return (self.unreachable and self.status != 429) or self.status == 404


class VerificationError(ParleyError):
    """The market's answer is not what the customer's own terms come to. Never sign after this."""

    def __init__(self, field: str, expected: str, got: str) -> None:
        super().__init__(f"{field} must be {expected}; the market says {got}")
        self.field = field
        """Path of the field, such as `legs.b.escrow` or `txs[0].data`."""
        self.expected = expected
        self.got = got


class ClockError(VerificationError):
    """A swap whose times are right, and that was agreed when by one's own clock it could not be."""

    def __init__(self, field: str, expected: str, got: str, ahead_seconds: int) -> None:
        super().__init__(field, expected, got)
        self.ahead_seconds = ahead_seconds
        """One's own clock is ahead of the market's by so much or more; below 0 it is behind."""
        off = f"{abs(ahead_seconds)} s or more {'ahead of' if ahead_seconds > 0 else 'behind'}"
        wrong = f"this machine's clock is {off} the market's: one of the two is wrong"
        Exception.__init__(self, f"by {field} {wrong}")


class AcceptanceLapsed(ParleyError):
    """The swap was first seen after one's acceptance had lapsed: a market could have kept it back to
    see where the price goes. Never fund it.
    """

    def __init__(self, swap_id: str, stood_until: int, seen_at: int) -> None:
        super().__init__(
            f"your acceptance stood until {stood_until}; swap {swap_id} was first seen {seen_at}"
        )
        self.swap_id = swap_id
        self.stood_until = stood_until
        """Unix seconds by one's own clock, without the 120 s that are allowed."""
        self.seen_at = seen_at


class Refusal(ParleyError):
    """A gate of the rules, or a node, refuses. ``code`` is one of docs/errors.md, such as
    ``too_late_to_reveal``, ``chain_unavailable`` or ``refused_by_node``; the sentence has the
    numbers.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


SettleFault = Literal[
    "funding_replaced",
    "secret_lost",
    "hashlock_used",
    "acceptance_lapsed",
    "terms_outdated",
    "clock_wrong",
    "no_wallet",
    "no_source",
    "unknown_record",
    "bad_record",
]


class SettleError(ParleyError):
    """A run of ``settle`` ends, and waiting does not mend it."""

    def __init__(self, code: SettleFault, sentence: str) -> None:
        super().__init__(sentence)
        self.code: SettleFault = code


Verdict = Literal["again", "person", "over"]
#: The swap can never be funded under these.
_OVER: tuple[SettleFault, ...] = ("hashlock_used", "acceptance_lapsed", "terms_outdated")
#: Refusals that no later moment mends by itself.
_LASTING = ("bad_signature", "wrong_secret", "bad_address", "wrong_network", "bad_transaction")
#: The market's answers that a later request may not meet: a timeout, and a conflict.
_PASSING_STATUSES = (408, 409)


def verdict_of(error: BaseException) -> Verdict:
    """Says what a run of ``settle`` that ended with this error waits for.

    ``again``: it passes by itself, and a later run may succeed. ``person``: somebody has to act,
    for example set a clock. ``over``: the swap is not what was agreed to, and is never funded.
    """
    if isinstance(error, ClockError):
        return "person"
    if isinstance(error, (VerificationError, AcceptanceLapsed)):
        return "over"
    if isinstance(error, SettleError):
        return "over" if error.code in _OVER else "person"
    if isinstance(error, ParleyApiError):
        return "again" if error.unreachable or error.status in _PASSING_STATUSES else "person"
    if isinstance(error, Refusal):
        return "person" if error.code in _LASTING else "again"
    return "person" if isinstance(error, (ParleyError, ValueError)) else "again"


WebhookFault = Literal["bad_secret", "bad_header", "bad_signature", "bad_timestamp", "bad_body"]


class WebhookError(ParleyError):
    """A delivery is not to be believed. `code` says why."""

    def __init__(self, code: WebhookFault, message: str) -> None:
        super().__init__(message)
        self.code: WebhookFault = code


QuoteFault = Literal["refused", "stale", "superseded", "unknown", "closed"]


class QuoteError(ParleyError):
    """A quote on the feed did not come to be, or nobody knows (`unknown`).

    refused: the market said no, `code` says why. stale: its time was over before it could be sent.
    superseded: another price for the RFQ came after it. unknown: it was sent, and no answer came in
    time; read the RFQ's threads. closed: the feed was closed.
    """

    def __init__(self, fault: QuoteFault, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.fault: QuoteFault = fault
        self.code = code


class FeedClosed(ParleyError):
    """The feed was closed, or given up: the sentence says why."""
