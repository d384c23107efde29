"""What the market answers and is asked, as docs/openapi.json has it.

Amounts are `int` in base units, times are aware `datetime`, ids are `str`. A field that a
newer market adds is left out. A word that it adds to a list comes through, so end a `match`
with `_`.

Written from docs/openapi.json by `npm run -s node -- scripts/openapi.ts`: not edited by hand.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ._model import Amount, Answer, AnyWord, Body, OpenAnswer, Time


class AcceptedContracts(Body):
    """of each leg's chain"""

    a: str
    """as `rules.contract` of the thread"""
    b: str
    """as `rules.contract` of the thread"""


class AcceptedPolicies(Body):
    """of each leg's chain"""

    a: str
    """as `rules.policies` of the thread"""
    b: str
    """as `rules.policies` of the thread"""


class AcceptedRules(Body):
    """those of the thread as you read it: accepts under no others"""

    formula: int
    """version of the formula of all times"""
    contract: AcceptedContracts
    policies: AcceptedPolicies


class AcceptBody(Body):
    """What is agreed to."""

    quote_amount: Amount
    """the price as you read it; another one is refused"""
    hashlock: str | None = None
    """SHA-256 of the 32-byte secret; from the initiator, and from nobody else"""
    rules: AcceptedRules | None = None
    """those of the thread as you read it: accepts under no others"""


class StandingHigh(Answer):
    """Of them, swaps with an amount from `highValueFrom` of its asset on."""

    agreed: int
    """counterparties it agreed with, each once a day"""
    settled: int
    """of them, those with whom both sides were paid, each once a day"""
    abandoned: int
    """swaps that ended because it did not fund or reveal in its turn"""
    refunded: int
    """swaps in which something was locked and went back, by whoever’s fault"""


class Standing(Answer):
    """How an account kept its agreements, up to the beginning of a day."""

    counted_from: Time
    """swaps are counted that were agreed from then on: RFC 3339, UTC, milliseconds"""
    counted_until: Time
    """and before then: the beginning of a day, UTC: RFC 3339, UTC, milliseconds"""
    agreed: int
    """counterparties it agreed with, each once a day"""
    settled: int
    """of them, those with whom both sides were paid, each once a day"""
    abandoned: int
    """swaps that ended because it did not fund or reveal in its turn"""
    refunded: int
    """swaps in which something was locked and went back, by whoever’s fault"""
    high: StandingHigh
    """Of them, swaps with an amount from `highValueFrom` of its asset on."""
    median_fund_seconds: int | None
    """from its turn to fund until its funding was seen; null of fewer than three"""


class LegPreview(Answer):
    """A leg as the swap would have it."""

    chain: str
    """chain key, such as `bitcoin`"""
    asset_id: str
    """UUID of the asset"""
    amount: Amount
    """in base units of its asset"""
    long: bool
    """funded first, by the initiator"""
    timelock_seconds: int
    """from the agreement to the refund"""


class ThreadLegs(Answer):
    """what each side would fund"""

    a: LegPreview
    b: LegPreview


class RulesContract(Answer):
    """of each leg's chain"""

    a: str
    """`<address>:<version>` of what holds the escrows; on Bitcoin the version alone. With
    shards `:` and the first 16 hex digits of the SHA-256 of their list, a space between
    """
    b: str
    """`<address>:<version>` of what holds the escrows; on Bitcoin the version alone. With
    shards `:` and the first 16 hex digits of the SHA-256 of their list, a space between
    """


class RulesPolicies(Answer):
    """of each leg's chain"""

    a: str
    """of the policy: the first 16 hex digits of the SHA-256 of it as JSON, keys in their
    letters' order, no space between
    """
    b: str
    """of the policy: the first 16 hex digits of the SHA-256 of it as JSON, keys in their
    letters' order, no space between
    """


class Rules(Answer):
    """What a swap is agreed under."""

    formula: int
    """version of the formula of all times"""
    contract: RulesContract
    """of each leg's chain"""
    policies: RulesPolicies
    """of each leg's chain"""


class ThreadMessage(Answer):
    """One price that was named."""

    by: Annotated[Literal["maker", "taker"], AnyWord]
    """who named it"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    at: Time
    """when it was named: RFC 3339, UTC, milliseconds"""


class Rfq(Answer):
    """A request for quote."""

    id: str
    """UUID of the RFQ"""
    direction: Annotated[Literal["sell_base", "buy_base"], AnyWord]
    """what the creator does with the base asset"""
    base_asset_id: str
    """UUID of the base asset"""
    base_amount: Amount
    """of the base asset, in base units"""
    quote_asset_id: str
    """UUID of the quote asset"""
    status: Annotated[
        Literal[
            "open",
            "negotiating",
            "agreed",
            "cancelled",
            "expired",
        ],
        AnyWord,
    ]
    """where it stands"""
    visibility: Annotated[Literal["public", "private"], AnyWord]
    """private: whoever has the link, or one address"""
    ask_amount: Amount | None
    """the asking price, in base units of the quote asset"""
    min_settled: int | None
    """takes quotes of accounts with at least so many settled swaps; null: everybody’s"""
    creator_id: str
    """UUID of the account that asks"""
    creator_standing: Standing | None
    """how it kept its agreements; null: nobody has counted yet"""
    created_at: Time
    """when it was posted: RFC 3339, UTC, milliseconds"""
    expires_at: Time
    """when it ends by itself: RFC 3339, UTC, milliseconds"""
    target_address: str | None = None
    """for its creator and who holds it to see"""


class Thread(Answer):
    """A negotiation between the maker and the taker."""

    id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    maker_id: str
    """UUID of the account that quotes"""
    maker_standing: Standing | None
    """how the maker kept its agreements; null: not counted yet"""
    taker_id: str
    """UUID of the account that asked"""
    status: Annotated[Literal["open", "agreed", "closed"], AnyWord]
    """where it stands"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    proposed_by: Annotated[Literal["maker", "taker"], AnyWord]
    """whose price it is"""
    current_quote_amount: Amount
    """alias: the same as `quoteAmount`"""
    pending_amount: Amount | None
    """alias: `quoteAmount` while the other side may accept it and has not; null: it is not open"""
    pending_by: Annotated[Literal["maker", "taker"], AnyWord] | None
    """else null"""
    maker_accepted: bool
    """the maker accepts this price"""
    taker_accepted: bool
    """the taker accepts this price"""
    acceptance_expires_at: Time | None
    """when the standing acceptance lapses: RFC 3339, UTC, milliseconds"""
    quote_expires_at: Time | None
    """from when on nobody may accept this price; null: it has no end of its own: RFC 3339, UTC,
    milliseconds
    """
    withdrawn_at: Time | None
    """when the maker withdrew its quote, which closed the thread until it quotes again: RFC
    3339, UTC, milliseconds
    """
    initiator: Annotated[Literal["maker", "taker"], AnyWord]
    """who makes the secret and funds first"""
    legs: ThreadLegs
    """what each side would fund"""
    rules: Rules | None
    """what an acceptance would mean now, or what the swap began with; null: the swap began
    before they were kept
    """
    swap_id: str | None
    """the swap, once both have accepted"""
    messages: list[ThreadMessage]
    """the price history, newest last, the latest 100"""
    rfq: Rfq
    created_at: Time
    """when the first quote came: RFC 3339, UTC, milliseconds"""
    updated_at: Time
    """when it last changed: RFC 3339, UTC, milliseconds"""


class SwapLegLane(Answer):
    """where contracts hold the escrows (EVM, TRON): a word of the funder"""

    contract: str | None = None
    """which holds the word and the escrow"""
    number: str
    """number of the word, 96 bits in hex"""
    counter: int
    """how often it was taken"""


class SwapLegScheduledRefunds(Answer):
    """Bitcoin, to the funder alone: signed refunds, sent when due"""

    count: int
    """how many there are"""
    lowest_fee_rate: float
    """of the first of them, in sat per vbyte"""
    highest_fee_rate: float
    """of the last of them, in sat per vbyte"""
    sent_txid: str | None
    """the last of them that was sent"""


class SwapLegRentLeft(Answer):
    """Solana: what a claim left of the deposit of the funder"""

    lamports: str
    """how much it left, in lamports"""
    from_: int | None = Field(validation_alias="from", serialization_alias="from")
    """Unix seconds: from when on `refund` gives it to the funder; null: at once"""


class SwapLegFormerEscrowScheduledRefunds(Answer):
    """Bitcoin, to the funder alone: signed refunds, sent when due"""

    count: int
    """how many there are"""
    lowest_fee_rate: float
    """of the first of them, in sat per vbyte"""
    highest_fee_rate: float
    """of the last of them, in sat per vbyte"""
    sent_txid: str | None
    """the last of them that was sent"""


class SwapLegFormerEscrow(Answer):
    """A former escrow."""

    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    balance: Amount
    """base units of the asset"""
    refund_tx: str | None
    """transaction id of the refund"""
    refunded_by: Annotated[Literal["party", "keeper"], AnyWord] | None
    """who sent `refundTx`; keeper: the market, for a party"""
    scheduled_refunds: SwapLegFormerEscrowScheduledRefunds | None
    """Bitcoin, to the funder alone: signed refunds, sent when due"""


class SwapLeg(Answer):
    """One side of a swap: an escrow on one chain."""

    leg: Annotated[Literal["a", "b"], AnyWord]
    """`a` is funded by the maker, `b` by the taker"""
    chain: str
    """chain key, such as `bitcoin`"""
    family: Annotated[Literal["evm", "tron", "bitcoin", "solana"], AnyWord]
    """of its chain"""
    asset_id: str
    """UUID of the asset"""
    amount: Amount
    """what is swapped, in base units of its asset"""
    funder: Annotated[Literal["maker", "taker"], AnyWord]
    """who funds it"""
    long: bool
    """the initiator funds the long leg, and first"""
    status: Annotated[
        Literal[
            "unfunded",
            "seen",
            "funded",
            "claimed",
            "refunded",
        ],
        AnyWord,
    ]
    """what its chain shows"""
    outcome: Annotated[Literal["unknown"], AnyWord] | None
    """`unknown`: its chain does not keep what became of it and no node of the market tells;
    `next` says which would. `status` is what was known before, never `unfunded`
    """
    timelock: int
    """Unix seconds: claims before, refunds from then on"""
    escrow: str | None
    """null until both addresses of the leg are known"""
    lane: SwapLegLane | None
    """where contracts hold the escrows (EVM, TRON): a word of the funder"""
    redeem_script: str | None
    """Bitcoin: witness script, hex"""
    payout_address: str | None
    """where a claim pays"""
    refund_address: str | None
    """where a refund pays"""
    payout_pubkey: str | None
    """Bitcoin: the key that claims"""
    refund_pubkey: str | None
    """Bitcoin: the key that refunds"""
    fund_tx: str | None
    """transaction id of the funding"""
    claim_tx: str | None
    """transaction id of the claim"""
    claimed_by: Annotated[Literal["party", "keeper"], AnyWord] | None
    """who sent `claimTx`; keeper: the market, for a party"""
    refund_tx: str | None
    """transaction id of the refund"""
    refunded_by: Annotated[Literal["party", "keeper"], AnyWord] | None
    """who sent `refundTx`; keeper: the market, for a party"""
    scheduled_refunds: SwapLegScheduledRefunds | None
    """Bitcoin, to the funder alone: signed refunds, sent when due"""
    confirmations: int
    """of the last of these transactions"""
    required_confirmations: int
    """from which on it counts"""
    balance: Amount
    """base units in the escrow now, as last seen"""
    rent_left: SwapLegRentLeft | None
    """Solana: what a claim left of the deposit of the funder"""
    former_escrows: list[SwapLegFormerEscrow]
    """escrows this leg moved off; refundable with ?escrow="""


class SwapLegs(Answer):
    """what each side funds"""

    a: SwapLeg
    b: SwapLeg


class DeadlinesRefundAt(Answer):
    """from when on each leg is refunded"""

    a: int
    """Unix seconds: leg a"""
    b: int
    """Unix seconds: leg b"""


class Deadlines(Answer):
    """The last moments of each step."""

    initiator_fund_by: int
    """Unix seconds: the initiator has funded by then"""
    expires_at: int
    """Unix seconds: nobody has funded by then: the swap has expired"""
    counterparty_fund_by: int
    """Unix seconds: the counterparty has funded by then"""
    reveal_by: int
    """Unix seconds: the initiator has claimed by then, or must not any more"""
    refund_at: DeadlinesRefundAt
    """from when on each leg is refunded"""


class StepWarningStuck(Answer):
    """a funding that no block takes, and what a child of it would pay"""

    txid: str
    """transaction id, as its chain writes it"""
    fee_rate_sat_per_vbyte: float
    """what it pays, in sat per vbyte"""
    wanted_fee_rate_sat_per_vbyte: float
    """wanted now, in sat per vbyte"""
    child_vsize: int
    """of a child, in vbytes"""
    child_fee_sats: Amount
    """of a child of that size, for the whole package"""
    change_outputs: list[int]
    """outputs that may be your change"""


class StepWarning(Answer):
    """What stands in the way of a step."""

    code: Annotated[
        Literal[
            "not_activated",
            "energy_poor",
            "fee_poor",
            "deposit",
            "fund_stuck",
        ],
        AnyWord,
    ]
    """a stable code for programs"""
    text: str
    """one plain sentence"""
    stuck: StepWarningStuck | None = None
    """a funding that no block takes, and what a child of it would pay"""


class Step(Answer):
    """What one side can do now."""

    by: Annotated[Literal["initiator", "counterparty"], AnyWord]
    """who is meant"""
    action: Annotated[
        Literal[
            "set_address",
            "fund",
            "claim",
            "refund",
            "wait",
        ],
        AnyWord,
    ]
    """what is to be done"""
    leg: Annotated[Literal["a", "b"], AnyWord] | None
    """on which leg; null = on neither"""
    before: int | None
    """Unix seconds: after it this is no longer open; null = no limit of ours"""
    why: str
    """one plain sentence"""
    warnings: list[StepWarning] | None = None
    """TRON: not_activated, energy_poor; Solana, EVM: fee_poor: who could not pay for what has
    to be sent; Solana: deposit, what a funding takes beside the amount; Bitcoin: fund_stuck,
    a funding that no block takes
    """


class Swap(Answer):
    """A swap as one of its parties sees it."""

    id: str
    """UUID of the swap"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    status: Annotated[
        Literal[
            "agreed",
            "initiator_funded",
            "counterparty_funded",
            "initiator_claimed",
            "counterparty_claimed",
            "refunded",
            "half_settled",
            "expired",
        ],
        AnyWord,
    ]
    """where it stands"""
    hashlock: str
    """SHA-256 of the secret, hex"""
    secret: str | None = Field(repr=False)
    """the secret, once it is public"""
    role: Annotated[Literal["initiator", "counterparty"], AnyWord]
    """which of the two you are"""
    initiator_user_id: str
    """UUID of the account that makes the secret"""
    maker_id: str
    """UUID of the account that quoted"""
    taker_id: str
    """UUID of the account that asked"""
    legs: SwapLegs
    """what each side funds"""
    deadlines: Deadlines
    rules: Rules | None
    """what it was agreed under, for good; null: agreed before they were kept"""
    next: list[Step]
    """what each side can do now"""
    created_at: Time
    """when both had accepted: RFC 3339, UTC, milliseconds"""
    updated_at: Time
    """when it last changed: RFC 3339, UTC, milliseconds"""


class AcceptReply(Answer):
    """The thread, and the swap where there is one."""

    thread: Thread
    swap: Swap | None = None


class AccountRecordHigh(Answer):
    """Of them, swaps with an amount from `highValueFrom` of its asset on."""

    agreed: int
    """counterparties it agreed with, each once a day"""
    settled: int
    """of them, those with whom both sides were paid, each once a day"""
    abandoned: int
    """swaps that ended because it did not fund or reveal in its turn"""
    refunded: int
    """swaps in which something was locked and went back, by whoever’s fault"""


class AccountRecord(Answer):
    """How the other side kept its agreements."""

    account_id: str
    """UUID of the account"""
    since: Time
    """the day on which the account was made: RFC 3339, UTC, milliseconds"""
    counted_from: Time
    """swaps are counted that were agreed from then on: RFC 3339, UTC, milliseconds"""
    counted_until: Time
    """and before then: the beginning of a day, UTC: RFC 3339, UTC, milliseconds"""
    agreed: int
    """counterparties it agreed with, each once a day"""
    settled: int
    """of them, those with whom both sides were paid, each once a day"""
    abandoned: int
    """swaps that ended because it did not fund or reveal in its turn"""
    refunded: int
    """swaps in which something was locked and went back, by whoever’s fault"""
    high: AccountRecordHigh
    """Of them, swaps with an amount from `highValueFrom` of its asset on."""
    median_fund_seconds: int | None
    """from its turn to fund until its funding was seen; null of fewer than three"""


class ApiKey(Answer):
    """A new key."""

    id: str
    """UUID of the key"""
    key: str = Field(repr=False)
    """the key itself, shown once: what requests carry"""
    prefix: str
    """how the key begins"""
    scopes: list[Annotated[Literal["read", "taker", "maker"], AnyWord]]
    """what it may do"""
    name: str | None
    """what its person calls it"""
    expires_at: Time
    """when it ends: RFC 3339, UTC, milliseconds"""
    replaced: bool
    """this mint revoked a key of the account"""
    note: str | None
    """of an account that holds several keys: how a leaked one is revoked"""


class Asset(Answer):
    """What may be traded."""

    id: str
    """UUID of the asset"""
    chain: str
    """chain key, such as `bitcoin`"""
    symbol: str
    """as its contract spells it; several may have it"""
    address: str | None
    """token contract; null = the native asset"""
    decimals: int
    """digits after the point of one whole unit"""
    enabled: bool
    """false = closed to trade"""
    verified: bool
    """true = curated; false = listed by itself: trade it by address"""
    source: str
    """`curated`, `launchpad:<name>` or `api`"""


class AssetList(Answer):
    """A page of assets, oldest first."""

    assets: list[Asset]
    """the assets of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


class Authorization(Body):
    """The same of a login wallet."""

    address: str
    """in any spelling; answers write the canonical one"""
    message: str
    """the signed text; what it must contain: docs/signing.md"""
    signature: str
    """evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope; bitcoin: base64
    (BIP-322 simple); docs/signing.md
    """


class TypedDataDomain(Answer):
    """what the signature is for"""

    name: str
    """name of the contract, as its domain has it"""
    version: str | None = None
    """version of the contract, as its domain has it"""
    chain_id: str | None = None
    """chain id of EIP-155, decimal"""
    verifying_contract: str
    """address of the token contract"""
    salt: str | None = None
    """32 bytes, hex with 0x"""


class TypedDataType(Answer):
    """one field of the type"""

    name: str
    """name of the field"""
    type: str
    """Solidity type of the field"""


class TypedData(Answer):
    """EIP-712, without the type of the domain."""

    domain: TypedDataDomain
    """what the signature is for"""
    types: dict[str, list[TypedDataType]]
    """the fields of each type"""
    primary_type: str
    """which of `types` is signed"""
    message: dict[str, str]
    """the fields of `primaryType` by name; integers as decimal strings"""


class SignedCall(Answer):
    """A call that the signature completes."""

    to: str
    """the contract"""
    value: Literal["0x0"]
    """wei, hex with 0x: a token is funded without coins"""
    data_before_signature: str
    """hex with 0x; v, r and s of the signature follow, 32 bytes each"""


class AuthorizedFunding(Answer):
    """One signature; anyone may send it."""

    way: Literal["authorization"]
    """EIP-3009: a transfer by authorization"""
    from_: str | None = Field(validation_alias="from", serialization_alias="from")
    """null: anyone may send it; the refund address signs"""
    typed_data: TypedData | None
    """EIP-712, without the type of the domain."""
    call: SignedCall | None
    """A call that the signature completes."""
    relay: bool
    """whether the market sends it, given the signature"""


class SignedPsbt(Body):
    """A PSBT and its signatures."""

    psbt_base64: str
    """the PSBT as it was built, base64"""
    signatures_hex: list[str]
    """one an input, in order; none = those inside the PSBT"""
    preimage_hex: str | None = Field(default=None, repr=False)
    """of a claim: the secret"""


class SignedPsbtOfOne(Body):
    """The same of a single input."""

    psbt_base64: str
    """the PSBT as it was built, base64"""
    signature_hex: str
    """alias: `signaturesHex` with this one in it"""
    preimage_hex: str | None = Field(default=None, repr=False)
    """of a claim: the secret"""


class SignedTron(OpenAnswer):
    """A signed transaction as wallets give it."""

    raw_data_hex: str = Field(validation_alias="raw_data_hex", serialization_alias="raw_data_hex")
    """what was signed"""
    signature: list[str]
    """65 bytes r, s, v in hex each"""
    tx_id: str | None = Field(default=None, validation_alias="txID", serialization_alias="txID")
    """txid: SHA-256 of raw_data_hex, hex"""


class Broadcast(Body):
    """A signed transaction."""

    chain: str
    """a family (evm, tron, bitcoin, solana) or a chain key"""
    signed: str | SignedPsbt | SignedPsbtOfOne | SignedTron
    """EVM, Bitcoin: raw transaction in hex; Bitcoin also a PSBT with its signatures; Solana:
    base64; TRON: the signed transaction as wallets give it
    """


class BroadcastReply(Answer):
    """What was sent."""

    txid: str
    """transaction id, as its chain writes it"""


class BtcPayment(Answer):
    """Bitcoin: a payment."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Literal["bitcoin"]
    """of its chain"""
    sign: Literal["btc-payment"]
    """how it is signed"""
    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    valid_until: int
    """Unix seconds: do not send it after this"""
    pay_to: str
    """pay ONE output of exactly amountSats to it"""
    amount_sats: Amount
    """satoshis: what to pay"""
    uri: str
    """the same as a BIP 21 URI, for wallets"""


class BtcSighashLadder(Answer):
    """A fee, and when."""

    at: int
    """Unix seconds: from when on to pay it"""
    fee_rate_sat_per_vbyte: float
    """sat per vbyte: then"""
    fee_sats: Amount
    """satoshis: the fee in all, from then on"""


class BtcSighash(Answer):
    """Bitcoin: a PSBT to sign."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Literal["bitcoin"]
    """of its chain"""
    sign: Literal["btc-sighash"]
    """how it is signed"""
    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    valid_until: int
    """Unix seconds: do not send it after this"""
    psbt_base64: str
    """the unsigned transaction as a PSBT, base64"""
    sighash_hexes: list[str]
    """one an input; sign each with SIGHASH_ALL"""
    sighash_hex: str | None = None
    """alias, where there is one input: the one of `sighashHexes`"""
    preimage_hex: str | None = Field(default=None, repr=False)
    """alias, of a claim: its secret"""
    fee_sats: Amount
    """satoshis: what it pays"""
    fee_rate_sat_per_vbyte: float
    """sat per vbyte: feeSats as a rate"""
    ladder: list[BtcSighashLadder]
    """what to pay if it is not mined by then: build it again; the first is now"""


class ChainPolicyNormal(Answer):
    """for ordinary amounts"""

    confirmations: int
    """blocks, its own included"""
    settle_seconds: int
    """seconds: from broadcast to that depth, at the 99.9th percentile"""
    outage_seconds: int
    """seconds: for which the chain may stand still or be full"""


class ChainPolicyHigh(Answer):
    """for amounts of high value"""

    confirmations: int
    """blocks, its own included"""
    settle_seconds: int
    """seconds: from broadcast to that depth, at the 99.9th percentile"""
    outage_seconds: int
    """seconds: for which the chain may stand still or be full"""


class ChainPolicy(Answer):
    """What times are computed from for a chain."""

    floor_seconds: int
    """seconds: least timelock, from the agreement"""
    normal: ChainPolicyNormal
    """for ordinary amounts"""
    high: ChainPolicyHigh
    """for amounts of high value"""
    late_claim_seconds: int
    """seconds: after its timelock, for which a claim may still land"""
    window_seconds: int | None
    """seconds: for which its clock may trail after a standstill"""
    drift_seconds: int
    """seconds: by which its clock may be ahead"""
    react_seconds: int
    """seconds: for a party to react"""
    sign_seconds: int
    """seconds: between asking for a transaction and sending it"""
    detect_seconds: int
    """seconds: to notice a transaction"""


class Claim(Body):
    """The secret, and who sends the claim."""

    secret: str = Field(repr=False)
    """the secret: 32 bytes, hex"""
    relay: bool | None = None
    """the market sends the claim and pays its gas, where it has a gas key (not Bitcoin);
    refused where landing it cannot be guaranteed
    """


class EvmMaterialTx(Answer):
    """A transaction, without nonce, gas and fees: the wallet sets them."""

    to: str
    """the contract"""
    data: str
    """hex with 0x"""
    value: str
    """wei, hex with 0x"""


class PermitFunding(Answer):
    """One signature and one transaction."""

    way: Literal["permit"]
    """EIP-2612: a permit, and one transaction"""
    from_: str = Field(validation_alias="from", serialization_alias="from")
    """signs the typed data, then sends the one transaction"""
    typed_data: TypedData
    call: SignedCall


class EvmMaterial(Answer):
    """EVM: transactions to sign."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Literal["evm"]
    """of its chain"""
    sign: Literal["evm-tx"]
    """how it is signed"""
    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    valid_until: int
    """Unix seconds: do not send it after this"""
    chain_id: int
    """chain id of EIP-155, which the signature names"""
    from_: str | None = Field(default=None, validation_alias="from", serialization_alias="from")
    """fund: sign from this address"""
    txs: list[EvmMaterialTx]
    """sign and send each, in order"""
    alternatives: list[PermitFunding | AuthorizedFunding] | None = None
    """fund of a token: what may be signed instead of `txs`, one of all. An authorization is
    null until asked for with `sign=authorization`; from then on the leg does not move
    """


class TronMaterialTransactionRawDataContractParameterValue(Answer):
    """the call of the contract"""

    data: str
    """calldata of the contract, hex without 0x"""
    owner_address: str = Field(validation_alias="owner_address", serialization_alias="owner_address")
    """who signs, hex"""
    contract_address: str = Field(validation_alias="contract_address", serialization_alias="contract_address")
    """the contract, hex"""
    call_value: int | None = Field(default=None, validation_alias="call_value", serialization_alias="call_value")
    """sun that go with the call"""


class TronMaterialTransactionRawDataContractParameter(Answer):
    """of the contract"""

    value: TronMaterialTransactionRawDataContractParameterValue
    """the call of the contract"""
    type_url: str = Field(validation_alias="type_url", serialization_alias="type_url")
    """type of the protobuf message"""


class TronMaterialTransactionRawDataContract(Answer):
    """What it does."""

    parameter: TronMaterialTransactionRawDataContractParameter
    """of the contract"""
    type: Literal["TriggerSmartContract"]
    """type of the contract, as java-tron names it"""


class TronMaterialTransactionRawData(Answer):
    """what raw_data_hex holds"""

    contract: list[TronMaterialTransactionRawDataContract]
    """exactly one"""
    ref_block_bytes: str = Field(validation_alias="ref_block_bytes", serialization_alias="ref_block_bytes")
    """TAPOS: 2 bytes of the height of a recent block, hex"""
    ref_block_hash: str = Field(validation_alias="ref_block_hash", serialization_alias="ref_block_hash")
    """TAPOS: 8 bytes of the id of that block, hex"""
    expiration: int
    """no later block takes it: Unix milliseconds"""
    fee_limit: int = Field(validation_alias="fee_limit", serialization_alias="fee_limit")
    """the most that its energy may cost, in sun"""
    timestamp: int
    """when it was built: Unix milliseconds"""


class TronMaterialTransaction(Answer):
    """java-tron's JSON of an unsigned transaction, addresses in 41-hex"""

    visible: Literal[False]
    """addresses are in hex"""
    tx_id: str = Field(validation_alias="txID", serialization_alias="txID")
    """SHA-256 of raw_data_hex: what is signed"""
    raw_data: TronMaterialTransactionRawData = Field(validation_alias="raw_data", serialization_alias="raw_data")
    """what raw_data_hex holds"""
    raw_data_hex: str = Field(validation_alias="raw_data_hex", serialization_alias="raw_data_hex")
    """what is signed, in hex"""


class TronMaterial(Answer):
    """TRON: transactions to sign."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Literal["tron"]
    """of its chain"""
    sign: Literal["tron-txid"]
    """how it is signed"""
    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    valid_until: int
    """Unix seconds: do not send it after this"""
    from_: str = Field(validation_alias="from", serialization_alias="from")
    """base58: sign as this address"""
    transactions: list[TronMaterialTransaction]
    """sign in order; send each when the one before succeeded"""
    tx_id: str | None = Field(default=None, validation_alias="txID", serialization_alias="txID")
    """alias, where there is one transaction: its `txID`"""


class SolanaMaterialCosts(Answer):
    """fund: what it takes from the funder's SOL beside what moves"""

    deposit_lamports: Amount
    """lamports: rent of the escrow's accounts"""
    returned_lamports: Amount
    """lamports: of it, to the funder when it is settled"""
    kept_lamports: Amount
    """lamports: of it, after a claim: from the timelock on, by a refund"""
    fee_lamports: Amount
    """lamports: the fee"""


class SolanaMaterial(Answer):
    """Solana: one to sign."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Literal["solana"]
    """of its chain"""
    sign: Literal["solana-tx"]
    """how it is signed"""
    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    valid_until: int
    """Unix seconds: do not send it after this"""
    transaction: str
    """base64, with room for its one signature"""
    transaction_base64: str
    """alias: the same as `transaction`"""
    last_valid_block_height: int
    """no later block takes it"""
    costs: SolanaMaterialCosts | None = None
    """fund: what it takes from the funder's SOL beside what moves"""


class RelayedClaim(Answer):
    """The market sends it."""

    relayed: Literal[True]
    """the market sends it"""
    txid: str
    """of its newest transaction; a stuck one is replaced"""


ClaimReply: TypeAlias = (
    EvmMaterial
    | BtcPayment
    | BtcSighash
    | TronMaterial
    | SolanaMaterial
    | RelayedClaim
)
"""What is to sign, or that it is sent: by its family."""


class CreateRfq(Body):
    """What quotes are asked for."""

    direction: Literal["sell_base", "buy_base"]
    """what the creator does with the base asset"""
    base_asset_id: str
    """UUID of the base asset"""
    base_amount: Amount
    """of the base asset, in base units"""
    quote_asset_id: str
    """UUID of the quote asset"""
    ttl_seconds: int
    """lifetime in seconds"""
    visibility: Literal["public", "private"] | None = None
    """who may see and quote it; default: public"""
    ask_amount: Amount | None = None
    """the asking price, in base units of the quote asset"""
    target_address: str | None = None
    """with `private` only: who holds it may quote, nobody else"""
    min_settled: int | None = None
    """takes quotes of accounts with at least so many settled swaps"""


class Error(Answer):
    """A refusal; its code is in the header."""

    error: str
    """one plain sentence"""


class Fund(Body):
    """For the market to send a funding; else empty."""

    relay: bool | None = None
    """EVM, of a token: the market sends the funding that you signed and pays its gas, where it
    does so (`relay` of the alternative) and within its caps
    """
    signature: str | None = None
    """of the authorization, by the refund address's key: 65 bytes in hex with 0x"""
    escrow: str | None = None
    """what was signed for"""


FundReply: TypeAlias = (
    EvmMaterial
    | BtcPayment
    | BtcSighash
    | TronMaterial
    | SolanaMaterial
    | RelayedClaim
)
"""What is to sign, or that it is sent: by its family."""


class LegCostsFund(Answer):
    """Of one transaction."""

    usual: Amount
    """likely now, base units of the native coin"""
    most: Amount
    """what its sender should have for it"""


class LegCostsClaim(Answer):
    """Of one transaction."""

    usual: Amount
    """likely now, base units of the native coin"""
    most: Amount
    """what its sender should have for it"""


class LegCostsRefund(Answer):
    """Of one transaction."""

    usual: Amount
    """likely now, base units of the native coin"""
    most: Amount
    """what its sender should have for it"""


class LegCostsDeposit(Answer):
    """Solana: beside the amount"""

    locked: Amount
    """lamports that the funding locks"""
    kept_by_claim: Amount
    """of them, what a claim leaves locked until the timelock"""


class LegCosts(Answer):
    """Fees of a leg by the prices of now."""

    fund: LegCostsFund
    """Of one transaction."""
    claim: LegCostsClaim
    """Of one transaction."""
    refund: LegCostsRefund
    """Of one transaction."""
    settles_from_amount: bool
    """Bitcoin: a claim or refund pays its fee out of the amount"""
    deposit: LegCostsDeposit | None
    """Solana: beside the amount"""


class Level(Answer):
    """A price at which a maker would quote. It promises nothing."""

    maker_id: str
    """UUID of the account that published it; `makerId` of its quotes"""
    maker_standing: Standing | None
    """how it kept its agreements; null: nobody has counted yet"""
    direction: Annotated[Literal["sell_base", "buy_base"], AnyWord]
    """what the taker does with the base asset: `sell_base` is the maker’s bid, `buy_base` its
    ask
    """
    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    base_amount: Amount
    """the size: RFQs of up to so many base units of the base asset"""
    quote_amount: Amount
    """for all of `baseAmount`, in base units of the quote asset: their quotient is the price"""
    least_base_amount: Amount | None
    """RFQs of at least so much of the base asset; null: any"""
    published_at: Time
    """when it was published: RFC 3339, UTC, milliseconds"""
    expires_at: Time
    """when it ends: RFC 3339, UTC, milliseconds"""


class LevelList(Answer):
    """A page of levels, the best price for the taker first."""

    levels: list[Level]
    """the levels of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


MarketCheck: TypeAlias = Annotated[
    Literal[
        "capitalisation",
        "liquidity",
        "volume",
        "holders",
        "age",
        "concentration",
    ],
    AnyWord,
]
"""the name of a check"""


class ListedAsset(Answer):
    """A token that is listed."""

    status: Annotated[Literal["listed"], AnyWord]
    """open to trade"""
    asset: Asset
    not_checked: list[MarketCheck] | None = None
    """checks that are not made here, with nobody to ask"""


WebhookEventName: TypeAlias = Annotated[
    Literal[
        "quote.created",
        "swap.agreed",
        "swap.funded",
        "secret.revealed",
        "swap.settled",
        "swap.refunded",
        "swap.half_settled",
        "swap.reorged",
        "thread.accepted",
        "thread.proposed",
        "thread.closed",
        "ping",
    ],
    AnyWord,
]
"""the name of an event"""


class ListedWebhook(Answer):
    """A webhook, and how its last delivery went."""

    id: str
    """UUID of the webhook"""
    url: str
    """where events are sent"""
    events: list[WebhookEventName]
    """empty = all of them, but those that only who names them gets"""
    enabled: bool
    """false: it failed for a day and is sent nothing until a ping is answered 2xx"""
    last_status: int | None
    """HTTP status of the last attempt; 0 = no answer"""
    last_error: str | None
    """why there was no answer"""
    last_delivery_at: Time | None
    """when the last attempt was made: RFC 3339, UTC, milliseconds"""


class MarketRulesLimits(Answer):
    """how many requests an account has; `RateLimit-Limit` says what yours has"""

    window_seconds: int
    """seconds: of the window"""
    requests: int
    """of an account and of each of its keys"""
    requests_of_settled_swap: float
    """more for each settled swap that counts: a counterparty once a UTC day of the agreement"""
    most_requests: int
    """the most that it grows to"""
    settled_days: int
    """how many days back agreements count"""


class MarketRulesChainContract(Answer):
    """what holds its escrows"""

    id: str
    """`<address>:<version>` of what holds the escrows; on Bitcoin the version alone. With
    shards `:` and the first 16 hex digits of the SHA-256 of their list, a space between
    """
    address: str | None
    """where it is; null on Bitcoin"""
    version: str
    """the first 16 hex digits of a digest of its code or script"""
    shards: list[str]
    """others of its code that new escrows are spread over"""


class MarketRulesChain(Answer):
    """The rules of one chain."""

    chain: str
    """chain key, such as `bitcoin`"""
    family: Annotated[Literal["evm", "tron", "bitcoin", "solana"], AnyWord]
    """the family that the chain belongs to"""
    contract: MarketRulesChainContract
    """what holds its escrows"""
    policy: ChainPolicy
    policy_digest: str
    """of `policy`, as threads and swaps name it"""


class MarketRules(Answer):
    """The rules of this market."""

    formula: int
    """version of the formula of all times"""
    limits: MarketRulesLimits
    """how many requests an account has; `RateLimit-Limit` says what yours has"""
    chains: list[MarketRulesChain]
    """one entry a chain"""


class MarketStatusChain(Answer):
    """What is known of one chain."""

    chain: str
    """chain key, such as `bitcoin`"""
    height: int | None
    """of the best block that was seen; null: none yet"""
    clock: int | None
    """Unix seconds: the clock of that block"""
    seen_at: Time | None
    """when that block was first seen: RFC 3339, UTC, milliseconds"""
    block_seconds: float | None
    """usual time between blocks"""
    is_quiet: bool
    """no new block for longer than is usual: the market may not see the chain"""
    halted_since: Time | None
    """nothing new is agreed on it, by the operator: RFC 3339, UTC, milliseconds"""
    sends_claims: bool
    """claims are sent with the market’s gas for who asks, within its bounds"""
    sends_fundings: bool
    """so are fundings of tokens that are paid by a signature (EIP-3009)"""


class MarketStatus(Answer):
    """Whether the market works."""

    at: Time
    """when this was read: RFC 3339, UTC, milliseconds"""
    network: Annotated[Literal["mainnet", "testnet", "dev"], AnyWord]
    """what its chains are"""
    agrees: bool
    """whether acceptances can become swaps now"""
    waits_for: list[str]
    """why not: times that are missing from the database, until the operator goes on"""
    chains: list[MarketStatusChain]
    """one entry a chain"""


Material: TypeAlias = EvmMaterial | BtcPayment | BtcSighash | TronMaterial | SolanaMaterial
"""What is to sign: by its family."""


class WalletsOfFamily(Answer):
    """The wallets of one family."""

    login: str | None
    """is paid: signs in, unless another wallet was chosen in the browser"""
    proven: list[str]
    """tradeable; never a payout identity"""


class MeWallets(Answer):
    """the wallets of the account by family of chains"""

    evm: WalletsOfFamily
    tron: WalletsOfFamily
    bitcoin: WalletsOfFamily
    solana: WalletsOfFamily


class Me(Answer):
    """The account of a key."""

    user_id: str
    """UUID of the account"""
    scopes: list[Annotated[Literal["read", "taker", "maker"], AnyWord]]
    """what it may do"""
    wallets: MeWallets
    """the wallets of the account by family of chains"""


class MintKey(Body):
    """A text that the wallet has signed."""

    rail: Literal["evm", "tron", "bitcoin", "solana"]
    """the family of its chain"""
    address: str
    """in any spelling; answers write the canonical one"""
    message: str
    """the signed text; what it must contain: docs/signing.md"""
    signature: str
    """evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope; bitcoin: base64
    (BIP-322 simple); docs/signing.md
    """


class Nonce(Answer):
    """What a text to sign carries."""

    nonce: str
    """128 random bits, hex; single-use"""


class PairLeg(Answer):
    """A leg as a swap would have it."""

    chain: str
    """chain key, such as `bitcoin`"""
    asset_id: str
    """UUID of the asset"""
    long: bool
    """funded first, by the initiator"""
    timelock_seconds: int
    """from the agreement to the refund"""
    confirmations: int
    """blocks that its funding waits for"""
    least_amount: Amount | None
    """less is refused now, base units of its asset; null: its chain does not tell"""
    costs: LegCosts | None
    """fees by the prices of now; null: its chain does not tell"""


class PairPriceMedian(Answer):
    """The middle one of them by price, the lower of two."""

    direction: Annotated[Literal["sell_base", "buy_base"], AnyWord]
    """what the taker does with the base asset"""
    base_amount: Amount
    """in base units of the base asset"""
    quote_amount: Amount
    """in base units of the quote asset"""
    agreed_at: Time
    """when both had accepted, the seconds cut off: RFC 3339, UTC, milliseconds"""


class PairPriceAgreement(Answer):
    """An agreement that became a swap."""

    direction: Annotated[Literal["sell_base", "buy_base"], AnyWord]
    """what the taker does with the base asset"""
    base_amount: Amount
    """in base units of the base asset"""
    quote_amount: Amount
    """in base units of the quote asset"""
    agreed_at: Time
    """when both had accepted, the seconds cut off: RFC 3339, UTC, milliseconds"""


class PairPrice(Answer):
    """What a pair was traded at of late."""

    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    median: PairPriceMedian | None
    """the middle one of them by price, the lower of two; null of fewer than three"""
    agreements: list[PairPriceAgreement]
    """public agreements that both sides funded, newest first, the latest 50"""
    window_seconds: int
    """how far back they are looked for"""


class PairTermsLegs(Answer):
    """`a` is funded by the maker, `b` by the taker"""

    a: PairLeg
    b: PairLeg


class PairTermsExpectedInitiator(Answer):
    """Of one side."""

    usual_seconds: int
    """seconds from the agreement: until it is paid, where both act at once"""
    worst_seconds: int
    """seconds from the agreement: until it is paid, or its own leg is taken back"""


class PairTermsExpectedCounterparty(Answer):
    """Of one side."""

    usual_seconds: int
    """seconds from the agreement: until it is paid, where both act at once"""
    worst_seconds: int
    """seconds from the agreement: until it is paid, or its own leg is taken back"""


class PairTermsExpected(Answer):
    """of each side"""

    initiator: PairTermsExpectedInitiator
    """Of one side."""
    counterparty: PairTermsExpectedCounterparty
    """Of one side."""


class PairTerms(Answer):
    """What a trade would mean."""

    direction: Annotated[Literal["sell_base", "buy_base"], AnyWord]
    """what the taker does with the base asset"""
    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    initiator: Annotated[Literal["maker", "taker"], AnyWord]
    """who makes the secret and funds first"""
    rules: Rules
    legs: PairTermsLegs
    """`a` is funded by the maker, `b` by the taker"""
    initiator_fund_by_seconds: int
    """seconds from the agreement: last moment for its funding to be sent"""
    counterparty_fund_by_seconds: int
    """seconds from the agreement: last moment for its funding to be sent"""
    reveal_by_seconds: int
    """seconds from the agreement: last moment for the initiator to claim"""
    expected: PairTermsExpected | None
    """how long it takes each side; null: a chain does not tell"""


class PingEvent(Answer):
    """The ping endpoint was called."""

    type: Literal["ping"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    message: str
    """one plain sentence"""


class Pinged(Answer):
    """How the test delivery went."""

    ok: bool
    """whether a 2xx came; lastStatus and lastError say more"""
    delivery_id: str
    """UUID of the delivery"""


class ProposeBody(Body):
    """Another price for the thread."""

    quote_amount: Amount
    """the price, in base units of the quote asset"""
    valid_for_seconds: int | None = None
    """how long this price holds, from its receipt; left out: as long as the RFQ"""


class ProveWallet(Body):
    """A text that the wallet has signed."""

    address: str
    """in any spelling; answers write the canonical one"""
    message: str
    """the signed text; what it must contain: docs/signing.md"""
    signature: str
    """evm, tron: hex; solana: base58 of 64 bytes, or of an off-chain envelope; bitcoin: base64
    (BIP-322 simple); docs/signing.md
    """
    authorization: Authorization | None = None
    """The same of a login wallet."""


class ProvenWallet(Answer):
    """A wallet of the account."""

    address: str
    """in its canonical form"""
    family: Annotated[Literal["evm", "tron", "bitcoin", "solana"], AnyWord]
    """the family of its chain"""
    proven: bool
    """it may trade"""
    authorised: bool
    """counts beyond giving: may receive"""


class WantedLevel(Body):
    """A level that is to be shown."""

    direction: Literal["sell_base", "buy_base"]
    """what the taker does with the base asset: `sell_base` is the maker’s bid, `buy_base` its
    ask
    """
    base_amount: Amount
    """the size: RFQs of up to so many base units of the base asset"""
    quote_amount: Amount
    """for all of `baseAmount`, in base units of the quote asset: their quotient is the price"""
    least_base_amount: Amount | None = None
    """RFQs of at least so many base units of the base asset"""
    valid_for_seconds: int
    """how long it is shown, from its receipt"""


class PublishLevels(Body):
    """Prices at which you would quote a pair; they promise nothing."""

    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    levels: list[WantedLevel]
    """all levels of yours on this pair, in place of those before; none withdraws them"""


class PublishedLevels(Answer):
    """What is published now."""

    base_asset_id: str
    """UUID of the base asset"""
    quote_asset_id: str
    """UUID of the quote asset"""
    published: int
    """how many levels of yours there are on the pair now"""
    ends_at: Time | None
    """when the first of them ends: RFC 3339, UTC, milliseconds; null of none"""


class QuoteBody(Body):
    """A price of a maker."""

    quote_amount: Amount
    """the price, in base units of the quote asset"""
    valid_for_seconds: int | None = None
    """how long this price holds, from its receipt; left out: as long as the RFQ"""
    unless_accepted: bool | None = None
    """refused while the taker's acceptance of the price before stands"""


class QuoteCreatedEvent(Answer):
    """A maker quoted your RFQ, or moved its price."""

    type: Literal["quote.created"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    quote_expires_at: Time | None = None
    """where the price has an end of its own: from when on nobody may accept it: RFC 3339, UTC,
    milliseconds
    """


class QuoteOfMany(Body):
    """A quote on one RFQ."""

    rfq_id: str
    """UUID of the RFQ"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    valid_for_seconds: int | None = None
    """how long this price holds, from its receipt; left out: as long as the RFQ"""
    unless_accepted: bool | None = None
    """refused while the taker's acceptance of the price before stands"""


class QuoteOutcome(Answer):
    """What became of a quote."""

    status: int
    """as POST /v1/rfqs/{id}/quotes would have answered it"""
    rfq_id: str
    """the RFQ as it was named"""
    thread_id: str | None = None
    """UUID of its thread; of 200 and 201"""
    quote_expires_at: Time | None = None
    """as the thread has it; of 200 and 201: RFC 3339, UTC, milliseconds"""
    error: str | None = None
    """why it was refused"""
    code: str | None = None
    """the code of the refusal"""


class QuotesBody(Body):
    """Prices for RFQs."""

    quotes: list[QuoteOfMany]
    """1 to 50 quotes, each on another RFQ"""


class QuotesReply(Answer):
    """What became of each quote."""

    outcomes: list[QuoteOutcome]
    """one a quote, in their order"""


class RefusedAsset(Answer):
    """A token that will never be listed."""

    error: str
    """one plain sentence"""
    status: Annotated[Literal["rejected", "delisted"], AnyWord]
    """both for ever"""
    reasons: list[str]
    """each begins with the name of the check that says so"""


class RegisterWebhook(Body):
    """Where your events are to be sent."""

    url: str
    """https, at most 2 048 characters"""
    events: list[WebhookEventName] | None = None
    """left out or empty = all of them, but those that only who names them gets"""


class Webhook(Answer):
    """Where events are sent."""

    id: str
    """UUID of the webhook"""
    url: str
    """where events are sent"""
    events: list[WebhookEventName]
    """empty = all of them, but those that only who names them gets"""
    enabled: bool
    """false: it failed for a day and is sent nothing until a ping is answered 2xx"""


class RegisteredWebhook(Answer):
    """A new webhook, and its secret."""

    webhook: Webhook
    secret: str = Field(repr=False)
    """shown once: it signs every delivery"""


class RemovedWallet(Answer):
    """A wallet that is no longer proven."""

    address: str
    """in its canonical form"""
    family: Annotated[Literal["evm", "tron", "bitcoin", "solana"], AnyWord]
    """the family of its chain"""
    proven: Literal[False]
    """it is not"""


class RfqList(Answer):
    """A page of RFQs, newest first."""

    rfqs: list[Rfq]
    """the rfqs of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


class RfqReply(Answer):
    """The RFQ as it is now."""

    rfq: Rfq


class ScheduleRefunds(Body):
    """Refunds that you have signed."""

    transactions: list[str]
    """signed refunds of one escrow in hex, the lowest fee first; they spend what is as
    confirmed as the leg wants (`requiredConfirmations`)
    """
    escrow: str | None = None
    """one that this leg moved off after its address changed"""


class ScheduledReplyScheduledRefunds(Answer):
    """the refunds of one escrow"""

    escrow: str
    """the escrow: its address, or `<contract>:<id>`"""
    txids: list[str]
    """as they were given"""
    count: int
    """how many there are"""
    lowest_fee_rate: float
    """of the first of them, in sat per vbyte"""
    highest_fee_rate: float
    """of the last of them, in sat per vbyte"""
    sent_txid: str | None
    """the last of them that was sent"""


class ScheduledReply(Answer):
    """What is kept."""

    scheduled_refunds: ScheduledReplyScheduledRefunds
    """the refunds of one escrow"""


class SecretRevealedEvent(Answer):
    """The secret is public."""

    type: Literal["secret.revealed"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[Literal["initiator_claimed"], AnyWord]
    """of the swap now"""


class SetAddress(Body):
    """Your address on one chain of the swap."""

    chain: str
    """a chain key of the swap"""
    leg: Literal["a", "b"] | None = None
    """the leg on that chain; another one is refused"""
    address: str
    """where you receive or fund on it; on Bitcoin a compressed public key, 66 hex"""
    key_signature: str | None = None
    """a key of a Taproot wallet: base64 ECDSA signature (BIP 137) by exactly that key over
    "<product> - use this key: <pubkey> for swap <id>"
    """


class SwapAgreedEvent(Answer):
    """Both sides accepted; the swap exists."""

    type: Literal["swap.agreed"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    thread_id: str
    """UUID of the thread"""


class SwapFundedEvent(Answer):
    """A leg is funded at depth."""

    type: Literal["swap.funded"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[
        Literal[
            "initiator_funded",
            "counterparty_funded",
        ],
        AnyWord,
    ]
    """of the swap now"""


class SwapHalfSettledEvent(Answer):
    """One leg was claimed, the other refunded at its timelock."""

    type: Literal["swap.half_settled"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[Literal["half_settled"], AnyWord]
    """of the swap now"""


class SwapPage(Answer):
    """A page of your swaps, newest first."""

    swaps: list[Swap]
    """the swaps of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


class SwapRefundedEvent(Answer):
    """A leg was refunded."""

    type: Literal["swap.refunded"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[Literal["refunded"], AnyWord]
    """of the swap now"""


class SwapReorgedEvent(Answer):
    """A chain took back what the status stood on; this is the status now."""

    type: Literal["swap.reorged"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[
        Literal[
            "agreed",
            "initiator_funded",
            "counterparty_funded",
            "initiator_claimed",
            "counterparty_claimed",
            "refunded",
            "half_settled",
            "expired",
        ],
        AnyWord,
    ]
    """of the swap now"""


class SwapReply(Answer):
    """The swap as it is now."""

    swap: Swap


class SwapSettledEvent(Answer):
    """The counterparty's claim landed."""

    type: Literal["swap.settled"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    swap_id: str
    """UUID of the swap"""
    status: Annotated[Literal["counterparty_claimed"], AnyWord]
    """of the swap now"""


class ThreadAcceptedEvent(Answer):
    """The other side accepted the price of a thread; only for who names this event."""

    type: Literal["thread.accepted"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    role: Annotated[Literal["maker", "taker"], AnyWord]
    """which side of the thread you are"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    acceptance_expires_at: Time | None
    """when that acceptance lapses; null: both have accepted: RFC 3339, UTC, milliseconds"""
    swap_id: str | None
    """the swap; null: you have not accepted"""


class ThreadClosedEvent(Answer):
    """A thread closed without a swap; only for who names this event."""

    type: Literal["thread.closed"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    role: Annotated[Literal["maker", "taker"], AnyWord]
    """which side of the thread you are"""
    reason: Annotated[
        Literal[
            "cancelled",
            "expired",
            "agreed",
            "withdrawn",
            "disconnected",
        ],
        AnyWord,
    ]
    """why it closed"""


class ThreadList(Answer):
    """A page of threads, newest activity first."""

    threads: list[Thread]
    """the threads of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


class ThreadProposedEvent(Answer):
    """The taker named another price for your quote; only for who names this event."""

    type: Literal["thread.proposed"]
    """which event it is"""
    delivery_id: str
    """UUID of the delivery; the same however often it is tried"""
    created_at: Time
    """when it happened: RFC 3339, UTC, milliseconds"""
    thread_id: str
    """UUID of the thread"""
    rfq_id: str
    """UUID of the RFQ"""
    quote_amount: Amount
    """the price, in base units of the quote asset"""
    quote_expires_at: Time | None = None
    """where the price has an end of its own: from when on nobody may accept it: RFC 3339, UTC,
    milliseconds
    """


class ThreadReply(Answer):
    """The thread as it is now."""

    thread: Thread


class WaitingAsset(Answer):
    """A token that cannot be traded now."""

    status: Annotated[Literal["pending", "closed"], AnyWord]
    """`pending`: looked at again every hour for seven days"""
    reasons: list[str]
    """each begins with the name of the check that says so"""
    not_checked: list[MarketCheck] | None = None
    """checks that are not made here, with nobody to ask"""


class WebhookPage(Answer):
    """A page of your webhooks, newest first."""

    webhooks: list[ListedWebhook]
    """the webhooks of this page"""
    next_cursor: str | None
    """what the next page is asked for with; null on the last page"""


class WebhookRemoved(Answer):
    """What became of it."""

    ok: bool
    """true: it is gone"""


class WithdrawBody(Body):
    """Where to go on."""

    after: str | None = None
    """`next` of the answer before; left out: from the oldest on"""


class WithdrawReply(Answer):
    """What became of your open quotes."""

    withdrawn: int
    """how many were withdrawn"""
    committed: int
    """how many stay open, because your own acceptance stands"""
    next: str | None
    """what to name as `after`; null: those were all"""


class WithdrawnLevels(Answer):
    """What was withdrawn."""

    withdrawn: int
    """how many levels, of all pairs"""


class ListAssetBody(Body):
    """The token that is to be listed."""

    chain: str
    """chain key, such as `base`"""
    address: str
    """token contract or mint"""


WebhookEvent: TypeAlias = (
    QuoteCreatedEvent
    | SwapAgreedEvent
    | SwapFundedEvent
    | SecretRevealedEvent
    | SwapSettledEvent
    | SwapRefundedEvent
    | SwapHalfSettledEvent
    | SwapReorgedEvent
    | ThreadAcceptedEvent
    | ThreadProposedEvent
    | ThreadClosedEvent
    | PingEvent
)
"""A delivery of a webhook, by its `type`."""
