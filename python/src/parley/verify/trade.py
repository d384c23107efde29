"""A trade as one knows it oneself: everything the market says later is compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .._lists import Direction as Direction
from .._lists import Party as Party
from .._lists import Role as Role
from ..chains.terms import ChainPolicy, ChainView, Depth, Destination, Escrow, EscrowTerms
from ..errors import VerificationError
from .deadlines import Deadlines, LegName, LegTiming, broken_inequalities, long_leg

#: The market's default.
DEFAULT_ACCEPT_TTL_SECONDS = 600


@dataclass(frozen=True, slots=True)
class PinnedAsset:
    """``id``: the market's. ``token``: the chain's coin has None.

    ``high_value_from``: base units from which one wants the high-value depth; None: never.
    """

    id: str
    chain: str
    token: str | None
    decimals: int
    high_value_from: int | None = None


@dataclass(frozen=True, slots=True)
class OwnTrade:
    """``hashlock`` is the initiator's own; None: the counterparty learns it from the swap.

    ``accepted_at``: by one's own clock, and for how many seconds that stands. ``refund_to``: where
    the leg that one funds is refunded to. ``pay_to``: where the other leg pays. ``price_ends_at``:
    when the price ends, and the acceptance with it; None: it has no end of its own.
    ``swap_seen_at``: when its swap was first seen, as `sighted` notes it; None: it was not.
    """

    party: Party
    rfq_id: str
    thread_id: str
    maker_id: str
    taker_id: str
    direction: Direction
    base: PinnedAsset
    base_amount: int
    quote: PinnedAsset
    quote_amount: int
    hashlock: str | None
    accepted_at: int
    refund_to: Destination
    pay_to: Destination
    accept_ttl_seconds: int = DEFAULT_ACCEPT_TTL_SECONDS
    price_ends_at: int | None = None
    swap_seen_at: int | None = None

    @property
    def stands_until(self) -> int:
        """Until when the acceptance stands, by one's own clock."""
        stands = self.accepted_at + self.accept_ttl_seconds
        return stands if self.price_ends_at is None else min(stands, self.price_ends_at)


@dataclass(frozen=True, slots=True)
class VerifiedLeg:
    """``escrow`` and ``terms`` are None until both destinations of the leg are set."""

    leg: LegName
    chain: str
    asset_id: str
    amount: int
    funder: Party
    long: bool
    timelock: int
    required_confirmations: int
    escrow: Escrow | None
    terms: EscrowTerms | None


@dataclass(frozen=True, slots=True)
class VerifiedSwap:
    """Made of one's own values, never of the answer."""

    id: str
    party: Party
    role: Role
    hashlock: str
    agreed_at: int
    deadlines: Deadlines
    a: VerifiedLeg
    b: VerifiedLeg

    def leg(self, name: LegName) -> VerifiedLeg:
        return self.a if name == "a" else self.b


def given_leg(party: Party) -> LegName:
    """Leg ``a`` is funded by the maker, ``b`` by the taker."""
    return "a" if party == "maker" else "b"


def funder_of(leg: LegName) -> Party:
    return "maker" if leg == "a" else "taker"


def other_leg(leg: LegName) -> LegName:
    return "b" if leg == "a" else "a"


def role_of(party: Party, long: LegName) -> Role:
    """The long leg's funder holds the secret."""
    return "initiator" if funder_of(long) == party else "counterparty"


@dataclass(frozen=True, slots=True)
class OwnLeg:
    leg: LegName
    asset: PinnedAsset
    amount: int
    view: ChainView
    policy: ChainPolicy

    @property
    def depth(self) -> Depth:
        high = self.asset.high_value_from
        return self.policy.high if high is not None and self.amount >= high else self.policy.normal

    @property
    def timing(self) -> LegTiming:
        return LegTiming(self.policy, self.depth)


@dataclass(frozen=True, slots=True)
class OwnLegs:
    a: OwnLeg
    b: OwnLeg
    long: LegName

    def leg(self, name: LegName) -> OwnLeg:
        return self.a if name == "a" else self.b


def own_legs(trade: OwnTrade, views: Mapping[str, ChainView]) -> OwnLegs:
    """ValueError: a chain is not pinned, has no policy, or two policies break an inequality.

    VerificationError: the market has one id for both assets; legs are told apart by them.
    """
    if trade.base.id == trade.quote.id:
        expected = f"another id than that of {_asset(trade.base)}"
        raise VerificationError(f"id of {_asset(trade.quote)}", expected, trade.quote.id)
    base, quote = (trade.base, trade.base_amount), (trade.quote, trade.quote_amount)
    given = (quote, base) if trade.direction == "sell_base" else (base, quote)
    a, b = _own_leg("a", *given[0], views), _own_leg("b", *given[1], views)
    long = long_leg(a.timing, b.timing)
    legs = OwnLegs(a, b, long)
    longer, shorter = legs.leg(long), legs.leg(other_leg(long))
    broken = broken_inequalities(shorter.timing, longer.timing)
    if broken:
        on = f"{shorter.asset.chain} (short) and {longer.asset.chain} (long)"
        raise ValueError(f"policies of {on} refused: {broken[0]}")
    return legs


def _asset(asset: PinnedAsset) -> str:
    return f"{asset.chain}:{asset.token or 'its own coin'}"


def _own_leg(
    leg: LegName, asset: PinnedAsset, amount: int, views: Mapping[str, ChainView]
) -> OwnLeg:
    view = views.get(asset.chain)
    if view is None or view.chain != asset.chain:
        keys = ", ".join(f'"{each}"' for each in views) or "none"
        raise ValueError(f'no view of "{asset.chain}" among your chains ({keys})')
    if view.policy is None:
        raise ValueError(f'the view of "{asset.chain}" has no policy: times cannot be compared')
    return OwnLeg(leg, asset, amount, view, view.policy)
