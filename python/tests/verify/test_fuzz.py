"""Bits that flip on the way, and answers of any shape: refused, or they cost nobody anything."""

from __future__ import annotations

import base64
import copy
import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from parley.chains import solana
from parley.chains.codecs import base58_decode
from parley.chains.crypto import sha256
from parley.chains.solana_message import read_transaction
from parley.verify import VerificationError

from .test_material import CASES, check
from .test_swaps import SWAPS
from .test_swaps import check as check_swap
from .vectors import Json

#: The soak asks for more.
RUNS = int(os.environ.get("PARLEY_FUZZ_RUNS", "12"))
many = settings(max_examples=RUNS, deadline=None, suppress_health_check=list(HealthCheck))

BY_NAME = {case["name"]: case for case in CASES}


def _believed(case: Json) -> bool:
    """No other error than a VerificationError may come of what a market says."""
    try:
        check(case)
    except VerificationError:
        return False
    return True


def _flipped(data: bytes, bit: int) -> bytes:
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


def _with(case: Json, **material: Json) -> Json:
    return {**case, "material": {**case["material"], **material}}


SOLANA = [each for each in CASES if each["material"]["sign"] == "solana-tx"]
BITCOIN = [each for each in CASES if each["material"]["sign"] == "btc-sighash"]
TRON = [each for each in CASES if each["material"]["sign"] == "tron-txid"]
EVM = [each for each in CASES if each["material"]["sign"] == "evm-tx"]


#: Numbers of a Solana transaction that are bounded and not fixed, by program and what precedes them.
OPEN_NUMBERS = (
    (solana.COMPUTE_BUDGET_PROGRAM, b"\x03"),
    (solana.SYSTEM_PROGRAM, solana.TRANSFER_HEAD),
)


def _is_open(before: bytes, after: bytes) -> bool:
    """Whether two Solana transactions differ in blockhash, price of speed and rent alone.

    The blockhash says until when it lives. Price and rent are bounded, and the rent goes into the
    escrow of these terms.
    """
    one, other = (read_transaction(base64.b64encode(each).decode()) for each in (before, after))
    for message in (one, other):
        assert message.signers == 1
    hash_at = before.index(base58_decode(one.blockhash))
    spans = [(hash_at, hash_at + 32)]
    for each in one.instructions:
        for program, head in OPEN_NUMBERS:
            if each.program == program and each.data[:-8] == head:
                at = before.index(each.data) + len(head)
                spans.append((at, at + 8))
    return any(before[:at] == after[:at] and before[to:] == after[to:] for at, to in spans)


@many
@given(case=st.sampled_from(SOLANA), at=st.integers(min_value=0))
# A bit of the rent, which is less then.
@example(case=BY_NAME["solana, whole claim after the rent has risen"], at=3868)
def test_a_bit_flipped_in_a_solana_transaction_is_refused_or_open(case: Json, at: int) -> None:
    honest = base64.b64decode(case["material"]["transaction"])
    lie = _flipped(honest, at % (8 * len(honest)))
    if _believed(_with(case, transaction=base64.b64encode(lie).decode())):
        assert _is_open(honest, lie)


@many
@given(case=st.sampled_from(BITCOIN), at=st.integers(min_value=0))
def test_a_bit_flipped_in_a_psbt_is_refused(case: Json, at: int) -> None:
    honest = base64.b64decode(case["material"]["psbtBase64"])
    lie = base64.b64encode(_flipped(honest, at % (8 * len(honest)))).decode()
    assert not _believed(_with(case, psbtBase64=lie))


@many
@given(case=st.sampled_from(TRON), at=st.integers(min_value=0))
def test_a_bit_flipped_in_tron_bytes_is_refused_though_their_id_fits(case: Json, at: int) -> None:
    transactions = copy.deepcopy(case["material"]["transactions"])
    one = transactions[at % len(transactions)]
    raw = bytes.fromhex(one["raw_data_hex"])
    lie = _flipped(raw, at % (8 * len(raw)))
    one["raw_data_hex"], one["txID"] = lie.hex(), sha256(lie).hex()
    assert not _believed(_with(case, transactions=transactions))


@many
@given(
    case=st.sampled_from(EVM), at=st.integers(min_value=0), field=st.sampled_from(["to", "data"])
)
def test_a_bit_flipped_in_an_evm_call_is_refused(case: Json, at: int, field: str) -> None:
    txs = copy.deepcopy(case["material"]["txs"])
    one = txs[at % len(txs)]
    data = bytes.fromhex(one[field][2:])
    one[field] = f"0x{_flipped(data, at % (8 * len(data))).hex()}"
    assert not _believed(_with(case, txs=txs))


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = (
    PLAIN | st.lists(PLAIN, max_size=2) | st.dictionaries(st.text(max_size=5), PLAIN, max_size=2)
)


def _paths(value: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    names = (
        value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    )
    below = [each for name in names for each in _paths(value[name], (*path, name))]
    return [path, *below]


def _put(value: Json, path: tuple[str | int, ...], other: Json) -> Json:
    if not path:
        return other
    whole = copy.deepcopy(value)
    holder = whole
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = other
    return whole


PATHS = {case["name"]: _paths(case["material"])[1:] for case in CASES}
#: Fields that one side may fill as it likes; see docs/vectors, `accepted`.
OPEN = (
    *("validUntil", "lastValidBlockHeight", "ladder", "at"),
    *("fee_limit", "expiration", "timestamp"),
)


@many
@given(data=st.data(), case=st.sampled_from(CASES), other=VALUES)
def test_any_value_in_the_place_of_any_field_is_refused(
    data: st.DataObject, case: Json, other: Json
) -> None:
    path = data.draw(st.sampled_from(PATHS[case["name"]]))
    lying = {**case, "material": _put(case["material"], path, other)}
    if _believed(lying):
        is_same = json.dumps(lying["material"]) == json.dumps(case["material"])
        # A list of approvals that is shorter: whether they are due is the token's state.
        is_list = path[-1] in ("txs", "transactions")
        assert is_same or is_list or path[-1] in OPEN, path


@many
@given(data=st.data(), case=st.sampled_from(SWAPS), other=VALUES)
def test_a_swap_of_any_shape_is_refused_by_a_verification_error_alone(
    data: st.DataObject, case: Json, other: Json
) -> None:
    path = data.draw(st.sampled_from(_paths(case["swap"])[1:]))
    try:
        check_swap({**case, "swap": _put(case["swap"], path, other)})
    except VerificationError:
        return
    # Fields that no check reads: docs/dont-trust-verify.md lists it.
    free = ("status", "next", "createdAt", "updatedAt", "fundTx", "claimTx", "refundTx", "rules")
    names = (*free, "confirmations")
    assert any(name in names for name in path) or json.dumps(other) == json.dumps(_at(case, path))


def _at(case: Json, path: tuple[str | int, ...]) -> Json:
    value = case["swap"]
    for name in path:
        value = value[name]
    return value


def test_a_secret_is_in_no_error_of_a_claim() -> None:
    case = BY_NAME["evm, claim of a coin"]
    secret = case["asked"]["secret"]
    txs = copy.deepcopy(case["material"]["txs"])
    txs[0]["to"] = f"0x{secret}"
    with pytest.raises(VerificationError) as refused:
        check(_with(case, txs=txs))
    assert secret not in str(refused.value)


def test_a_swap_is_not_verified_without_what_one_pins() -> None:
    case = SWAPS[0]
    with pytest.raises(ValueError, match="no view of"):
        check_swap({**case, "views": []})
