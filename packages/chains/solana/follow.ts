// The transactions of the escrow program from the last finalized one on, failed ones too, read in
// order, several at once. A late one is asked for beside, and at last left out: the escrows that it
// touched are then unknown (`watch.leftOut`). Work grows with the transactions, not with the
// escrows. The history of each escrow has the missed ones (read.ts).

import type { Changes, Heads } from '../interface/reading.ts';
import { dueAgain } from './history.ts';
import { endsWithin, lateTransaction } from './late.ts';
import {
  chainClock,
  firstBlock,
  isForgotten,
  latestBlockhash,
  type Signature,
  signaturesOf,
  signaturesPage,
  slotAt,
  transactionOf,
} from './node.ts';
import { blockhashBlocks } from './policy.ts';
import { takeOrSkip, type Watch } from './watch.ts';

async function headsOf({ rpc }: Watch, signal: AbortSignal): Promise<Heads & { slot: number }> {
  const { slot, blockhash, lastValidBlockHeight } = await latestBlockhash(rpc, 'confirmed', signal);
  const clock = await chainClock(rpc, signal);
  return { height: lastValidBlockHeight - blockhashBlocks, hash: blockhash, clock, slot };
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

/** In one read. */
const mostPages = 5;
const mostTransactions = 1_000;
const atOnce = 8;
const oneMs = 2_000;
const mostAsking = 8;
const graceMs = 250;
/** A transaction that does not come is left out after it; so is what so many reads do not reach. */
const patienceSeconds = 30;
/** No further ones are begun after this: the findings must be reported. */
const programMs = 10_000;

/** All signatures of the program above a cursor, newest first. */
async function signaturesAbove(
  watch: Watch,
  until: string | null,
  signal: AbortSignal,
): Promise<{ readonly list: readonly Signature[]; readonly isWhole: boolean }> {
  const { program } = watch.deployment;
  const all: Signature[] = [];
  for (let page = 0; page < mostPages; page++) {
    const before = all.at(-1)?.txid ?? null;
    const more = await signaturesOf(watch.rpc, program, { until, before }, signal);
    all.push(...more);
    if (more.length < signaturesPage) return { list: all, isWhole: true };
  }
  return { list: all, isWhole: false };
}

type Took = (txid: string, touched: ReadonlySet<string>) => void;

/** As many as one poll reads; whether all of them are done with. */
async function readTransactions(
  watch: Watch,
  list: readonly Signature[],
  signal: AbortSignal,
  took: Took,
): Promise<boolean> {
  const until = performance.now() + programMs;
  const listed = new Set(list.map(({ txid }) => txid));
  for (const txid of watch.missing.keys()) if (!listed.has(txid)) watch.missing.delete(txid);
  const isNew = ({ txid }: Signature) => !watch.missing.has(txid);
  // Overdue ones come last, unless they are being asked for anyway.
  const late = list.filter((each) => !isNew(each));
  const order = [...list.filter(isNew), ...late.filter(({ txid }) => !watch.asking.has(txid))];
  const part = order.slice(0, mostTransactions);
  let begun = 0;
  const readOn = async () => {
    while (!signal.aborted && performance.now() < until) {
      const txid = part[begun]?.txid;
      if (txid === undefined) return;
      begun += 1;
      const soon = AbortSignal.any([signal, AbortSignal.timeout(oneMs)]);
      const transaction = await transactionOf(watch.rpc, txid, soon);
      if (transaction !== null) end(watch, txid, takeOrSkip(watch, transaction), took);
      else if (!watch.missing.has(txid)) watch.missing.set(txid, watch.now());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, readOn));
  await askBeside(watch, took);
  for (const { txid } of list) {
    if (watch.missing.has(txid) && !isPatient(watch, txid)) end(watch, txid, null, took);
  }
  fallBehind(watch, begun < order.length);
  return begun === order.length && watch.missing.size === 0;
}

/** Done with, for better or worse. */
function end(watch: Watch, txid: string, touched: ReadonlySet<string> | null, took: Took): void {
  watch.missing.delete(txid);
  if (touched === null) watch.leftOut = true;
  took(txid, touched ?? new Set());
}

/** Each is taken whenever it comes, also when it was left out before. */
async function askBeside(watch: Watch, took: Took): Promise<void> {
  const { missing, asking } = watch;
  const wanted = [...missing.keys()].filter((txid) => !asking.has(txid));
  const begun = wanted.slice(0, Math.max(0, mostAsking - asking.size)).map(async (txid) => {
    asking.add(txid);
    const transaction = await lateTransaction(watch, txid);
    asking.delete(txid);
    if (transaction === null) return;
    const touched = takeOrSkip(watch, transaction);
    if (missing.has(txid)) end(watch, txid, touched, took);
    else for (const address of touched ?? []) watch.owed.add(address);
  });
  if (begun.length > 0) await endsWithin(Promise.all(begun), graceMs, watch.closed.signal);
}

function isPatient(watch: Watch, txid: string): boolean {
  const now = watch.now();
  const since = Math.min(now, watch.missing.get(txid) ?? now);
  watch.missing.set(txid, since);
  if (now - since < patienceSeconds) return true;
  watch.log('transaction_missing', { chain: watch.chain, txid });
  return false;
}

/** Whom the rest touched is not known for too long by then. */
function fallBehind(watch: Watch, isBehind: boolean): void {
  const now = watch.now();
  const since = isBehind ? Math.min(now, watch.behindSince ?? now) : null;
  watch.behindSince = since;
  if (since === null || now - since < patienceSeconds) return;
  watch.leftOut = true;
  watch.behindSince = now;
}
