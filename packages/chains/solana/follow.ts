// The transactions of the escrow program from the last finalized one on, failed ones too. Work
// grows with them, not with the escrows. The history of each escrow has the missed ones (read.ts).

import type { Changes, Heads } from '../interface/reading.ts';
import { dueAgain } from './history.ts';
import {
  chainClock,
  firstBlock,
  isForgotten,
  latestBlockhash,
  type Signature,
  signaturesOf,
  slotAt,
} from './node.ts';
import { readTransactions, signaturesAbove } from './program.ts';
import { blockhashAge } from './read.ts';
import type { Watch } from './watch.ts';

async function headsOf({ rpc }: Watch, signal: AbortSignal): Promise<Heads & { slot: number }> {
  const { slot, blockhash, lastValidBlockHeight } = await latestBlockhash(rpc, 'confirmed', signal);
  const clock = await chainClock(rpc, signal);
  return { height: lastValidBlockHeight - blockhashAge, hash: blockhash, clock, slot };
}

/** One caller at a time. The findings before a failure are kept for the next call. */
export async function changes(watch: Watch, signal: AbortSignal): Promise<Changes> {
  const { slot, ...shown } = await headsOf(watch, signal);
  const finalized = await slotAt(watch.rpc, 'finalized', signal);
  if (watch.isFollowing) await advance(watch, signal);
  else await start(watch, signal);
  if (slot !== watch.headSlot) comeToDepth(watch, finalized);
  watch.headSlot = slot;
  reportAll(watch);
  for (const address of dueAgain(watch)) watch.owed.add(address);
  const touched = [...watch.owed];
  watch.owed.clear();
  return { touched, heads: shown };
}

/** From the last finalized one. Every escrow is owed since it is watched, so nobody is left out. */
async function start(watch: Watch, signal: AbortSignal): Promise<void> {
  const range = { until: null, before: null };
  const list = await signaturesOf(watch.rpc, watch.deployment.program, range, signal);
  watch.cursor = list.find(({ finalized }) => finalized) ?? null;
  watch.recent.clear();
  watch.isFollowing = true;
}

/** The transactions between its oldest block and what was read are nowhere on this node. */
async function beginAnew(watch: Watch, signal: AbortSignal): Promise<void> {
  const { slot: oldest } = await firstBlock(watch.rpc, signal);
  const read = watch.cursor?.slot ?? oldest;
  const facts = { chain: watch.chain, read, oldest };
  watch.log(oldest > read ? 'transactions_pruned' : 'begun_anew', facts);
  watch.leftOut = true;
  return start(watch, signal);
}

async function advance(watch: Watch, signal: AbortSignal): Promise<void> {
  const above = signaturesAbove(watch, watch.cursor?.txid ?? null, signal);
  const listed = await above.catch((error: unknown) => {
    if (isForgotten(error)) return null;
    throw error;
  });
  if (listed === null) return beginAnew(watch, signal);
  if (!listed.isWhole) {
    watch.log('far_behind', { chain: watch.chain, transactions: listed.list.length });
    watch.isFollowing = false;
    watch.leftOut = true;
    return start(watch, signal);
  }
  await takeAll(watch, listed.list, signal);
}

async function takeAll(watch: Watch, list: readonly Signature[], signal: AbortSignal) {
  const listed = new Set(list.map(({ txid }) => txid));
  let gone = 0;
  for (const [txid, touched] of watch.recent) {
    if (listed.has(txid)) continue;
    gone += 1;
    watch.recent.delete(txid);
    for (const address of touched) watch.owed.add(address);
  }
  if (gone > 0) watch.log('reorganised', { chain: watch.chain, transactions: gone });
  const fresh = list.filter(({ txid }) => !watch.recent.has(txid)).reverse();
  const slots = new Map(fresh.map(({ txid, slot }) => [txid, slot]));
  const all = await readTransactions(watch, fresh, signal, (txid, touched) => {
    watch.recent.set(txid, touched);
    const slot = slots.get(txid) ?? 0;
    for (const address of touched) {
      watch.owed.add(address);
      watch.shallow.set(address, Math.max(slot, watch.shallow.get(address) ?? 0));
    }
  });
  if (!all) return;
  const final = list.findIndex(({ finalized }) => finalized);
  if (final === -1) return;
  watch.cursor = list[final] ?? watch.cursor;
  for (const { txid } of list.slice(final)) watch.recent.delete(txid);
}

/** Between two reports of everybody, which a stranger's transaction of a cent may ask for. */
const reportEverySeconds = 60;

/** Whom a transaction that was left out touched is not known: everybody is looked at again. */
function reportAll(watch: Watch): void {
  const since = watch.now() - watch.reportedAllAt;
  if (!watch.leftOut || (since >= 0 && since < reportEverySeconds)) return;
  watch.leftOut = false;
  watch.reportedAllAt = watch.now();
  for (const address of watch.known.keys()) watch.owed.add(address);
}

/** Reports again whatever is on its way to its depth, at every new head until it is there. */
function comeToDepth(watch: Watch, finalized: number): void {
  for (const [address, slot] of [...watch.shallow]) {
    if (watch.known.has(address)) watch.owed.add(address);
    if (slot <= finalized) watch.shallow.delete(address);
  }
}
