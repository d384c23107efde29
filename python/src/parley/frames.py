"""What the maker feed sends, as docs/asyncapi.json has it.

Written from docs/asyncapi.json by `npm run -s node -- scripts/openapi.ts`: not edited by hand.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from . import models as m
from ._model import Amount, Answer, AnyWord, Time


class SnapshotFrame(Answer):
    """The book as it is."""

    type: Literal["snapshot"]
    """which frame it is"""
    rfqs: list[m.Rfq]
    """the public book, newest first"""
    addressed: list[m.Rfq] | None = None
    """with `resume`: private RFQs for you"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ReadyFrame(Answer):
    """From here on the stream."""

    type: Literal["ready"]
    """which frame it is"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class RfqFrame(Answer):
    """An RFQ came, or left the book: an upsert by its id."""

    type: Literal["rfq"]
    """which frame it is"""
    kind: Annotated[Literal["created", "cancelled"], AnyWord]
    """which of both"""
    rfq: m.Rfq
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class QuotedFrame(Answer):
    """The quote is stored on this thread."""

    type: Literal["quoted"]
    """which frame it is"""
    rfq_id: str
    """UUID of the RFQ"""
    thread_id: str
    """UUID of the thread"""
    idempotency_key: str | None = None
    """with `resume`: that of the quote, where it had one"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class OutcomesFrame(Answer):
    """What became of `quotes`, in their order."""

    type: Literal["outcomes"]
    """which frame it is"""
    outcomes: list[m.QuoteOutcome]
    """one a quote, in their order"""
    idempotency_key: str | None = None
    """that of the frame, where it had one"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class LevelsPublishedFrame(Answer):
    """Your levels are published."""

    type: Literal["levels"]
    """which frame it is"""
    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    published: int
    """how many levels of yours there are on the pair now"""
    ends_at: Time | None
    """when the first of them ends: RFC 3339, UTC, milliseconds; null of none"""
    idempotency_key: str | None = None
    """that of the frame, where it had one"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ErrorFrame(Answer):
    """What was refused, or why the socket is closed."""

    type: Literal["error"]
    """which frame it is"""
    error: str
    """one plain sentence"""
    code: str | None = None
    """with `resume`: the code that REST has in x-<name>-error"""
    rfq_id: str | None = None
    """with `resume`: of the quote that was refused"""
    base_asset_id: str | None = None
    """with `resume`: of the levels"""
    quote_asset_id: str | None = None
    """with `resume`: of the levels"""
    idempotency_key: str | None = None
    """with `resume`: that of the quote, where it had one"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ResumedFrame(Answer):
    """With `since`: what was missed follows."""

    type: Literal["resumed"]
    """which frame it is"""
    seq: int
    """the number of the last public entry of the log"""


class ResetFrame(Answer):
    """With `since`: a snapshot follows."""

    type: Literal["reset"]
    """which frame it is"""
    seq: int
    """the number of the last public entry of the log"""


class GoneFrame(Answer):
    """With `resume`: an RFQ expired or was agreed."""

    type: Literal["gone"]
    """which frame it is"""
    rfq_id: str
    """UUID of the RFQ"""
    reason: Annotated[Literal["expired", "agreed"], AnyWord]
    """why"""
    seq: int
    """the number of the last public entry of the log"""


class PongFrame(Answer):
    """With `resume`: the answer to a ping."""

    type: Literal["pong"]
    """which frame it is"""
    pong: str
    """what the ping held"""
    seq: int
    """the number of the last public entry of the log"""


class SubscribedFrame(Answer):
    """With `events`: they are heard."""

    type: Literal["subscribed"]
    """which frame it is"""
    events: list[Annotated[Literal["quote.created", "thread.accepted", "thread.proposed", "thread.closed"], AnyWord]]
    """those asked for"""
    resumed: bool
    """true: what came after `sinceEvent` follows; false: read what stands, GET /v1/threads"""
    event_seq: int
    """events after this number follow"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class QuoteCreatedFrame(Answer):
    """With `events`: A maker quoted your RFQ, or moved its price."""

    type: Literal["quote.created"]
    """which event it is"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    quote_expires_at: Time | None = None
    """where the price has an end of its own: from when on nobody may accept it: RFC 3339, UTC,
    milliseconds
    """
    event_seq: int
    """the number of the event; yours ascend by one, those you did not ask for count too"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ThreadAcceptedFrame(Answer):
    """With `events`: The other side accepted the price of a thread; only for who names this
    event.
    """

    type: Literal["thread.accepted"]
    """which event it is"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    role: Annotated[Literal["maker", "taker"], AnyWord]
    """which side of the thread you are"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    acceptance_expires_at: Time | None
    """when that acceptance lapses; null: both have accepted: RFC 3339, UTC, milliseconds"""
    swap_id: str | None
    """the swap; null: you have not accepted"""
    event_seq: int
    """the number of the event; yours ascend by one, those you did not ask for count too"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ThreadProposedFrame(Answer):
    """With `events`: The taker named another price for your quote; only for who names this
    event.
    """

    type: Literal["thread.proposed"]
    """which event it is"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    quote_expires_at: Time | None = None
    """where the price has an end of its own: from when on nobody may accept it: RFC 3339, UTC,
    milliseconds
    """
    event_seq: int
    """the number of the event; yours ascend by one, those you did not ask for count too"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class ThreadClosedFrame(Answer):
    """With `events`: A thread closed without a swap; only for who names this event."""

    type: Literal["thread.closed"]
    """which event it is"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    role: Annotated[Literal["maker", "taker"], AnyWord]
    """which side of the thread you are"""
    reason: Annotated[
        Literal[
            "cancelled",
            "expired",
            "agreed",
            "withdrawn",
            "disconnected",
        ],
        AnyWord,
    ]
    """why it closed"""
    event_seq: int
    """the number of the event; yours ascend by one, those you did not ask for count too"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


class SwitchedFrame(Answer):
    """Cancel on disconnect is stored so."""

    type: Literal["cancelOnDisconnect"]
    """which frame it is"""
    seconds: int | None
    """the seconds; null: this connection does not ask for it"""
    seq: int | None = None
    """with `resume` only: the number of the last public entry"""


Frame: TypeAlias = (
    SnapshotFrame
    | ReadyFrame
    | RfqFrame
    | QuotedFrame
    | OutcomesFrame
    | LevelsPublishedFrame
    | ErrorFrame
    | ResumedFrame
    | ResetFrame
    | GoneFrame
    | PongFrame
    | SubscribedFrame
    | QuoteCreatedFrame
    | ThreadAcceptedFrame
    | ThreadProposedFrame
    | ThreadClosedFrame
    | SwitchedFrame
)
"""A frame, by its `type`."""
