// Follows every chain. Events only nudge: a pass asks an adapter which escrows to read again,
// and reconciles their swaps. A restart is the same path, since every open escrow is then new.
// The work of a pass grows with what happened, not with the number of open swaps.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Heads } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import { swapsOfEscrows } from '../db/escrows.ts';
import { readHeads, storeHeads } from '../db/heads.ts';
import { dueSwaps, makeDue, nextSwapDue } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import {
  deafPollMs,
  longestNodePassMs,
  type Next,
  pollMs,
  service,
  services,
} from '../ports/service.ts';
import { workOf } from '../ports/work.ts';
import { createLeases, type Leases, type Work } from './leases.ts';
import { reconcile, retrySeconds } from './reconcile.ts';
import { fromTheStart, letGoEnded, type Position, takeUp } from './take-up.ts';

/** Nodes count what they are asked, and escrows may be stored all the time. */
const ringMs = 1_000;

/** Limits of one pass, so that a backlog never holds up what happens now. */
export const passLimits = {
  /** Swaps reconciled. */
  swaps: 200,
  /** At once: each uses up to three connections of a pool of ten in turn, never together. */
  parallel: 4,
  /** Time for one poll of a chain; catching up after a night takes longer than one read. */
  changesMs: 60_000,
  /** Waiting after failures doubles up to this. */
  backoffMs: 30_000,
  /** Between two polls of a chain where nothing is followed. */
  idleMs: 5_000,
  /** Between two polls of a chain that another process follows. */
  standByMs: 30_000,
} as const;

export type Pass = {
  readonly chain: ChainKey;
  readonly touched: number;
  readonly reconciled: number;
  /** The work left to the next pass; 0 = nothing. */
  readonly left: number;
  readonly heads: Heads;
};

export type Settlement = {
  /** Follows until `stop`: every chain, or of several processes those that this one has a lease of. */
  start(): void;
  /** Ends what runs; a pass may end anywhere without loss. */
  stop(): Promise<void>;
  /**
   * One poll of one chain, whoever follows it. Throws what its adapter throws; the next pass takes up
   * the rest.
   */
  pass(chain: ChainKey): Promise<Pass>;
  /** Reconciles swaps that time alone may have changed; returns how many. */
  passDue(): Promise<number>;
};

/** The memory of a follower about its chain; lost at a restart, and then found again. */
type Following = {
  readonly adapter: ChainAdapter;
  readonly position: Position;
  /** Swaps about which the chain said something. */
  readonly urgent: Set<string>;
  /** Swaps of escrows that are new to this process. */
  readonly backlog: Set<string>;
  /** Swaps of escrows that are followed. */
  readonly followed: Set<string>;
  /** New escrows may wait; and when they were last asked for, in milliseconds of this process. */
  unseen: boolean;
  seenAt: number;
  /** Touched escrows whose swaps are not looked up yet. */
  readonly touched: Set<string>;
  head: string;
  /** Blocks up to this height were read, and all that they told is stored. null: not known. */
  doneTo: number | null;
  /** When it was polled last while another process followed it. */
  polledAt: number;
  /** The last polls, the latest last. */
  polls: Poll[];
  running: Promise<unknown>;
  /** Since when its passes fail, in milliseconds of this process; null: they do not. */
  failingSince: number | null;
};

/** The height that the nodes of this process told, and the hash of the head that was stored then. */
type Poll = { readonly height: number; readonly stored: string | null };

/**
 * A follower has the time between two polls to see and store a block that this process has seen; a
 * third is for one that reads a long past, which takes `changesMs` at most.
 */
const mostPolls = 4;

/** Before this process began. */
const longAgo = Number.NEGATIVE_INFINITY;

/** The lease of the swaps that time changes. */
const time = 'time';

/** Since when each chain is silent to those swaps, in milliseconds of this process. */
type SilentSince = Map<ChainKey, number>;

type Followers = {
  readonly following: Map<ChainKey, Following>;
  readonly silentSince: SilentSince;
};

export function createSettlement(deps: Deps): Settlement {
  const following = new Map<ChainKey, Following>();
  for (const adapter of deps.adapters.values()) following.set(adapter.chain, unstarted(adapter));
  const stopping = new AbortController();
  const { signal } = stopping;
  const follower = (chain: ChainKey) => {
    const found = following.get(chain);
    if (found === undefined) throw new Error(`chain "${chain}" is not followed`);
    return found;
  };
  const inTurn = <Result>(own: Following, work: () => Promise<Result>) => {
    // An adapter takes one caller at a time.
    const next = own.running.then(work);
    own.running = next.catch(() => {});
    return next;
  };
  const passOn = (own: Following, isOurs: () => boolean) =>
    inTurn(own, () => passOf(deps, own, isOurs, signal));
  const standBy = (own: Following) => inTurn(own, () => standByOn(deps, own, signal));
  const silentSince: SilentSince = new Map();
  const dueNow = () => passOfDue(deps, { following, silentSince }, signal);
  const passDue = async () => (await dueNow()).done;
  const leases = leasesOf(deps, { following, silentSince }, () => loops.ring());
  const loops = services([
    ...[...following.keys()].map((chain) =>
      chainService(deps, leases, { chain, follower: () => follower(chain), passOn, standBy }),
    ),
    service(deps, {
      ...waits(deps, time),
      pass: async () => {
        return leases.holds(time) ? (await dueNow()).next : undefined;
      },
      wokenBy: ['swaps'],
    }),
  ]);
  const bell = paced(loops.ring, ringMs);
  let leave = () => {};
  return {
    passDue,
    pass: async (chain) => {
      const own = follower(chain);
      own.unseen = true;
      return passOn(own, () => true);
    },
    start: () => {
      leave = workOf(deps.db).on(['escrows'], () => {
        for (const each of following.values()) each.unseen = true;
        bell.ring();
      });
      // The measure also covers a chain that is silent from the start on.
      for (const chain of following.keys()) deps.metrics.followBehind.now(chain);
      leases.start();
      loops.start();
    },
    stop: async () => {
      leave();
      bell.stop();
      stopping.abort();
      await loops.stop();
      await Promise.all([...following.values()].map((each) => each.running));
      // Another process begins where nothing of this one runs any more.
      await leases.stop();
    },
  };
}

/** One lease a chain, and one for time. A process that follows alone has all of them. */
function leasesOf(
  deps: Deps,
  { following, silentSince }: Followers,
  ring: () => void,
): Pick<Leases, 'holds' | 'has' | 'start' | 'stop'> {
  const { follower } = deps;
  if (follower === undefined) {
    return { holds: () => true, has: () => true, start: () => {}, stop: async () => {} };
  }
  const { followBehind, chainLeader, chainHeight } = deps.metrics;
  const chains = [...following.keys()].map(
    (chain): Work => ({
      name: chain,
      taken: (behindSeconds) => {
        const { adapter, running } = following.get(chain)!;
        // Much may have happened since it followed last.
        following.set(chain, { ...unstarted(adapter), running });
        followBehind.ago(chain, behindSeconds);
        chainLeader.set({ chain }, 1);
        ring();
      },
      lost: () => {
        followBehind.forget(chain);
        chainHeight.remove({ chain });
        chainLeader.set({ chain }, 0);
      },
      failingMs: () => {
        const since = following.get(chain)?.failingSince ?? null;
        return since === null ? 0 : performance.now() - since;
      },
      behindSeconds: () => followBehind.seconds(chain),
      stoodAt: () => {
        const own = following.get(chain)!;
        const hash = stoodAt(own.polls);
        if (hash !== null) own.polls = [];
        return hash;
      },
    }),
  );
  const due: Work = {
    name: time,
    taken: () => {
      silentSince.clear();
      workOf(deps.db).beFirst(true);
      ring();
    },
    lost: () => workOf(deps.db).beFirst(false),
    failingMs: () => {
      const now = performance.now();
      return now - Math.min(now, ...silentSince.values());
    },
    behindSeconds: () => 0,
    stoodAt: () => null,
  };
  return createLeases({ ...deps, follower }, [...chains, due]);
}

/** Rings at once, and then no sooner than so many milliseconds after the last time. */
function paced(ring: () => void, ms: number) {
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    ring: () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          next = performance.now() + ms;
          ring();
        },
        Math.max(0, next - performance.now()),
      ).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

type Followed = {
  readonly chain: ChainKey;
  /** Another one whenever the lease comes back. */
  readonly follower: () => Following;
  readonly passOn: (own: Following, isOurs: () => boolean) => Promise<Pass>;
  readonly standBy: (own: Following) => Promise<Next>;
};

/** Follows one chain, slower while nothing on it is followed. */
function chainService(
  deps: Deps,
  { holds, has }: Pick<Leases, 'holds' | 'has'>,
  { chain, follower, passOn, standBy }: Followed,
) {
  const { followIntervalMs } = deps.settings;
  return service(deps, {
    ...waits(deps, chain),
    pass: async (): Promise<Next> => {
      const own = follower();
      if (!has(chain)) return standBy(own);
      const seenMs = workOf(deps.db).isHeard() ? pollMs : deafPollMs;
      if (performance.now() - own.seenAt >= seenMs) {
        own.unseen = true;
        await letGoEnded(deps, own.adapter, own.followed);
      }
      // A late renewal: swaps that are not reconciled yet wait for it.
      if (!holds(chain)) return followIntervalMs;
      try {
        const { left } = await passOn(own, () => holds(chain));
        own.failingSince = null;
        if (left > 0) return 'now';
      } catch (error) {
        own.failingSince ??= performance.now();
        throw error;
      }
      if (!holds(chain)) return followIntervalMs;
      deps.metrics.followBehind.now(chain);
      if (own.followed.size > 0) return followIntervalMs;
      return Math.max(followIntervalMs, passLimits.idleMs);
    },
  });
}

function waits({ settings: { followIntervalMs }, metrics }: Deps, name: string) {
  return {
    name: `follow ${name}`,
    // As often as that is asked for, and no poll of this server's.
    everyMs: Math.max(followIntervalMs, pollMs),
    failureMs: { least: followIntervalMs, most: Math.max(passLimits.backoffMs, followIntervalMs) },
    mostPassMs: longestNodePassMs,
    failed: () => metrics.followFailures.inc({ chain: name }),
  };
}

function unstarted(adapter: ChainAdapter): Following {
  return {
    adapter,
    position: fromTheStart(),
    urgent: new Set(),
    backlog: new Set(),
    touched: new Set(),
    followed: new Set(),
    unseen: true,
    seenAt: longAgo,
    head: '',
    doneTo: null,
    polledAt: longAgo,
    polls: [],
    running: Promise.resolve(),
    failingSince: null,
  };
}

/**
 * On a chain that another process follows: asks only how high it is, and reads the blocks of
 * Bitcoin on, by which each look goes. A request reads the escrows that it is about. The adapter
 * knows all of them, so that the next request reads on where the last one ended.
 */
async function standByOn(deps: Deps, own: Following, stop: AbortSignal): Promise<Next> {
  stop.throwIfAborted();
  if (performance.now() - own.polledAt < passLimits.standByMs) return undefined;
  own.polledAt = performance.now();
  const { adapter } = own;
  while (await takeUpOn(deps, own)) stop.throwIfAborted();
  // They are reconciled by the follower.
  for (const each of [own.urgent, own.backlog]) each.clear();
  await letGoEnded(deps, adapter, own.followed);
  const limit = AbortSignal.any([stop, AbortSignal.timeout(passLimits.changesMs)]);
  const { height } = await (adapter.catchUp?.(limit) ?? adapter.heads(limit));
  const stored = await storedHead(deps, adapter.chain);
  own.polls = [...own.polls, { height, stored: stored?.hash ?? null }].slice(-mostPolls);
  return undefined;
}

/**
 * The stored head that did not move in all these polls, though a block came in the first of them. A
 * node that tells too great a height, and stands there, moves no lease.
 */
export function stoodAt(polls: readonly Poll[]): string | null {
  const [first, next] = polls;
  if (polls.length < mostPolls || first === undefined || next === undefined) return null;
  const isSame = polls.every(({ stored }) => stored === first.stored);
  return isSame && next.height > first.height ? first.stored : null;
}

/** `isOurs`: whether this process still follows the chain, after however long a wait. */
async function passOf(
  deps: Deps,
  follower: Following,
  isOurs: () => boolean,
  stop: AbortSignal,
): Promise<Pass> {
  stop.throwIfAborted();
  const { adapter, urgent, backlog } = follower;
  const { chain } = adapter;
  if (follower.head === '') await resume(deps, adapter);
  // An adapter reads each block once, for those that it watches by then.
  while (follower.unseen && (await takeUpOn(deps, follower))) stop.throwIfAborted();
  const limit = AbortSignal.any([stop, AbortSignal.timeout(passLimits.changesMs)]);
  const { touched, heads, readTo = null } = await adapter.changes(limit);
  // Kept until they are looked up: an adapter tells each change once.
  for (const address of touched) follower.touched.add(address);
  // A process that stood still stores no head of then.
  if (!isOurs()) return { chain, touched: touched.length, reconciled: 0, left: 0, heads };
  if (follower.touched.size > 0) {
    const addresses = [...follower.touched];
    for (const id of await swapsOfEscrows(deps.db, chain, addresses)) urgent.add(id);
    follower.touched.clear();
  }
  await keepHeads(deps, follower, heads);
  const swaps = [...urgent, ...[...backlog].filter((each) => !urgent.has(each))];
  const now = swaps.slice(0, passLimits.swaps);
  await inParallel(now, passLimits.parallel, async (id) => {
    const reconciled = reconcileOne(deps, id, [chain], stop);
    const { isDone } = await reconciled.catch((error: unknown) => {
      // To the back, so that one slow escrow never keeps the others of its chain waiting.
      urgent.delete(id);
      backlog.delete(id);
      backlog.add(id);
      throw error;
    });
    urgent.delete(id);
    backlog.delete(id);
    // One escrow that fails in each pass moves no lease.
    follower.failingSince = null;
    if (isDone) follower.followed.delete(id);
  });
  const left = urgent.size + backlog.size;
  if (left === 0) {
    const isFirst = follower.doneTo === null;
    follower.doneTo = readTo;
    // It goes with the next head, which may never come.
    if (isFirst && readTo !== null) await storeHead(deps, follower, heads);
  }
  return {
    chain,
    touched: touched.length,
    reconciled: now.length,
    left,
    heads,
  };
}

/** Tells the adapter how far this chain was dealt with, by whichever process. */
async function resume(deps: Deps, { chain, resumeFrom }: ChainAdapter): Promise<void> {
  if (resumeFrom === undefined) return;
  const doneTo = (await storedHead(deps, chain))?.doneTo;
  if (doneTo) resumeFrom(doneTo);
}

async function storedHead({ db }: Deps, chain: ChainKey) {
  return (await readHeads(db)).find((each) => each.chain === chain);
}

/** True where more may wait. */
async function takeUpOn(deps: Deps, follower: Following): Promise<boolean> {
  follower.unseen = false;
  follower.seenAt = performance.now();
  try {
    const { fresh, full } = await takeUp(deps, follower.adapter, follower.position);
    for (const { swapId: id } of fresh) {
      // About one that is followed something was stored by another process.
      const to = follower.followed.has(id) ? follower.urgent : follower.backlog;
      to.add(id);
      follower.followed.add(id);
    }
    follower.unseen ||= full;
    return full;
  } catch (error) {
    follower.unseen = true;
    throw error;
  }
}

async function keepHeads(deps: Deps, follower: Following, heads: Heads): Promise<void> {
  const head = `${heads.hash} ${heads.clock}`;
  if (head === follower.head) return;
  await storeHead(deps, follower, heads);
  deps.metrics.chainHeight.set({ chain: follower.adapter.chain }, heads.height);
  follower.head = head;
}

function storeHead(deps: Deps, { adapter, doneTo }: Following, heads: Heads): Promise<void> {
  const by = deps.follower ?? null;
  return storeHeads(deps.db, adapter.chain, { ...heads, doneTo }, new Date(deps.now()), by);
}

/**
 * A chain that does not answer ends the pass; anything else is this swap's own trouble, which must
 * not hold up the others: it is logged, the swap falls due again later, and the failure returned.
 */
async function reconcileOne(
  deps: Deps,
  swapId: string,
  chains: readonly ChainKey[] | 'all',
  stop: AbortSignal,
): Promise<{ readonly isDone: boolean; readonly failure: unknown }> {
  const limit = AbortSignal.timeout(deps.settings.chainTimeoutMs);
  try {
    const signal = AbortSignal.any([stop, limit]);
    const isDone = (await reconcile(deps, swapId, { chains, signal }))?.done === true;
    return { isDone, failure: null };
  } catch (error) {
    if (stop.aborted) throw error;
    const kind = error instanceof ParleyError ? error.kind : null;
    if (chains !== 'all' && (kind === 'timeout' || kind === 'unavailable')) throw error;
    deps.log.error({ swapId, err: error }, 'a swap could not be reconciled');
    await makeDue(deps.db, swapId, Math.floor(deps.now() / 1000) + retrySeconds);
    return { isDone: false, failure: error };
  }
}

/** How many were due, and when the next one is. */
async function passOfDue(
  deps: Deps,
  { following, silentSince }: Followers,
  stop: AbortSignal,
): Promise<{ readonly done: number; readonly next: Next }> {
  stop.throwIfAborted();
  const nextAt = await nextSwapDue(deps.db);
  if (nextAt === null) return { done: 0, next: undefined };
  const wall = Math.floor(deps.now() / 1000);
  if (nextAt > wall) return { done: 0, next: nextAt * 1_000 - deps.now() };
  const due = await dueSwaps(deps.db, wall, passLimits.swaps);
  // The first silence of a chain speaks for all of this pass: others must not wait for it too.
  const silent = new Set<ChainKey>();
  await inParallel(due, passLimits.parallel, async ({ id, chains }) => {
    if (chains.some((each) => silent.has(each))) {
      await makeDue(deps.db, id, wall + retrySeconds);
      return;
    }
    const { isDone, failure } = await reconcileOne(deps, id, 'all', stop);
    if (isDone) for (const { followed } of following.values()) followed.delete(id);
    if (failure === null) for (const chain of chains) silentSince.delete(chain);
    const chain = failure instanceof ParleyError ? failure.facts.chain : undefined;
    if (typeof chain !== 'string') return;
    silent.add(chain);
    if (!silentSince.has(chain)) silentSince.set(chain, performance.now());
  });
  return { done: due.length, next: 'now' };
}
