"""Does what the market says follow from one's own trade? Nothing here asks anybody.

``verify_swap`` compares a swap with one's own trade and returns terms made of one's own values.
``verify_material`` compares what is to be signed with these terms.
"""

from ..errors import VerificationError
from .material import Asked, Claim, Fund, Limits, Refund, escrow_of, verify_material
from .swap import verify_asset, verify_swap
from .trade import OwnTrade, PinnedAsset, VerifiedLeg, VerifiedSwap
from .typed_data import SigningView, typed_data_problems, verify_typed_data

__all__ = [
    "Asked",
    "Claim",
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
    "typed_data_problems",
    "verify_asset",
    "verify_material",
    "verify_swap",
    "verify_typed_data",
]
