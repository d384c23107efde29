// The memory of an adapter: whom it watches, what touched them, how far each history was read.

import { bytesToHex } from '@noble/hashes/utils.js';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { base58 } from '@scure/base';
import { sha256Hex } from '#bytes';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { Touch } from '../interface/sending.ts';
import * as kit from '../kit/watch.ts';
import type { RpcOptions } from '../nodes/rpc.ts';
import { once } from '../nodes/sources.ts';
import type { ReadMessage } from './message.ts';
import { type Signature, solanaNodes, type Transaction, type Unreadable } from './node.ts';
import { decodeInstruction, type SolanaDeployment, solanaDeployment, type Wanted } from './plan.ts';

export type SolanaAdapterOptions = {
  readonly chain: string;
  /** See EvmAdapterOptions: the first that answers is used, and those that answer must agree. */
  readonly rpcUrls: readonly string[];
  readonly policy: ChainPolicy;
  /** See SolanaChainSettings. */
  readonly mostDriftSeconds: number;
  readonly genesisHash: string | null;
  /** Unix seconds of wall time, to measure the chain's clock by. */
  readonly now: () => number;
  /** Default: the program as contracts/solana/deployment.json pins it. */
  readonly deployment?: SolanaDeployment;
  /** How long a read of an escrow waits for its history; the account is reported all the same. */
  readonly historyWaitMs?: number;
  readonly rpc?: Pick<RpcOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: kit.Logger;
};

/** A release is kept as the refund that it is. */
export type Verb = Exclude<Wanted['verb'], 'release'>;

/** A successful transaction that did something to an escrow. */
export type Mark = {
  readonly verb: Verb;
  readonly txid: string;
  readonly slot: number;
};

/** A part of an escrow's list that is still to be read. */
export type Gap = {
  /** From here down; this one too unless it was read. */
  at: string;
  isRead: boolean;
  /** Not this one. */
  until: string | null;
  /** In it, and read before. */
  readonly skip: Set<string>;
};

export type History = ReturnType<typeof newHistory>;

function newHistory() {
  return {
    /** All up to here is listed: read, in a gap, or missing. */
    top: null as string | null,
    topSlot: -1,
    /** Read, and above `top`. */
    taken: new Set<string>(),
    /** Oldest first. At most two: a new gap joins the newer one while the older is read. */
    gaps: [] as Gap[],
    /** Listed by the node, and not given: how often it was asked for in vain. */
    missing: new Map<string, number>(),
    /** The ones of these that are being asked for again. */
    asking: new Set<string>(),
    /** Whether all above `top` was read too. */
    passed: false,
    /** The reading that is under way: one at a time. */
    looking: null as Promise<void> | null,
    /** Whether somebody was given less than the reading under way will know. */
    toldEarly: false,
    /** The search for the claim that is under way or waits for its place. */
    hunting: null as Promise<void> | null,
    /** Where that search goes on: below this, where this much was held; null: from the newest. */
    hunt: null as { readonly before: string; readonly held: bigint } | null,
    /** Finalized slots: the last in which it was seen not settled, the first settled. */
    openAt: -1,
    settledAt: Number.POSITIVE_INFINITY,
    /** Whether the account shows more than the transactions that were read. */
    lacks: false,
    /** Whether there is no account, and there may have been one. */
    isGone: false,
    wasFunded: false,
    /** The only end that it can have if its account is gone, as a finalized slot has shown. */
    ended: null as 'claimed' | 'refunded' | null,
    /** Whether all that is listed was read, and could be. */
    isRead: false,
    /** Whether its node has all blocks since it could be funded. */
    reachesBack: false,
    /** Whether a transaction was left out, or is of a kind that nobody here can read. */
    isBlind: false,
    /** The time when missing transactions are asked for again; by the wall, Unix seconds. */
    again: 0,
    pauseSeconds: 0,
  };
}

export type Known = {
  readonly watched: WatchedEscrow;
  readonly marks: Map<Verb, Mark>;
  readonly history: History;
};

export type Watch = ReturnType<typeof newWatch>;

/** A read waits so long for the history of an escrow, which is then read on in the background. */
const usualHistoryWaitMs = 500;
/** At once, of one chain; each of `late` may hold a few megabytes. */
const mostLate = 32;
const mostHunts = 8;

/** `shallow` is by slot: reported at each new head until it is finalized. */
export function newWatch(options: SolanaAdapterOptions) {
  const { chain, rpcUrls, policy, deployment = solanaDeployment } = options;
  const { genesisHash, mostDriftSeconds, now, historyWaitMs = usualHistoryWaitMs } = options;
  return {
    ...kit.newWatching<Known>(chain, options.log),
    rpc: solanaNodes({ chain, urls: rpcUrls, ...options.rpc }, policy.normal.confirmations),
    deployment,
    genesisHash,
    mostDriftSeconds,
    now,
    historyWaitMs,
    /** The program's cursor: all finalized ones up to here were read. */
    cursor: null as Pick<Signature, 'txid' | 'slot'> | null,
    /** Whether the cursor was set; null is one too, where nobody used the program yet. */
    isFollowing: false,
    /**
     * The program's transactions that were read but are not finalized, with the escrows that they
     * touched.
     */
    recent: new Map<string, ReadonlySet<string>>(),
    /**
     * The program's transactions that the node listed and did not give: since when, by the wall.
     */
    missing: new Map<string, number>(),
    /** The ones of these that are being asked for beside. */
    asking: new Set<string>(),
    /** Since when passes have ended before they read all of the program; null: not the last. */
    behindSince: null as number | null,
    /** For transactions that a node is late with, and for searches. */
    late: lanes(mostLate),
    lateAsked: new Map<string, Promise<Transaction | Unreadable | null>>(),
    hunts: lanes(mostHunts),
    unread: new Set<string>(),
    /** Whether a transaction of the program was left out since everybody was last reported. */
    leftOut: false,
    reportedAllAt: Number.NEGATIVE_INFINITY,
    headSlot: 0,
  };
}

/** So much of one kind at once and no more, first come first served. */
export function lanes(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (busy < most) busy += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
}

export function remember(watch: Watch, watched: WatchedEscrow): Known {
  const begin = () => ({ watched, marks: new Map(), history: newHistory() });
  return kit.remember(watch, watched, begin);
}

export function forget(watch: Watch, address: string): void {
  kit.forget(watch, address);
  watch.unread.delete(address);
}

const secretBytes = 32;

/** The preimage of one of these hashlocks, at any place of some bytes. */
function secretIn(bytes: Uint8Array, hashlocks: ReadonlySet<string>): string | null {
  for (let at = 0; at + secretBytes <= bytes.length; at++) {
    const part = bytes.subarray(at, at + secretBytes);
    if (hashlocks.has(sha256Hex(part))) return bytesToHex(part);
  }
  return null;
}

/** A claim through another program, in another form or in vain has shown the secret. */
export function learnFrom(
  watch: Watch,
  touched: ReadonlySet<string>,
  parts: readonly Uint8Array[],
): void {
  const open = new Set<string>();
  for (const address of touched) {
    const hashlock = watch.known.get(address)?.watched.terms.hashlock;
    if (hashlock !== undefined && !watch.secrets.has(hashlock)) open.add(hashlock);
  }
  if (open.size === 0) return;
  for (const bytes of parts) {
    const secret = secretIn(bytes, open);
    if (secret !== null) kit.learn(watch, secret);
  }
}

/** Base58 of a funding, the longest of our instructions. */
const mostDataText = 208;

/** Our own among the instructions that programs called; no other bytes are worth decoding. */
function ownInner({ deployment }: Watch, { inner }: Transaction) {
  return inner.flatMap(({ program, accounts, data }) => {
    if (program !== deployment.program || data.length > mostDataText) return [];
    try {
      return [{ program, accounts, data: base58.decode(data) }];
    } catch {
      return [];
    }
  });
}

/** Reads a transaction of the chain: marks, secrets. Returns the watched escrows that it names. */
function take(watch: Watch, transaction: Transaction): ReadonlySet<string> {
  const { keys, read, txid, slot, failed } = transaction;
  const touched = new Set(keys.filter((key) => watch.known.has(key)));
  if (touched.size === 0) return touched;
  const inner = ownInner(watch, transaction);
  learnFrom(watch, touched, [read.message, ...inner.map(({ data }) => data)]);
  for (const address of touched) {
    const history = watch.known.get(address)?.history;
    if (history !== undefined && slot > history.topSlot) history.taken.add(txid);
  }
  if (failed) return touched;
  const called = [
    ...read.instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map((at) => keys[at] ?? null),
      data,
    })),
    ...inner,
  ];
  for (const { program, accounts, data } of called) {
    if (program !== watch.deployment.program) continue;
    const found = decodeInstruction(data, accounts);
    const known = found === null ? undefined : watch.known.get(found.escrow);
    if (found === null || known === undefined) continue;
    // Each succeeds once, unless the chain took it back: then the newest counts.
    const verb = found.verb === 'release' ? 'refund' : found.verb;
    const before = known.marks.get(verb);
    if (before !== undefined && before.slot >= slot) continue;
    known.marks.set(verb, { verb, txid, slot });
  }
  return touched;
}

/** The watched escrows that it names; null where it cannot be read. */
export function takeOrSkip(
  watch: Watch,
  transaction: Transaction | Unreadable,
): ReadonlySet<string> | null {
  if ('read' in transaction) return take(watch, transaction);
  once(watch, 'transaction_unreadable', { chain: watch.chain, ...transaction });
  return null;
}

/** Our own instructions of a transaction that need not be on chain. */
function ownInstructions({ deployment }: Watch, read: ReadMessage, keys: readonly string[]) {
  return read.instructions.flatMap(({ program, accounts, data }) => {
    if (program !== deployment.program) return [];
    const named = accounts.map((at) => keys[at] ?? null);
    const found = decodeInstruction(data, named);
    return found === null ? [] : [{ accounts, found }];
  });
}

/** The escrows that it funds, whichever. */
export function fundedIn(watch: Watch, read: ReadMessage, keys: readonly string[]): string[] {
  const own = ownInstructions(watch, read, keys);
  return own.flatMap(({ found }) => (found.verb === 'fund' ? [found.escrow] : []));
}

/** The effects of a transaction that is not on chain yet, as far as its own bytes say. */
export function touchesIn(watch: Watch, read: ReadMessage, keys: readonly string[]) {
  const signs = (at: number | undefined, wallet: string) =>
    at !== undefined && at < read.signers && keys[at] === wallet;
  return ownInstructions(watch, read, keys).flatMap(({ accounts, found }): Touch[] => {
    const terms = watch.known.get(found.escrow)?.watched.terms;
    if (terms === undefined) return [];
    // Anybody may name an escrow in a funding of his own: it is one only by its funder.
    const { escrow, secret } = found;
    if (found.verb === 'fund' && !signs(accounts[0], terms.refund.address)) return [];
    if (found.verb === 'fund' || found.verb === 'claim') {
      return [{ escrow, verb: found.verb, secret }];
    }
    // Each brings the funder what is there for it: a release by its payee's signature only.
    const refund = { escrow, verb: 'refund', secret } as const;
    if (found.verb !== 'release' || !signs(accounts.at(-1), terms.payout.address)) return [refund];
    return [{ ...refund, isReleased: true }];
  });
}
