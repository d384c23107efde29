// Every open swap against its chains: page after page, a few at once, each chain given up after a
// few silences. What differs is looked at a second time after a market that works would have seen
// it too, so that a block between two reads is no finding. Nothing is written.

import type { ChainAdapter } from '../../chains/adapter.ts';
import { ParleyError } from '../../core/errors.ts';
import type { EscrowFacts } from '../../core/facts.ts';
import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import { findAssets } from '../db/assets.ts';
import type { Database } from '../db/database.ts';
import { endedSwapIds, openSwapIds } from '../db/doctor.ts';
import { type EscrowRow, escrowsOfSwap } from '../db/escrows.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { isUuid } from '../ids.ts';
import { inParallel } from '../in-parallel.ts';
import { currentEscrow, escrowOfRow } from '../settle/escrows.ts';
import { within } from '../time-limit.ts';
import { compareSwap, keyOf } from './compare.ts';
import { danger, differs, type Finding, type Findings, unseen } from './findings.ts';

export const swapBounds = {
  page: 200,
  /** Swaps read at once. */
  parallel: 8,
  /** Reads of one chain that fail in a row before it is left alone. */
  silences: 3,
  /** Swaps that may wait for their second look: some 10 MB. */
  suspects: 20_000,
  /** Ended swaps looked at where not all are wanted. */
  ended: 200,
} as const;

export type SwapsDeps = {
  readonly db: Database;
  readonly adapters: ReadonlyMap<ChainKey, ChainAdapter>;
  /** Chains with several sources, which have to agree. */
  readonly several: ReadonlySet<ChainKey>;
  /** The market's clock, milliseconds. */
  readonly now: () => number;
  readonly chainTimeoutMs: number;
  /** Until a market that works has seen what the chain shows. */
  readonly wait: () => Promise<void>;
  readonly signal: AbortSignal;
};

export type Wanted = {
  /** One swap alone. */
  readonly swap: string | null;
  /** Every ended swap too. */
  readonly all: boolean;
  /** Open swaps looked at; the rest is said to be there. */
  readonly limit: number;
};

export type Looked = { readonly open: number; readonly ended: number };

type Walk = SwapsDeps & {
  readonly findings: Findings;
  readonly silent: Map<ChainKey, { failures: number; unread: number; why: string }>;
};

export async function examineSwaps(
  deps: SwapsDeps,
  wanted: Wanted,
  findings: Findings,
): Promise<Looked> {
  const walk: Walk = { ...deps, findings, silent: new Map() };
  if (wanted.swap !== null) return oneSwap(walk, wanted.swap);
  const suspects = new Set<string>();
  const open = await eachPage(walk, wanted.limit, openSwapIds, async (ids) => {
    for (const [id, found] of await lookAt(walk, ids)) {
      if (found.length === 0) continue;
      if (suspects.size < swapBounds.suspects) suspects.add(id);
      else for (const each of found) findings.add(each);
    }
  });
  if (open.more) {
    const says = `${open.count} open swaps were looked at, and there are more`;
    findings.add(unseen('swaps_left', 'the open swaps', says, 'a higher --limit', {}));
  }
  await secondLook(walk, suspects);
  const mostEnded = wanted.all ? Number.MAX_SAFE_INTEGER : swapBounds.ended;
  const ended = await eachPage(walk, mostEnded, endedSwapIds, async (ids) => {
    for (const [, found] of await lookAt(walk, ids)) {
      for (const each of found) findings.add(each);
    }
  });
  tellSilent(walk);
  return { open: open.count, ended: ended.count };
}

async function oneSwap(walk: Walk, id: string): Promise<Looked> {
  const swap = isUuid(id) ? await swapById(walk.db, id) : null;
  if (swap === null) {
    const says = 'there is no such swap';
    walk.findings.add(unseen('no_such_swap', `swap ${id}`, says, 'correct its id', {}));
    return { open: 0, ended: 0 };
  }
  const first = await lookAt(walk, [swap.id]);
  if ((first.get(swap.id) ?? []).length > 0) await secondLook(walk, new Set([swap.id]));
  tellSilent(walk);
  return { open: swap.done ? 0 : 1, ended: swap.done ? 1 : 0 };
}

/** Some differences are those of a moment: only what is there twice is told. */
async function secondLook(walk: Walk, suspects: ReadonlySet<string>): Promise<void> {
  if (suspects.size === 0) return;
  await walk.wait();
  const ids = [...suspects];
  for (let at = 0; at < ids.length; at += swapBounds.page) {
    for (const [, found] of await lookAt(walk, ids.slice(at, at + swapBounds.page))) {
      for (const each of found) walk.findings.add(each);
    }
  }
}

async function eachPage(
  { db, signal }: Walk,
  limit: number,
  next: (tx: Database, from: string | null, limit: number) => Promise<string[]>,
  work: (ids: readonly string[]) => Promise<void>,
): Promise<{ count: number; more: boolean }> {
  let count = 0;
  let from: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const size = Math.min(swapBounds.page, limit - count);
    const ids: string[] = await next(db, from, size + 1);
    const page = ids.slice(0, size);
    if (page.length > 0) await work(page);
    count += page.length;
    from = page.at(-1) ?? from;
    if (ids.length <= size) return { count, more: false };
    if (count >= limit) return { count, more: true };
  }
}

type Read = ReadonlyMap<string, EscrowFacts>;
type Loaded = { readonly swap: Swap; readonly rows: readonly EscrowRow[] };

/** The findings of each of these swaps. */
async function lookAt(walk: Walk, ids: readonly string[]): Promise<Map<string, Finding[]>> {
  const loaded = (await inParallel(ids, swapBounds.parallel, (id) => load(walk, id))).filter(
    (each) => each !== null,
  );
  const assetIds = loaded.flatMap(({ swap: { state } }) => [
    state.legs.a.assetId,
    state.legs.b.assetId,
  ]);
  const assets = await findAssets(walk.db, [...new Set(assetIds)]);
  const high = new Map(assets.map(({ id, highValueFrom }) => [id, highValueFrom]));
  const clocks = await clocksNow(walk, loaded);
  const watched = watchAll(walk, loaded);
  try {
    const found = await inParallel(loaded, swapBounds.parallel, async ({ swap, rows }) => {
      const { read, refused } = await readAll(walk, swap, rows);
      const { a, b } = swap.state.legs;
      const highFrom = { a: high.get(a.assetId) ?? null, b: high.get(b.assetId) ?? null };
      const clock = (name: LegName) =>
        clocks.get(swap.state.legs[name].chain) ?? swap.chainClocks[name];
      const wall = Math.floor(walk.now() / 1_000);
      const { adapters } = walk;
      if (swap.done) return endedFindings(swap, rows, read);
      const look = { swap, rows, read, adapters, highFrom };
      const compared = compareSwap({ ...look, clocks: { wall, a: clock('a'), b: clock('b') } });
      return [...compared, ...refused, ...(await disagreements(walk, swap))];
    });
    return new Map(loaded.map(({ swap }, at) => [swap.id, found[at] as Finding[]]));
  } finally {
    for (const [chain, addresses] of watched) walk.adapters.get(chain)?.unwatch(addresses);
  }
}

async function load({ db }: Walk, id: string): Promise<Loaded | null> {
  const swap = await swapById(db, id);
  return swap === null ? null : { swap, rows: await escrowsOfSwap(db, id) };
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
      const asked = await ask(walk, chain, (adapter, signal) => adapter.heads(signal));
      if (asked.answer !== null) clocks.set(chain, asked.answer.clock);
    }),
  );
  return clocks;
}

type Asked<T> = { readonly answer: T | null; readonly refusal: ParleyError | null };

/** One question to a chain; its silence is remembered, a refusal is the answer's own. */
async function ask<T>(
  { adapters, silent, chainTimeoutMs, signal: ending }: Walk,
  chain: ChainKey,
  question: (adapter: ChainAdapter, signal: AbortSignal) => Promise<T>,
): Promise<Asked<T>> {
  ending.throwIfAborted();
  const known = silent.get(chain) ?? { failures: 0, unread: 0, why: '' };
  silent.set(chain, known);
  const adapter = adapters.get(chain);
  if (adapter === undefined || known.failures >= swapBounds.silences) {
    known.why ||= 'it is not served here';
    known.unread += 1;
    return { answer: null, refusal: null };
  }
  try {
    const answer = await inTime(chainTimeoutMs, ending, (signal) =>
      within(signal, chain, question(adapter, signal)),
    );
    known.failures = 0;
    return { answer, refusal: null };
  } catch (error) {
    ending.throwIfAborted();
    const isRefusal = error instanceof ParleyError && !/^(timeout|unavailable)$/.test(error.kind);
    if (isRefusal) return { answer: null, refusal: error };
    known.failures += 1;
    known.unread += 1;
    // Never a library's own words, which may name the node's address and the key in it.
    known.why = error instanceof ParleyError ? error.message : 'its node failed';
    return { answer: null, refusal: null };
  }
}

/** Unlike AbortSignal.timeout and any nothing of it outlives the work: 1 KB for each read. */
async function inTime<T>(
  ms: number,
  ending: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException('out of time', 'TimeoutError')), ms);
  const end = () => limit.abort(ending.reason);
  ending.addEventListener('abort', end, { once: true });
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', end);
  }
}

async function readAll(
  walk: Walk,
  swap: Swap,
  rows: readonly EscrowRow[],
): Promise<{ read: Read; refused: Finding[] }> {
  const read = new Map<string, EscrowFacts>();
  const refused: Finding[] = [];
  await Promise.all(
    rows.map(async (row) => {
      const { answer, refusal } = await ask(walk, row.chain, (adapter, signal) =>
        adapter.readEscrow(escrowOfRow(swap, row), signal),
      );
      if (answer !== null) read.set(keyOf(row), answer);
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
async function disagreements(walk: Walk, swap: Swap): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const name of ['a', 'b'] as const) {
    const { chain, facts } = swap.state.legs[name];
    const escrow = currentEscrow(swap, name);
    const adapter = walk.adapters.get(chain);
    if (!walk.several.has(chain) || escrow === null || adapter?.mustAgree === undefined) continue;
    if (facts.funded === null || facts.claimed !== null || facts.refunded !== null) continue;
    const { refusal } = await ask(walk, chain, async ({ mustAgree }, signal) =>
      mustAgree?.(escrow, signal),
    );
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

function tellSilent({ silent, findings }: Walk): void {
  for (const [chain, { unread, why }] of silent) {
    if (unread === 0) continue;
    const says = `${unread} reads were not answered, and nothing is known of those: ${why}`;
    const todo = 'bring a node of it back, or correct PARLEY_CHAINS, and look again';
    findings.add(unseen('chain_unread', `chain ${chain}`, says, todo, { unread }));
  }
}
