"""Checks that the market's words follow from one's own trade, without any request.

``verify_thread`` compares a thread with one's own trade, before it is accepted.
``sighted`` notes when its swap was first seen: one that comes too late is never funded.
``verify_swap`` compares a swap with it, and returns terms made of one's own values.
``verify_again`` holds the swap to what was verified, ``verify_to_fund`` right before a funding.
``verify_material`` compares what is to be signed with these terms.
"""

from ..errors import AcceptanceLapsed, ClockError, VerificationError
from .material import Asked, Claim, Fund, Limits, Refund, escrow_of, verify_material
from .rules import own_rules
from .swap import sighted, verify_again, verify_asset, verify_swap, verify_to_fund
from .thread import verify_thread
from .trade import OwnTrade, PinnedAsset, VerifiedLeg, VerifiedSwap, own_legs
from .typed_data import SigningView, typed_data_problems, verify_typed_data

__all__ = [
    "AcceptanceLapsed",
    "Asked",
    "Claim",
    "ClockError",
    "Fund",
    "Limits",
    "OwnTrade",
    "PinnedAsset",
    "Refund",
    "SigningView",
    "VerificationError",
    "VerifiedLeg",
    "VerifiedSwap",
    "escrow_of",
    "own_legs",
    "own_rules",
    "sighted",
    "typed_data_problems",
    "verify_again",
    "verify_asset",
    "verify_material",
    "verify_swap",
    "verify_thread",
    "verify_to_fund",
    "verify_typed_data",
]
