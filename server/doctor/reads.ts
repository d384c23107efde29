// Questions to the chains of the swaps. A chain that is silent a few times in a row is left alone,
// and so is one that was waited for longer than its limit: the others are asked on.

import type { ChainAdapter } from '../../chains/adapter.ts';
import { within } from '../../chains/nodes/time-limit.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import { type Findings, partTime, unseen } from './findings.ts';
import { inTime } from './parts.ts';
import { silenceOf } from './silence.ts';

/** Reads of one chain that fail in a row before it is left alone. */
const failedReads = 3;
/** Of a chain's time, for first looks: what differed is to be looked at again. */
const mostShare = 0.8;

export type ReadsDeps = {
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** Of one read. */
  readonly chainTimeoutMs: number;
  /** Of all reads of one chain: so long is waited for it. */
  readonly chainMs: number;
  readonly signal: AbortSignal;
};

export type Asked<T> = { readonly answer: T | null; readonly refusal: ParleyError | null };

/** What is asked: its escrows and head, or whether its sources agree, which other nodes answer. */
type Kind = 'reads' | 'sources';

export type Reads = {
  /** Null: silence, which is remembered. A refusal is the answer's own. */
  ask<T>(
    chain: ChainKey,
    kind: Kind,
    question: (adapter: ChainAdapter, signal: AbortSignal) => Promise<T>,
  ): Promise<Asked<T>>;
  /** What was not answered, a finding for each chain. */
  tell(findings: Findings): void;
  /** How much of a chain's time may be used from now on. */
  use(share: 'most' | 'all'): void;
};

type Known = {
  readonly failures: Record<Kind, number>;
  unread: number;
  why: string;
  todo: string;
  /** Time in which at least one read was under way, until the last of them ended. */
  waitedMs: number;
  /** The limit that ended reads of it; null: none did. */
  limitMs: number | null;
  underWay: number;
  since: number;
};

export function createReads(deps: ReadsDeps): Reads {
  const chains = new Map<ChainKey, Known>();
  const mostMs = Math.round(deps.chainMs * mostShare);
  let limitMs = mostMs;
  const of = (chain: ChainKey) => {
    const known = chains.get(chain) ?? {
      failures: { reads: 0, sources: 0 },
      unread: 0,
      why: '',
      todo: 'correct PARLEY_CHAINS, and look again',
      waitedMs: 0,
      limitMs: null,
      underWay: 0,
      since: 0,
    };
    chains.set(chain, known);
    return known;
  };
  return {
    ask: (chain, kind, question) => ask(deps, of(chain), { chain, kind, question, limitMs }),
    tell: (findings) => {
      for (const [chain, known] of chains) tellOne(chain, known, findings);
    },
    use: (share) => {
      limitMs = share === 'all' ? deps.chainMs : mostMs;
    },
  };
}

type Question<T> = {
  readonly chain: ChainKey;
  readonly kind: Kind;
  readonly question: (adapter: ChainAdapter, signal: AbortSignal) => Promise<T>;
  /** Of the time that the chain is waited for, all in all. */
  readonly limitMs: number;
};

async function ask<T>(
  { adapters, chainTimeoutMs, signal: ending }: ReadsDeps,
  known: Known,
  { chain, kind, question, limitMs }: Question<T>,
): Promise<Asked<T>> {
  ending.throwIfAborted();
  const adapter = adapters.get(chain);
  // Of what is less than a millisecond a timer makes one.
  const leftMs = Math.floor(limitMs - waited(known));
  const isOver = leftMs <= 0;
  const isLeft = known.failures[kind] >= failedReads || isOver;
  if (adapter === undefined || isLeft) {
    known.why ||= adapter === undefined ? 'it is not served here' : 'it was slow';
    known.unread += 1;
    if (isOver && adapter !== undefined) known.limitMs = limitMs;
    return { answer: null, refusal: null };
  }
  const callMs = Math.min(chainTimeoutMs, leftMs);
  let call: AbortSignal | null = null;
  if (known.underWay === 0) known.since = performance.now();
  known.underWay += 1;
  try {
    const answer = await inTime(callMs, ending, (signal) => {
      call = signal;
      return within(signal, chain, question(adapter, signal));
    });
    known.failures[kind] = 0;
    return { answer, refusal: null };
  } catch (error) {
    if (ending.aborted) {
      known.unread += 1;
      throw ending.reason;
    }
    const isRefusal = error instanceof ParleyError && !/^(timeout|unavailable)$/.test(error.kind);
    if (isRefusal) return { answer: null, refusal: error };
    known.failures[kind] += 1;
    known.unread += 1;
    Object.assign(known, silenceOf(error, callMs));
    if (callMs < chainTimeoutMs && isAborted(call)) known.limitMs = limitMs;
    return { answer: null, refusal: null };
  } finally {
    known.underWay -= 1;
    if (known.underWay === 0) known.waitedMs += performance.now() - known.since;
  }
}

function waited({ waitedMs, underWay, since }: Known): number {
  return underWay === 0 ? waitedMs : waitedMs + performance.now() - since;
}

function isAborted(signal: AbortSignal | null): boolean {
  return signal?.aborted === true;
}

function tellOne(
  chain: ChainKey,
  { unread: failed, why, todo, waitedMs, limitMs, underWay }: Known,
  findings: Findings,
): void {
  // What is still under way, the end of the whole look has taken.
  const unread = failed + underWay;
  if (unread === 0) return;
  if (limitMs !== null) {
    const ms = Math.round(waitedMs);
    const limit = `reading it was over its limit of ${limitMs} ms (${ms} ms)`;
    const says = `${limit}: ${unread} reads were not made or not answered`;
    findings.add(partTime(`the swaps of chain ${chain}`, says, { limitMs, ms, unread }));
    return;
  }
  const cause = why || 'the time was over before it answered';
  const says = `${unread} reads were not answered, and nothing is known of those: ${cause}`;
  const then = why ? todo : 'a longer --time';
  findings.add(unseen('chain_unread', `chain ${chain}`, says, then, { unread }));
}
