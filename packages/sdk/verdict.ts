// Whether an error that ended a run of `settle` passes by itself. Every face asks here.

import { ParleyError, type RefusalKind } from '@parley/core/errors.ts';
import {
  ClockError,
  CodedError,
  ParleyApiError,
  type RescueCode,
  RescueError,
  type SettleCode,
  SettleError,
  StoreError,
  type StoreFault,
  VerificationError,
} from './errors.ts';

/**
 * `again`: a later run may succeed. `person`: it waits for a person, for example for a wallet.
 * `over`: the swap is not the one that was agreed to, and it is never funded.
 */
export type Verdict = 'again' | 'person' | 'over';

const ofSettle: Readonly<Record<SettleCode, Verdict>> = {
  funding_replaced: 'person',
  secret_lost: 'person',
  hashlock_used: 'over',
  price_ended: 'person',
  acceptance_lapsed: 'over',
  in_use: 'person',
  terms_outdated: 'over',
  clock_wrong: 'person',
  no_wallet: 'person',
  no_source: 'person',
  unknown_record: 'person',
  bad_record: 'person',
};

const ofStore: Readonly<Record<StoreFault, Verdict>> = {
  unsupported: 'person',
  blocked: 'person',
  newer: 'person',
  gone: 'person',
  full: 'person',
  failed: 'again',
};

const ofRescue: Readonly<Record<RescueCode, Verdict>> = {
  bad_phrase: 'person',
  clock_unset: 'person',
  too_fast: 'again',
  store_busy: 'again',
  bad_file: 'person',
  foreign_file: 'person',
  newer_file: 'person',
  other_phrase: 'person',
  other_network: 'person',
  too_large: 'person',
  not_as_text: 'person',
};

/** Refusals of adapters, by kind. */
const ofKind: Readonly<Record<RefusalKind, Verdict>> = {
  invalid: 'person',
  forbidden: 'person',
  absent: 'person',
  conflict: 'again',
  timeout: 'again',
  unavailable: 'again',
};

/** The market's answers that a later request may not meet: a timeout, and a conflict. */
const passingStatuses: readonly number[] = [408, 409];

/** An unknown error, for example of a module that did not load, is tried again. */
export function verdictOf(error: unknown): Verdict {
  // A clock is set right again.
  if (error instanceof ClockError) return 'person';
  if (error instanceof VerificationError) return 'over';
  if (error instanceof SettleError) return ofSettle[error.code];
  if (error instanceof StoreError) return ofStore[error.code];
  if (error instanceof RescueError) return ofRescue[error.code];
  if (error instanceof CodedError) return 'person';
  if (error instanceof ParleyApiError) {
    return error.unreachable || passingStatuses.includes(error.status) ? 'again' : 'person';
  }
  if (!(error instanceof ParleyError)) return 'again';
  return error.code === 'refused_by_node' ? 'again' : ofKind[error.kind];
}
