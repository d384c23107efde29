"""Solana: addresses, escrows by contracts/solana/layout.json, transactions, and signatures."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Literal

from .codecs import base58_decode, base58_encode
from .crypto import ed25519_public_key, ed25519_sign, is_on_curve, sha256
from .errors import ChainError, bad_address
from .solana_message import AccountRole, Instruction, read_transaction, unsigned_transaction
from .terms import Escrow, EscrowTerms, SolanaDeployment

SYSTEM_PROGRAM = "11111111111111111111111111111111"
TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
COMPUTE_BUDGET_PROGRAM = "ComputeBudget111111111111111111111111111111"

#: The program in dev networks; a cluster's own is configured.
DEV_DEPLOYMENT = SolanaDeployment(
    "7nSKHwmJDqGUTjSWQLrgD2hfvnBoSQfpZoKNdvbJsTCk",
    "e3773ac4405fc1ba67ffd698578a3427b6a49d17b321f1f00a388c843347b33c",
)

_MOST_LAMPORTS = 2**64 - 1
_VERB_BYTES = {"fund": 0, "claim": 1, "refund": 2, "close": 3, "release": 4}
#: More compute units than any verb takes, the making of a token account included.
UNIT_LIMIT_SOL, UNIT_LIMIT_TOKEN = 30_000, 120_000
#: The most that a customer is asked to offer for speed: 0.01 SOL.
MOST_PRIORITY_LAMPORTS = 10_000_000
#: The most that a claim is asked to add for a rent that has risen: 0.02 SOL.
MOST_RENT_LAMPORTS = 20_000_000
#: The head of the system program's transfer, before the lamports.
TRANSFER_HEAD = b"\x02\x00\x00\x00"


def parse_address(text: str) -> str:
    """There is one spelling. Throws ``bad_address``."""
    why = _why_not(text)
    if why is not None:
        raise bad_address(text, f"is not a Solana address: {why}")
    return text


def _why_not(text: str) -> str | None:
    if text[:2] in ("0x", "0X"):
        return "it is hex, as on EVM chains"
    if not 32 <= len(text) <= 44:
        return f"it has {len(text)} characters, not 32 to 44"
    if not re.fullmatch(r"[1-9A-HJ-NP-Za-km-z]+", text):
        return "it is not base58"
    length = len(base58_decode(text))
    return None if length == 32 else f"it holds {length} bytes, not 32"


def address_of_seed(seed: bytes) -> str:
    return base58_encode(ed25519_public_key(seed))


def encode_terms(terms: EscrowTerms) -> bytes:
    """The 144 bytes that the escrow's address commits to."""
    if not 1 <= terms.amount <= _MOST_LAMPORTS:
        sentence = f"a Solana escrow holds 1 to 2^64-1, not {terms.amount}"
        raise ChainError("bad_amount", sentence)
    if not 0 <= terms.timelock <= _MOST_LAMPORTS:
        raise ChainError("bad_field", f"a Solana timelock has 64 bits, not {terms.timelock}")
    keys = (terms.payout.address, terms.refund.address, terms.token or SYSTEM_PROGRAM)
    parts = [bytes.fromhex(terms.hashlock), *(base58_decode(parse_address(each)) for each in keys)]
    numbers = (terms.amount.to_bytes(8, "little"), terms.timelock.to_bytes(8, "little"))
    return b"".join([*parts, *numbers])


def program_address(seeds: list[bytes], program: str) -> tuple[str, int]:
    """The first address off the curve, counting the bump down from 255, and that bump."""
    owner = base58_decode(program)
    for bump in range(255, -1, -1):
        found = sha256(b"".join([*seeds, bytes([bump]), owner, b"ProgramDerivedAddress"]))
        if not is_on_curve(found):
            return base58_encode(found), bump
    raise ValueError(f"no program address of {program} for these seeds")


def escrow_address(terms: EscrowTerms, deployment: SolanaDeployment) -> tuple[str, int]:
    """Address and bump. Checks no destination."""
    return program_address([sha256(encode_terms(terms))], deployment.program)


def vault_address(escrow: str, owner: str) -> str:
    """Where the escrow's tokens are; ``owner``: the token program."""
    parts = (base58_decode(escrow), b"vault/v1", base58_decode(owner))
    return base58_encode(sha256(b"".join(parts)))


def associated_token(wallet: str, mint: str, owner: str) -> tuple[str, int]:
    """Where a wallet keeps its tokens of a mint, and the bump; ``owner``: the token program."""
    seeds = [base58_decode(each) for each in (wallet, owner, mint)]
    return program_address(seeds, ASSOCIATED_TOKEN_PROGRAM)


def solana_escrow(terms: EscrowTerms, deployment: SolanaDeployment) -> Escrow:
    """``bad_address`` where money would be lost: no key signs for it, mint, program, the funder."""
    address, _ = escrow_address(terms, deployment)

    def refuse(name: str, value: str, what: str) -> ChainError:
        return ChainError("bad_address", f"{name} {value} is {what}")

    payout, refund = terms.payout.address, terms.refund.address
    for name, value in (("payout", payout), ("refund", refund)):
        if value == SYSTEM_PROGRAM:
            raise refuse(name, value, "the system program")
        if value == terms.token:
            raise refuse(name, value, "the mint itself")
        if value == deployment.program:
            raise refuse(name, value, "the escrow program")
        if not is_on_curve(base58_decode(value)):
            what = "no wallet: no key signs for it (is it a token account?)"
            raise refuse(name, value, what)
    if payout == refund:
        raise refuse("payout", payout, "the refund address too")
    if terms.token == SYSTEM_PROGRAM:
        raise refuse("token", terms.token, "the system program; SOL has no token")
    return Escrow(address)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The act to do with an escrow.

    ``without_refund`` claims and leaves what the escrow's account cost; ``after_claim`` refunds
    only that; ``close`` takes all that a claim left, or somebody sent, from the timelock on;
    ``release`` refunds at any time, by the payee.
    """

    verb: Literal["fund", "claim", "refund", "close", "release"]
    secret: str = ""
    without_refund: bool = False
    after_claim: bool = False

    @property
    def brings_asset(self) -> bool:
        return self.verb == "claim" or (self.verb == "refund" and not self.after_claim)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """``token_program``: owner of the mint, None for SOL. ``unit_price``: micro-lamports.

    ``missing_rent``: the payer's addition to the escrow of a claim, where the rent has risen.
    """

    blockhash: str
    unit_price: int = 0
    token_program: str | None = None
    missing_rent: int = 0


def payer_of(terms: EscrowTerms, verb: str) -> str:
    """The signer and payer: the recipient claims and releases, all else is the funder's."""
    return terms.payout.address if verb in ("claim", "release") else terms.refund.address


def _writes(address: str) -> AccountRole:
    return AccountRole(address, signs=False, writes=True)


def _reads(address: str) -> AccountRole:
    return AccountRole(address, signs=False, writes=False)


def _pays(address: str) -> AccountRole:
    return AccountRole(address, signs=True, writes=True)


def _own_instruction(
    terms: EscrowTerms, deployment: SolanaDeployment, wanted: Wanted, owner: str | None
) -> Instruction:
    encoded = encode_terms(terms)
    escrow, bump = escrow_address(terms, deployment)
    payout, refund, token = terms.payout.address, terms.refund.address, terms.token
    head = bytearray(8)
    head[0] = _VERB_BYTES[wanted.verb]
    tail = b""
    accounts: list[AccountRole]
    holds_token = token is not None and owner is not None
    programs = [_reads(token), _reads(owner)] if token is not None and owner is not None else []
    vault = [_writes(vault_address(escrow, owner))] if owner is not None else []

    def holding(wallet: str) -> AccountRole:
        return _writes(associated_token(wallet, token or "", owner or "")[0])

    if wanted.verb == "fund":
        head[1], tail = bump, encoded
        accounts = [_pays(refund), _writes(escrow), _reads(SYSTEM_PROGRAM)]
        if holds_token:
            accounts += [*vault, holding(refund), *programs]
    elif wanted.verb == "claim":
        tail = bytes.fromhex(wanted.secret)
        accounts = [_writes(escrow)]
        if holds_token:
            head[1] = associated_token(payout, token or "", owner or "")[1]
            accounts += [holding(payout), *vault, *programs, _reads(payout)]
        else:
            accounts.append(_writes(payout))
        if not wanted.without_refund:
            accounts.append(_writes(refund))
    elif wanted.verb in ("refund", "release"):
        accounts = [_writes(escrow), _writes(refund)]
        if holds_token and not wanted.after_claim:
            accounts += [holding(refund), *vault, *programs]
        if wanted.verb == "release":
            accounts.append(AccountRole(payout, signs=True, writes=False))
    else:
        head[1], tail = bump, encoded
        accounts = [_writes(escrow), _writes(refund), _reads(SYSTEM_PROGRAM)]
    return Instruction(deployment.program, tuple(accounts), bytes(head) + tail)


def _make_holding(
    payer: str, wallet: str, mint: str | None, owner: str | None
) -> list[Instruction]:
    """Makes the wallet's token account where there is none; does nothing where there is one."""
    if mint is None or owner is None:
        return []
    address, _ = associated_token(wallet, mint, owner)
    reads = [_reads(each) for each in (wallet, mint, SYSTEM_PROGRAM, owner)]
    accounts = (_pays(payer), _writes(address), *reads)
    return [Instruction(ASSOCIATED_TOKEN_PROGRAM, accounts, b"\x01")]


def _add_rent(payer: str, escrow: str, lamports: int) -> list[Instruction]:
    """The rest of a claim at the escrow's address: the funder's, once the timelock has passed."""
    if lamports == 0:
        return []
    data = TRANSFER_HEAD + lamports.to_bytes(8, "little")
    return [Instruction(SYSTEM_PROGRAM, (_pays(payer), _writes(escrow)), data)]


def _budget(owner: str | None, unit_price: int) -> list[Instruction]:
    limit = UNIT_LIMIT_SOL if owner is None else UNIT_LIMIT_TOKEN
    data = [b"\x02" + limit.to_bytes(4, "little")]
    if unit_price:
        data.append(b"\x03" + unit_price.to_bytes(8, "little"))
    return [Instruction(COMPUTE_BUDGET_PROGRAM, (), each) for each in data]


def solana_transaction(
    terms: EscrowTerms,
    deployment: SolanaDeployment,
    wanted: Wanted,
    circumstances: Circumstances,
) -> str:
    """Unsigned, in base64, with room for its one signature."""
    owner = circumstances.token_program
    if (terms.token is None) != (owner is None):
        raise ValueError("a token has a token program, and SOL has none")
    payer = payer_of(terms, wanted.verb)
    instructions = _budget(owner, circumstances.unit_price)
    if wanted.brings_asset:
        instructions += _make_holding(payer, payer, terms.token, owner)
    if wanted.verb == "claim":
        escrow, _ = escrow_address(terms, deployment)
        instructions += _add_rent(payer, escrow, circumstances.missing_rent)
    instructions.append(_own_instruction(terms, deployment, wanted, owner))
    data = unsigned_transaction(payer, instructions, circumstances.blockhash)
    return base64.b64encode(data).decode()


@dataclass(frozen=True, slots=True)
class SignedSolana:
    """``transaction``: base64, as ``sendTransaction`` and ``POST /v1/tx/broadcast`` take it."""

    transaction: str
    txid: str


def sign_transaction(seed: bytes, transaction: str) -> SignedSolana:
    """Signs as its one signer. ``bad_transaction`` where somebody else is to sign it."""
    shown = read_transaction(transaction)
    address = address_of_seed(seed)
    if shown.signers != 1 or shown.keys[0] != address:
        sentence = (
            f"the transaction is signed by {shown.signers}, {shown.keys[0]} first, not {address}"
        )
        raise ChainError("bad_transaction", sentence)
    signature = ed25519_sign(seed, shown.message)
    data = b"\x01" + signature + shown.message
    return SignedSolana(base64.b64encode(data).decode(), base58_encode(signature))
