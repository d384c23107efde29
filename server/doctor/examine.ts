// The doctor's whole look at a market: house, nodes, swaps. Reads only, through a database that
// lets it do no more, and ends when its signal does; what was not seen by then is said.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Database } from '../db/database.ts';
import { knownHeads } from '../db/doctor.ts';
import { openOne } from '../ports/chains.ts';
import type { ChainSettings } from '../settings/chains.ts';
import type { Settings } from '../settings/config.ts';
import { type Counts, type Finding, gather, isSilence, unseen } from './findings.ts';
import { heldParts } from './held.ts';
import { databaseParts, examineHome } from './house.ts';
import { countNodes, examineNodes } from './nodes.ts';
import { createParts, type Parts } from './parts.ts';
import { createReads, type Reads } from './reads.ts';
import { callLimitMs } from './silence.ts';
import { createSuspects, type Suspects } from './suspects.ts';
import { examineSwaps, type Looked, type Wanted } from './swaps.ts';

/** Milliseconds. */
export type DoctorLimits = {
  /** Of a part: a node, a check of the house, a page of swaps out of the database. */
  readonly partMs: number;
  /** In which a chain is waited for while swaps are compared, all in all. */
  readonly chainMs: number;
};

/** Unless it is told otherwise: of a part, of the whole look, and what of it a chain may take. */
export const partMs = 60_000;
export const wholeMs = 3_600_000;
export const chainShare = 0.75;
/** In which the adapters close. */
const closeMs = 1_000;
const usualLimits: DoctorLimits = { partMs, chainMs: wholeMs * chainShare };

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
  /** Default: those of a look of `wholeMs`. */
  readonly limits?: DoctorLimits;
  /** Until a market that works has seen what the chains show; default: some of its passes. */
  readonly wait?: () => Promise<void>;
  /** Adapters that are there already; default: of `chains`. */
  readonly adapters?: ReadonlyMap<ChainKey, ChainAdapter>;
};

export type Examined = Looked & {
  readonly nodes: number;
  readonly counts: Counts;
  /** Of findings of which there were too many to tell, by kind. */
  readonly untold: Readonly<Record<string, number>>;
};

/** How long a market that works may take to see what the chain shows. */
function settleMs({ followIntervalMs, chainTimeoutMs }: DoctorDeps['settings']): number {
  return Math.min(3 * followIntervalMs + 1_000, chainTimeoutMs + 30_000);
}

/** Tells each finding as it is made. */
export async function examine(
  given: DoctorDeps,
  wanted: Wanted,
  tell: (finding: Finding) => void,
  before: readonly Finding[] = [],
): Promise<Examined> {
  const findings = gather(tell);
  for (const each of before) findings.add(each);
  const suspects = createSuspects();
  const seen: Seen = { open: 0, ended: 0, nodes: 0, suspects, reads: null };
  const { partMs } = given.limits ?? usualLimits;
  const { db, heard } = listening(given.db);
  const deps = { ...given, db };
  const parts = createParts({ findings, signal: deps.signal, partMs, heard });
  await look(deps, wanted, parts, seen);
  suspects.tellLeft(findings);
  seen.reads?.tell(findings);
  if (deps.signal.aborted) {
    const { count, names } = parts.left();
    const which = count === 0 ? '' : ` (${names})`;
    const says = `its time was over before everything was looked at${which}`;
    const facts = { left: count };
    findings.add(unseen('time_over', 'the doctor', says, 'a longer --time', facts));
  }
  const { open, ended, nodes } = seen;
  return { open, ended, nodes, counts: findings.counts(), untold: findings.untold() };
}

/** The same, with the number of statements that it ended, well or not. */
function listening(db: Database | null): { db: Database | null; heard: () => number } {
  let count = 0;
  if (db === null) return { db, heard: () => count };
  const rows: Database['rows'] = async (statement) => {
    try {
      const answer = await db.rows<never>(statement);
      count += 1;
      return answer;
    } catch (error) {
      if (!isSilence(error)) count += 1;
      throw error;
    }
  };
  return { db: { ...db, rows }, heard: () => count };
}

type Seen = Looked & { nodes: number; readonly suspects: Suspects; reads: Reads | null };

async function look(deps: DoctorDeps, wanted: Wanted, parts: Parts, seen: Seen): Promise<void> {
  const { db, settings, signal } = deps;
  const waitMs = settleMs(settings);
  const wait = deps.wait ?? (async () => void (await sleep(waitMs, undefined, { signal })));
  if (wanted.swap === null) {
    await lookAtHouse(deps, parts);
    const { chains, now } = deps;
    const { partMs } = deps.limits ?? usualLimits;
    const chainTimeoutMs = callLimitMs(settings.chainTimeoutMs, partMs);
    const known = async () => (db === null ? null : knownHeads(db));
    seen.nodes = countNodes(chains);
    await examineNodes({ chains, now, chainTimeoutMs, known, wait, waitMs, parts, partMs });
  }
  if (db === null) return;
  await lookAtSwaps({ ...deps, db, wait }, wanted, parts, seen);
}

async function lookAtHouse({ db, settings, now, wall }: DoctorDeps, parts: Parts): Promise<void> {
  if (db !== null) {
    const house = { db, now, wall, connections: settings.databaseConnections };
    for (const [where, work] of Object.entries(databaseParts)) {
      await parts.ask(where, (findings) => work(house, findings));
    }
    for (const [where, work] of Object.entries(heldParts)) {
      await parts.ask(where, (findings) => work(db, new Date(now()), findings));
    }
  }
  const keys =
    typeof settings.keeper === 'string' ? [] : settings.keeper.map(({ keyFile }) => keyFile);
  await parts.run('the home', (findings) => examineHome(settings.home, keys, findings));
}

type Ready = DoctorDeps & { readonly db: Database; readonly wait: () => Promise<void> };

async function lookAtSwaps(deps: Ready, wanted: Wanted, parts: Parts, seen: Seen): Promise<void> {
  const { chains, settings, now } = deps;
  const { chainMs, partMs } = deps.limits ?? usualLimits;
  const log = { info: () => {}, warn: () => {} };
  const several = new Set(chains.filter(hasSeveral).map(({ chain }) => chain));
  const chainTimeoutMs = callLimitMs(settings.chainTimeoutMs, partMs);
  const opened: ChainAdapter[] = [];
  if (deps.adapters === undefined) {
    for (const each of chains) {
      await parts.run(`chain ${each.chain}, its adapter`, () => {
        opened.push(openOne(each, { chainTimeoutMs }, { now, log }).adapter);
      });
    }
  }
  const adapters = deps.adapters ?? new Map(opened.map((each) => [each.chain, each]));
  const { suspects } = seen;
  const reads = createReads({ adapters, chainTimeoutMs, chainMs, signal: deps.signal });
  seen.reads = reads;
  const swaps = { ...deps, adapters, several, reads, parts, suspects };
  // No limit of its own: each of its pages and each of its chains has one.
  await parts.run(
    'the swaps',
    (findings, signal) => examineSwaps({ ...swaps, signal }, wanted, findings, seen),
    null,
  );
  // Whatever became of the look: one that hangs, or fails to, ends with the process.
  const closing = Promise.allSettled(opened.map((each) => each.close()));
  await Promise.race([closing, sleep(closeMs, undefined, { ref: false })]);
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
