// Every open swap against its chains: page after page, so that memory does not grow with their
// number, a few at once. What differs is looked at a second time after a market that works would
// have seen it too, so that a block between two reads is no finding. Nothing is written.

import type { EscrowFacts } from '../../core/facts.ts';
import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import { inParallel } from '../../host/in-parallel.ts';
import { findAssets } from '../db/assets.ts';
import type { Database } from '../db/database.ts';
import { countOpenSwaps, endedSwapIds, openSwapIds } from '../db/doctor.ts';
import { type EscrowRow, escrowsOfSwaps } from '../db/escrows.ts';
import { type Swap, swapById, swapsByIds } from '../db/swaps.ts';
import { isUuid } from '../ports/ids.ts';
import { currentEscrow, escrowOfRow } from '../settle/escrows.ts';
import { compareSwap, keyOf } from './compare.ts';
import {
  attempt,
  attemptRow,
  danger,
  differs,
  type Finding,
  type Findings,
  isLate,
  unseen,
} from './findings.ts';
import type { Parts } from './parts.ts';
import type { Reads, ReadsDeps } from './reads.ts';
import type { Look, Suspects, Unread } from './suspects.ts';

export const swapBounds = {
  /** Some megabytes. A chain whose blocks have to be read is read once for each. */
  page: 500,
  /** Swaps read at once. */
  parallel: 8,
  /** Swaps that wait for their second look together: some kilobytes each. */
  suspects: 10_000,
  /** Pages in a row that the database does not give, before the rest is left. */
  lostPages: 2,
  /** Ended swaps looked at where not all are wanted. */
  ended: 200,
} as const;

export type SwapsDeps = Pick<ReadsDeps, 'adapters' | 'signal'> & {
  readonly db: Database;
  /** Which chains were silent is for the caller to tell, as below. */
  readonly reads: Reads;
  /** Chains with several sources, which have to agree. */
  readonly several: ReadonlySet<ChainKey>;
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  /** Until a market that works has seen what the chain shows. */
  readonly wait: () => Promise<void>;
  readonly parts: Parts;
  /** Who is left in it when the swaps end half-way is for the caller to tell. */
  readonly suspects: Suspects;
};

export type Wanted = {
  /** One swap alone. */
  readonly swap: string | null;
  /** Every ended swap too. */
  readonly all: boolean;
  /** Open swaps looked at; the rest is said to be there. */
  readonly limit: number;
};

export type Looked = { open: number; ended: number };

type Walk = SwapsDeps & { readonly findings: Findings };

/** `looked` counts while it goes on: what ends it half-way leaves what was looked at. */
export async function examineSwaps(
  deps: SwapsDeps,
  wanted: Wanted,
  findings: Findings,
  looked: Looked,
): Promise<void> {
  const walk: Walk = { ...deps, findings };
  if (wanted.swap !== null) await oneSwap(walk, wanted.swap, looked);
  else await allSwaps(walk, wanted, looked);
}

async function allSwaps(walk: Walk, wanted: Wanted, looked: Looked): Promise<void> {
  const { findings, suspects } = walk;
  const opens = { where: 'the open swaps', limit: wanted.limit, next: openSwapIds };
  const { isMore, missed, lastId } = await eachPage(walk, opens, async (ids) => {
    if (suspects.size + ids.length > swapBounds.suspects) await secondLook(walk);
    if (!(await firstLook(walk, ids))) return false;
    looked.open += ids.length;
    return true;
  });
  if (isMore) {
    const says = `${looked.open} open swaps were looked at, and there are more`;
    findings.add(unseen('swaps_left', 'the open swaps', says, 'a higher --limit', {}));
  }
  if (missed !== null) await tellMissed(walk, { looked: looked.open, missed, lastId });
  await secondLook(walk);
  walk.reads.use('all');
  const limit = wanted.all ? Number.MAX_SAFE_INTEGER : swapBounds.ended;
  const ends = { where: 'the ended swaps', limit, next: endedSwapIds };
  await eachPage(walk, ends, async (ids) => {
    const tell = (_id: string, { found }: Look) => {
      for (const each of found) findings.add(each);
    };
    if (!(await lookAt(walk, ids, tell))) return false;
    looked.ended += ids.length;
    return true;
  });
}

type Missed = { readonly looked: number; readonly missed: number; readonly lastId: string | null };

/** How many open swaps are in pages that were not had, and after them. */
async function tellMissed(walk: Walk, { looked, missed, lastId }: Missed): Promise<void> {
  let after = null as number | null;
  if (lastId !== null) {
    await walk.parts.ask('how many open swaps are left', async () => {
      after = await countOpenSwaps(walk.db, lastId);
    });
  }
  const left = after === null ? null : missed + after;
  const many = left === null ? 'how many were not is not known' : `${left} were not`;
  const says = `${looked} open swaps were looked at, ${many}`;
  const todo = 'see what holds up the database, or give it a longer --part';
  walk.findings.add(unseen('swaps_left', 'the open swaps', says, todo, { left }));
}

async function oneSwap(walk: Walk, id: string, looked: Looked): Promise<void> {
  const swap = isUuid(id) ? await swapById(walk.db, id) : null;
  if (swap === null) {
    const says = 'there is no such swap';
    walk.findings.add(unseen('no_such_swap', `swap ${id}`, says, 'correct its id', {}));
    return;
  }
  if (!(await firstLook(walk, [swap.id]))) return;
  await secondLook(walk);
  if (swap.done) looked.ended += 1;
  else looked.open += 1;
}

function firstLook(walk: Walk, ids: readonly string[]): Promise<boolean> {
  return lookAt(walk, ids, (id, look) => walk.suspects.first(id, look, walk.findings));
}

/** Some differences are those of a moment: what is there twice is told as it is. None is left. */
async function secondLook(walk: Walk): Promise<void> {
  const { suspects, findings } = walk;
  if (suspects.size === 0) return;
  await walk.wait();
  walk.reads.use('all');
  const ids = suspects.ids();
  for (let at = 0; at < ids.length; at += swapBounds.page) {
    const page = ids.slice(at, at + swapBounds.page);
    await lookAt(walk, page, (id, look) => suspects.again(id, look, findings));
    suspects.tellLeft(findings, page);
  }
  walk.reads.use('most');
}

type Pages = {
  readonly where: string;
  readonly limit: number;
  readonly next: (tx: Database, from: string | null, limit: number) => Promise<string[]>;
};

type Paged = {
  /** There are more than the limit. */
  readonly isMore: boolean;
  /** Of pages that could not be had; null: every page could. */
  readonly missed: number | null;
  /** The last one given to `work`; null where it is not known what comes next. */
  readonly lastId: string | null;
};

/** A page that `work` says no to is missed, and the next one comes: a few in a row end it. */
async function eachPage(
  { db, signal, parts }: Walk,
  { where, limit, next }: Pages,
  work: (ids: readonly string[]) => Promise<boolean>,
): Promise<Paged> {
  let count = 0;
  let lost = 0;
  let missed: number | null = null;
  let from: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const size = Math.min(swapBounds.page, limit - count);
    let ids: string[] = [];
    const after = from;
    const outcome = await parts.ask(`${where} after ${count} of them`, async () => {
      ids = await next(db, after, size + 1);
    });
    if (outcome !== 'done') return { isMore: false, missed: missed ?? 0, lastId: null };
    const page = ids.slice(0, size);
    const isHad = page.length === 0 || (await work(page));
    lost = isHad ? 0 : lost + 1;
    if (!isHad) missed = (missed ?? 0) + page.length;
    count += page.length;
    from = page.at(-1) ?? from;
    const isLast = ids.length <= size;
    if (isLast || lost >= swapBounds.lostPages) return { isMore: false, missed, lastId: from };
    if (count >= limit) return { isMore: true, missed, lastId: from };
  }
}

type Read = ReadonlyMap<string, EscrowFacts>;
type Loaded = { readonly swap: Swap; readonly rows: readonly EscrowRow[] };

/** Each of these swaps, as soon as it was looked at; false where none can be had, which is told. */
async function lookAt(
  walk: Walk,
  ids: readonly string[],
  tell: (id: string, look: Look) => void,
): Promise<boolean> {
  const page = await loadPage(walk, ids);
  if (page === null) return false;
  const { loaded, high } = page;
  const clocks = await clocksNow(walk, loaded);
  const watched = watchAll(walk, loaded);
  try {
    await inParallel(loaded, swapBounds.parallel, async (each) => {
      const { swap, rows } = each;
      const own: Finding[] = [];
      const unread: Unread = { reads: new Set(), clocks: new Set(), sources: new Set() };
      const chains = new Map(rows.map(({ address, chain }) => [address, chain]));
      for (const { chain } of Object.values(swap.state.legs)) {
        if (!clocks.has(chain)) unread.clocks.add(chain);
      }
      const add = (finding: Finding) => void own.push(finding);
      await attempt(`swap ${swap.id}`, { add }, async () => {
        own.push(...(await lookAtOne(walk, each, { clocks, high, unread })));
      });
      walk.signal.throwIfAborted();
      tell(swap.id, { found: own, unread, chains });
    });
    return true;
  } finally {
    for (const [chain, addresses] of watched) walk.adapters.get(chain)?.unwatch(addresses);
  }
}

type Common = {
  readonly clocks: ReadonlyMap<ChainKey, number>;
  readonly high: ReadonlyMap<string, bigint | null>;
  /** What could not be read is put into it. */
  readonly unread: Unread;
};

async function lookAtOne(
  walk: Walk,
  { swap, rows }: Loaded,
  { clocks, high, unread }: Common,
): Promise<Finding[]> {
  const { read, refused } = await readAll(walk, { swap, rows }, unread);
  if (swap.done) return endedFindings(swap, rows, read);
  const { a, b } = swap.state.legs;
  const highFrom = { a: high.get(a.assetId) ?? null, b: high.get(b.assetId) ?? null };
  const clock = (name: LegName) =>
    clocks.get(swap.state.legs[name].chain) ?? swap.chainClocks[name];
  const wall = Math.floor(walk.now() / 1_000);
  const look = { swap, rows, read, adapters: walk.adapters, highFrom };
  const compared = compareSwap({ ...look, clocks: { wall, a: clock('a'), b: clock('b') } });
  return [...compared, ...refused, ...(await disagreements(walk, swap, unread))];
}

type Page = { readonly loaded: readonly Loaded[]; readonly high: Common['high'] };

/** In three statements; swap by swap where one of them cannot be read. */
async function loadPage(walk: Walk, ids: readonly string[]): Promise<Page | null> {
  let loaded: Loaded[] = [];
  const high = new Map<string, bigint | null>();
  const where = ids.length === 1 ? `swap ${ids[0]}` : `the swaps from ${ids[0]} on`;
  const outcome = await walk.parts.ask(where, async (findings) => {
    loaded = await load(walk, ids).catch((error: unknown) => {
      if (ids.length === 1 || isLate(error)) throw error;
      return eachOf(walk, ids, findings);
    });
    const assetIds = loaded.flatMap(({ swap: { state } }) => [
      state.legs.a.assetId,
      state.legs.b.assetId,
    ]);
    const assets = await findAssets(walk.db, [...new Set(assetIds)]);
    for (const { id, highValueFrom } of assets) high.set(id, highValueFrom);
  });
  walk.signal.throwIfAborted();
  return outcome === 'done' ? { loaded, high } : null;
}

async function load({ db }: Walk, ids: readonly string[]): Promise<Loaded[]> {
  const [swaps, rows] = await Promise.all([swapsByIds(db, ids), escrowsOfSwaps(db, ids)]);
  const bySwap = Map.groupBy(rows, (row) => row.swapId);
  return swaps.map((swap) => ({ swap, rows: bySwap.get(swap.id) ?? [] }));
}

async function eachOf(walk: Walk, ids: readonly string[], findings: Findings): Promise<Loaded[]> {
  const all = await inParallel(ids, swapBounds.parallel, async (id) => {
    let one: Loaded[] = [];
    await attemptRow(`swap ${id}`, findings, async () => {
      one = await load(walk, [id]);
    });
    return one;
  });
  return all.flat();
}

/** Together, so that a chain whose blocks have to be read is read once for a page. */
function watchAll({ adapters }: Walk, loaded: readonly Loaded[]): Map<ChainKey, string[]> {
  const watched = new Map<ChainKey, string[]>();
  for (const { swap, rows } of loaded) {
    for (const row of rows) {
      const known = watched.get(row.chain) ?? [];
      watched.set(row.chain, known);
      known.push(row.address);
      try {
        adapters.get(row.chain)?.watch([escrowOfRow(swap, row)]);
      } catch {
        // Terms that are not its own: compareSwap says so.
      }
    }
  }
  return watched;
}

async function clocksNow(walk: Walk, loaded: readonly Loaded[]): Promise<Map<ChainKey, number>> {
  const chains = new Set(
    loaded.flatMap(({ swap: { state } }) => [state.legs.a.chain, state.legs.b.chain]),
  );
  const clocks = new Map<ChainKey, number>();
  await Promise.all(
    [...chains].map(async (chain) => {
      const asked = await walk.reads.ask(chain, 'reads', (adapter, signal) =>
        adapter.heads(signal),
      );
      if (asked.answer !== null) clocks.set(chain, asked.answer.clock);
    }),
  );
  return clocks;
}

async function readAll(
  walk: Walk,
  { swap, rows }: Loaded,
  unread: Unread,
): Promise<{ read: Read; refused: Finding[] }> {
  const read = new Map<string, EscrowFacts>();
  const refused: Finding[] = [];
  await Promise.all(
    rows.map(async (row) => {
      const { answer, refusal } = await walk.reads.ask(row.chain, 'reads', (adapter, signal) =>
        adapter.readEscrow(escrowOfRow(swap, row), signal),
      );
      if (answer !== null) read.set(keyOf(row), answer);
      else if (refusal === null) unread.reads.add(row.chain);
      if (refusal === null) return;
      const where = `swap ${swap.id} leg ${row.leg} escrow ${row.address}`;
      const says = `it cannot be read: ${refusal.message}`;
      const todo = 'compare the row with a backup: it is not what was planned';
      refused.push(danger('escrow_unreadable', where, says, todo, { code: refusal.code }));
    }),
  );
  return { read, refused };
}

/** What the sources of a chain say of a funded leg that nothing has left. */
async function disagreements(walk: Walk, swap: Swap, unread: Unread): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const name of ['a', 'b'] as const) {
    const { chain, facts } = swap.state.legs[name];
    const escrow = currentEscrow(swap, name);
    const adapter = walk.adapters.get(chain);
    if (!walk.several.has(chain) || escrow === null || adapter?.mustAgree === undefined) continue;
    if (facts.funded === null || facts.claimed !== null || facts.refunded !== null) continue;
    const asked = await walk.reads.ask(chain, 'sources', async ({ mustAgree }, signal) => {
      await mustAgree?.(escrow, signal);
      return true;
    });
    const { answer, refusal } = asked;
    if (answer === null && refusal === null) unread.sources.add(chain);
    if (refusal === null) continue;
    const where = `swap ${swap.id} leg ${name} escrow ${escrow.address}`;
    const todo = 'nobody funds or reveals by it: find out which node is wrong, and replace it';
    found.push(danger('sources_disagree', where, refusal.message, todo, { chain }));
  }
  return found;
}

/** Of a swap that has ended every escrow is empty. */
function endedFindings(swap: Swap, rows: readonly EscrowRow[], read: Read): Finding[] {
  return rows.flatMap((row) => {
    const facts = read.get(keyOf(row));
    const where = `swap ${swap.id} leg ${row.leg} escrow ${row.address}`;
    if (facts === undefined || (facts.balance === 0n && facts.empty)) {
      if (row.done) return [];
      const says = 'its swap has ended, and it is still followed';
      return [differs('not_ended', where, says, 'restart the market: it reads it anew', {})];
    }
    const says = `${facts.balance} are in it although its swap has ended`;
    const todo =
      'tell its funder, who may refund it with ?escrow= or by the SDK; nobody follows it any more';
    return [danger('payment_after_end', where, says, todo, { balance: String(facts.balance) })];
  });
}
