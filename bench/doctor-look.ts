// One look of the doctor in a process of its own, its memory measured while it goes on. The chains
// are stubs that answer at once: every escrow is empty as it is stored, or funded as nobody stored.

import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChainAdapter } from '../chains/adapter.ts';
import type { WatchedEscrow } from '../chains/interface/reading.ts';
import { type EscrowFacts, nothingSeen } from '../core/facts.ts';
import type { EscrowTerms } from '../core/terms.ts';
import { connect, databaseLimits } from '../server/db/database.ts';
import { examine } from '../server/doctor/examine.ts';
import { nodelessAdapters } from '../server/settle/testing/rows.ts';
import { answerQuestions } from './children.ts';

type Look = {
  readonly url: string;
  /** The market's clock, milliseconds. */
  readonly now: number;
  readonly isDiffering: boolean;
  readonly swaps: number;
};

/** Live heap and resident memory at most, MiB; differences that were found. */
export type Looked = {
  readonly seconds: number;
  /** Processor time of this process, without the database's. */
  readonly busy: number;
  readonly heap: number;
  readonly resident: number;
  readonly found: number;
};

const warmSwaps = 500;
/** Reads of chains between two readings of the heap. */
const readsApart = 2_000;
const limits = { chainTimeoutMs: 5_000, followIntervalMs: 1_000, databaseConnections: 1 };

async function look({ url, now, isDiffering, swaps }: Look): Promise<Looked> {
  let heap = 0;
  let reads = 0;
  const weigh = () => {
    globalThis.gc?.();
    heap = Math.max(heap, process.memoryUsage().heapUsed / 2 ** 20);
  };
  const facts = (amount: bigint): EscrowFacts => {
    const funded = { txid: 'ab'.repeat(32), confirmations: 100, deep: true };
    return { ...nothingSeen, funded, balance: amount, empty: false };
  };
  const stubs = stubChains().map((each): ChainAdapter => {
    return {
      ...each,
      look: async (escrows) => {
        reads += 1;
        if (reads % readsApart === 0) weigh();
        const heads = { height: 1_000, hash: '', clock: Math.floor(now / 1_000) };
        const shown = ({ terms }: WatchedEscrow) =>
          isDiffering ? facts(terms.amount) : nothingSeen;
        return { heads, facts: escrows.map(shown) };
      },
    };
  });
  const home = await mkdtemp(join(tmpdir(), 'parley-doctor-'));
  const db = connect(url, { ...databaseLimits, connections: 4, readOnly: true });
  const deps = {
    settings: { ...limits, home, keeper: 'dev' },
    db,
    chains: [],
    now: () => now,
    wall: Date.now,
    signal: new AbortController().signal,
    // A constant that is nobody's to measure.
    wait: async () => {},
    adapters: new Map(stubs.map((each) => [each.chain, each])),
  } as const;
  const wanted = { swap: null, all: false };
  try {
    await examine(deps, { ...wanted, limit: warmSwaps }, () => {});
    heap = 0;
    const began = performance.now();
    const before = process.cpuUsage();
    const { counts, untold } = await examine(deps, { ...wanted, limit: swaps }, (each) => {
      if (each.what === 'part_time' || each.what === 'ended') throw new Error(each.says);
    });
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(before);
    const busy = (user + system) / 1_000_000;
    weigh();
    const resident = process.resourceUsage().maxRSS / 1_024;
    const found = untold.status_behind === undefined ? counts.differs : untold.status_behind + 100;
    return { seconds, busy, heap, resident, found };
  } finally {
    await db.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Real policies; escrows are hashes of their terms: neither nodes nor keys are measured. */
export function stubChains(): ChainAdapter[] {
  return nodelessAdapters().map((each) => ({ ...each, plan, watch: () => {}, unwatch: () => {} }));
}

function plan({ chain, hashlock, payout, refund, amount, timelock }: EscrowTerms) {
  const to = [payout.address, refund.address];
  const text = JSON.stringify([chain, hashlock, ...to, String(amount), timelock]);
  return { address: `escrow-${hash('sha256', text)}`, redeemScript: null };
}

export const answers = { look };

if (import.meta.main) answerQuestions(answers);
