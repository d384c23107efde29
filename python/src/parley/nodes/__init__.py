"""Nodes of one's own, as `parley.settle` asks them: one module a family."""

from .bitcoin import BitcoinNode
from .evm import EvmNode
from .solana import SolanaNode
from .tron import TronNode

__all__ = ["BitcoinNode", "EvmNode", "SolanaNode", "TronNode"]
