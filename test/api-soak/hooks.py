"""What schemathesis cannot make up: two accounts, their wallets, and secrets.

Requests that are meant to be right are asked by whom they are for, with addresses, hash-locks and
signatures of that account. Requests that are meant to be wrong stay as they were drawn. Wallets
sign in the process that started this one (PARLEY_TEST_DESK).
"""

import json
import os
import threading
from collections import Counter
from hashlib import sha256

import requests
import schemathesis
from schemathesis.generation import GenerationMode

KEYS = json.loads(os.environ["PARLEY_TEST_KEYS"])
DESK = os.environ["PARLEY_TEST_DESK"]
COUNTS = os.environ["PARLEY_TEST_COUNTS"]
ASSETS = json.loads(os.environ["PARLEY_TEST_ASSETS"])
"""Of each asset the amount that is traded."""

SECRETS = json.loads(os.environ["PARLEY_TEST_SECRETS"])
"""By hash-lock, of the swaps that were there before."""

PROOFS = {f"prove{name}Wallet": name.lower() for name in ("Evm", "Tron", "Bitcoin", "Solana")}
MAKERS = {"quoteRfq", "quoteMany", "withdrawQuote", "withdrawQuotes", "listQuotes"}

rfqs: dict[str, dict] = {}
threads: dict[str, dict] = {}
askers: dict[str, str] = {}
owners: dict[str, str] = {}
swaps: dict[str, dict] = {}
built: list[tuple[str, dict, str]] = []
answers: Counter[str] = Counter()
statuses: Counter[str] = Counter()
lock = threading.Lock()
turn = 0


def secret_of(thread_id: str) -> str:
    return sha256(b"schemathesis " + thread_id.encode()).hexdigest()


def hashlock_of(secret: str) -> str:
    return sha256(bytes.fromhex(secret)).hexdigest()


def is_right(case) -> bool:
    return case.meta is None or case.meta.generation.mode == GenerationMode.POSITIVE


def operation_of(case) -> str:
    return case.operation.definition.raw.get("operationId", "")


def asker(case, operation: str) -> str:
    """Whose request it is: of a leg its funder or receiver, else each in turn."""
    global turn
    turn += 1
    leg = (case.path_parameters or {}).get("leg")
    if operation in ("buildFund", "buildRefund", "scheduleRefunds") and leg in ("a", "b"):
        return "maker" if leg == "a" else "taker"
    if operation == "buildClaim" and leg in ("a", "b"):
        return "taker" if leg == "a" else "maker"
    if operation == "removeWallet":
        return owners.get((case.path_parameters or {}).get("address", ""), "taker")
    if operation in MAKERS:
        return "maker"
    if operation in ("createRfq", "cancelRfq"):
        return "taker"
    return "maker" if turn % 2 else "taker"


def aim(case) -> None:
    """Puts an id that there is in the place of one that was made up."""
    path = case.path_parameters or {}
    for place, known in (("/rfqs/", rfqs), ("/threads/", threads), ("/swaps/", swaps)):
        if place in case.operation.path and known and path.get("id") not in known:
            path["id"] = list(known)[turn % len(known)]
    if "leg" in path and path["leg"] not in ("a", "b"):
        path["leg"] = "ab"[turn // 8 % 2]
    if {"baseAssetId", "quoteAssetId"} <= set(case.query or {}):
        base, quote = ASSETS
        case.query.update(baseAssetId=base["id"], quoteAssetId=quote["id"])
        for name in ("baseAmount", "quoteAmount"):
            case.query.pop(name, None)


def fill(case, operation: str, who: str) -> None:
    body = case.body if isinstance(case.body, dict) else None
    path = case.path_parameters or {}
    if operation in ("buildFund", "buildClaim", "buildRefund"):
        case.query = {}
    if operation in PROOFS:
        case.body = desk("prove", who=who, family=PROOFS[operation]) or case.body
    if operation == "mintKey":
        case.body = desk("mint") or case.body
    if body is None:
        return
    if operation == "buildFund":
        body.clear()
    if operation == "createRfq":
        base, quote = ASSETS
        body.update(baseAssetId=base["id"], baseAmount=base["amount"], quoteAssetId=quote["id"])
        for name in ("visibility", "targetAddress", "askAmount", "minSettled"):
            body.pop(name, None)
    if operation in ("quoteRfq", "proposePrice"):
        body["quoteAmount"] = ASSETS[1]["amount"]
        body.pop("validForSeconds", None)
    if operation == "acceptPrice":
        thread = threads.get(str(path.get("id")))
        body.pop("rules", None)
        body.pop("hashlock", None)
        if thread is not None and thread["initiator"] == who:
            body["hashlock"] = hashlock_of(secret_of(thread["id"]))
    if operation == "setAddress":
        body["address"] = KEYS[who]["addresses"].get(body.get("chain"), body.get("address"))
        body.pop("keySignature", None)
    if operation == "buildClaim":
        swap = swaps.get(str(path.get("id")))
        body.pop("relay", None)
        if swap is not None:
            body["secret"] = SECRETS.get(swap["hashlock"]) or secret_of(swap["threadId"])


def sign(case) -> str | None:
    """Signs what was built last, and says whose it is."""
    with lock:
        if not built:
            return None
        who, material, secret = built.pop()
    signed = desk("sign", who=who, material=material, secret=secret)
    if signed is None:
        return None
    case.body = signed
    return who


def desk(what: str, **asked) -> dict | None:
    try:
        answer = requests.post(f"{DESK}/{what}", json=asked, timeout=30)
    except requests.RequestException:
        return None
    return answer.json() if answer.status_code == 200 else None


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    # One in four is sent as it was drawn.
    helps = is_right(case) and turn % 4 != 0
    if helps:
        aim(case)
    who = asker(case, operation)
    if helps:
        fill(case, operation, who)
        if operation == "broadcast":
            who = sign(case) or who
    askers[case.id] = who
    # What is to be refused without a key, or with another one, is asked so.
    headers = case.headers or {}
    if headers.get("Authorization") == f"Bearer {KEYS['taker']['key']}":
        headers["Authorization"] = f"Bearer {KEYS[who]['key']}"


@schemathesis.hook
def after_call(context, case, response):
    operation = operation_of(case)
    who = askers.pop(case.id, "taker")
    with lock:
        answers[f"{operation} {response.status_code}"] += 1
    if response.status_code >= 300:
        return
    try:
        body = response.json()
    except ValueError:
        return
    if not isinstance(body, dict):
        return
    with lock:
        learn(operation, case, body, who)
        with open(COUNTS, "w") as file:
            json.dump({"answers": answers, "statuses": statuses}, file)


def learn(operation: str, case, body: dict, who: str) -> None:
    for rfq in [body.get("rfq"), body, *(body.get("rfqs") or [])]:
        if isinstance(rfq, dict) and "creatorId" in rfq:
            rfqs[rfq["id"]] = rfq
    for thread in [body.get("thread"), body, *(body.get("threads") or [])]:
        if isinstance(thread, dict) and "initiator" in thread and "rfqId" in thread:
            threads[thread["id"]] = thread
    for swap in [body.get("swap"), body, *(body.get("swaps") or [])]:
        if isinstance(swap, dict) and "hashlock" in swap and "threadId" in swap:
            swaps[swap["id"]] = swap
            statuses[swap["status"]] += 1
    if operation in PROOFS:
        owners[body["address"]] = who
    if operation in ("buildFund", "buildClaim", "buildRefund") and "sign" in body:
        secret = case.body.get("secret", "") if isinstance(case.body, dict) else ""
        built.append((who, body, secret))


@schemathesis.auth()
class Key:
    """Replaced before each call by that of whom it is for."""

    def get(self, case, context):
        return KEYS["taker"]["key"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"
