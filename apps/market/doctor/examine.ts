// All that the doctor examines of a market: house, nodes, swaps. Reads only, through a database
// that lets it do no more, and ends when its signal does; it reports the parts that were not read
// by then.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { Database } from '../db/database.ts';
import { openOne } from '../ports/chains.ts';
import { sourcesOf } from '../ports/node-questions.ts';
import type { ChainSettings } from '../settings/chains.ts';
import type { Settings } from '../settings/config.ts';
import { type Add, type Counts, type Finding, gather, unseen } from './findings.ts';
import { databaseParts, examineHome } from './house.ts';
import { examineNodes } from './nodes.ts';
import { createParts } from './parts.ts';
import { callLimitMs, createReads } from './reads.ts';
import { type Counted, examineSwaps, tellOnce, type Wanted } from './swaps.ts';

/** Milliseconds: the limits of a part, and of all of it. */
export const partMs = 60_000;
export const wholeMs = 3_600_000;
/** In which the adapters close. */
const closeMs = 1_000;
/** Parts that are named of those that the end of the time took. */
const mostNamed = 20;

type DoctorDeps = {
  readonly settings: Pick<
    Settings,
    'home' | 'chainTimeoutMs' | 'followIntervalMs' | 'databaseConnections' | 'keeper'
  >;
  /** Null: it could not be had, and why was reported. */
  readonly db: Database | null;
  readonly chains: readonly ChainSettings[];
  /** The market's clock, milliseconds; the machine's where it was not moved. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly signal: AbortSignal;
  /** The limit of a part: a node, a check of the house, a page of swaps out of the database. */
  readonly partMs?: number;
  /** Until a market that works has seen what the chains show; default: some of its passes. */
  readonly wait?: () => Promise<void>;
  /** Adapters that are there already; default: of `chains`. */
  readonly adapters?: ReadonlyMap<ChainKey, ChainAdapter>;
};

export type Examined = Counted & {
  readonly nodes: number;
  readonly counts: Counts;
  /** The findings beyond the limit, by kind: how many were counted only. */
  readonly untold: Readonly<Record<string, number>>;
};

/** The doctor itself reports the nodes' faults. */
const silentLog = { info: () => {}, warn: () => {} };

/** Reports each finding as it is made. */
export async function examine(
  deps: DoctorDeps,
  wanted: Wanted,
  emit: Add,
  before: readonly Finding[] = [],
): Promise<Examined> {
  const { db, settings, chains, now, signal } = deps;
  const { add, counts, untold } = gather(emit);
  for (const each of before) add(each);
  const parts = createParts(add, signal, deps.partMs ?? partMs);
  const callMs = callLimitMs(settings.chainTimeoutMs, deps.partMs ?? partMs);
  const counted = { open: 0, ended: 0 };
  let nodes = 0;
  if (wanted.nodes) nodes = await examineNodes({ chains, now, callMs, parts, isWhole: true });
  else if (wanted.swap === null) {
    if (db !== null) {
      const house = { ...deps, db, connections: settings.databaseConnections };
      for (const [where, work] of Object.entries(databaseParts)) {
        await parts.run(where, (own) => work(house, own));
      }
    }
    const { home, keeper } = settings;
    const keys = typeof keeper === 'string' ? [] : keeper.map(({ keyFile }) => keyFile);
    await parts.run('the home', (own) => examineHome(home, keys, own));
    nodes = await examineNodes({ chains, now, callMs, parts });
  }
  if (db !== null && !wanted.nodes) {
    const opened: ChainAdapter[] = [];
    for (const each of deps.adapters === undefined ? chains : []) {
      await parts.run(`chain ${each.chain}, its adapter`, () => {
        opened.push(openOne(each, { chainTimeoutMs: callMs }, { now, log: silentLog }).adapter);
      });
    }
    const adapters = deps.adapters ?? new Map(opened.map((each) => [each.chain, each]));
    const reads = createReads({ adapters, callMs, signal });
    const several = new Set(chains.filter((each) => sourcesOf(each).length > 1).map(keyOfChain));
    const suspects = new Map<string, readonly Finding[]>();
    const wait = deps.wait ?? (async () => sleep(settleMs(settings), undefined, { signal }));
    const swaps = { db, adapters, reads, several, now, wait, parts, add, suspects, counted };
    // No limit of its own: each of its pages and each call has one.
    await parts.run('the swaps', (_, own) => examineSwaps({ ...swaps, signal: own }, wanted), null);
    for (const found of suspects.values()) tellOnce(found, add);
    reads.tell(add);
    // One that hangs, or fails to, ends with the process.
    const closing = Promise.allSettled(opened.map((each) => each.close()));
    await Promise.race([closing, sleep(closeMs, undefined, { ref: false })]);
  }
  if (signal.aborted) {
    const left = parts.left();
    const names = left.slice(0, mostNamed).join('; ');
    const says = `its time was over before all was read: ${left.length} parts (${names})`;
    add(unseen('time_over', 'the doctor', says, 'see what holds it up', { left: left.length }));
  }
  return { ...counted, nodes, counts: counts(), untold: untold() };
}

const keyOfChain = ({ chain }: ChainSettings) => chain;

/** How long a market that works may take to see what the chain shows. */
export function settleMs({ followIntervalMs, chainTimeoutMs }: DoctorDeps['settings']): number {
  return Math.min(3 * followIntervalMs + 1_000, chainTimeoutMs + 30_000);
}
