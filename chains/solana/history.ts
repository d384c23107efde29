// The transactions of an escrow: who made what its account shows, and its secret. Anybody can name
// an escrow in as many transactions as he likes, for little each: long lists are read in parts, a
// bounded part at a time and every part in the end, what cannot be read is left out, and nothing
// here fails or holds up what the account says.

import { once } from '../sources.ts';
import {
  type Signature,
  signaturesOf,
  signaturesPage,
  type Transaction,
  transactionOf,
  type Unreadable,
} from './node.ts';
import type { EscrowState } from './state.ts';
import { type History, type Known, take, type Watch } from './watch.ts';

/** In one call, of one escrow or of the program. */
const mostPages = 5;
const mostTransactions = 1_000;
const historyMs = 4_000;
/** While the account is open or missing, and nothing in its history decides. */
const openHistoryMs = 500;
/** For transactions that were not given at first; nobody waits for them. */
const lateMs = 30_000;
/** For one transaction of the program. */
const oneMs = 2_000;
const batch = 8;
/** Parts of a list kept apart; beyond, two become one and what lies between is read again. */
const mostGaps = 100;
const mostMissing = 256;
const longestPauseSeconds = 60;

export async function tellHistory(
  watch: Watch,
  known: Known,
  shown: EscrowState['status'] | null,
  signal: AbortSignal,
): Promise<void> {
  const { history } = known;
  history.looking ??= look(watch, known, shown, signal).finally(() => {
    history.looking = null;
  });
  await history.looking;
}

async function look(
  watch: Watch,
  known: Known,
  shown: EscrowState['status'] | null,
  signal: AbortSignal,
): Promise<void> {
  const { watched, history } = known;
  if (isTold(watch, known, shown)) {
    watch.unread.delete(watched.address);
    return;
  }
  const most = shown === null || shown === 'open' ? openHistoryMs : historyMs;
  const soon = AbortSignal.any([signal, AbortSignal.timeout(most)]);
  let failed = false;
  try {
    await readHistory(watch, known, soon);
  } catch (error) {
    failed = true;
    const { chain } = watch;
    once(watch, 'history_unread', { chain, escrow: watched.address, why: String(error) });
  }
  const isClaimed = shown === 'claimed';
  history.lacks = isClaimed && !watch.secrets.has(watched.terms.hashlock);
  const { gaps, missing, lacks } = history;
  if (failed || lacks || gaps.length > 0 || missing.size > 0) watch.unread.add(watched.address);
  else watch.unread.delete(watched.address);
}

/** Nothing more can be learnt: the end is known, with whoever made it. */
function isTold({ secrets }: Watch, { marks, watched }: Known, shown: string | null): boolean {
  if (shown !== 'claimed' || !secrets.has(watched.terms.hashlock)) return false;
  return marks.has('fund') && marks.has('claim');
}

/** Escrows that are to be read again because their history is not told yet. */
export function dueAgain(watch: Watch): string[] {
  return [...watch.unread].filter((address) => {
    const history = watch.known.get(address)?.history;
    return history !== undefined && (history.gaps.length > 0 || isDue(watch, history));
  });
}

/** A wall clock that was set back must not make a wait longer than it is known to be. */
function isDue({ now }: Watch, { again }: History): boolean {
  return now() >= again || again - now() > longestPauseSeconds;
}

function pauseLonger(watch: Watch, history: History): void {
  history.again = watch.now() + history.pauseSeconds;
  const { pauseSeconds } = history;
  history.pauseSeconds = Math.min(longestPauseSeconds, Math.max(1, pauseSeconds * 2));
}

type Budget = { pages: number; transactions: number };

async function readHistory(watch: Watch, known: Known, signal: AbortSignal): Promise<void> {
  const { history } = known;
  const budget = { pages: mostPages, transactions: mostTransactions };
  if ((history.missing.size > 0 || history.lacks) && isDue(watch, history)) {
    pauseLonger(watch, history);
    if (history.lacks && history.passed && history.gaps.length === 0) beginAnew(history);
    await askAgain(watch, history, signal);
  }
  await readNew(watch, known, budget, signal);
  await readGaps(watch, known, budget, signal);
}

/** A node may have kept a transaction out of its list, or shown another in its place. */
function beginAnew(history: History): void {
  history.passed = false;
  history.top = null;
  history.topSlot = -1;
  history.taken.clear();
}

/** Each has its own time: what a node gives slowly is taken whenever it comes. */
async function askAgain(watch: Watch, history: History, signal: AbortSignal): Promise<void> {
  const { missing, asking } = history;
  const wanted = [...missing].filter((txid) => !asking.has(txid));
  const begun = wanted.slice(0, batch - asking.size).map(async (txid) => {
    asking.add(txid);
    const transaction = await transactionOf(watch.rpc, txid, AbortSignal.timeout(lateMs));
    asking.delete(txid);
    missing.delete(txid);
    // To the back: others may have come by now.
    if (transaction === null) missing.add(txid);
    else takeOrSkip(watch, transaction);
  });
  const ended = new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true });
    setTimeout(resolve, openHistoryMs / 2).unref();
  });
  await Promise.race([Promise.all(begun), ended]);
}

/** What was listed since the last time: the newest page, as much of it as is read at once. */
async function readNew(
  watch: Watch,
  known: Known,
  budget: Budget,
  signal: AbortSignal,
): Promise<void> {
  const { history, watched } = known;
  const { taken, top, gaps } = history;
  budget.pages -= 1;
  const range = { until: top, before: null };
  const list = await signaturesOf(watch.rpc, watched.address, range, signal);
  const isWhole = list.length < signaturesPage;
  if (isWhole) forgetTakenBack(known, list);
  const fresh = list.filter(({ txid }) => !taken.has(txid));
  // Half is left for what is older, so that noise never keeps it from being read.
  const part = fresh.slice(0, mostTransactions / 2);
  await readPart(watch, known, part, budget, signal, (txid) => taken.add(txid));
  history.passed = true;
  if (isWhole && part.length === fresh.length) {
    const final = list.findIndex(({ finalized }) => finalized);
    const deepest = list[final];
    if (deepest === undefined) return;
    history.top = deepest.txid;
    history.topSlot = deepest.slot;
    // What is below is never listed again.
    for (const { txid } of list.slice(final)) taken.delete(txid);
    return;
  }
  once(watch, 'long_history', { chain: watch.chain, escrow: watched.address });
  const last = part.at(-1);
  const first = list[0];
  if (last === undefined || first === undefined) return;
  gaps.push({ before: last.txid, until: top });
  history.top = first.txid;
  history.topSlot = first.slot;
  taken.clear();
  if (gaps.length <= mostGaps) return;
  const [older, newer] = gaps.splice(-2);
  if (older && newer) gaps.push({ before: newer.before, until: older.until });
}

/** What was read, is not deep and is no longer listed was taken back. */
function forgetTakenBack({ history, marks }: Known, list: readonly Signature[]): void {
  const listed = new Set(list.map(({ txid }) => txid));
  for (const txid of [...history.taken]) {
    if (listed.has(txid)) continue;
    history.taken.delete(txid);
    for (const [verb, mark] of marks) if (mark.txid === txid) marks.delete(verb);
  }
}

/** The oldest part first: so each comes to its end, however fast new ones are made. */
async function readGaps(
  watch: Watch,
  known: Known,
  budget: Budget,
  signal: AbortSignal,
): Promise<void> {
  const { gaps } = known.history;
  while (budget.pages > 0 && budget.transactions > 0) {
    const [gap] = gaps;
    if (gap === undefined) return;
    budget.pages -= 1;
    const list = await signaturesOf(watch.rpc, known.watched.address, gap, signal);
    const part = list.slice(0, budget.transactions);
    await readPart(watch, known, part, budget, signal, (txid) => {
      gap.before = txid;
    });
    if (list.length < signaturesPage && part.length === list.length) gaps.shift();
  }
}

/** Newest first. Each is told when it is done with, so that what ends this undoes nothing. */
async function readPart(
  watch: Watch,
  { history: { missing } }: Known,
  part: readonly Signature[],
  budget: Budget,
  signal: AbortSignal,
  done: (txid: string) => void,
): Promise<void> {
  for (let from = 0; from < part.length; from += batch) {
    signal.throwIfAborted();
    const some = part.slice(from, from + batch);
    budget.transactions -= some.length;
    const reading = some.map(async ({ txid }) => {
      const transaction = await transactionOf(watch.rpc, txid, signal);
      if (transaction === null) missing.add(txid);
      else takeOrSkip(watch, transaction);
      return txid;
    });
    for (const each of await Promise.all(reading)) done(each);
  }
  for (const txid of missing) {
    if (missing.size <= mostMissing) return;
    missing.delete(txid);
  }
}

/** The watched escrows that it names; null where it cannot be read. */
function takeOrSkip(
  watch: Watch,
  transaction: Transaction | Unreadable,
): ReadonlySet<string> | null {
  if ('read' in transaction) return take(watch, transaction);
  once(watch, 'transaction_unreadable', { chain: watch.chain, ...transaction });
  return null;
}

/** Of a transaction of the program that the node lists: after so long it is left out. */
const patienceSeconds = 30;
/** No further ones are begun after this: what was found must be told. */
const programMs = 10_000;

/** All signatures of an address above a cursor, newest first. */
export async function signaturesAbove(
  watch: Watch,
  address: string,
  until: string | null,
  signal: AbortSignal,
): Promise<{ readonly list: readonly Signature[]; readonly isWhole: boolean }> {
  const all: Signature[] = [];
  for (let page = 0; page < mostPages; page++) {
    const before = all.at(-1)?.txid ?? null;
    const more = await signaturesOf(watch.rpc, address, { until, before }, signal);
    all.push(...more);
    if (more.length < signaturesPage) return { list: all, isWhole: true };
  }
  return { list: all, isWhole: false };
}

/**
 * Reads transactions of the program in order, as many as one call reads; whether all of them are
 * done with. Of one that is left out nobody knows whom it touched: `watch.leftOut`.
 */
export async function readTransactions(
  watch: Watch,
  list: readonly Signature[],
  signal: AbortSignal,
  taken: (txid: string, touched: ReadonlySet<string>) => void,
): Promise<boolean> {
  const until = performance.now() + programMs;
  let isAll = list.length <= mostTransactions;
  for (let from = 0; from < Math.min(list.length, mostTransactions); from += batch) {
    if (signal.aborted || performance.now() > until) return false;
    const part = list.slice(from, Math.min(from + batch, mostTransactions));
    const soon = AbortSignal.any([signal, AbortSignal.timeout(oneMs)]);
    const read = await Promise.all(part.map(({ txid }) => transactionOf(watch.rpc, txid, soon)));
    for (const [at, transaction] of read.entries()) {
      const txid = part[at]?.txid ?? '';
      if (transaction === null && isPatient(watch, txid)) {
        isAll = false;
        continue;
      }
      watch.missing.delete(txid);
      const touched = transaction === null ? null : takeOrSkip(watch, transaction);
      if (touched === null) watch.leftOut = true;
      taken(txid, touched ?? new Set());
    }
  }
  if (isAll) watch.missing.clear();
  return isAll;
}

function isPatient(watch: Watch, txid: string): boolean {
  const now = watch.now();
  const since = Math.min(now, watch.missing.get(txid) ?? now);
  watch.missing.set(txid, since);
  if (now - since < patienceSeconds) return true;
  watch.log('transaction_missing', { chain: watch.chain, txid });
  return false;
}
