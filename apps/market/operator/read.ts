// All that the page shows of a moment. The metrics are those of a scrape; other figures come out
// of the database, on one connection and with a limit of time. An unreadable part is null, and the
// page says so: an old figure looks like a market that works.

import { type Family, factsOf } from '@parley/core/families.ts';
import { within } from '@parley/host/within.ts';
import { type Waits, waiting } from '../db/doctor.ts';
import { limitFigures } from '../db/gauges.ts';
import { listHalts } from '../db/halts.ts';
import { peopleTopics } from '../db/messages.ts';
import * as rows from '../db/operator.ts';
import { version } from '../db/version.ts';
import { keeperFailures } from '../doctor/house.ts';
import type { Deps } from '../ports/deps.ts';
import { createMoments } from '../ports/moments.ts';
import type { Look } from './checkup.ts';
import { mostOfAStep, soonest } from './deadlines.ts';
import { type Figures, readFigures } from './figures.ts';
import { reckonedBy } from './gas.ts';
import type { Minute } from './traffic.ts';

/** However many have the page open. */
const keptMs = 2_000;
const storedMs = 2_000;
/** The steps that are due for less are on their way (gauges.ts). */
const graceSeconds = 60;
const mostOverdue = 5;

export type Waiting = { readonly of: Waits; readonly count: number; readonly oldest: number };

export type Stored = {
  readonly deadlines: readonly rows.Deadline[];
  /** Amounts of the listed ones. */
  readonly amounts: readonly rows.LegAmount[];
  readonly overdue: readonly rows.OverdueSwap[];
  readonly waiting: readonly Waiting[];
  readonly halts: readonly { readonly chain: string; readonly reason: string; readonly at: Date }[];
  readonly gas: readonly rows.GasPaid[];
  readonly coins: readonly rows.NativeCoin[];
};

export type Seen = {
  /** The market's clock. */
  readonly nowMs: number;
  /** This machine's, by which the process began. */
  readonly wallMs: number;
  readonly product: string;
  readonly network: string;
  readonly version: string;
  readonly chains: readonly { readonly chain: string; readonly family: Family }[];
  readonly figures: Figures;
  /** Null: the database did not answer in time. */
  readonly stored: Stored | null;
  /** Null: this process answers no requests. */
  readonly traffic: readonly Minute[] | null;
  readonly look: Look | null;
  /** Whether gas keys are with another process. */
  readonly isKeeperApart: boolean;
};

export type Needs = Pick<Deps, 'db' | 'adapters' | 'settings' | 'now' | 'metrics'>;
export type Beside = {
  /** Reads the figures of the market anew (start/gauges.ts). */
  readonly refresh: () => Promise<void>;
  readonly traffic: () => readonly Minute[] | null;
  readonly look: () => Look | null;
};

export function createReading(deps: Needs, beside: Beside): () => Promise<Seen> {
  const kept = createMoments<Seen>(keptMs, 1);
  return () => kept.of('', () => readAll(deps, beside));
}

async function readAll(deps: Needs, { refresh, traffic, look }: Beside): Promise<Seen> {
  const { settings, metrics, adapters } = deps;
  await refresh();
  const nowMs = deps.now();
  const stored = await within(
    storedMs,
    readStored(deps, nowMs).catch(() => null),
    null,
  );
  return {
    nowMs,
    wallMs: Date.now(),
    product: settings.productName,
    network: settings.network,
    version,
    chains: [...adapters.values()].map(({ chain, family }) => ({ chain, family })),
    figures: await readFigures(metrics.registry, metrics.shortName),
    stored,
    traffic: traffic(),
    look: look(),
    isKeeperApart: settings.keeper === 'apart',
  };
}

function readStored({ db, adapters }: Needs, nowMs: number): Promise<Stored> {
  const now = Math.floor(nowMs / 1_000);
  const chains = [...adapters.keys()];
  const about = { people: peopleTopics, failures: keeperFailures };
  return db.transaction(async (tx) => {
    await limitFigures(tx, String(storedMs));
    const deadlines = await rows.deadlinesAhead(tx, now, chains, mostOfAStep);
    const listed = soonest(deadlines).map(({ swapId }) => swapId);
    return {
      deadlines,
      amounts: await rows.legAmounts(tx, listed),
      overdue: await rows.overdueSwaps(tx, now - graceSeconds, mostOverdue),
      waiting: await waiting(tx, new Date(nowMs), about),
      halts: await listHalts(tx),
      gas: await rows.gasPaid(tx, chains, reckonedBy),
      coins: await rows.nativeCoins(tx, chains),
    };
  });
}

/** By chain; the family's own where the settings name none. */
export function coinsOf({ chains, stored }: Seen) {
  return new Map(
    chains.map(({ chain, family }) => {
      const named = stored?.coins.find((each) => each.chain === chain);
      return [chain, named ?? factsOf[family].coin] as const;
    }),
  );
}
