// Errors on the customer's side. Each is a code and its facts.

import { withoutAddresses } from '@parley/chains/nodes/exchange.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { RulesDifference } from '@parley/core/rules.ts';

/** Libraries quote the address of a node, and with it its key: theirs is told without. */
export function messageOf(error: unknown): string {
  const isOwn = error instanceof ParleyError || error instanceof ParleyApiError;
  const words = error instanceof Error ? error.message : String(error);
  return isOwn ? words : withoutAddresses(words);
}

/**
 * The code of an error of this package, of a chain's adapter or of the market; null without one.
 */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Whether a node has the transaction not, and says why. */
export function isRefusedByNode(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.code === 'refused_by_node';
}

/** The market answered with an error, or not at all (`status` 0). */
export class ParleyApiError extends Error {
  /** HTTP status; 0 = no answer was had. */
  declare readonly status: number;
  /** The stable machine code of the header `x-parley-error`; `no_answer` when there was none. */
  declare readonly code: string;
  declare readonly retryAfterSeconds: number | null;
  /** On a 504 of a broadcast: the transaction to look up before sending again. */
  declare readonly txid: string | null;
  /** On a 422 of `listAsset`: why the token can never be traded, each with the check's name. */
  declare readonly reasons: readonly string[];
  /** The market's id of the request (`X-Request-Id`): its operator finds the log lines by it. */
  declare readonly requestId: string | null;

  constructor(
    facts: {
      status: number;
      code: string;
      message: string;
      requestId?: string | null;
      retryAfterSeconds?: number | null;
      txid?: string | null;
      reasons?: readonly string[];
    },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.name = 'ParleyApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.txid = facts.txid ?? null;
    this.reasons = facts.reasons ?? [];
    this.requestId = facts.requestId ?? null;
  }

  /** The request was not decided: the market is gone, overloaded or shutting down. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /**
   * The market has no word on it: it is gone, or restored and does not know it. One that refuses, or
   * asks for patience, may have one.
   */
  get silent(): boolean {
    return (this.unreachable && this.status !== 429) || this.status === 404;
  }
}

/** The market's answer is not what the customer's own terms come to. Never sign after this. */
export class VerificationError extends Error {
  /** Path of the field, such as `legs.b.escrow` or `txs[0].data`. */
  readonly field: string;
  readonly expected: string;
  readonly got: string;

  constructor(field: string, expected: string, got: string) {
    super(`${field} must be ${expected}; the market says ${got}`);
    this.name = 'VerificationError';
    this.field = field;
    this.expected = expected;
    this.got = got;
  }
}

/** A swap whose times are right, and that was agreed when by one's own clock it could not be. */
export class ClockError extends VerificationError {
  /** At least so many seconds one's own clock is ahead of the market's; below 0 behind. */
  readonly aheadSeconds: number;

  constructor(field: string, expected: string, got: string, aheadSeconds: number) {
    super(field, expected, got);
    this.aheadSeconds = aheadSeconds;
    const way = aheadSeconds > 0 ? 'ahead of' : 'behind';
    const off = `${Math.abs(aheadSeconds)} s or more ${way} the market's`;
    this.message = `by ${field} this machine's clock is ${off}: one of the two is wrong`;
  }
}

export class RulesError extends VerificationError {
  readonly differences: readonly RulesDifference[];

  constructor(differences: readonly RulesDifference[]) {
    const { field = 'rules', expected = '', got = '' } = differences[0] ?? {};
    super(field, expected, got);
    const said = differences.map(
      (each) => `${each.field} must be ${each.expected}; the market says ${each.got}`,
    );
    this.message = `${said.join('. ')}. Nothing was accepted. GET /v1/rules has each number`;
    this.name = 'RulesError';
    this.differences = differences;
  }
}

/** An error with a code for programs and a sentence, with the numbers, for people. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code;

  constructor(code: Code, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.code = code;
  }
}

export type SettleCode =
  | 'funding_replaced'
  | 'secret_lost'
  | 'hashlock_used'
  | 'price_ended'
  | 'acceptance_lapsed'
  | 'in_use'
  | 'terms_outdated'
  | 'clock_wrong'
  | 'no_wallet'
  | 'no_source'
  | 'unknown_record'
  | 'bad_record';

export class SettleError extends CodedError<SettleCode> {
  override name = 'SettleError';
}

export type WalletFault =
  /** The person said no. The wallet signed nothing. */
  | 'declined'
  /** No answer in time. It may still sign. */
  | 'silent'
  /** It has signed what no block takes any more, and the SDK did not send it. */
  | 'late'
  | 'wrong_network'
  | 'wrong_account'
  /** Its answer is not the requested one. */
  | 'lied'
  /** It says that it has sent it, and one's own node does not show it. */
  | 'unseen'
  | 'failed';

/** A wallet of a person has not signed as asked. It is asked again when the person wants it. */
export class WalletError extends Error {
  readonly code: WalletFault;
  /** The id that the wallet reports as sent; null: it sent nothing, or the id is not known. */
  readonly txid: string | null;

  constructor(
    code: WalletFault,
    sentence: string,
    options: ErrorOptions & { txid?: string | null } = {},
  ) {
    super(sentence, options);
    this.name = 'WalletError';
    this.code = code;
    this.txid = options.txid ?? null;
  }
}

export type StoreFault =
  /** The browser lacks what keeps records safe. */
  | 'unsupported'
  /** Another tab keeps it from being opened. */
  | 'blocked'
  /** A newer version of the app has it. */
  | 'newer'
  /** The browser has closed or deleted it. */
  | 'gone'
  | 'full'
  | 'failed';

/** A failure of a browser's store. A refused write stores nothing. */
export class StoreError extends CodedError<StoreFault> {
  override name = 'StoreError';
}

export type RescueCode =
  | 'bad_phrase'
  | 'clock_unset'
  | 'too_fast'
  | 'store_busy'
  | 'bad_file'
  | 'foreign_file'
  | 'newer_file'
  | 'other_phrase'
  | 'other_network'
  | 'too_large'
  | 'not_as_text';

/** A fault of a rescue phrase or rescue file. Holds no word of the phrase. */
export class RescueError extends CodedError<RescueCode> {
  override name = 'RescueError';
}

export type QuoteFault =
  /** The market said no: `code` of the error says why. */
  | 'refused'
  /** Its time was over before it could be sent. */
  | 'stale'
  | 'superseded'
  /** It was sent, and no answer came in time: it may have been taken. Read the RFQ's threads. */
  | 'unknown'
  | 'closed';

export class QuoteError extends Error {
  readonly fault: QuoteFault;
  readonly code: string | null;

  constructor(fault: QuoteFault, sentence: string, code: string | null = null) {
    super(sentence);
    this.name = 'QuoteError';
    this.fault = fault;
    this.code = code;
  }
}
