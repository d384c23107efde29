// Questions to the chains of the swaps. A chain that is silent a few times in a row is left alone,
// so that the others are asked on.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { RpcError } from '@parley/chains/nodes/rpc.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { type Add, unseen } from './findings.ts';
import { inTime } from './parts.ts';

/** Reads of one kind that a chain fails in a row before it is left alone. */
const failedReads = 3;
/** The limit of one call, where the settings give less: no request waits for the doctor. */
const patientMs = 20_000;

/** Within a part a node is asked two or three times, and is to be named before it is over. */
export function callLimitMs(chainTimeoutMs: number, partMs: number): number {
  return Math.max(chainTimeoutMs, Math.min(patientMs, Math.floor(partMs / 3)));
}

const bringBack =
  'bring its node back, or correct its address in PARLEY_CHAINS; PARLEY_CHAIN_TIMEOUT_MS gives a ' +
  'call longer';

/** Never a library's own words, which may name the node's address and the key in it. */
export function silenceOf(error: unknown, callMs: number) {
  const isOwn = error instanceof ParleyError;
  const isLate = isOwn
    ? error.kind === 'timeout'
    : (error as Error | null)?.name === 'TimeoutError';
  // A request's refusal ends with a promise to its customer.
  const isSaid = isOwn || error instanceof RpcError;
  const own = isSaid
    ? error.message.replace(/; the request changed nothing$/, '')
    : 'its node failed';
  const why = isLate ? `it did not answer in time (a call may take ${callMs} ms)` : own;
  return { why, todo: bringBack };
}

/** An answer, a refusal that is the answer's own, or null for silence, which is remembered. */
export type Asked<T> = { readonly answer: T } | { readonly refusal: ParleyError } | null;

/** The kind of question: escrows, or whether sources agree, which other nodes answer. */
type Kind = 'reads' | 'sources';

export type Reads = {
  ask<T>(
    chain: ChainKey,
    kind: Kind,
    question: (adapter: ChainAdapter, signal: AbortSignal) => Promise<T>,
  ): Promise<Asked<T>>;
  /** The unanswered questions, a finding for each chain. */
  tell(add: Add): void;
};

type Known = { readonly failures: Record<Kind, number>; unread: number; why: string; todo: string };

export type ReadsDeps = {
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** The limit of one call. */
  readonly callMs: number;
  readonly signal: AbortSignal;
};

export function createReads({ adapters, callMs, signal: ending }: ReadsDeps): Reads {
  const chains = new Map<ChainKey, Known>();
  const knownOf = (chain: ChainKey): Known => {
    const [why, todo] = adapters.has(chain)
      ? ['the time was over before it answered', 'see what holds the doctor up']
      : ['it is not served here', 'correct PARLEY_CHAINS'];
    const known = chains.get(chain) ?? { failures: { reads: 0, sources: 0 }, unread: 0, why, todo };
    chains.set(chain, known);
    return known;
  };
  return {
    ask: async (chain, kind, question) => {
      ending.throwIfAborted();
      const known = knownOf(chain);
      const adapter = adapters.get(chain);
      // Taken back by an answer: a read under way at the end of the time is unread too.
      known.unread += 1;
      if (adapter === undefined || known.failures[kind] >= failedReads) return null;
      try {
        const answer = await inTime(callMs, ending, (signal) => question(adapter, signal));
        known.failures[kind] = 0;
        known.unread -= 1;
        return { answer };
      } catch (error) {
        ending.throwIfAborted();
        if (error instanceof ParleyError && !/^(timeout|unavailable)$/.test(error.kind)) {
          known.unread -= 1;
          return { refusal: error };
        }
        known.failures[kind] += 1;
        Object.assign(known, silenceOf(error, callMs));
        return null;
      }
    },
    tell: (add) => {
      for (const [chain, { unread, why, todo }] of chains) {
        if (unread === 0) continue;
        const says = `${unread} reads were not answered, and nothing is known of those: ${why}`;
        add(unseen('chain_unread', `chain ${chain}`, says, todo, { unread }));
      }
    },
  };
}
