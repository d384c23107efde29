// Follows every chain. Events only nudge: a pass asks an adapter which escrows to look at again,
// and reconciles their swaps. A restart is the same path, since every open escrow is then new.
// The work of a pass grows with what happened, not with the number of open swaps.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { Heads } from '../../chains/interface/reading.ts';
import { ParleyError } from '../../core/errors.ts';
import type { ChainKey } from '../../core/families.ts';
import { isAborted } from '../../core/steps.ts';
import { inParallel } from '../../host/in-parallel.ts';
import { swapsOfEscrows } from '../db/escrows.ts';
import { storeHeads } from '../db/heads.ts';
import { dueSwaps, makeDue } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { reconcile, retrySeconds } from './reconcile.ts';
import { fromTheStart, type Position, takeUp } from './take-up.ts';

/** Limits of one pass, so that a backlog never holds up what happens now. */
export const passLimits = {
  /** Swaps reconciled. */
  swaps: 200,
  /** At once: each uses up to three connections of a pool of ten in turn, never together. */
  parallel: 4,
  /** Time for one look at a chain; catching up after a night takes longer than one read. */
  changesMs: 60_000,
  /** Waiting after failures doubles up to this. */
  backoffMs: 30_000,
} as const;

export type Pass = {
  readonly chain: ChainKey;
  /** Escrows followed from this pass on. */
  readonly found: number;
  readonly touched: number;
  readonly reconciled: number;
  /** What is left to the next pass; 0 = nothing. */
  readonly left: number;
  readonly heads: Heads;
};

export type Settlement = {
  /** Follows every chain until `stop`. */
  start(): void;
  /** Ends what runs; nothing is lost, because a pass may end anywhere. */
  stop(): Promise<void>;
  /** One look at one chain. Throws what its adapter throws; the next pass takes up the rest. */
  pass(chain: ChainKey): Promise<Pass>;
  /** Reconciles swaps that time alone may have changed; returns how many. */
  passDue(): Promise<number>;
};

/** What a follower remembers of its chain; lost at a restart, and then found again. */
type Following = {
  readonly adapter: ChainAdapter;
  readonly position: Position;
  /** Swaps about which the chain said something. */
  readonly urgent: Set<string>;
  /** Swaps of escrows that are new to this process. */
  readonly backlog: Set<string>;
  /** Touched escrows whose swaps are not looked up yet. */
  readonly touched: Set<string>;
  head: string;
  running: Promise<unknown>;
};

export function createSettlement(deps: Deps): Settlement {
  const stopping = new AbortController();
  const loops: Promise<void>[] = [];
  const following = new Map<ChainKey, Following>();
  for (const adapter of deps.adapters.values()) following.set(adapter.chain, unstarted(adapter));
  const pass = (chain: ChainKey) => {
    const follower = following.get(chain);
    if (follower === undefined) throw new Error(`chain "${chain}" is not followed`);
    // An adapter takes one caller at a time.
    const next = follower.running.then(() => passOf(deps, follower, stopping.signal));
    follower.running = next.catch(() => {});
    return next;
  };
  const passDue = () => passOfDue(deps, stopping.signal);
  return {
    pass,
    passDue,
    start: () => {
      if (loops.length > 0) return;
      for (const chain of following.keys()) {
        const look = async () => {
          const { left } = await pass(chain);
          return left > 0;
        };
        loops.push(loop(deps, chain, look, stopping.signal));
      }
      loops.push(loop(deps, 'time', async () => (await passDue()) > 0, stopping.signal));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(loops);
      await Promise.all([...following.values()].map((each) => each.running));
    },
  };
}

function unstarted(adapter: ChainAdapter): Following {
  return {
    adapter,
    position: fromTheStart(),
    urgent: new Set(),
    backlog: new Set(),
    touched: new Set(),
    head: '',
    running: Promise.resolve(),
  };
}

/** Runs `look` for ever; it returns whether there is more to do at once. */
async function loop(
  deps: Deps,
  name: string,
  look: () => Promise<boolean>,
  stop: AbortSignal,
): Promise<void> {
  const { followIntervalMs } = deps.settings;
  let failures = 0;
  let told = '';
  while (!stop.aborted) {
    let wait: number = followIntervalMs;
    try {
      if (await look()) wait = 0;
      if (failures > 0) deps.log.info({ follows: name, failures }, 'followed again');
      failures = 0;
      told = '';
    } catch (error) {
      if (isAborted(stop)) return;
      failures += 1;
      const most = Math.max(passLimits.backoffMs, followIntervalMs);
      wait = Math.min(followIntervalMs * 2 ** Math.min(failures, 20), most);
      deps.metrics.followFailures.inc({ chain: name });
      // Once a reason: a node that is down for a day is no news every half minute.
      const reason = error instanceof Error ? error.message : String(error);
      const level = reason === told ? 'debug' : 'warn';
      told = reason;
      deps.log[level]({ follows: name, failures, waitMs: wait, err: error }, 'a look failed');
    }
    if (wait > 0) await sleep(wait, undefined, { signal: stop }).catch(() => {});
  }
}

async function passOf(deps: Deps, follower: Following, stop: AbortSignal): Promise<Pass> {
  stop.throwIfAborted();
  const { adapter, urgent, backlog } = follower;
  const { chain } = adapter;
  const { fresh, full } = await takeUp(deps, adapter, follower.position);
  for (const row of fresh) backlog.add(row.swap_id);
  const limit = AbortSignal.any([stop, AbortSignal.timeout(passLimits.changesMs)]);
  const { touched, heads } = await adapter.changes(limit);
  // Kept until they are looked up: an adapter tells each change once.
  for (const address of touched) follower.touched.add(address);
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
    await reconciled.catch((error: unknown) => {
      // To the back, so that one slow escrow never keeps the others of its chain waiting.
      urgent.delete(id);
      backlog.delete(id);
      backlog.add(id);
      throw error;
    });
    urgent.delete(id);
    backlog.delete(id);
  });
  const left = urgent.size + backlog.size + (full ? 1 : 0);
  return {
    chain,
    found: fresh.length,
    touched: touched.length,
    reconciled: now.length,
    left,
    heads,
  };
}

async function keepHeads(deps: Deps, follower: Following, heads: Heads): Promise<void> {
  const head = `${heads.hash} ${heads.clock}`;
  if (head === follower.head) return;
  await storeHeads(deps.db, follower.adapter.chain, heads, new Date(deps.now()));
  deps.metrics.chainHeight.set({ chain: follower.adapter.chain }, heads.height);
  follower.head = head;
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
): Promise<unknown> {
  const limit = AbortSignal.timeout(deps.settings.chainTimeoutMs);
  try {
    await reconcile(deps, swapId, { chains, signal: AbortSignal.any([stop, limit]) });
    return null;
  } catch (error) {
    if (stop.aborted) throw error;
    const kind = error instanceof ParleyError ? error.kind : null;
    if (chains !== 'all' && (kind === 'timeout' || kind === 'unavailable')) throw error;
    deps.log.error({ swapId, err: error }, 'a swap could not be reconciled');
    await makeDue(deps.db, swapId, Math.floor(deps.now() / 1000) + retrySeconds);
    return error;
  }
}

async function passOfDue(deps: Deps, stop: AbortSignal): Promise<number> {
  stop.throwIfAborted();
  const wall = Math.floor(deps.now() / 1000);
  const due = await dueSwaps(deps.db, wall, passLimits.swaps);
  // The first silence of a chain speaks for all of this pass: others must not wait for it too.
  const silent = new Set<ChainKey>();
  await inParallel(due, passLimits.parallel, async ({ id, chains }) => {
    if (chains.some((each) => silent.has(each))) {
      await makeDue(deps.db, id, wall + retrySeconds);
      return;
    }
    const failure = await reconcileOne(deps, id, 'all', stop);
    const chain = failure instanceof ParleyError ? failure.facts.chain : undefined;
    if (typeof chain === 'string') silent.add(chain);
  });
  return due.length;
}
