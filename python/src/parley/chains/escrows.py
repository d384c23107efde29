"""The one contract that holds all escrows of an EVM chain or of TRON: ids, and calls to sign.

Addresses here are 20 bytes. Every argument is a word of 32 bytes, so calldata is their row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .crypto import keccak256
from .errors import ChainError
from .terms import ContractDeployment, Escrow, EscrowTerms, SpendVerb

_TERMS = "(bytes32,address,address,address,uint256,uint256,uint256),uint96,uint32"
_LEGS = "(bytes32,address,address,uint256,uint256,uint256)[]"
NO_TOKEN = bytes(20)
STANDING_ALLOWANCE = 2**256 - 1


def selector(signature: str) -> bytes:
    return keccak256(signature.encode())[:4]


FUND = selector(f"fund({_TERMS})")
CLAIM = selector(f"claim({_TERMS},bytes32)")
REFUND = selector(f"refund({_TERMS})")
FUND_WITH_PERMIT = selector(f"fundWithPermit({_TERMS},uint256,uint256,uint8,bytes32,bytes32)")
FUND_WITH_AUTHORIZATION = selector(f"fundWithAuthorization({_TERMS},uint8,bytes32,bytes32)")
CLAIM_MANY = selector(f"claimMany({_LEGS})")
REFUND_MANY = selector(f"refundMany({_LEGS})")
APPROVE = selector("approve(address,uint256)")


def word(value: int | bytes) -> bytes:
    """32 bytes: a number, or an address or hash filled up from the left."""
    if isinstance(value, bytes):
        return value.rjust(32, b"\x00")
    if not 0 <= value < 2**256:
        raise ChainError("bad_amount", f"{value} does not fit into 256 bits")
    return value.to_bytes(32)


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
    amount: int, length: int, calls_at: Callable[[int], list[Call]]
) -> list[Call]:
    """The calls that fund with as many approvals as were given: how many is the token's state."""
    forms = [calls_at(allowed) for allowed in (amount, 0, min(amount, 1))]
    fitting = [form for form in forms if len(form) == length]
    return fitting[0] if fitting else calls_at(0)


@dataclass(frozen=True, slots=True)
class Plan:
    """Terms to escrow and calls, for one way of writing addresses."""

    form: AddressForm

    def _bare(self, address: str) -> bytes:
        return self.form.bare(self.form.parse(address))

    def contract_for(self, funder: str, deployment: ContractDeployment) -> str:
        """The contract of a funder's new escrows: the highest score of all open ones."""
        if len(deployment.open) == 1:
            return deployment.contract
        score = {each: keccak256(self._bare(funder) + self._bare(each)) for each in deployment.open}
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
        own = [self._bare(each) for each in deployment.all]
        token = NO_TOKEN if terms.token is None else self._bare(terms.token)
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
        if terms.lane is None or terms.fund_before is None:
            where = f"terms of {terms.hashlock} on {terms.chain}"
            raise ChainError("bad_field", f"{where} name no lane")
        token = NO_TOKEN if terms.token is None else self._bare(terms.token)
        values: tuple[int | bytes, ...] = (
            bytes.fromhex(terms.hashlock),
            self._bare(terms.payout.address),
            self._bare(terms.refund.address),
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
        domain = keccak256(word(deployment.chain_id) + word(self._bare(contract)))
        return keccak256(domain + self.words(terms))

    def escrow(self, terms: EscrowTerms, deployment: ContractDeployment) -> Escrow:
        """It goes by ``<contract>:<id>``. Throws ``bad_address``."""
        self.must_be_good(terms, deployment)
        contract = self.contract_of(terms, deployment)
        return Escrow(f"{contract}:{self.escrow_id(terms, deployment).hex()}")

    def fund(
        self, terms: EscrowTerms, deployment: ContractDeployment, allowed: int, wanted: int
    ) -> list[Call]:
        """In order. ``allowed``: the contract's allowance now, ``wanted``: from then on."""
        self.must_be_good(terms, deployment)
        contract = self.contract_of(terms, deployment)
        data = FUND + self.words(terms)
        if terms.token is None:
            return [Call(contract, data, terms.amount)]
        spender = word(self._bare(contract))
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
        words = [word(32), word(len(legs))]
        for terms, secret in legs:
            self.must_be_good(terms, deployment)
            lock = terms.hashlock if verb == "refund" or secret is None else secret
            words.append(self._leg(terms, bytes.fromhex(lock)))
        head = CLAIM_MANY if verb == "claim" else REFUND_MANY
        return Call(contracts.pop(), head + b"".join(words), 0)

    def _leg(self, terms: EscrowTerms, lock: bytes) -> bytes:
        if terms.lane is None or terms.fund_before is None:
            raise ChainError("bad_field", f"terms of {terms.hashlock} name no lane")
        if terms.timelock >> 64 or terms.fund_before >> 64:
            raise ChainError("bad_field", "a leg has 64 bits for its times")
        token = NO_TOKEN if terms.token is None else self._bare(terms.token)
        lane = int(terms.lane.number, 16)
        key = int.from_bytes(self._bare(terms.refund.address)) << 96 | lane
        times = terms.timelock << 96 | terms.fund_before << 32 | terms.lane.counter
        payout = self._bare(terms.payout.address)
        values: tuple[int | bytes, ...] = (lock, payout, token, key, terms.amount, times)
        return b"".join(word(each) for each in values)
