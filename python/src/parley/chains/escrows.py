"""The one contract that holds all escrows of an EVM chain or of TRON: ids, and calls to sign.

Addresses here are 20 bytes. Every argument is a word of 32 bytes, so calldata is their row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from .crypto import keccak256, recover_key_hash
from .errors import ChainError
from .signatures import signature_parts
from .terms import ContractDeployment, Escrow, EscrowTerms, SpendVerb

_TERMS = "(bytes32,address,address,address,uint256,uint256,uint256),uint96,uint32"
_SIGNATURE = "(uint8,bytes32,bytes32)"
_GROUPS = "(address,address,(bytes32,uint256,uint256)[])[]"
NO_TOKEN = bytes(20)
STANDING_ALLOWANCE = 2**256 - 1
#: The width of the counter in the contract's word, and its bound of a timelock at the funding.
MOST_USES = 2**30 - 1
_MOST_AHEAD_SECONDS = 30 * 86_400
_MOST_SECONDS = 2**53 - 1
#: The gas that the contract gives the payment and the legs of one group of a batch.
_GROUP_GAS = 200_000
_LEG_GAS = 25_000
#: More than owners' signatures and passkeys take.
_MOST_SIGNATURE_BYTES = 8_192
Consent = Literal["GiveUpClaim", "OpenInMyLane"]
_Call = TypeVar("_Call")


def selector(signature: str) -> bytes:
    return keccak256(signature.encode())[:4]


FUND = selector(f"fund({_TERMS})")
FUND_IN_LANE = selector(f"fundInLane({_TERMS},{_SIGNATURE})")
CLAIM = selector(f"claim({_TERMS},bytes32)")
REFUND = selector(f"refund({_TERMS})")
STATE_OF = selector(f"stateOf({_TERMS})")
REFUND_EARLY = selector(f"refundEarly({_TERMS},bytes)")
FUND_WITH_PERMIT = selector(f"fundWithPermit({_TERMS},uint256,uint256,{_SIGNATURE})")
FUND_IN_LANE_WITH_PERMIT = selector(
    f"fundInLaneWithPermit({_TERMS},uint256,uint256,{_SIGNATURE},{_SIGNATURE})"
)
FUND_WITH_AUTHORIZATION = selector(f"fundWithAuthorization({_TERMS},{_SIGNATURE})")
FUND_IN_LANE_WITH_AUTHORIZATION = selector(
    f"fundInLaneWithAuthorization({_TERMS},{_SIGNATURE},{_SIGNATURE})"
)
CLAIM_MANY = selector(f"claimMany({_GROUPS},uint256)")
REFUND_MANY = selector(f"refundMany({_GROUPS},uint256)")
APPROVE = selector("approve(address,uint256)")


def word(value: int | bytes) -> bytes:
    """32 bytes: a number, or an address or hash filled up from the left."""
    if isinstance(value, bytes):
        return value.rjust(32, b"\x00")
    if not 0 <= value < 2**256:
        raise ChainError("bad_amount", f"{value} does not fit into 256 bits")
    return value.to_bytes(32)


_DOMAIN = keccak256(
    b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
)


def domain_of(chain_id: int, contract: bytes) -> bytes:
    """The contract's own separator (EIP-712), fixed when it was deployed."""
    names = keccak256(b"Parley") + keccak256(b"1")
    return keccak256(_DOMAIN + names + word(chain_id) + word(contract))


def is_of_payee(number: str) -> bool:
    """Whether a lane is its payee's: the top bit of its number is set."""
    return number >= "8"


def must_be_fundable(terms: EscrowTerms) -> None:
    """Throws ``bad_amount`` or ``bad_field`` for terms that can never be funded."""
    lane, fund_before = terms.lane, terms.fund_before
    if lane is None or fund_before is None:
        where = f"terms of {terms.hashlock} on {terms.chain}"
        raise ChainError("bad_field", f"{where} name no lane")

    def refuse(field: str, value: object, wanted: str) -> ChainError:
        sentence = f"{field} of terms on {terms.chain} must be {wanted}, not {value}"
        return ChainError("bad_amount" if field == "amount" else "bad_field", sentence)

    if not 1 <= terms.amount < 2**256:
        raise refuse("amount", terms.amount, "1 to 2^256-1")
    if re.fullmatch("[0-9a-f]{24}", lane.number) is None:
        raise refuse("lane.number", lane.number, "24 hex digits")
    if not 1 <= lane.counter <= MOST_USES:
        raise refuse("lane.counter", lane.counter, f"from 1 to {MOST_USES}")
    for field, value in (("timelock", terms.timelock), ("fundBefore", fund_before)):
        if not 1 <= value <= _MOST_SECONDS:
            raise refuse(field, value, "Unix seconds")
    if terms.timelock - _MOST_AHEAD_SECONDS >= fund_before:
        bound = f"less than 30 days after fundBefore ({fund_before})"
        raise refuse("timelock", terms.timelock, bound)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a contract: ``to`` in the family's own form, ``value`` in units of the coin."""

    to: str
    data: bytes
    value: int


@dataclass(frozen=True, slots=True)
class AddressForm:
    """How a family writes addresses. ``parse`` gives the canonical form, ``bare`` its 20 bytes."""

    parse: Callable[[str], str]
    bare: Callable[[str], bytes]
    coin: str


def approvals(amount: int, allowed: int, wanted: int) -> list[int]:
    """An allowance too low is first set to zero: tokens like USDT refuse to change another."""
    if allowed >= amount:
        return []
    return [0, wanted] if allowed > 0 else [wanted]


def funding_of_length(
    amount: int, length: int, calls_at: Callable[[int], list[_Call]]
) -> list[_Call]:
    """The calls that fund with as many approvals as were given: how many is the token's state."""
    forms = [calls_at(allowed) for allowed in (amount, 0, min(amount, 1))]
    fitting = [form for form in forms if len(form) == length]
    return fitting[0] if fitting else calls_at(0)


@dataclass(frozen=True, slots=True)
class Plan:
    """Terms to escrow and calls, for one way of writing addresses."""

    form: AddressForm

    def bare(self, address: str) -> bytes:
        return self.form.bare(self.form.parse(address))

    def contract_for(self, funder: str, deployment: ContractDeployment) -> str:
        """The contract of a funder's new escrows: the highest score of all open ones."""
        if len(deployment.open) == 1:
            return deployment.contract
        score = {each: keccak256(self.bare(funder) + self.bare(each)) for each in deployment.open}
        # max() keeps the first of equal ones, as the contract's other clients do.
        return max(deployment.open, key=lambda each: score[each])

    def contract_of(self, terms: EscrowTerms, deployment: ContractDeployment) -> str:
        """Throws ``bad_address`` where the terms name a contract that is not configured."""
        if terms.lane is None:
            return self.contract_for(terms.refund.address, deployment)
        contract = terms.lane.contract or deployment.contract
        if contract in deployment.all:
            return contract
        sentence = f"contract {contract[:64]} is none of the {len(deployment.all)} configured"
        raise ChainError("bad_address", f"{sentence}: {', '.join(deployment.all)}")

    def must_be_good(self, terms: EscrowTerms, deployment: ContractDeployment) -> None:
        """Throws ``bad_address`` for destinations where money would be lost."""
        own = [self.bare(each) for each in deployment.all]
        token = NO_TOKEN if terms.token is None else self.bare(terms.token)
        for name, destination in (("payout", terms.payout), ("refund", terms.refund)):
            value = self.form.parse(destination.address)
            bare = self.form.bare(value)
            if bare == NO_TOKEN:
                raise ChainError("bad_address", f"{name} {value} is the zero address")
            if bare == token:
                raise ChainError("bad_address", f"{name} {value} is the token contract itself")
            if bare in own:
                raise ChainError("bad_address", f"{name} {value} is the escrow contract")
        if terms.token is not None and token == NO_TOKEN:
            value = self.form.parse(terms.token)
            what = f"the zero address; {self.form.coin} has no token"
            raise ChainError("bad_address", f"token {value} is {what}")

    def words(self, terms: EscrowTerms) -> bytes:
        """Terms, lane and counter, as every call begins."""
        must_be_fundable(terms)
        assert terms.lane is not None and terms.fund_before is not None
        token = NO_TOKEN if terms.token is None else self.bare(terms.token)
        values: tuple[int | bytes, ...] = (
            bytes.fromhex(terms.hashlock),
            self.bare(terms.payout.address),
            self.bare(terms.refund.address),
            token,
            terms.amount,
            terms.timelock,
            terms.fund_before,
            int(terms.lane.number, 16),
            terms.lane.counter,
        )
        return b"".join(word(each) for each in values)

    def escrow_id(self, terms: EscrowTerms, deployment: ContractDeployment) -> bytes:
        """32 bytes: they commit to chain, contract, terms and lane."""
        contract = self.contract_of(terms, deployment)
        domain = domain_of(deployment.chain_id, self.bare(contract))
        return keccak256(domain + self.words(terms))

    def consent_digest(
        self, consent: Consent, terms: EscrowTerms, deployment: ContractDeployment
    ) -> bytes:
        """The digest that the payee signs: of ``consent_text`` (``parley.chains.typed_data``)."""
        self.must_be_good(terms, deployment)
        kind = keccak256(f"{consent}(bytes32 escrow)".encode())
        message = keccak256(kind + self.escrow_id(terms, deployment))
        contract = self.bare(self.contract_of(terms, deployment))
        return keccak256(b"\x19\x01" + domain_of(deployment.chain_id, contract) + message)

    def lane_consent(
        self, terms: EscrowTerms, deployment: ContractDeployment, signature: str | None
    ) -> bytes:
        """Three words, none for a lane of the funder's. Throws ``bad_signature`` without it."""
        if terms.lane is None or not is_of_payee(terms.lane.number):
            return b""
        v, r, s = signature_parts(signature or "")
        compact = bytes.fromhex(r + s)
        digest = self.consent_digest("OpenInMyLane", terms, deployment)
        if recover_key_hash(digest, compact, v - 27) != self.bare(terms.payout.address):
            sentence = f"another than {terms.payout.address}, who owns the lane, signed for it"
            raise ChainError("bad_signature", sentence)
        return word(v) + compact

    def escrow(self, terms: EscrowTerms, deployment: ContractDeployment) -> Escrow:
        """It goes by ``<contract>:<id>``. Throws ``bad_address``."""
        self.must_be_good(terms, deployment)
        contract = self.contract_of(terms, deployment)
        return Escrow(f"{contract}:{self.escrow_id(terms, deployment).hex()}")

    def fund(
        self,
        terms: EscrowTerms,
        deployment: ContractDeployment,
        allowed: int,
        wanted: int,
        lane_signature: str | None = None,
    ) -> list[Call]:
        """In order. ``allowed``: the contract's allowance now, ``wanted``: from then on."""
        self.must_be_good(terms, deployment)
        contract = self.contract_of(terms, deployment)
        consent = self.lane_consent(terms, deployment, lane_signature)
        data = (FUND_IN_LANE if consent else FUND) + self.words(terms) + consent
        if terms.token is None:
            return [Call(contract, data, terms.amount)]
        spender = word(self.bare(contract))
        token = self.form.parse(terms.token)
        before = [
            Call(token, APPROVE + spender + word(each), 0)
            for each in approvals(terms.amount, allowed, wanted)
        ]
        return [*before, Call(contract, data, 0)]

    def claim(self, terms: EscrowTerms, deployment: ContractDeployment, secret: str) -> Call:
        """``secret``: 64 hex digits."""
        self.must_be_good(terms, deployment)
        data = CLAIM + self.words(terms) + bytes.fromhex(secret)
        return Call(self.contract_of(terms, deployment), data, 0)

    def refund(self, terms: EscrowTerms, deployment: ContractDeployment) -> Call:
        self.must_be_good(terms, deployment)
        return Call(self.contract_of(terms, deployment), REFUND + self.words(terms), 0)

    def release(
        self, terms: EscrowTerms, deployment: ContractDeployment, signature: str | None
    ) -> Call:
        """The refund before the timelock, by the payee's signature of ``GiveUpClaim``.

        The payee itself sends it without one. Throws ``bad_signature`` for what is no signature.
        """
        self.must_be_good(terms, deployment)
        given = b"" if signature is None else self._release(terms, deployment, signature)
        words = self.words(terms)
        padded = given.ljust((len(given) + 31) // 32 * 32, b"\x00")
        data = REFUND_EARLY + words + word(len(words) + 32) + word(len(given)) + padded
        return Call(self.contract_of(terms, deployment), data, 0)

    def _release(
        self, terms: EscrowTerms, deployment: ContractDeployment, signature: str
    ) -> bytes:
        """With v 27 or 28 where the payee's key signed; else as given, for its code (EIP-1271)."""
        found = re.fullmatch(r"(?:0[xX])?((?:[0-9a-fA-F]{2})+)", signature.strip())
        if found is None:
            raise ChainError("bad_signature", "the release is not hex")
        given = bytes.fromhex(found[1])
        if len(given) > _MOST_SIGNATURE_BYTES:
            sentence = f"the release is longer than {_MOST_SIGNATURE_BYTES} bytes"
            raise ChainError("bad_signature", sentence)
        digest = self.consent_digest("GiveUpClaim", terms, deployment)
        try:
            v, r, s = signature_parts(f"0x{found[1]}")
            compact = bytes.fromhex(r + s)
            if recover_key_hash(digest, compact, v - 27) != self.bare(terms.payout.address):
                return given
        except ChainError:
            return given
        return compact + bytes([v])

    def batch(
        self,
        verb: SpendVerb,
        legs: Sequence[tuple[EscrowTerms, str | None]],
        deployment: ContractDeployment,
    ) -> Call:
        """Many escrows of one contract at once, each with its secret, which must be public."""
        contracts = {self.contract_of(terms, deployment) for terms, _ in legs}
        if len(contracts) != 1:
            raise ValueError(f"a batch is of one contract, not of {len(contracts)}")
        groups: dict[tuple[bytes, bytes], list[bytes]] = {}
        for terms, secret in legs:
            self.must_be_good(terms, deployment)
            lock = terms.hashlock if verb == "refund" or secret is None else secret
            token = NO_TOKEN if terms.token is None else self.bare(terms.token)
            to = self.bare((terms.payout if verb == "claim" else terms.refund).address)
            groups.setdefault((token, to), []).append(
                self._leg(verb, terms, bytes.fromhex(lock))
            )
        head = CLAIM_MANY if verb == "claim" else REFUND_MANY
        return Call(contracts.pop(), head + _groups(groups), 0)

    def _leg(self, verb: SpendVerb, terms: EscrowTerms, lock: bytes) -> bytes:
        must_be_fundable(terms)
        assert terms.lane is not None and terms.fund_before is not None
        if terms.amount >> 144 or terms.timelock >> 40 or terms.fund_before >> 40:
            raise ChainError("bad_field", "a leg has 144 bits for its amount and 40 for its times")
        other = terms.refund if verb == "claim" else terms.payout
        place = int.from_bytes(self.bare(other.address)) << 96 | int(terms.lane.number, 16)
        times = terms.timelock << 72 | terms.fund_before << 32 | terms.lane.counter
        return lock + word(place) + word(terms.amount << 112 | times)


def _groups(groups: dict[tuple[bytes, bytes], list[bytes]]) -> bytes:
    """The arguments: a list of groups, one for each payment, and the gas of the largest."""
    parts = [
        word(token) + word(to) + word(96) + word(len(legs)) + b"".join(legs)
        for (token, to), legs in groups.items()
    ]
    offsets, at = [], 32 * len(parts)
    for part in parts:
        offsets.append(word(at))
        at += len(part)
    gas_each = _GROUP_GAS + _LEG_GAS * max(len(legs) for legs in groups.values())
    listed = word(len(parts)) + b"".join(offsets) + b"".join(parts)
    return word(64) + word(gas_each) + listed
