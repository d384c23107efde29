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
from uuid import uuid4

import requests
import schemathesis
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase

KEYS = json.loads(os.environ["PARLEY_TEST_KEYS"])
DESK = os.environ["PARLEY_TEST_DESK"]
COUNTS = os.environ["PARLEY_TEST_COUNTS"]
ASSETS = json.loads(os.environ["PARLEY_TEST_ASSETS"])
"""Of each asset the amount that is traded."""

SECRETS = json.loads(os.environ["PARLEY_TEST_SECRETS"])
"""By hash-lock, of the swaps that were there before."""

MARKET = os.environ["PARLEY_TEST_MARKET"]
LIMIT_SECONDS = 30
"""Of a question to the market or the desk, as the market gives a request."""

PROOFS = {f"prove{name}Wallet": name.lower() for name in ("Evm", "Tron", "Bitcoin", "Solana")}
MAKERS = {"quoteRfq", "quoteMany", "withdrawQuote", "withdrawQuotes", "listQuotes"}

LISTS = "Assets AssetsOpenly Levels LevelsOpenly Quotes Rfqs Swaps Threads Webhooks".split()
PAIRS = "getPair getPairOpenly getPairPrice getPairPriceOpenly listLevels listLevelsOpenly".split()
TERMS = ["createRfq", "publishLevels", *PAIRS]
AMOUNTS = ["quoteRfq", "quoteMany", "proposePrice", "acceptPrice", *TERMS]
SIGNED = ["mintKey", *PROOFS]
BUILT = ["buildFund", "buildClaim", "buildRefund", "scheduleRefunds"]

REFUSED = {
    # The market makes it: no other text is one.
    "bad_cursor": [f"list{each}" for each in LISTS],
    "bad_nonce": SIGNED,
    "unknown_escrow": ["buildFund", "buildRefund", "scheduleRefunds"],
    # What is tradable is no part of a schema: two assets that there are, on two chains.
    "bad_asset": TERMS,
    "same_chain": TERMS,
    "amount_too_small": AMOUNTS,
    # From 2^256 on, of 78 digits.
    "bad_amount": AMOUNTS,
    "bad_chain": ["listAsset", "setAddress", "broadcast", "scheduleRefunds"],
    # Checksums, curves, signatures and signed texts. Each chain has its own.
    "bad_address": ["createRfq", "listAsset", "setAddress", *SIGNED],
    "wrong_network": ["setAddress", *SIGNED],
    "bad_public_key": ["setAddress"],
    "bad_message": SIGNED,
    "bad_signature": ["setAddress", "buildFund", *SIGNED],
    "bad_authorization": list(PROOFS),
    "bad_transaction": ["broadcast", "scheduleRefunds"],
    "refused_by_node": ["broadcast"],
    "not_a_token": ["listAsset"],
    "token_rejected": ["listAsset"],
    "asset_delisted": ["listAsset"],
    "bad_webhook_url": ["registerWebhook"],
    # Who is the initiator decides.
    "hashlock_missing": ["acceptPrice"],
    "hashlock_unexpected": ["acceptPrice"],
    "wrong_secret": ["buildClaim", "broadcast"],
    # Any text names no leg: one refusal for paths and bodies.
    "bad_leg": ["setAddress", *BUILT],
    # Narrower bounds, of the moment.
    "bad_fee_rate": BUILT,
    "too_many_webhooks": ["registerWebhook"],
    "too_many_keys": ["mintKey"],
    # `targetAddress` goes with `private`; `relay`, `signature` and `escrow` go together; the least
    # amount of a level is at most its amount.
    "bad_field": ["createRfq", "buildFund", "publishLevels"],
    # Names may be added, so the description holds any text.
    "bad_event": ["registerWebhook"],
}
"""What 400 and 422 may say of a request that its schema takes, by operation."""

ANYWHERE = {"key_reused", "malformed_url"}
"""An Idempotency-Key was drawn twice; half a surrogate pair is no UTF-8."""

STEPS = {
    "setAddress": "set_address",
    "buildFund": "fund",
    "buildClaim": "claim",
    "buildRefund": "refund",
}
"""The operation by which a party does what `next` of a swap says."""

rfqs: dict[str, dict] = {}
threads: dict[str, dict] = {}
askers: dict[str, str] = {}
owners: dict[str, str] = {}
swaps: dict[str, dict] = {}
built: list[tuple[str, dict, str]] = []
answers: Counter[str] = Counter()
stateful: Counter[str] = Counter()
refusals: Counter[str] = Counter()
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


def told(who: str, path: str, **query) -> dict:
    """What the market tells a customer, besides what is tried."""
    key = {"Authorization": f"Bearer {KEYS[who]['key']}"}
    answer = requests.get(f"{MARKET}{path}", params=query, headers=key, timeout=LIMIT_SECONDS)
    return answer.json() if answer.status_code == 200 else {}


def one_of(found: list):
    """Each in its turn; None: there is none."""
    return found[turn // 4 % len(found)] if found else None


def open_rfqs() -> list[str]:
    mine = told("taker", "/v1/rfqs", own="true", limit=100).get("rfqs", [])
    return [rfq["id"] for rfq in mine if rfq["status"] in ("open", "negotiating")]


def open_thread() -> dict | None:
    return one_of(told("maker", "/v1/threads", role="maker", limit=100).get("threads", []))


def due(action: str) -> tuple[dict, str, str] | None:
    """A swap in which the market says that this is next, on which leg, and who does it."""
    return one_of(
        [
            (swap, step["leg"], who)
            for who in KEYS
            for swap in told(who, "/v1/swaps", limit=100).get("swaps", [])
            for step in swap["next"]
            if (step["by"], step["action"]) == (swap["role"], action)
        ]
    )


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


def step(case, operation: str, who: str) -> str:
    """A step of a swap where one is due, by whom it is for; says who that is."""
    path = case.path_parameters or {}
    if operation in ("buildFund", "buildClaim", "buildRefund"):
        case.query = {}
    if operation == "scheduleRefunds":
        signed = desk("refunds")
        if signed is None:
            return who
        path.update(id=signed["swapId"], leg=signed["leg"])
        case.body = {"transactions": signed["transactions"]}
        return signed["who"]
    found = due(STEPS[operation])
    if found is None:
        return who
    swap, leg, who = found
    path["id"] = swap["id"]
    if operation != "setAddress":
        path["leg"] = leg
    if operation == "setAddress":
        chain = swap["legs"][leg or "ab"[turn // 8 % 2]]["chain"]
        case.body = {"chain": chain, "address": KEYS[who]["addresses"][chain]}
    if operation == "buildFund":
        case.body = {}
    if operation == "buildClaim":
        kept = SECRETS.get(swap["hashlock"]) or secret_of(swap["threadId"])
        case.body = {"secret": swap["secret"] or kept}
    return who


def negotiate(case, operation: str, who: str) -> str:
    """A price in a thread that is open; accepted by a side that has not yet."""
    thread = open_thread()
    body = case.body if isinstance(case.body, dict) else None
    if thread is None or body is None:
        return who
    case.path_parameters["id"] = thread["id"]
    body.pop("validForSeconds", None)
    body["quoteAmount"] = ASSETS[1]["amount"]
    if operation == "acceptPrice":
        who = "taker" if thread["makerAccepted"] else "maker"
        body["quoteAmount"] = thread["quoteAmount"]
        for name in ("rules", "hashlock"):
            body.pop(name, None)
        if thread["initiator"] == who:
            body["hashlock"] = hashlock_of(secret_of(thread["id"]))
    return who


def fill(case, operation: str, who: str) -> None:
    """Assets that there are, prices of them, and what wallets sign."""
    base, quote = ASSETS
    trade = {"baseAssetId": base["id"], "quoteAssetId": quote["id"]}
    if operation in PROOFS:
        case.body = desk("prove", who=who, family=PROOFS[operation]) or case.body
    if operation == "mintKey":
        case.body = desk("mint") or case.body
    body = case.body if isinstance(case.body, dict) else None
    if body is None:
        return
    if operation == "createRfq":
        body.update(trade, baseAmount=base["amount"])
        for name in ("visibility", "targetAddress", "askAmount", "minSettled"):
            body.pop(name, None)
    if operation == "publishLevels":
        body.update(trade)
        for level in body["levels"]:
            level.update(baseAmount=base["amount"], quoteAmount=quote["amount"])
            level.pop("leastBaseAmount", None)
        del body["levels"][1:]
    if operation == "quoteRfq":
        case.path_parameters["id"] = one_of(open_rfqs()) or case.path_parameters["id"]
        body["quoteAmount"] = quote["amount"]
        body.pop("validForSeconds", None)
    if operation == "quoteMany":
        for each, rfq in zip(body["quotes"], open_rfqs()):
            each.update(rfqId=rfq, quoteAmount=quote["amount"])


def sign(case) -> str | None:
    """Signs what was built last, and says whose it is."""
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
        answer = requests.post(f"{DESK}/{what}", json=asked, timeout=LIMIT_SECONDS)
    except requests.RequestException:
        return None
    return answer.json() if answer.status_code == 200 else None


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The bodies of links are templates of JSON; schemathesis fills in objects alone."""
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for response in operation["responses"].values():
                for link in response.get("links", {}).values():
                    if "requestBody" in link:
                        template = json.loads(link["requestBody"])
                        link["requestBody"] = {
                            name: value.strip("{}") for name, value in template.items()
                        }


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    who = asker(case, operation)
    # One in four is sent as it was drawn.
    if is_right(case) and turn % 4 != 0:
        aim(case)
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = str(uuid4())
        (case.query or {}).pop("cursor", None)
        if operation in STEPS or operation == "scheduleRefunds":
            who = step(case, operation, who)
        elif operation in ("proposePrice", "acceptPrice"):
            who = negotiate(case, operation, who)
        elif operation == "broadcast":
            who = sign(case) or who
        elif operation in ("pingWebhook", "deleteWebhook"):
            known = one_of(told(who, "/v1/webhooks").get("webhooks", []))
            if known is not None:
                case.path_parameters["id"] = known["id"]
        else:
            fill(case, operation, who)
    askers[case.id] = who
    # What is to be refused without a key, or with another one, is asked so.
    headers = case.headers or {}
    if headers.get("Authorization") == f"Bearer {KEYS['taker']['key']}":
        headers["Authorization"] = f"Bearer {KEYS[who]['key']}"


@schemathesis.hook
def after_call(context, case, response):
    operation = operation_of(case)
    who = askers.pop(case.id, "taker")
    answer = f"{operation} {response.status_code}"
    with lock:
        answers[answer] += 1
        if case.meta is not None and case.meta.phase.name == TestPhase.STATEFUL:
            stateful[answer] += 1
        if is_right(case) and response.status_code >= 300:
            refusals[f"{answer} {code_of(response)}"] += 1
        learn_from(operation, case, response, who)
        with open(COUNTS, "w") as file:
            json.dump({"answers": answers, "stateful": stateful, "refusals": refusals}, file)


@schemathesis.check
def right_is_understood(ctx, response, case):
    """No schema says all. What it leaves open is refused by a code of its own."""
    code = code_of(response)
    if not is_right(case) or response.status_code not in (400, 422) or code in ANYWHERE:
        return
    # No text of the database holds it.
    if code == "malformed_json" and "U+0000" in response.text:
        return
    operation = operation_of(case)
    assert operation in REFUSED.get(code, []), (
        f"{operation} refuses with {response.status_code} {code} what its schema takes"
    )


def code_of(response) -> str:
    return (response.headers.get("x-parley-error") or [""])[0]


def learn_from(operation: str, case, response, who: str) -> None:
    if response.status_code >= 300:
        return
    try:
        body = response.json()
    except ValueError:
        return
    if isinstance(body, dict):
        learn(operation, case, body, who)


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
