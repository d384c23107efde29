"""docs/vectors read into the package's own types."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

from parley.chains.terms import (
    BitcoinView,
    ChainPolicy,
    ChainView,
    ContractDeployment,
    Destination,
    EscrowOutput,
    EscrowTerms,
    EvmView,
    Lane,
    SolanaDeployment,
    SolanaView,
    TronView,
)
from parley.verify import Asked, Claim, Fund, Limits, Refund

#: Beside python/ in the repository; a copy of these tests is told where.
_USUAL = Path(__file__).resolve().parents[2] / ".." / "docs"
_FOLDER = Path(os.environ.get("PARLEY_TEST_DOCS") or _USUAL) / "vectors"
Json = Any


def load(name: str) -> Json:
    return json.loads((_FOLDER / f"{name}.json").read_text("utf-8"))


def terms_of(said: Json) -> EscrowTerms:
    lane = said.get("lane")
    return EscrowTerms(
        chain=said["chain"],
        hashlock=said["hashlock"],
        payout=Destination(**said["payout"]),
        refund=Destination(**said["refund"]),
        token=said["token"],
        amount=int(said["amount"]),
        timelock=said["timelock"],
        fund_before=said.get("fundBefore"),
        lane=Lane(**lane) if lane else None,
        form=said.get("form"),
    )


def _contracts(said: Json) -> ContractDeployment:
    shards, former = (
        tuple(each["contract"] for each in said.get(name, []))
        for name in ("shards", "formerContracts")
    )
    return ContractDeployment(said["chainId"], said["contract"], shards, former)


def view_of(said: Json) -> ChainView:
    chain = said["chain"]
    policy = ChainPolicy.of(said["policy"]) if "policy" in said else None
    match said["family"]:
        case "evm":
            return EvmView(chain, said["chainId"], _contracts(said["deployment"]), policy)
        case "tron":
            most = int(said.get("mostFeeLimitSun", 500_000_000))
            return TronView(chain, _contracts(said["deployment"]), policy, most)
        case "solana":
            return SolanaView(chain, SolanaDeployment(**said["deployment"]), policy)
        case "bitcoin":
            rate = said.get("mostFeeRateSatPerVbyte", 500)
            return BitcoinView(chain, said["network"], policy, rate)
    raise ValueError(said["family"])


def asked_of(said: Json) -> Asked:
    if said["verb"] == "fund":
        return Fund(said.get("allowance", "exact"), said.get("laneSignature"))
    if said["verb"] == "claim":
        return Claim(said["secret"])
    return Refund(said.get("release"), said.get("isReleased", False))


def limits_of(said: Json) -> Limits:
    outputs = said["outputs"]
    return Limits(
        valid_until=said["validUntil"],
        outputs=None if outputs is None else outputs_of(outputs),
        now=said["now"],
    )


def outputs_of(said: Json) -> tuple[EscrowOutput, ...]:
    return tuple(EscrowOutput(each["txid"], each["vout"], int(each["amount"])) for each in said)


def changed(value: Json, changes: Json) -> Json:
    """A copy with the changes (RFC 6902: replace, add, remove). The rest is shared."""
    whole = {"": value}
    for change in changes:
        path: list[str] = change["path"].split("/")
        names, last = path[:-1], path[-1]
        holder: Json = whole
        for name in names:
            key = int(name) if isinstance(holder, list) else name
            holder[key] = copy.copy(holder[key])
            holder = holder[key]
        if isinstance(holder, list):
            at = len(holder) if last == "-" else int(last)
            if change["op"] != "add":
                del holder[at]
            if change["op"] != "remove":
                holder.insert(at, change["value"])
        elif change["op"] == "remove":
            del holder[last]
        else:
            holder[last] = change["value"]
    return whole[""]
