// Every refusal: a stable code, one plain sentence, and its facts. Only apps/market/edge/ turns a kind
// into a status.

/**
 * Every code by its kind: `timeout` changed nothing. Above it stands what its reader does next,
 * which the page of errors shows. Codes that have the same next step stand below one comment.
 */
const codes = {
  invalid: [
    // Base units as a string: 1 to 2^256-1, no sign, leading zero or exponent.
    'bad_amount',
    // 32 bytes as 64 hex characters.
    'bad_hex',
    // Not an address of that family, or its checksum is wrong.
    'bad_address',
    // An address of another network than the deployment's: take one of the network named.
    'wrong_network',
    // On Bitcoin send the compressed key, 66 hex; the key of a Taproot wallet with a `keySignature`
    // beside it.
    'bad_public_key',
    // The sentence names the field and what it must be. Unknown fields are refused. An optional
    // field may be null, which is the same as left out.
    'bad_field',
    // Use `nextCursor` of the same list with the same filters, unaltered.
    'bad_cursor',
    // Legs are `a` and `b`. An address named with a leg is on that leg's chain.
    'bad_leg',
    // Give an https URL of at most 2 048 characters, without a user, at a public address or a name
    // that can have one, with port 443 or one that the market sends to
    // (docs/webhooks.md#where-deliveries-go).
    'bad_webhook_url',
    // The sentence lists the events there are.
    'bad_event',
    // Delete one of the 20 first.
    'too_many_webhooks',
    // Use a chain of `GET /v1/assets` that is part of this swap. A broadcast takes a family too,
    // where one served chain has it.
    'bad_chain',
    // The signed text breaks the rule that the sentence names.
    'bad_message',
    // Sign the exact text with the wallet of the address; take a new nonce first. A `keySignature`
    // must be by exactly the key beside it. For a funding to relay, sign the authorization's typed
    // data with the key of the refund address.
    'bad_signature',
    // Unknown, used, expired, from another pool, or given to another account: take a new nonce.
    'bad_nonce',
    // The authorization must be signed by this account's login wallet and name the address.
    'bad_authorization',
    // Revoke a key in the browser first.
    'too_many_keys',
    // Give an address of ASCII letters, digits and signs before the @, at most 254 characters.
    'bad_email',
    // Not the code that was sent; the sentence says how many tries are left.
    'bad_code',
    // The signature or answer proves nothing: begin again.
    'bad_proof',
    // Remove a login first.
    'too_many_logins',
    // Use the id of an enabled asset.
    'bad_asset',
    // There is no token at that address of that chain: check both.
    'not_a_token',
    // Base and quote must be on two different chains.
    'same_chain',
    // The amount could not be claimed (dust, or less than its fee): raise it.
    'amount_too_small',
    // The initiator's acceptance carries a `hashlock`, the other side's does not (`initiator` on
    // the thread).
    'hashlock_missing',
    'hashlock_unexpected',
    // `sha256(secret)` is not the hashlock.
    'wrong_secret',
    // `escrow`, in the query or in a body, was never an escrow of this leg.
    'unknown_escrow',
    // Bitcoin: the sentence has the bounds of the fee rate now (docs/bitcoin-fees.md#bounds). The
    // same of signed refunds.
    'bad_fee_rate',
    // The signed bytes are malformed, for another network, or a signature does not fit.
    'bad_transaction',
    // Every node of the chain refused the transaction; their own words follow.
    'refused_by_node',
  ],
  forbidden: [
    // This needs a sign-in of the last 10 minutes: sign in again with any login of the account,
    // then repeat it.
    'session_stale',
    // Sign in with a wallet that may receive: where you are paid is changed in such a session only.
    'not_a_wallet_session',
    // Only the RFQ's creator may do this.
    'not_creator',
    // One's own RFQ cannot be quoted.
    'own_rfq',
    // The RFQ is addressed to another account.
    'not_addressed',
    // The RFQ's creator wants more settled swaps (`minSettled`) than your account has of the last
    // 29 whole days. At an acceptance the maker's count.
    'too_few_settled',
    // Link a wallet on the chain of the asset you would give.
    'no_wallet',
    // Fund and refund belong to the funder, claim to the recipient.
    'not_your_leg',
    // Money is paid only to a login, authorised or web-proven wallet: authorise it first.
    'not_payable',
    // Only the maker of a quote may withdraw it.
    'not_maker',
    // The operator has blocked this account: it begins nothing new, and its RFQs, quotes and levels
    // were withdrawn. Its open swaps go on in every part: read, fund, claim, refund and broadcast
    // as before. It is not deleted by itself: ask the operator, for erasure too.
    'account_blocked',
  ],
  absent: [
    // List your webhooks; another account's do not exist for you.
    'no_such_webhook',
    // This account holds no proof for that address.
    'unknown_wallet',
    // This way of signing in is not offered here: `GET /account/ways` lists those that are.
    'way_off',
    // No such thing, or not of this account.
    'unknown_login',
    'unknown_session',
    'unknown_key',
    'unknown_passkey',
    'unknown_payout',
    // No such thing, or not yours to see.
    'unknown_rfq',
    'unknown_thread',
    'unknown_swap',
    // Read the log of the webhook: a delivery is kept for 7 days.
    'unknown_delivery',
  ],
  conflict: [
    // The wallet belongs to another account.
    'wallet_taken',
    // Remove a proof that is not needed first, or stop what waits; the sentence says which.
    'too_many_wallets',
    // The wallet is where the account is paid, or is to be: choose another one on the account page
    // first, or stop the wait there.
    'wallet_paid',
    // The sign-in that was begun was used, has expired, or belongs to another browser: begin again.
    'ceremony_gone',
    // The login belongs to another account, and the market moved nothing: sign in there, or add another one
    // here.
    'login_taken',
    // The account signs in with another wallet of this family: remove that one first.
    'login_family_taken',
    // The last login stays: add another one first.
    'last_login',
    // The session that this was begun in has ended: sign in and begin again.
    'session_ended',
    // The account was deleted while this was asked for: the request had no effect.
    'account_deleted',
    // The account has what is still open; the sentence says what. End it or wait, then delete the
    // account.
    'account_in_use',
    // Cancelled, expired or agreed: look for another.
    'rfq_gone',
    // The asset is closed or halted for now, or delisted for ever; the sentence says which, and
    // since when. Wait until `GET /v1/assets` shows it `enabled`: its RFQs return then, unless they
    // ended.
    'asset_closed',
    // The price changed since you read it: read the thread again and decide again.
    'terms_moved',
    // Your acceptance stands: wait until the other side moves or it lapses (`acceptanceExpiresAt`).
    'committed',
    // A hashlock is used once for ever: take a new secret.
    'hashlock_used',
    // You accepted with another hashlock; the first one stands.
    'hashlock_differs',
    // A swap would begin with other `rules` than you accept under; the sentence names what differs.
    // Read the thread again, and compare `GET /v1/rules` with your own
    // (docs/timelocks.md#versions).
    'rules_differ',
    // Another thread won, the RFQ is gone, or the maker withdrew its quote; the sentence says
    // which.
    'thread_closed',
    // A limit on open things was reached; the sentence names it.
    'too_many_open',
    // As many tokens as may wait for you to be listed do: ask again when one of them is listed or
    // refused.
    'too_many_pending',
    // Both legs need payout and refund addresses first; `next[]` says whose.
    'addresses_missing',
    // A funding of the escrow was seen, or may have been signed (docs/funding.md): its addresses
    // stand. The sentence says until when. The same address again answers 200.
    'addresses_fixed',
    // A side will not go on: fund nothing, show no secret, and take back your leg once the other
    // side has released it (docs/lifecycle.md#giving-up).
    'given_up',
    // A release, or a spend that you sign with the other side, could cost you now, or the chain has
    // none; the sentence says why.
    'not_releasable',
    // Wait until the initiator's leg is funded at depth.
    'not_fundable_yet',
    // Do not pay again.
    'already_funded',
    // Money is in an escrow that the leg moved off. Neither fund nor reveal: refund it with
    // `?escrow=` after the timelock.
    'former_escrow_funded',
    // The outcome of a leg's escrow is unknown: neither fund nor reveal. The sentence and `next[]`
    // name the node that would know. Refunds and claims with a public secret are not refused.
    'outcome_unknown',
    // Do not fund: the deadline has passed.
    'too_late_to_fund',
    // Do not reveal: wait for both legs at depth.
    'not_both_funded',
    // Do not reveal: refund from the timelock on.
    'too_late_to_reveal',
    // Done, by the transaction that the sentence names; read the swap.
    'already_claimed',
    'already_refunded',
    // The sentence says by how much the chain's clock is short.
    'too_early_to_refund',
    // The escrow holds nothing that could be claimed or refunded, and nothing was: fund it first,
    // or name a former one by `?escrow=`. For signed refunds: no payment has the leg's
    // confirmations yet; leave them again when one has.
    'nothing_there',
    // The escrow changed since, its lane was used otherwise, or its contract takes no new escrow
    // any more: read the swap, then ask for the funding anew with a new `Idempotency-Key`.
    'escrow_moved',
    // A TRON or Solana transaction built under this `Idempotency-Key` can be sent no more (10
    // minutes, about one): ask again under a new one.
    'material_expired',
    // The leg's addresses were corrected too often; go on with the escrow it has.
    'too_many_escrows',
    // A trial of the transfer failed; the sentence says why. Change the address or the token. A
    // funder who is short of coins or approval still gets a build, but no relayed funding. `next[]`
    // may warn of it (docs/lifecycle.md#warnings).
    'payout_would_fail',
    'funding_would_fail',
    // EVM, TRON, Solana: the wallet that would send the first claim cannot pay for it, and a claim
    // that fails has shown its secret. On EVM it is said at the broadcast. The sentence says what
    // is lacking: send it that, or let another wallet send the claim. The SDK says it before a
    // funding too, for all claims that the wallet would owe.
    'claim_unpayable',
    // The operator's gas key could have to pay more for this transaction than its limit allows, at
    // the fees of now: send it yourself, or ask again later.
    'fee_above_limit',
    // Two nodes of the chain disagree: funding and revealing pause; claims with a public secret and
    // refunds do not.
    'sources_disagree',
    // The market cannot guarantee that it lands this claim or funding. The sentence says why: no
    // gas key on that chain, too little balance or time, a leg worth less than its gas, the cap of
    // the day (docs/keeper.md#relaying-a-claim), or a token without authorizations
    // (docs/funding.md). Send it yourself, a claim at once if others may have seen the secret.
    'relay_unavailable',
    // The delivery waits and is sent by itself, or the webhook is switched off or full; the
    // sentence says which.
    'not_sent_again',
    // Only the SDK says this, of Bitcoin paid by hand. The own escrow holds a hundredth or more
    // beyond the amount, which whoever has the secret could take. Allow it (`givesExtra`), or wait
    // for the refund of all.
    'paid_too_much',
    // The price's lifetime is over (`quoteExpiresAt`); the sentence says for how long. Wait for a
    // new quote, or propose a price.
    'quote_expired',
    // You quoted with `unlessAccepted`, and the taker has accepted the price before: accept it, or
    // quote without.
    'taker_accepted',
    // One side has agreed to as many swaps as it may before it funds one: fund yours, or wait
    // (docs/griefing.md).
    'too_many_unfunded',
  ],
  timeout: [
    // The node did not answer in time; the request changed nothing. On broadcast one of several nodes may have
    // it, whatever the others said: look up `x-parley-txid` before sending again.
    'chain_timeout',
  ],
  unavailable: [
    // Mail cannot be sent now: try again, or sign in another way.
    'mail_down',
    // The provider does not answer as it should: try again, or sign in another way.
    'provider_down',
    // Try again after `Retry-After` seconds; the market did nothing.
    'overloaded',
    // Time is missing from the market's database, and it agrees nothing until its operator goes on.
    // Repeat it after `Retry-After`. Everything else goes on (docs/restore.md).
    'restoring',
    // The chain's node is down, busy or over its quota; try again. Your own node and the SDK work
    // without us.
    'chain_unavailable',
    // No provider of market data answers now, and the token is listed: it stays as it is. Ask again
    // later.
    'market_data_unavailable',
  ],
} as const;

export type RefusalKind = keyof typeof codes;

export type RefusalCode = (typeof codes)[RefusalKind][number];

export const refusalKinds = Object.fromEntries(
  Object.entries(codes).flatMap(([kind, own]) => own.map((code) => [code, kind])),
) as Record<RefusalCode, RefusalKind>;

/** Unix seconds as people and programs both read it. */
export function at(seconds: number): string {
  return `${seconds} (${new Date(seconds * 1000).toISOString()})`;
}

/** A fact of a refusal, as it is logged. Never a secret, a signature or a key. */
export type Fact = string | number | bigint | boolean | null;

export class ParleyError extends Error {
  readonly code: RefusalCode;
  readonly facts: Readonly<Record<string, Fact>>;

  constructor(
    code: RefusalCode,
    sentence: string,
    facts: Readonly<Record<string, Fact>> = {},
    options?: ErrorOptions,
  ) {
    super(sentence, options);
    this.name = 'ParleyError';
    this.code = code;
    this.facts = facts;
  }

  get kind(): RefusalKind {
    return refusalKinds[this.code];
  }
}
