// The doctor's look at the house, the nodes and the oldest open swaps, for as long as somebody has
// the operator's page open. It costs nodes some calls, so that one look serves all who ask.

import { setTimeout as sleep } from 'node:timers/promises';
import { connect, databaseLimits } from '../db/database.ts';
import { examine, settleMs } from '../doctor/examine.ts';
import { exitStatus, type Finding } from '../doctor/findings.ts';
import type { Deps } from '../ports/deps.ts';
import type { ChainSettings } from '../settings/chains.ts';

/** A look is as old as that before the next one begins: sooner where somebody mends something. */
const againMs = { isWell: 120_000, isNot: 30_000 } as const;
const wholeMs = 180_000;
const partMs = 60_000;
const connections = 2;
/** A difference is read again after that at least: a market on a busy machine is behind for longer. */
const leastWaitMs = 10_000;
/** Each costs its chains' nodes a few calls. `ops doctor` compares all. */
export const mostSwaps = { open: 200, ended: 0 } as const;

export type Look = {
  readonly findings: readonly Finding[];
  /** As the command's exit status: 0 is all well. */
  readonly status: number;
  readonly swaps: number;
  readonly nodes: number;
  /** Findings that were counted and not kept. */
  readonly untold: number;
  /** By this machine's clock: dev networks move the market's. */
  readonly endedAtMs: number;
  /** The next one begins so long after it, while somebody asks. */
  readonly againMs: number;
};

export type Checkup = {
  /** The last look, and null before there was one. Begins the next where it is time. */
  latest(): Look | null;
  stop(): Promise<void>;
};

export type CheckupDeps = Pick<Deps, 'settings' | 'now' | 'log'> & {
  readonly chains: readonly ChainSettings[];
  /** Each look has a session of its own, which lets nothing be written. */
  readonly databaseUrl: string;
  /** Until a difference is read again. */
  readonly wait?: (signal: AbortSignal) => Promise<void>;
};

/** `clock`: milliseconds, monotonic. */
export function createCheckup(deps: CheckupDeps, clock = () => performance.now()): Checkup {
  const stopping = new AbortController();
  let last: Look | null = null;
  let endedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  const run = async () => {
    try {
      last = await look(deps, stopping.signal);
    } catch (err) {
      if (!stopping.signal.aborted) deps.log.warn({ err }, 'the doctor’s look ended half-way');
    } finally {
      endedAt = clock();
      running = null;
    }
  };
  return {
    latest: () => {
      const isDue = clock() - endedAt >= (last?.againMs ?? againMs.isNot);
      if (isDue && !stopping.signal.aborted) running ??= run();
      return last;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const patience =
  (settings: CheckupDeps['settings']) =>
  async (signal: AbortSignal): Promise<void> => {
    await sleep(Math.max(leastWaitMs, settleMs(settings)), undefined, { signal });
  };

async function look(deps: CheckupDeps, stopping: AbortSignal): Promise<Look> {
  const { settings, chains, now } = deps;
  const findings: Finding[] = [];
  const db = connect(deps.databaseUrl, { ...databaseLimits, connections, readOnly: true });
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(wholeMs)]);
    const wanted = { swap: null, nodes: false, all: false, most: mostSwaps };
    const wait = () => (deps.wait ?? patience(settings))(signal);
    const own = { settings, db, chains, now, wall: Date.now, signal, partMs, wait };
    const examined = await examine(own, wanted, (each) => void findings.push(each));
    const status = exitStatus(examined.counts);
    return {
      findings,
      status,
      swaps: examined.open,
      nodes: examined.nodes,
      untold: Object.values(examined.untold).reduce((sum, each) => sum + each, 0),
      endedAtMs: Date.now(),
      againMs: status === 0 ? againMs.isWell : againMs.isNot,
    };
  } finally {
    await db.close().catch(() => {});
  }
}
