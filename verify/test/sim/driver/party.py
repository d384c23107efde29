"""The driver of the package `parley` in the simulation: no clock, no network and no disk of its own.

Its event loop has the simulation's time. When nothing is left to do, it writes a line with what it
asks, and reads one with the answers (python.ts).
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import math
import selectors
import sys
import time
import weakref
from collections.abc import Sequence
from typing import Any

from parley._settle import fund, giving_up, run, sign
from parley._settle.context import Chain, Options, Progress
from parley._settle.facts import EscrowFacts, Sighting
from parley._settle.judge import Heads
from parley._settle.keeping import without_sent
from parley._settle.nodes import Look, Signed, Source, WatchedEscrow
from parley._settle.record import SwapRecord
from parley._settle.store import read_record, read_trade, write_record, write_trade
from parley.chains import bitcoin
from parley.chains.evm import evm_deployment
from parley.chains.solana import DEV_DEPLOYMENT
from parley.chains.terms import (
    BitcoinView,
    ChainPolicy,
    ContractDeployment,
    Destination,
    Escrow,
    EscrowTerms,
    EvmView,
    SolanaView,
    TronView,
)
from parley.errors import ParleyApiError, Refusal, VerificationError
from parley.verify import material, swap
from parley.verify.trade import OwnTrade, PinnedAsset

LIFE: contextvars.ContextVar[int] = contextvars.ContextVar("life")
#: Whose each task is: Python 3.11 does not tell a task's context.
LIVES: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


class Died(BaseException):
    """The process of this life has died: nothing of it runs any more."""


class Bridge:
    def __init__(self) -> None:
        self.now_ms = 0
        self.walls: dict[str, int] = {}
        self.dead: set[int] = set()
        self._calls: list[Any] = []
        self._cancelled: list[int] = []
        self._told: list[Any] = []
        self._ended: list[Any] = []
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._plans: dict[str, Escrow] = {}
        self._lives: dict[int, asyncio.Task[None]] = {}

    def _read(self) -> Any:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        return json.loads(line)

    def _write(self, value: object) -> None:
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()

    def exchange(self, timeout: float | None) -> None:
        """Called by the loop when it has nothing to do before ``timeout``."""
        wakes = None if timeout is None else self.now_ms + max(1, math.ceil(timeout * 1_000))
        idle = {
            "calls": self._calls,
            "cancelled": self._cancelled,
            "told": self._told,
            "ended": self._ended,
            "wakes": wakes,
        }
        self._calls, self._cancelled, self._told, self._ended = [], [], [], []
        self._write({"idle": idle})
        said = self._read()
        self.now_ms, self.walls = said["now"], said["walls"]
        if said["reset"]:
            for life in list(self._lives):
                self._kill(life)
            self._open.clear()
            self._plans.clear()
        for life in said["kill"]:
            self._kill(life)
        for call, answer in said["done"]:
            future = self._open.pop(call, None)
            if future is None or future.done():
                continue
            if "ok" in answer:
                future.set_result(answer["ok"])
            else:
                future.set_exception(error_of(answer["error"]))
        for life, about in said["start"]:
            self._begin(life, about)

    def sync(self, name: str, *args: object) -> Any:
        self._write({"sync": [LIFE.get(0), name, args]})
        return self._read()["value"]

    async def ask(self, name: str, *args: object) -> Any:
        life = LIFE.get()
        if life in self.dead:
            raise Died
        self._number += 1
        number = self._number
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[number] = future
        self._calls.append([number, life, name, args])
        try:
            return await future
        except asyncio.CancelledError:
            if self._open.pop(number, None) is not None and life not in self.dead:
                self._cancelled.append(number)
            raise

    def tell(self, life: int, progress: Progress) -> None:
        if life not in self.dead:
            about = {"step": progress.step, "leg": progress.leg, "text": progress.text}
            self._told.append([life, about])

    def plan(self, terms: EscrowTerms) -> Escrow:
        key = repr(terms)
        if key not in self._plans:
            said = self.sync("plan", terms_of(terms))
            self._plans[key] = Escrow(said["address"], said["redeemScript"])
        return self._plans[key]

    def _kill(self, life: int) -> None:
        self.dead.add(life)
        self._lives.pop(life, None)
        for task in asyncio.all_tasks(loop):
            if LIVES.get(task) == life:
                task.cancel()

    def _begin(self, life: int, about: Any) -> None:
        context = contextvars.copy_context()
        context.run(LIFE.set, life)
        task = loop.create_task(self._live(life, about), context=context)
        self._lives[life] = task

    async def _live(self, life: int, about: Any) -> None:
        try:
            outcome = await settle_by(self, life, about)
            end: Any = {"outcome": {"end": outcome.end, "status": outcome.status}}
        except (asyncio.CancelledError, Died):
            return
        except Exception as error:
            if life in self.dead:
                return
            code = getattr(error, "code", None) or type(error).__name__
            end = {"error": {"code": code, "message": str(error)}}
        self._lives.pop(life, None)
        self._ended.append([life, end])


class BridgeSelector(selectors.SelectSelector):
    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or timeout > 0:
            bridge.exchange(timeout)
        return []


class BridgeLoop(asyncio.SelectorEventLoop):
    def time(self) -> float:
        return bridge.now_ms / 1_000


def error_of(said: Any) -> Exception:
    if said["kind"] == "api":
        return ParleyApiError(said["message"], status=said["status"], code=said["code"])
    if said["kind"] == "refusal":
        return Refusal(said["code"], said["message"])
    return RuntimeError(said["message"])


def terms_of(terms: EscrowTerms) -> dict[str, Any]:
    def to(each: Destination) -> dict[str, Any]:
        return {"address": each.address, "pubkey": each.pubkey, "form": each.form}

    lane = terms.lane
    return {
        "chain": terms.chain,
        "hashlock": terms.hashlock,
        "token": terms.token,
        "amount": str(terms.amount),
        "timelock": terms.timelock,
        "payout": to(terms.payout),
        "refund": to(terms.refund),
        "form": terms.form,
        "fundBefore": terms.fund_before,
        "lane": None if lane is None else {"number": lane.number, "counter": lane.counter},
    }


def facts_of(said: Any) -> EscrowFacts:
    def sighting(name: str) -> Sighting | None:
        found = said[name]
        if found is None:
            return None
        return Sighting(found["txid"], found["confirmations"], found["deep"])

    return EscrowFacts(
        funded=sighting("funded"),
        claimed=sighting("claimed"),
        refunded=sighting("refunded"),
        secret=said["secret"],
        balance=int(said["balance"]),
        empty=said["empty"],
        is_unknown=said.get("outcome") == "unknown",
    )


def heads_of(said: Any) -> Heads:
    return Heads(said["height"], said["hash"], said["clock"])


class SimNode:
    def __init__(self, about: Any, place: int) -> None:
        self._chain, self._place = about["chain"], place
        self._is_final = about["family"] == "solana"
        self.block_seconds = float(about["blockSeconds"])

    async def _ask(self, name: str, *args: object) -> Any:
        return await bridge.ask(f"node {name}", self._chain, self._place, *args)

    async def heads(self) -> Heads:
        return heads_of(await self._ask("heads"))

    async def look(self, escrows: Sequence[WatchedEscrow]) -> Look:
        said = await self._ask("look", [watched(each) for each in escrows])
        return Look(heads_of(said["heads"]), tuple(facts_of(each) for each in said["facts"]))

    async def block_hash(self, height: int) -> str | None:
        found: str | None = None if self._is_final else await self._ask("block_hash", height)
        return found

    async def preflight(self, terms: EscrowTerms, about: str) -> None:
        await self._ask("preflight", [bridge.plan(terms).address, 0], about)

    async def build_claim(self, escrow: WatchedEscrow, secret: str, *, is_public: bool) -> Any:
        return await self._ask("build_claim", watched(escrow), secret, is_public)

    async def build_refund(self, escrow: WatchedEscrow, release: str | None) -> Any:
        return await self._ask("build_refund", watched(escrow), release)

    async def build_release(self, escrow: WatchedEscrow) -> Any:
        return await self._ask("build_release", watched(escrow))

    async def check_release(self, terms: EscrowTerms, signature: str) -> None:
        await self._ask("check_release", [bridge.plan(terms).address, 0], signature)

    async def payments(self, _: WatchedEscrow) -> list[Any]:
        return []

    async def claim_shortage(self, _: EscrowTerms, __: int) -> str | None:
        return None

    async def broadcast(self, raw: str) -> None:
        await self._ask("broadcast", raw)


def watched(escrow: WatchedEscrow) -> list[Any]:
    return [escrow.address, escrow.required_confirmations]


class SimWallet:
    def __init__(self, about: Any) -> None:
        self.family = about["family"]
        self.pays_by_hand = about["byHand"]
        self._leg = "a" if about["chain"].startswith("sim-a-") else "b"
        self.signing_lock = asyncio.Lock()
        self.funding_lock = asyncio.Lock()

    async def _signed(self, name: str, *args: object) -> Signed | None:
        said = await bridge.ask(f"wallet {name}", self._leg, *args)
        return None if said is None else Signed(said["txid"], said["raw"])

    def funding_steps(self, _: Any) -> int:
        return 1

    async def sign_funding(self, _: Source, terms: EscrowTerms, built: Any, __: int) -> Any:
        return await self._signed("fund", bridge.plan(terms).address, json.dumps(dict(built)))

    async def sign_spend(self, _: Source, __: EscrowTerms, built: Any) -> Any:
        return await self._signed("spend", json.dumps(dict(built)))

    async def sign_text(self, built: Any) -> str | None:
        word: str = await bridge.ask("wallet release", self._leg, built["escrow"])
        return word

    async def outcome(self, _: Source, kept: Signed, depth: int) -> Any:
        return await bridge.ask("wallet outcome", self._leg, kept.raw, depth)

    async def raised(self, *_: object) -> Signed | None:
        return None

    async def cancelled(self, _: Source, funding: Signed, __: Signed | None) -> Signed | None:
        return await self._signed("cancel", funding.raw)


class SimStore:
    async def put_secret(self, hashlock: str, secret: str) -> None:
        await bridge.ask("store put_secret", hashlock, secret)

    async def get_secret(self, hashlock: str) -> str | None:
        found: str | None = await bridge.ask("store get_secret", hashlock)
        return found

    async def put_trade(self, trade: OwnTrade) -> None:
        await bridge.ask("store put_trade", trade.thread_id, write_trade(trade))

    async def get_trade(self, thread_id: str) -> OwnTrade | None:
        text = await bridge.ask("store get_trade", thread_id)
        return None if text is None else read_trade(text)

    async def put_swap(self, record: SwapRecord) -> None:
        await bridge.ask("store put_swap", record.swap.id, write_record(record))

    async def get_swap(self, swap_id: str) -> SwapRecord | None:
        said = await bridge.ask("store get_swap", swap_id)
        if said is None:
            return None
        record = read_record(said["text"])
        return without_sent(record) if said["isRestored"] and not record.restored else record

    async def swap_ids(self) -> list[str]:
        found: list[str] = await bridge.ask("store swap_ids")
        return found

    def lock(self, _: str) -> Any:
        return SimLock()


class SimLock:
    def release(self) -> None:
        pass


class SimMarket:
    async def get_swap(self, _: str) -> Any:
        return await bridge.ask("market swap")

    async def set_address(self, *_: object, **__: object) -> Any:
        raise AssertionError("all addresses are named already")

    async def build_fund(self, _: str, leg: str) -> Any:
        return await bridge.ask("market fund", leg)

    async def announce_claim(self, _: str, leg: str) -> Any:
        return await bridge.ask("market announce", leg)

    async def release_leg(self, _: str, leg: str, *, signature: str | None = None) -> Any:
        return await bridge.ask("market release", leg, signature)

    async def broadcast(self, *, chain: str, signed: Any) -> Any:
        return await bridge.ask("market broadcast", chain, signed)


def view_of(about: Any) -> Any:
    chain, policy = about["chain"], ChainPolicy.of(about["policy"])
    match about["family"]:
        case "evm":
            return EvmView(chain, 31_337, evm_deployment(31_337), policy)
        case "tron":
            return TronView(chain, ContractDeployment(7, "T-simulated"), policy)
        case "solana":
            return SolanaView(chain, DEV_DEPLOYMENT, policy)
        case _:
            return BitcoinView(chain, "regtest", policy)


def trade_of(said: Any) -> OwnTrade:
    fields = dict(said)
    for each in ("base", "quote"):
        fields[each] = PinnedAsset(**said[each])
    for each in ("refund_to", "pay_to"):
        fields[each] = Destination(**said[each])
    return OwnTrade(**fields)


async def settle_by(bridge: Bridge, life: int, about: Any) -> run.Outcome:
    async def now() -> int:
        return bridge.walls[str(life)]

    async def pause(_: float) -> None:
        await bridge.ask("pause")

    chains = {}
    for each in about["chains"]:
        nodes = [SimNode(each, place) for place in range(each["nodeCount"])]
        chains[each["chain"]] = Chain(Source(view_of(each), nodes), SimWallet(each))
    options = Options(now=now, pause=pause, gives_up=lambda: bool(bridge.sync("gives up")))
    return await run.settle(
        about["swapId"],
        market=SimMarket(),
        chains=chains,
        store=SimStore(),
        trade=trade_of(about["trade"]),
        options=options,
        on_progress=lambda progress: bridge.tell(life, progress),
    )


def noted_task(of: Any, work: Any, context: Any = None) -> Any:
    task = asyncio.Task(work, loop=of, context=context)
    LIVES[task] = LIFE.get(0) if context is None else context.get(LIFE, 0)
    return task


def same_escrow(said: Any, _: object, terms: EscrowTerms, *__: object) -> None:
    """In the place of the check of unsigned bytes, whose own tests try real ones."""
    wanted, got = bridge.plan(terms).address, said.get("escrow")
    if wanted != got:
        raise VerificationError("escrow", wanted, str(got))


bridge = Bridge()
loop = BridgeLoop(BridgeSelector())
loop._clock_resolution = 1e-4  # Beside today's seconds a float has no room for a nanosecond.
loop.set_task_factory(noted_task)
asyncio.set_event_loop(loop)
time.time = lambda: bridge.now_ms / 1_000
material.derive_escrow = lambda terms, _: bridge.plan(terms)
swap.bitcoin.addresses_of_public_key = lambda pubkey, _: {"p2wpkh": f"pays {pubkey}"}
sign.verify_material = same_escrow
fund.verify_material = same_escrow
giving_up.verify_release = lambda said, terms, _: same_escrow(said, None, terms)
loop.run_forever()
