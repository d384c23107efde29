// The transactions of an escrow: the makers of its account's state, and its secret. Strangers may
// name it in many and slow ones. So all are read in bounded parts in the background; a caller is
// given what the account says and what is known by then. hunt.ts finds a claim sooner.

import { once } from '../nodes/sources.ts';
import { type End, endOf, lookBack } from './ended.ts';
import { hunt } from './hunt.ts';
import { endsWithin, lateTransaction } from './late.ts';
import {
  isForgotten,
  type Signature,
  signaturesOf,
  signaturesPage,
  slotAt,
  transactionOf,
} from './node.ts';
import { type Gap, type History, type Known, type Mark, takeOrSkip, type Watch } from './watch.ts';

/** Pages of an escrow's history in one look. The next looks read the rest. */
const mostPages = 5;
const mostTransactions = 1_000;
/** For all lists of one read, then for its transactions; half of that for the oldest first. */
const listsMs = 10_000;
const lookMs = 4_000;
/** For one transaction; later it is asked for beside the reads. */
const oneMs = 2_000;
const atOnce = 8;
/** A claim among more is searched for at once, among fewer when they were read in vain. */
const mostAwaited = 50;
/** The limit of one escrow's transactions that were not given yet; beyond, no more are read. */
const mostMissing = 256;
/** Room is made by leaving out one that was asked for so often beside a read. */
const triesInVain = 1;
const mostAsking = 12;
/** The answers asked for beside a read may still be of use to it. */
const graceMs = 250;
/** Without its history nothing is known of an account that is gone. */
const goneWaitMs = 5_000;
const longestPauseSeconds = 60;

/** Waits a moment for the read under way, which goes on without whoever asked. */
export async function tellHistory(
  watch: Watch,
  known: Known,
  shown: 'open' | 'claimed' | 'refunded' | 'gone' | null,
  signal: AbortSignal,
): Promise<void> {
  const { watched, history } = known;
  history.isGone = shown === 'gone';
  const end = shown === 'gone' ? endOf(known) : shown;
  const hasSecret = watch.secrets.has(watched.terms.hashlock);
  history.lacks = !hasSecret && (end === 'claimed' || end === null) && shown !== null;
  if (isTold(watch, known, end)) {
    watch.unread.delete(watched.address);
    return;
  }
  history.looking ??= look(watch, known).finally(() => {
    history.looking = null;
  });
  const looked = history.looking.then(() => history.hunting);
  const wait = end === null && history.isGone ? goneWaitMs : watch.historyWaitMs;
  if (!(await endsWithin(looked, wait, signal))) history.toldEarly = true;
}

/** Never fails. */
async function look(watch: Watch, known: Known): Promise<void> {
  const { watched, history, marks } = known;
  const { address } = watched;
  const before = [...marks.values()];
  let failed = false;
  try {
    await readHistory(watch, known).catch(async (error: unknown) => {
      if (!isForgotten(error) || (await isBehind(watch, history))) throw error;
      beginAnew(history);
      await readHistory(watch, known);
    });
    history.isRead = isAllRead(history);
    await lookBack(
      watch,
      known,
      AbortSignal.any([watch.closed.signal, AbortSignal.timeout(listsMs)]),
    );
  } catch (error) {
    failed = true;
    once(watch, 'history_unread', { chain: watch.chain, escrow: address, why: String(error) });
  }
  history.lacks = lacksStill(watch, known);
  // No caller waits for an escrow that was forgotten meanwhile.
  if (watch.known.get(address) !== known) return;
  const hasNews = before.length !== marks.size || before.some((each) => !isIn(marks, each));
  if (history.toldEarly && hasNews) watch.owed.add(address);
  history.toldEarly = false;
  const { gaps, missing, lacks } = history;
  if (failed || lacks || gaps.length > 0 || missing.size > 0) watch.unread.add(address);
  else watch.unread.delete(address);
}

function isAllRead({ passed, gaps, missing, isBlind }: History): boolean {
  return passed && gaps.length === 0 && missing.size === 0 && !isBlind;
}

/** Such a node knows soon what it does not know now. */
async function isBehind(watch: Watch, { topSlot }: History): Promise<boolean> {
  const soon = AbortSignal.any([watch.closed.signal, AbortSignal.timeout(listsMs)]);
  return (await slotAt(watch.rpc, 'finalized', soon)) < topSlot;
}

function isIn(marks: Known['marks'], mark: Mark): boolean {
  return marks.get(mark.verb) === mark;
}

/** The history is complete: the end is known, with its maker. */
function isTold({ secrets }: Watch, { marks, watched }: Known, end: 'open' | End | null): boolean {
  if (!marks.has('fund')) return false;
  if (end === 'claimed') return secrets.has(watched.terms.hashlock) && marks.has('claim');
  return end === 'refunded' && marks.has('refund');
}

/** Escrows that are to be read again because their history is not known yet. */
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

/** The rest that one read may still spend. */
type Budget = { pages: number; transactions: number; readonly signal: AbortSignal };

/** The part of that which one part of the read may spend. */
type Share = { transactions: number; readonly until: number };

async function readHistory(watch: Watch, known: Known): Promise<void> {
  const { history } = known;
  const signal = AbortSignal.any([watch.closed.signal, AbortSignal.timeout(listsMs)]);
  const budget: Budget = { pages: mostPages, transactions: mostTransactions, signal };
  const due = (history.missing.size > 0 || history.lacks) && isDue(watch, history);
  if (due) {
    pauseLonger(watch, history);
    if (history.lacks && history.passed && history.gaps.length === 0) beginAnew(history);
  }
  await askBeside(watch, known, due);
  const { shallow, hand } = await listNew(watch, known, budget);
  const isLong = history.gaps.length > (hand === null ? 0 : 1);
  const isNoisy = isLong || shallow.length + (hand?.list.length ?? 0) > mostAwaited;
  if (due && isNoisy && lacksStill(watch, known)) huntBeside(watch, known);
  const now = performance.now();
  // The oldest first, so that noise never keeps it from being read.
  const first = { transactions: mostTransactions / 2, until: now + lookMs / 2 };
  await readGaps(watch, known, budget, first, hand);
  const rest = { transactions: budget.transactions, until: now + lookMs };
  const fresh = shallow.filter(({ txid }) => !history.taken.has(txid));
  const part = fresh.slice(0, rest.transactions);
  const read = await readPart(watch, known, part, rest.until, (txid) => history.taken.add(txid));
  spend(read, budget, rest);
  history.passed ||= read === fresh.length;
  await readGaps(watch, known, budget, rest, hand);
  await askBeside(watch, known, false);
  if (due && lacksStill(watch, known)) huntBeside(watch, known);
}

function spend(transactions: number, ...of: { transactions: number }[]): void {
  for (const each of of) each.transactions -= transactions;
}

function lacksStill({ secrets }: Watch, known: Known): boolean {
  const { history, watched } = known;
  if (!history.lacks || secrets.has(watched.terms.hashlock)) return false;
  const end = history.isGone ? endOf(known) : 'claimed';
  return end === 'claimed' || end === null;
}

/** A node may have hidden a transaction, or forgotten what was read. The facts learnt stay. */
function beginAnew(history: History): void {
  history.gaps.length = 0;
  history.passed = false;
  history.top = null;
  history.topSlot = -1;
  history.taken.clear();
  history.isRead = false;
  history.isBlind = false;
}

function huntBeside(watch: Watch, known: Known): void {
  const { history, watched } = known;
  history.hunting ??= watch
    .hunts(() => hunt(watch, known))
    .catch((error: unknown) => {
      if (isForgotten(error)) history.hunt = null;
      const { chain } = watch;
      once(watch, 'hunt_failed', { chain, escrow: watched.address, why: String(error) });
    })
    .finally(() => {
      history.hunting = null;
    });
}

/** Each has its own time, and is taken whenever it comes. Waits for what comes at once. */
async function askBeside(watch: Watch, known: Known, again: boolean): Promise<void> {
  const { missing, asking } = known.history;
  const wanted = [...missing].filter(
    ([txid, tries]) => !asking.has(txid) && (again || tries === 0),
  );
  const begun = wanted
    .slice(0, Math.max(0, mostAsking - asking.size))
    .map(async ([txid, tries]) => {
      asking.add(txid);
      const transaction = await lateTransaction(watch, txid);
      asking.delete(txid);
      missing.delete(txid);
      // To the back: others may have come by now.
      if (transaction === null) missing.set(txid, tries + 1);
      else if (takeOrSkip(watch, transaction) === null) known.history.isBlind = true;
      // The next of those that were not asked for yet.
      if (watch.known.get(known.watched.address) === known) void askBeside(watch, known, false);
    });
  if (begun.length > 0) await endsWithin(Promise.all(begun), graceMs, watch.closed.signal);
}

type Listed = Pick<Signature, 'txid'>;

/** The parts of a gap, and whether they are all of it. */
type Hand = { readonly list: readonly Listed[]; readonly isWhole: boolean };

/** A final transaction is kept as a gap before it is read, so nothing loses it. The rest may yet
 * go. */
async function listNew(watch: Watch, known: Known, budget: Budget) {
  const { history, watched } = known;
  const { top, taken } = history;
  const list: Signature[] = [];
  let isWhole = false;
  // The last page is the oldest gap's.
  while (!isWhole && budget.pages > 1 && !list.some(({ finalized }) => finalized)) {
    budget.pages -= 1;
    const range = { until: top, before: list.at(-1)?.txid ?? null };
    const page = await signaturesOf(watch.rpc, watched.address, range, budget.signal);
    list.push(...page);
    isWhole = page.length < signaturesPage;
  }
  if (isWhole) forgetTakenBack(known, list);
  else once(watch, 'long_history', { chain: watch.chain, escrow: watched.address });
  const final = list.findIndex(({ finalized }) => finalized);
  // Where nothing is final among thousands, what is oldest of them nearly is.
  const at = final === -1 && !isWhole ? list.length - 1 : final;
  const deepest = list[at];
  if (deepest === undefined) return { shallow: list, hand: null };
  const shallow = list.slice(0, at);
  const above = new Set(shallow.map(({ txid }) => txid));
  const below = [...taken].filter((txid) => !above.has(txid));
  const gap = keepGap(history, deepest.txid, below);
  for (const txid of below) taken.delete(txid);
  history.top = deepest.txid;
  history.topSlot = deepest.slot;
  // A gap that goes on below this list is listed as a whole.
  const hand = gap.until === top ? { list: list.slice(at), isWhole } : null;
  return { shallow, hand };
}

function keepGap({ gaps, top }: History, at: string, read: readonly string[]): Gap {
  const newest = gaps.at(-1);
  if (newest !== undefined && gaps.length > 1 && !newest.isRead) {
    newest.at = at;
    for (const txid of read) newest.skip.add(txid);
    return newest;
  }
  const gap: Gap = { at, isRead: false, until: top, skip: new Set(read) };
  gaps.push(gap);
  return gap;
}

/** A read transaction that is neither final nor listed any more was taken back. */
function forgetTakenBack({ history, marks }: Known, list: readonly Signature[]): void {
  const listed = new Set(list.map(({ txid }) => txid));
  for (const txid of [...history.taken]) {
    if (listed.has(txid)) continue;
    history.taken.delete(txid);
    for (const [verb, mark] of marks) if (mark.txid === txid) marks.delete(verb);
  }
}

/** The oldest first: so each comes to its end, however fast new ones are made. */
async function readGaps(
  watch: Watch,
  known: Known,
  budget: Budget,
  share: Share,
  hand: Hand | null,
): Promise<void> {
  const { gaps } = known.history;
  while (share.transactions > 0 && performance.now() < share.until) {
    const [gap] = gaps;
    if (gap === undefined) return;
    const listed = await listGap(watch, known, budget, gap, hand);
    if (listed === null) return;
    const { list, isWhole } = listed;
    const part = list.slice(0, share.transactions);
    const read = await readPart(
      watch,
      known,
      part,
      share.until,
      (txid) => {
        gap.at = txid;
        gap.isRead = true;
      },
      gap.skip,
    );
    spend(read, budget, share);
    if (isWhole && read === list.length) gaps.shift();
    else if (read < part.length) return;
  }
}

async function listGap(
  watch: Watch,
  known: Known,
  budget: Budget,
  { at, isRead, until }: Gap,
  hand: Hand | null,
): Promise<Hand | null> {
  if (!isRead && hand?.list[0]?.txid === at) return hand;
  if (budget.pages === 0) return null;
  budget.pages -= 1;
  const range = { before: at, until };
  const page = await signaturesOf(watch.rpc, known.watched.address, range, budget.signal);
  const list: readonly Listed[] = isRead ? page : [{ txid: at }, ...page];
  return { list, isWhole: page.length < signaturesPage };
}

/** Newest first. `done` is called in order, so that an early end undoes nothing. */
async function readPart(
  watch: Watch,
  { history }: Known,
  part: readonly Listed[],
  until: number,
  done: (txid: string) => void,
  skip: ReadonlySet<string> = new Set(),
): Promise<number> {
  const isDone: boolean[] = [];
  let begun = 0;
  let ended = 0;
  const readOn = async () => {
    while (performance.now() < until && hasRoom(history)) {
      const at = begun;
      const txid = part[at]?.txid;
      if (txid === undefined) return;
      begun += 1;
      if (!skip.has(txid)) await readOne(watch, history, txid);
      isDone[at] = true;
      for (; isDone[ended]; ended += 1) done(part[ended]?.txid ?? '');
    }
  };
  await Promise.all(Array.from({ length: atOnce }, readOn));
  return ended;
}

async function readOne(watch: Watch, history: History, txid: string): Promise<void> {
  const { missing } = history;
  const soon = AbortSignal.any([watch.closed.signal, AbortSignal.timeout(oneMs)]);
  const transaction = await transactionOf(watch.rpc, txid, soon);
  if (transaction === null) {
    if (!missing.has(txid)) missing.set(txid, 0);
  } else if (takeOrSkip(watch, transaction) === null) history.isBlind = true;
}

/** Only a transaction that was asked for in vain often enough is left out. */
function hasRoom(history: History): boolean {
  const { missing, asking } = history;
  if (missing.size < mostMissing) return true;
  const [oldest] = [...missing].filter(
    ([txid, tries]) => tries >= triesInVain && !asking.has(txid),
  );
  if (oldest === undefined) return false;
  history.isBlind = true;
  return missing.delete(oldest[0]);
}
