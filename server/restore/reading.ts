// Reads back from the chains what is missing: every hashlock that appears is used for ever, and a
// lane that was used takes its next escrow after that. By one process at a time, page by page, each
// stored with how far it came, so that a crash goes on.

import type { ChainAdapter } from '../../chains/adapter.ts';
import type { HashlockPage } from '../../chains/interface/history.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Family } from '../../core/families.ts';
import {
  dueReadings,
  lockReading,
  openReadings,
  type Reading,
  storeProgress,
  storeTrouble,
  unlockReading,
  useHashlocks,
} from '../db/gaps.ts';
import { raiseLanes } from '../db/lanes.ts';
import type { Deps } from '../ports/deps.ts';

/** One page: some hundred requests. */
export const pageMs = 60_000;
/** Pages of a chain before others have a look at what is due. */
const mostPages = 1_000;
/** Between pages, for whoever else wants the node. */
export const restMs = 20;
const mostTroubleLength = 300;
/**
 * A chain is read when it has shown a block of so long after the gap's end: a node that is behind
 * has none, however new its head looks. The clocks of proposers, sequencers, witnesses and
 * validators are seconds apart, from ours too. Bitcoin's adapter answers for its miners' clocks.
 */
export const afterEndSeconds: Readonly<Record<Family, number>> = {
  bitcoin: 0,
  evm: 60,
  tron: 60,
  solana: 60,
};
/**
 * A stop that is shorter waits for no block of Bitcoin's: an agreement within it, even of a
 * database that is lost, has hardly come as far as to show its hashlock there, where a secret waits
 * for two legs to be deep; and a market that is restarted would agree on nothing for an hour now
 * and then.
 */
export const shortSilenceSeconds = 600;
/**
 * A head that is older is of a node that catches up: it cannot show the blocks that it has not got.
 */
const oldestHeadSeconds: Readonly<Record<Family, number>> = {
  // Its clock is about an hour behind, and blocks may be rare for a while.
  bitcoin: 4 * 3_600,
  evm: 900,
  tron: 900,
  solana: 900,
};

export type Parts = Pick<Deps, 'db' | 'now' | 'log' | 'adapters' | 'settings'>;

/**
 * One round over what is due: each chain up to its head, all of them side by side. True when there
 * is nothing left that holds agreements.
 */
export async function readRound(deps: Parts, signal: AbortSignal): Promise<boolean> {
  const due = await dueReadings(deps.db, new Date(deps.now()));
  if (due.length > 0) {
    const session = await deps.db.session();
    try {
      if (await lockReading(session)) {
        await Promise.all(byChain(due).map((some) => readChain(deps, some, signal)));
        await unlockReading(session);
      }
    } finally {
      session.end();
    }
  }
  return (await openReadings(deps.db)).length === 0;
}

/** The readings of a chain come one after the other. */
function byChain(due: readonly Reading[]): Reading[][] {
  const chains = new Map<string, Reading[]>();
  for (const each of due) chains.set(each.chain, [...(chains.get(each.chain) ?? []), each]);
  return [...chains.values()];
}

async function readChain(deps: Parts, some: readonly Reading[], signal: AbortSignal) {
  for (const reading of some) {
    try {
      await readOne(deps, reading, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { chain } = reading;
      const trouble = (error instanceof Error ? error.message : String(error)).slice(
        0,
        mostTroubleLength,
      );
      if (trouble !== reading.trouble) {
        deps.log.warn({ chain, err: error }, 'a chain could not be read for what is missing');
      }
      await storeTrouble(deps.db, reading, trouble);
    }
  }
}

async function readOne(deps: Parts, begun: Reading, signal: AbortSignal): Promise<void> {
  const { chain, since } = begun;
  const adapter = deps.adapters.get(chain);
  const reader = adapter?.hashlocks;
  if (adapter === undefined || reader === undefined || since === null) {
    const sentence = `the chain ${chain} is not served, or not by an adapter that can read it back`;
    throw new ParleyError('chain_unavailable', sentence, { chain });
  }
  let reading = begun;
  for (let pages = 0; pages < mostPages && !signal.aborted; pages += 1) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(pageMs)]);
    const cursor = reading.cursor ?? (await reader.begin(since, limit));
    const page = await reader.next(cursor, limit);
    if (page.isWhole) await mustBeOfNow(deps, adapter, limit);
    const now = new Date(deps.now());
    const isWhole =
      page.isWhole && (reading.readAt !== null || isShown(deps, adapter, page, begun));
    const next = { cursor: page.cursor, blocksLeft: page.left, isWhole };
    const stored = await deps.db.transaction(async (tx) => {
      const found = await useHashlocks(tx, page.hashlocks, chain, now);
      await raiseLanes(tx, page.lanes ?? [], chain);
      return (await storeProgress(tx, reading, { ...next, found }, now)) ? found : null;
    });
    // Somebody else goes on with it.
    if (stored === null) return;
    if (isWhole && reading.readAt === null) {
      const found = reading.found + stored;
      deps.log.warn({ chain, found }, 'a chain was read for what is missing');
    }
    if (page.isWhole) return;
    reading = { ...reading, cursor: page.cursor, found: reading.found + stored };
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

/** Whether the page's node has shown a block that was made after the gap. */
function isShown(
  { settings }: Parts,
  { family }: ChainAdapter,
  { shownUntil }: HashlockPage,
  { endedAt, silentSeconds }: Reading,
): boolean {
  if (makesItsOwn(settings)) return true;
  const isShort = silentSeconds !== null && silentSeconds < shortSilenceSeconds;
  if (isShort && family === 'bitcoin') return true;
  return shownUntil * 1_000 >= endedAt.getTime() + afterEndSeconds[family] * 1_000;
}

/**
 * A dev chain's one node makes all its blocks, and none where nobody does anything: there is no
 * network that it could be behind, and no time after which it would have one.
 */
function makesItsOwn({ network }: Parts['settings']): boolean {
  return network === 'dev';
}

async function mustBeOfNow({ settings, now }: Parts, adapter: ChainAdapter, signal: AbortSignal) {
  if (makesItsOwn(settings)) return;
  const { chain, family } = adapter;
  const { clock } = await adapter.heads(signal);
  const seconds = Math.floor(now() / 1_000) - clock;
  if (seconds <= oldestHeadSeconds[family]) return;
  const sentence = `the newest block of the ${chain} node is ${seconds} s old: it is catching up`;
  throw new ParleyError('chain_unavailable', sentence, { chain, seconds });
}
