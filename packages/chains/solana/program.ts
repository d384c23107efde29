// The list of the escrow program's transactions, read in order, several at once. A late one is
// asked for beside, and at last left out: whom it touched is then unknown (`watch.leftOut`).

import { endsWithin, lateTransaction } from './late.ts';
import { type Signature, signaturesOf, signaturesPage, transactionOf } from './node.ts';
import { takeOrSkip, type Watch } from './watch.ts';

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
export async function signaturesAbove(
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
export async function readTransactions(
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
