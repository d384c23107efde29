"""The terms of an escrow, and one's pins of each chain. Two sides derive the same escrow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .._lists import Family as Family

SpendVerb = Literal["claim", "refund"]
Allowance = Literal["exact", "standing"]
Form = Literal["p2tr"]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where money goes: an address, and on Bitcoin the compressed key (66 hex) that spends.

    ``form``: Bitcoin; the side asks for an escrow of Taproot, whose leaves it signs by BIP 340.
    """

    address: str
    pubkey: str | None = None
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """The storage word of the funder that an escrow takes (EVM and TRON).

    ``number``: 24 hex digits. ``counter``: from 1 to 2^30 - 1. ``contract``: in the family's own
    form; None: the chain's first one.
    """

    number: str
    counter: int
    contract: str | None = None


@dataclass(frozen=True, slots=True)
class EscrowTerms:
    """``hashlock``: 64 lower-case hex. ``amount``: base units. Times: Unix seconds.

    ``token`` is None for the chain's coin. ``fund_before`` and ``lane`` are of EVM and TRON alone.
    ``form``: Bitcoin; Taproot where both sides asked for it, else P2WSH.
    """

    chain: str
    hashlock: str
    payout: Destination
    refund: Destination
    token: str | None
    amount: int
    timelock: int
    fund_before: int | None = None
    lane: Lane | None = None
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Escrow:
    """``redeem_script``: on Bitcoin the witness script in hex, or the output descriptor of Taproot
    (BIP 380); None elsewhere."""

    address: str
    redeem_script: str | None = None


@dataclass(frozen=True, slots=True)
class ContractDeployment:
    """Where the contracts of an EVM chain or of TRON are, in the family's own form.

    ``shards`` take new escrows as ``contract`` does; ``former`` are claimed and refunded alone.
    """

    chain_id: int
    contract: str
    shards: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    @property
    def open(self) -> tuple[str, ...]:
        """Those that take new escrows."""
        return (self.contract, *self.shards)

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.open, *self.former)


@dataclass(frozen=True, slots=True)
class SolanaDeployment:
    """The escrow program's address; ``sha256``: the hash of its bytes."""

    program: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Depth:
    """Blocks that must hold a transaction, and the seconds that this takes or may stand still."""

    confirmations: int
    settle_seconds: int
    outage_seconds: int


@dataclass(frozen=True, slots=True)
class ChainPolicy:
    """Times of a chain in seconds (docs/timelocks.md). ``window_seconds`` None: no bound.

    It is one's own: compare it with the market's rules, and do not take it from there.
    """

    floor_seconds: int
    normal: Depth
    high: Depth
    late_claim_seconds: int
    window_seconds: int | None
    drift_seconds: int
    react_seconds: int
    sign_seconds: int
    detect_seconds: int

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> ChainPolicy:
        """Reads the JSON that one keeps: the names of ``GET /v1/rules``."""

        def depth(name: str) -> Depth:
            fields = ("confirmations", "settleSeconds", "outageSeconds")
            return Depth(*(said[name][field] for field in fields))

        return cls(
            floor_seconds=said["floorSeconds"],
            normal=depth("normal"),
            high=depth("high"),
            late_claim_seconds=said["lateClaimSeconds"],
            window_seconds=said["windowSeconds"],
            drift_seconds=said["driftSeconds"],
            react_seconds=said["reactSeconds"],
            sign_seconds=said["signSeconds"],
            detect_seconds=said["detectSeconds"],
        )


@dataclass(frozen=True, slots=True)
class EvmView:
    """One's pinned facts of an EVM chain. ``policy`` is needed to verify swaps alone."""

    chain: str
    chain_id: int
    deployment: ContractDeployment
    policy: ChainPolicy | None = None
    family: Literal["evm"] = field(default="evm", init=False)


@dataclass(frozen=True, slots=True)
class TronView:
    """``most_fee_limit_sun``: the most that one transaction may burn for energy; 500 TRX unless
    told."""

    chain: str
    deployment: ContractDeployment
    policy: ChainPolicy | None = None
    most_fee_limit_sun: int = 500_000_000
    family: Literal["tron"] = field(default="tron", init=False)


@dataclass(frozen=True, slots=True)
class SolanaView:
    chain: str
    deployment: SolanaDeployment
    policy: ChainPolicy | None = None
    family: Literal["solana"] = field(default="solana", init=False)


@dataclass(frozen=True, slots=True)
class BitcoinView:
    """``network``: mainnet, testnet or regtest. The rate is in satoshis a virtual byte."""

    chain: str
    network: Literal["mainnet", "testnet", "regtest"]
    policy: ChainPolicy | None = None
    most_fee_rate_sat_per_vbyte: float = 500
    family: Literal["bitcoin"] = field(default="bitcoin", init=False)


ChainView = EvmView | TronView | SolanaView | BitcoinView


@dataclass(frozen=True, slots=True)
class EscrowOutput:
    """A payment into a Bitcoin escrow, in satoshis."""

    txid: str
    vout: int
    amount: int
