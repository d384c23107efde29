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
  VerificationError,
} from './errors.ts';

/**
 * `again`: a later run may succeed. `person`: it waits for a person, for example for a wallet.
 * `over`: the swap is not the one that was agreed to, and it is never funded.
 */
export type Verdict = 'again' | 'person' | 'over';

/** The swap can never be funded under these. */
const over: readonly SettleCode[] = ['hashlock_used', 'acceptance_lapsed', 'terms_outdated'];
const passing: readonly RescueCode[] = ['too_fast', 'store_busy'];
/** Adapters refuse with these. */
const passingKinds: readonly RefusalKind[] = ['conflict', 'timeout', 'unavailable'];

/** The market's answers that a later request may not meet: a timeout, and a conflict. */
const passingStatuses: readonly number[] = [408, 409];

/** An unknown error, for example of a module that did not load, is tried again. */
export function verdictOf(error: unknown): Verdict {
  // A clock is set right again.
  if (error instanceof ClockError) return 'person';
  if (error instanceof VerificationError) return 'over';
  if (error instanceof SettleError && over.includes(error.code)) return 'over';
  if (error instanceof StoreError && error.code === 'failed') return 'again';
  if (error instanceof RescueError && passing.includes(error.code)) return 'again';
  if (error instanceof CodedError) return 'person';
  if (error instanceof ParleyApiError) {
    return error.unreachable || passingStatuses.includes(error.status) ? 'again' : 'person';
  }
  if (!(error instanceof ParleyError)) return 'again';
  const passes = error.code === 'refused_by_node' || passingKinds.includes(error.kind);
  return passes ? 'again' : 'person';
}
