"""Escrows and transactions of the four families: pure functions, no network and no clock."""

from . import bitcoin, evm, solana, tron
from .errors import ChainError
from .terms import (
    BitcoinView,
    ChainView,
    Destination,
    Escrow,
    EscrowTerms,
    EvmView,
    Lane,
    SolanaView,
    TronView,
)


def derive_escrow(terms: EscrowTerms, view: ChainView) -> Escrow:
    """The escrow of these terms on a chain as it is pinned. Throws ChainError."""
    match view:
        case EvmView():
            return evm.evm_escrow(terms, view.deployment)
        case TronView():
            return tron.tron_escrow(terms, view.deployment)
        case SolanaView():
            return solana.solana_escrow(terms, view.deployment)
        case BitcoinView():
            return bitcoin.bitcoin_escrow(terms, view.network)


__all__ = [
    "BitcoinView",
    "ChainError",
    "ChainView",
    "Destination",
    "Escrow",
    "EscrowTerms",
    "EvmView",
    "Lane",
    "SolanaView",
    "TronView",
    "derive_escrow",
]
