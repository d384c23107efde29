// Every refusal: a stable code, one plain sentence, and its facts. Only server/edge/ turns a kind
// into a status.

/** Every code by its kind: `timeout` changed nothing. The next steps: docs/errors.md. */
const codes = {
  invalid: [
    'bad_amount bad_hex bad_address wrong_network bad_public_key bad_field bad_cursor bad_leg',
    'bad_webhook_url bad_event too_many_webhooks bad_chain bad_message bad_signature',
    'bad_nonce bad_authorization too_many_keys bad_email bad_code bad_proof too_many_logins',
    'bad_asset not_a_token same_chain amount_too_small hashlock_missing hashlock_unexpected',
    'wrong_secret unknown_escrow bad_fee_rate bad_transaction refused_by_node',
  ],
  forbidden: [
    'session_stale not_a_wallet_session not_creator own_rfq not_addressed too_few_settled',
    'no_wallet not_your_leg not_payable not_maker account_blocked',
  ],
  absent: [
    'no_such_webhook unknown_wallet way_off unknown_login unknown_session unknown_key',
    'unknown_passkey unknown_payout unknown_rfq unknown_thread unknown_swap unknown_delivery',
  ],
  conflict: [
    'wallet_taken too_many_wallets wallet_paid ceremony_gone login_taken login_family_taken',
    'last_login session_ended account_deleted account_in_use rfq_gone asset_closed',
    'terms_moved committed hashlock_used hashlock_differs rules_differ thread_closed',
    'too_many_open too_many_pending addresses_missing addresses_fixed not_fundable_yet',
    'already_funded former_escrow_funded outcome_unknown too_late_to_fund not_both_funded',
    'too_late_to_reveal already_claimed already_refunded too_early_to_refund nothing_there',
    'escrow_moved material_expired too_many_escrows payout_would_fail funding_would_fail',
    'claim_unpayable fee_above_limit sources_disagree relay_unavailable not_sent_again',
    'paid_too_much quote_expired taker_accepted too_many_unfunded',
  ],
  timeout: ['chain_timeout'],
  unavailable: [
    'mail_down provider_down overloaded restoring chain_unavailable market_data_unavailable',
  ],
} as const;

export type RefusalKind = keyof typeof codes;

type Words<Text extends string, Found = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Found | First>
  : Found | Text;

export type RefusalCode = Words<(typeof codes)[RefusalKind][number]>;

export const refusalKinds = Object.fromEntries(
  Object.entries(codes).flatMap(([kind, lines]) =>
    lines.flatMap((line) => line.split(' ').map((code) => [code, kind])),
  ),
) as Record<RefusalCode, RefusalKind>;

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
