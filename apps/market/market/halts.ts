// The kill switch: an operator halts a chain or an asset. From the commit on no RFQ that touches it
// is posted, quoted or agreed; its RFQs leave the book with their status unchanged and come back
// with it. Swaps that were agreed go on in every part, funding included. It is in the database, so
// that it holds in every process and across restarts; a transaction that agrees shares the locks
// taken here.

import type { ChainKey } from '@parley/core/families.ts';
import type { Tx } from '../db/database.ts';
import {
  type Closing,
  countHaltedAssets,
  dropHalt,
  findHalt,
  type Halt,
  listHalts,
  lockChain,
  setChainClosing,
  storeHalt,
  withOrders,
} from '../db/halts.ts';

import { lockListings } from '../db/listing.ts';
import { notifyWork } from '../db/work.ts';
import type { Deps } from '../ports/deps.ts';
import { type Service, service } from '../ports/service.ts';
import { type Changed, closeAsset, reopenAsset, tellOrders } from './listing.ts';

type ChangedChain = {
  readonly changed: boolean;
  /** Assets of the chain. */
  readonly assets: number;
  /** RFQs that left the book or came back to it. */
  readonly orders: number;
};

/** A chain: its assets now, and those that are listed while it is halted. */
export async function haltChain(tx: Tx, halt: Halt): Promise<ChangedChain> {
  const { chain, reason, at } = halt;
  await lockListings(tx);
  const before = await findHalt(tx, chain);
  if (before?.reason === reason) return { changed: false, assets: 0, orders: 0 };
  await lockChain(tx, chain);
  // Another reason does not make it a later halt.
  const since = before?.at ?? at;
  await storeHalt(tx, { ...halt, at: since });
  await notifyWork(tx, 'halts');
  return turn(tx, chain, { reasons: [reason], at: since.toISOString() }, at);
}

/** Other closings of its assets stay. */
export async function resumeChain(tx: Tx, chain: ChainKey, at: Date): Promise<ChangedChain> {
  await lockListings(tx);
  if ((await findHalt(tx, chain)) === null) return { changed: false, assets: 0, orders: 0 };
  await lockChain(tx, chain);
  await dropHalt(tx, chain);
  await notifyWork(tx, 'halts');
  return turn(tx, chain, null, at);
}

/** One asset, a native coin too. */
export async function haltAsset(
  tx: Tx,
  assetId: string,
  { reason, at }: Pick<Halt, 'reason' | 'at'>,
): Promise<Changed> {
  await notifyWork(tx, 'halts');
  return closeAsset(tx, { assetId, by: 'halt', at, reasons: [reason] });
}

export async function resumeAsset(tx: Tx, assetId: string, at: Date): Promise<Changed> {
  await notifyWork(tx, 'halts');
  return reopenAsset(tx, { assetId, by: 'halt', at });
}

async function turn(
  tx: Tx,
  chain: ChainKey,
  closing: Closing | null,
  at: Date,
): Promise<ChangedChain> {
  const { assets, turned } = await setChainClosing(tx, chain, closing);
  const kind = closing === null ? 'created' : 'cancelled';
  let orders = 0;
  // The other side of an RFQ is on another chain: each RFQ is emitted once.
  for (const side of ['base', 'quote'] as const) {
    for (const id of await withOrders[side](tx, turned)) {
      orders += await tellOrders(tx, kind, side, id, at);
    }
  }
  return { changed: true, assets, orders };
}

/** Tells the log and the metrics of this process what is halted; no other part waits for it. */
export function createHaltsWatch(
  deps: Pick<Deps, 'db' | 'log' | 'metrics' | 'randomBytes'>,
): Service {
  let known = new Map<ChainKey, string>();
  const pass = async () => {
    const [halts, assets] = await Promise.all([listHalts(deps.db), countHaltedAssets(deps.db)]);
    known = tellHalts(deps, known, halts);
    deps.metrics.haltedAssets.set(assets);
    return undefined;
  };
  return service(deps, { name: 'halts', pass, wokenBy: ['halts'] });
}

/** The changes since the last pass; returns what is halted now. */
function tellHalts(
  { log, metrics }: Pick<Deps, 'log' | 'metrics'>,
  known: ReadonlyMap<ChainKey, string>,
  halts: readonly Halt[],
): Map<ChainKey, string> {
  const now = new Map(halts.map(({ chain, reason }) => [chain, reason]));
  for (const { chain, reason, at } of halts) {
    if (known.get(chain) === reason) continue;
    metrics.haltedChains.set({ chain }, 1);
    log.warn({ chain, reason, since: at.toISOString() }, 'a chain is halted by an operator');
  }
  for (const chain of known.keys()) {
    if (now.has(chain)) continue;
    metrics.haltedChains.set({ chain }, 0);
    log.info({ chain }, 'a chain was resumed by an operator');
  }
  return now;
}
