"""Drives one side of a swap to its end: `settle`, and what it is given.

It reads the customer's own nodes, verifies what the market says, funds, reveals, claims and refunds
by the rules of docs/dont-trust-verify.md, and goes on after a crash by its store alone.
"""

from ._settle.context import Chain, Market, Options, Progress, ProgressStep
from ._settle.facts import EscrowFacts, Sighting
from ._settle.judge import Heads
from ._settle.machine import SettleState
from ._settle.nodes import (
    About,
    Look,
    Material,
    Node,
    Payment,
    Signed,
    Source,
    Wallet,
    WatchedEscrow,
)
from ._settle.nodes import Outcome as SentOutcome
from ._settle.record import SwapRecord
from ._settle.run import End, Outcome, settle
from ._settle.store import FileStore, Lock, Store, new_hashlock, read_record, write_record
from .errors import Refusal, SettleError, Verdict, verdict_of

__all__ = [
    "About",
    "Chain",
    "End",
    "EscrowFacts",
    "FileStore",
    "Heads",
    "Lock",
    "Look",
    "Market",
    "Material",
    "Node",
    "Options",
    "Outcome",
    "Payment",
    "Progress",
    "ProgressStep",
    "Refusal",
    "SentOutcome",
    "SettleError",
    "SettleState",
    "Sighting",
    "Signed",
    "Source",
    "Store",
    "SwapRecord",
    "Verdict",
    "Wallet",
    "WatchedEscrow",
    "new_hashlock",
    "read_record",
    "settle",
    "verdict_of",
    "write_record",
]
