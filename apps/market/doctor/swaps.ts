// Every open swap against its chains: page after page, so that memory does not grow with their
// number. A difference is read a second time after a market that works would have seen it too, so
// that a block between two reads is no finding. The doctor writes nothing.

import type { EscrowFacts } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import type { Database } from '../db/database.ts';
import { endedSwapIds, openSwapIds } from '../db/doctor.ts';
import { type EscrowRow, escrowsOfSwaps } from '../db/escrows.ts';
import { type Swap, swapsByIds } from '../db/swaps.ts';
import { currentEscrow, escrowOfRow } from '../settle/escrows.ts';
import { compareSwap, keyOf, whereOf } from './compare.ts';
import { type Add, danger, type Finding, unseen } from './findings.ts';
import { attempt, isLate, type Parts } from './parts.ts';
import type { Reads, ReadsDeps } from './reads.ts';

const swapBounds = {
  /** Some megabytes. A chain whose blocks have to be read is read once for each. */
  page: 500,
  /** Swaps read at once. */
  parallel: 8,
  /** Swaps that wait for their second read together: some kilobytes each. */
  suspects: 10_000,
  /** Ended swaps read where not all are wanted. */
  ended: 200,
} as const;

export type Wanted = {
  /** The nodes alone, with all that they must serve and keep. */
  readonly nodes: boolean;
  /** One swap alone. */
  readonly swap: string | null;
  /** Every ended swap too. */
  readonly all: boolean;
  /** So many swaps, oldest first; default: every open one, and the newest ended ones. */
  readonly most?: { readonly open: number; readonly ended: number };
};

export type Counted = { open: number; ended: number };

type SwapsDeps = Pick<ReadsDeps, 'adapters' | 'signal'> & {
  readonly db: Database;
  readonly reads: Reads;
  /** Chains with several sources, which have to agree. */
  readonly several: ReadonlySet<ChainKey>;
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  /** Until a market that works has seen what the chain shows. */
  readonly wait: () => Promise<void>;
  readonly parts: Parts;
  readonly add: Add;
  /**
   * The findings of the first read, by swap. The caller reports those that are left in it at the
   * end.
   */
  readonly suspects: Map<string, readonly Finding[]>;
  /** Counts on: an end half-way leaves the swaps that were read. */
  readonly counted: Counted;
};

type Loaded = { readonly swap: Swap; readonly rows: readonly EscrowRow[] };
/** `isWhole`: all of it was read. */
type SwapFound = { readonly found: readonly Finding[]; readonly isWhole: boolean };
type Told = (swap: Swap, all: SwapFound) => void;

export async function examineSwaps(deps: SwapsDeps, wanted: Wanted): Promise<void> {
  const { add, suspects, counted } = deps;
  const first: Told = (swap, { found }) => {
    counted[swap.done ? 'ended' : 'open'] += 1;
    if (found.length > 0) suspects.set(swap.id, found);
  };
  if (wanted.swap !== null) {
    const had = await readPage(deps, [wanted.swap], first);
    if (had && counted.open + counted.ended === 0) {
      add(unseen('no_such_swap', `swap ${wanted.swap}`, 'there is none', 'correct its id'));
    }
    return readAgain(deps);
  }
  const whole = Number.MAX_SAFE_INTEGER;
  const usual = { open: whole, ended: wanted.all ? whole : swapBounds.ended };
  const { open, ended } = wanted.most ?? usual;
  const openOnes = { where: 'the open swaps', next: openSwapIds, limit: open };
  await eachPage(deps, openOnes, first);
  const endedOnes = { where: 'the ended swaps', next: endedSwapIds, limit: ended };
  await eachPage(deps, endedOnes, first);
  await readAgain(deps);
}

type Pages = {
  readonly where: string;
  readonly next: typeof openSwapIds;
  readonly limit: number;
};

/** A page that is not had is left, which is reported, and the next one comes. */
async function eachPage(deps: SwapsDeps, { where, next, limit }: Pages, tell: Told) {
  let count = 0;
  let from: string | null = null;
  let isMore = true;
  while (isMore && count < limit) {
    deps.signal.throwIfAborted();
    const size = Math.min(swapBounds.page, limit - count);
    const after = from;
    let ids: string[] = [];
    const isListed = await deps.parts.run(`${where} after ${count} of them`, async () => {
      ids = await next(deps.db, after, size + 1);
    });
    if (!isListed) return;
    isMore = ids.length > size;
    const page = ids.slice(0, size);
    from = page.at(-1) ?? from;
    count += page.length;
    if (deps.suspects.size + page.length > swapBounds.suspects) await readAgain(deps);
    if (page.length > 0) await readPage(deps, page, tell);
  }
}

/**
 * Differences of a moment are gone then: a difference that is there twice is reported. No suspect
 * is left.
 */
async function readAgain(deps: SwapsDeps): Promise<void> {
  const { suspects, add } = deps;
  if (suspects.size === 0) return;
  await deps.wait();
  const ids = [...suspects.keys()];
  for (let at = 0; at < ids.length; at += swapBounds.page) {
    const page = ids.slice(at, at + swapBounds.page);
    await readPage(deps, page, ({ id }, { found, isWhole }) => {
      const twice = new Set(found.map(({ what, where }) => `${what} ${where}`));
      const before = suspects.get(id) ?? [];
      suspects.delete(id);
      for (const each of found) add(each);
      if (!isWhole) tellOnce(before, add, twice);
    });
    for (const id of page) tellOnce(suspects.get(id) ?? [], add);
    for (const id of page) suspects.delete(id);
  }
}

/** A difference that cannot be read again is reported as seen once: no difference is lost by it. */
export function tellOnce(found: readonly Finding[], add: Add, except?: ReadonlySet<string>): void {
  for (const each of found) {
    if (except?.has(`${each.what} ${each.where}`)) continue;
    const says = `${each.says} (seen once: not all of it could be read again)`;
    add({ ...each, says, facts: { ...each.facts, seenOnce: true } });
  }
}

/** Each of these swaps, as soon as it was read; false where none can be had, which is reported. */
async function readPage(deps: SwapsDeps, ids: readonly string[], tell: Told): Promise<boolean> {
  const where = ids.length === 1 ? `swap ${ids[0]}` : `the swaps from ${ids[0]} on`;
  let loaded: Loaded[] = [];
  const isHad = await deps.parts.run(where, async (add, signal) => {
    loaded = await load(deps.db, ids).catch(async (error: unknown) => {
      if (ids.length === 1 || isLate(error)) throw error;
      // One row that cannot be read hides no other.
      const each = await inParallel(ids, swapBounds.parallel, async (id) => {
        let one: Loaded[] = [];
        const read = async () => {
          one = await load(deps.db, [id]);
        };
        await attempt(`swap ${id}`, add, read, signal);
        return one;
      });
      return each.flat();
    });
  });
  deps.signal.throwIfAborted();
  if (!isHad) return false;
  const watched = watchAll(deps, loaded);
  try {
    await inParallel(loaded, swapBounds.parallel, async (each) => {
      const found: Finding[] = [];
      const add: Add = (finding) => void found.push(finding);
      let isWhole = false;
      const work = async () => {
        isWhole = await readOne(deps, each, add);
      };
      await attempt(`swap ${each.swap.id}`, add, work, deps.signal);
      deps.signal.throwIfAborted();
      tell(each.swap, { found, isWhole });
    });
  } finally {
    for (const [chain, address] of watched) deps.adapters.get(chain)?.unwatch([address]);
  }
  return true;
}

async function load(db: Database, ids: readonly string[]): Promise<Loaded[]> {
  const [swaps, rows] = await Promise.all([swapsByIds(db, ids), escrowsOfSwaps(db, ids)]);
  const bySwap = Map.groupBy(rows, (row) => row.swapId);
  return swaps.map((swap) => ({ swap, rows: bySwap.get(swap.id) ?? [] }));
}

/** Together, so that a chain whose blocks have to be read is read once for a page. */
function watchAll({ adapters }: SwapsDeps, loaded: readonly Loaded[]): [ChainKey, string][] {
  const watched: [ChainKey, string][] = [];
  for (const { swap, rows } of loaded) {
    for (const row of rows) {
      try {
        adapters.get(row.chain)?.watch([escrowOfRow(swap, row)]);
        watched.push([row.chain, row.address]);
      } catch {
        // Terms that are not its own: compareSwap says so.
      }
    }
  }
  return watched;
}

/** As reconcile reads it: one look at each chain. Whether all of it could be read. */
async function readOne(deps: SwapsDeps, { swap, rows }: Loaded, add: Add): Promise<boolean> {
  const { a, b } = swap.state.legs;
  const read = new Map<string, EscrowFacts>();
  const clocks = { wall: Math.floor(deps.now() / 1_000), ...swap.chainClocks };
  const chains = [...new Set([a.chain, b.chain, ...rows.map(({ chain }) => chain)])];
  const answers = await Promise.all(
    chains.map(async (chain) => {
      const own = rows.filter((row) => row.chain === chain);
      const asked = await deps.reads.ask(chain, 'reads', (adapter, signal) =>
        adapter.look(
          own.map((row) => escrowOfRow(swap, row)),
          signal,
        ),
      );
      if (asked === null) return false;
      if ('refusal' in asked) {
        const { code, message } = asked.refusal;
        const todo = 'compare the row with a backup: it is not what was planned';
        const says = `it cannot be read: ${message}`;
        for (const row of own) {
          add(danger('escrow_unreadable', whereOf(swap.id, row), says, todo, { code }));
        }
        return true;
      }
      const { heads, facts } = asked.answer;
      for (const [at, row] of own.entries()) {
        const shown = facts[at];
        if (shown !== undefined) read.set(keyOf(row), shown);
      }
      if (a.chain === chain) clocks.a = heads.clock;
      if (b.chain === chain) clocks.b = heads.clock;
      return true;
    }),
  );
  for (const finding of compareSwap({ swap, rows, read, adapters: deps.adapters, clocks })) {
    add(finding);
  }
  const agreed = swap.done ? true : await readSources(deps, swap, add);
  return agreed && answers.every((each) => each);
}

/** The reports of a chain's sources on a funded leg that is still full. */
async function readSources(deps: SwapsDeps, swap: Swap, add: Add): Promise<boolean> {
  let isWhole = true;
  for (const leg of ['a', 'b'] as const) {
    const { chain, facts } = swap.state.legs[leg];
    const escrow = currentEscrow(swap, leg);
    if (!deps.several.has(chain) || escrow === null || facts.funded === null) continue;
    if (facts.claimed !== null || facts.refunded !== null) continue;
    const asked = await deps.reads.ask(chain, 'sources', async (adapter, signal) =>
      adapter.mustAgree?.(escrow, signal),
    );
    isWhole &&= asked !== null;
    if (asked === null || !('refusal' in asked)) continue;
    const where = whereOf(swap.id, { leg, address: escrow.address });
    const todo =
      'neither side funds or reveals by it: find out which node is wrong, and replace it';
    add(danger('sources_disagree', where, asked.refusal.message, todo, { chain }));
  }
  return isWhole;
}
