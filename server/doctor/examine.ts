// The doctor's whole look at a market: house, nodes, swaps. Reads only, through a database that
// lets it do no more, and ends when its signal does; what was not seen by then is said.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { ChainKey } from '../../core/families.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { openOne } from '../chains.ts';
import type { Settings } from '../config.ts';
import type { Database } from '../db/database.ts';
import { knownHeads } from '../db/doctor.ts';
import { attempt, type Counts, type Finding, gather, unseen } from './findings.ts';
import { examineHeld } from './held.ts';
import { examineDatabase, examineHome } from './house.ts';
import { examineNodes } from './nodes.ts';
import { examineSwaps, type Looked, type Wanted } from './swaps.ts';

export type DoctorDeps = {
  readonly settings: Pick<
    Settings,
    'home' | 'chainTimeoutMs' | 'followIntervalMs' | 'databaseConnections' | 'keeper'
  >;
  /** Null: it could not be had, and why was told. */
  readonly db: Database | null;
  readonly chains: readonly ChainSettings[];
  /** The market's clock, milliseconds; the machine's where it was not moved. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly signal: AbortSignal;
  /** Until a market that works has seen what the chains show; default: some of its passes. */
  readonly wait?: () => Promise<void>;
  /** Adapters that are there already; default: of `chains`. */
  readonly adapters?: ReadonlyMap<ChainKey, ChainAdapter>;
};

export type Examined = Looked & { readonly nodes: number; readonly counts: Counts };

/** How long a market that works may take to see what the chain shows. */
function settleMs({ followIntervalMs, chainTimeoutMs }: DoctorDeps['settings']): number {
  return Math.min(3 * followIntervalMs + 1_000, chainTimeoutMs + 30_000);
}

/** Tells each finding as it is made. */
export async function examine(
  deps: DoctorDeps,
  wanted: Wanted,
  tell: (finding: Finding) => void,
  before: readonly Finding[] = [],
): Promise<Examined> {
  const findings = gather(tell);
  for (const each of before) findings.add(each);
  const seen = { open: 0, ended: 0, nodes: 0 };
  await look(deps, wanted, findings, seen);
  if (deps.signal.aborted) {
    const says = 'its time was over before everything was looked at';
    findings.add(unseen('time_over', 'the doctor', says, 'a longer --time', {}));
  }
  return { ...seen, counts: findings.counts() };
}

async function look(
  deps: DoctorDeps,
  wanted: Wanted,
  findings: ReturnType<typeof gather>,
  seen: { open: number; ended: number; nodes: number },
): Promise<void> {
  const { db, chains, settings, now, wall, signal } = deps;
  const { chainTimeoutMs } = settings;
  const passes = async () => void (await sleep(settleMs(settings), undefined, { signal }));
  const wait = deps.wait ?? passes;
  const part = async (where: string, work: () => Promise<void>) => {
    if (!signal.aborted) await attempt(where, findings, work, signal);
  };
  if (wanted.swap === null) {
    const house = { now, wall, connections: settings.databaseConnections };
    if (db !== null) {
      await part('the database', () => examineDatabase({ ...house, db }, findings));
      await part('what is held', () => examineHeld(db, new Date(now()), findings));
    }
    const keys = settings.keeper === 'dev' ? [] : settings.keeper.map(({ keyFile }) => keyFile);
    await part('the home', () => examineHome(settings.home, keys, findings));
    const known = async () => (db === null ? [] : knownHeads(db));
    const nodes = { chains, now, chainTimeoutMs, known, wait, signal };
    await part('the nodes', async () => {
      seen.nodes = await examineNodes(nodes, findings);
    });
  }
  if (db === null) return;
  const log = { info: () => {}, warn: () => {} };
  const several = new Set(chains.filter(hasSeveral).map(({ chain }) => chain));
  await part('the swaps', async () => {
    const own = chains.map((each) => openOne(each, settings, { now, log }).adapter);
    const adapters = deps.adapters ?? new Map(own.map((each) => [each.chain, each]));
    try {
      const swaps = { db, adapters, several, now, chainTimeoutMs, wait, signal };
      Object.assign(seen, await examineSwaps(swaps, wanted, findings));
    } finally {
      await Promise.all(own.map((each) => each.close()));
    }
  });
}

function hasSeveral(chain: ChainSettings): boolean {
  switch (chain.family) {
    case 'bitcoin':
      return chain.second !== undefined;
    case 'evm':
    case 'solana':
      return chain.rpcUrls.length > 1;
    case 'tron':
      return chain.sources.length > 1;
  }
}
