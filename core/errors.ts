// Every refusal of the system: a stable code, one plain sentence with the numbers in it, and the
// facts behind it. Nothing here knows HTTP: `kind` says what sort of refusal it is, and only
// server/edge/ turns a kind into a status.

/**
 * What sort of refusal: `invalid` the input is wrong, `forbidden` not for this caller, `absent`
 * nothing there for this caller, `conflict` not in this state, `timeout` a chain did not answer
 * in time (nothing changed), `unavailable` a part of the system is off or shutting down, `limited`
 * too often: the fact `retryAfterSeconds` says when it may be asked again.
 */
export type RefusalKind =
  | 'invalid'
  | 'forbidden'
  | 'absent'
  | 'conflict'
  | 'timeout'
  | 'unavailable'
  | 'limited';

/** Every code the system answers with, and its kind. docs/errors.md lists what to do next. */
export const refusalKinds = {
  // shape
  bad_amount: 'invalid',
  bad_hex: 'invalid',
  bad_address: 'invalid',
  wrong_network: 'invalid',
  bad_public_key: 'invalid',
  bad_field: 'invalid',
  bad_cursor: 'invalid',
  bad_leg: 'invalid',
  bad_webhook_url: 'invalid',
  bad_event: 'invalid',
  too_many_webhooks: 'invalid',
  no_such_webhook: 'absent',
  bad_chain: 'invalid',
  // identity
  bad_message: 'invalid',
  bad_signature: 'invalid',
  bad_nonce: 'invalid',
  bad_authorization: 'invalid',
  too_many_keys: 'invalid',
  wallet_taken: 'conflict',
  too_many_wallets: 'conflict',
  wallet_paid: 'conflict',
  unknown_wallet: 'absent',
  // accounts of people
  way_off: 'absent',
  mail_down: 'unavailable',
  provider_down: 'unavailable',
  bad_email: 'invalid',
  bad_code: 'invalid',
  too_many_codes: 'limited',
  bad_proof: 'invalid',
  ceremony_gone: 'conflict',
  login_taken: 'conflict',
  login_family_taken: 'conflict',
  last_login: 'conflict',
  too_many_logins: 'invalid',
  unknown_login: 'absent',
  unknown_session: 'absent',
  unknown_key: 'absent',
  unknown_passkey: 'absent',
  session_ended: 'conflict',
  account_deleted: 'conflict',
  session_stale: 'forbidden',
  not_a_wallet_session: 'forbidden',
  unknown_payout: 'absent',
  account_in_use: 'conflict',
  // market
  unknown_rfq: 'absent',
  unknown_thread: 'absent',
  unknown_swap: 'absent',
  bad_asset: 'invalid',
  not_a_token: 'invalid',
  same_chain: 'invalid',
  amount_too_small: 'invalid',
  not_creator: 'forbidden',
  own_rfq: 'forbidden',
  not_addressed: 'forbidden',
  no_wallet: 'forbidden',
  not_your_leg: 'forbidden',
  not_payable: 'forbidden',
  rfq_gone: 'conflict',
  asset_closed: 'conflict',
  terms_moved: 'conflict',
  committed: 'conflict',
  hashlock_used: 'conflict',
  hashlock_missing: 'invalid',
  hashlock_unexpected: 'invalid',
  hashlock_differs: 'conflict',
  rules_differ: 'conflict',
  thread_closed: 'conflict',
  too_many_open: 'conflict',
  too_many_pending: 'conflict',
  overloaded: 'unavailable',
  restoring: 'unavailable',
  // settlement
  wrong_secret: 'invalid',
  unknown_escrow: 'invalid',
  addresses_missing: 'conflict',
  addresses_fixed: 'conflict',
  not_fundable_yet: 'conflict',
  already_funded: 'conflict',
  former_escrow_funded: 'conflict',
  outcome_unknown: 'conflict',
  too_late_to_fund: 'conflict',
  not_both_funded: 'conflict',
  too_late_to_reveal: 'conflict',
  already_claimed: 'conflict',
  already_refunded: 'conflict',
  too_early_to_refund: 'conflict',
  nothing_there: 'conflict',
  escrow_moved: 'conflict',
  material_expired: 'conflict',
  too_many_escrows: 'conflict',
  payout_would_fail: 'conflict',
  funding_would_fail: 'conflict',
  claim_unpayable: 'conflict',
  bad_fee_rate: 'invalid',
  fee_above_limit: 'conflict',
  sources_disagree: 'conflict',
  relay_unavailable: 'conflict',
  bad_transaction: 'invalid',
  refused_by_node: 'invalid',
  // chains
  chain_timeout: 'timeout',
  chain_unavailable: 'unavailable',
  // listing
  market_data_unavailable: 'unavailable',
} as const satisfies Record<string, RefusalKind>;

export type RefusalCode = keyof typeof refusalKinds;

/** A fact of a refusal, as it is logged. Never a secret, a signature or a key. */
export type Fact = string | number | bigint | boolean | null;

/** A refusal: `message` is the sentence the caller reads, `code` what a program reads. */
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
