// The past of escrows at a source that has it by address, and is several machines, some of them
// behind. It is read until two readings show all that is known, and counted again at each new best
// block: a payment that one answer lacked is found by then. A transaction counts only in our
// chain's blocks. Anybody may pay an escrow a thousand times: the older transactions are read once,
// part by part, and those that were counted when all was read are not read again. A transaction that
// is stored is asked for by its id: dust may bury it below all that is read.

import { nothingSeen } from '@parley/core/facts.ts';
import type { BitcoinBackend, MinedTx, PastByAddress } from './backend.ts';
import { applyTransaction, type EscrowIndex, minedTransactions } from './escrow-index.ts';

/** Readings that must show as much as is known. */
const wantedReadings = 2;
/** For one address in one pass. */
const mostReadings = 6;
/** Addresses that are counted again in one pass. */
const countedAtOnce = 20;
/** For one address, each as long as the source reads at once: older ones are not read. */
const mostParts = 50;

export type Asked = {
  /** The best block when it was read or counted last. */
  readonly tip: string;
  /** As many as the source had when all of it was read. */
  readonly count: number;
  /** Readings that showed all that is known, since it is known. */
  readonly whole: number;
  readonly rest: Rest | null;
};

/** The transactions below the newest that were read: `most` of them. */
type Rest = {
  readonly below: string;
  readonly most: number;
  /** As many as the source had when the newest were read. */
  readonly count: number;
  readonly parts: number;
};

const unasked: Asked = { tip: '', count: 0, whole: 0, rest: null };

type Reader = {
  readonly backend: BitcoinBackend;
  readonly index: EscrowIndex;
  readonly pastOf: Map<string, number>;
  readonly asked: Map<string, Asked>;
};

export async function readAddresses(
  reader: Reader,
  past: PastByAddress,
  about: string | null,
  budget: { blocks: number },
  signal: AbortSignal,
): Promise<void> {
  const { pastOf } = reader;
  await countAgain(reader, past, about, signal);
  const first = about !== null && pastOf.has(about) ? [about] : [];
  for (const address of new Set([...first, ...pastOf.keys()])) {
    for (let tries = 0; pastOf.has(address) && tries < mostReadings; tries += 1) {
      if (budget.blocks <= 0) return;
      budget.blocks -= 1;
      await readAddress(reader, past, address, signal);
    }
  }
}

/** Has those read again of which the source counts more than is known. */
async function countAgain(
  { index, pastOf, asked }: Reader,
  past: PastByAddress,
  about: string | null,
  signal: AbortSignal,
): Promise<void> {
  const tip = index.blocks.at(-1)?.hash ?? '';
  const isDue = (address: string) => !pastOf.has(address) && asked.get(address)?.tip !== tip;
  const due = [...index.escrows.keys()].filter(isDue);
  const first = about !== null && due.includes(about) ? [about] : [];
  for (const address of [...new Set([...first, ...due])].slice(0, countedAtOnce)) {
    const { count: before } = asked.get(address) ?? unasked;
    const count = await past.count(address, signal);
    asked.set(address, { ...unasked, tip, count: before });
    const known = Math.max(before, minedTransactions(index, address).size);
    if (count > known) pastOf.set(address, 0);
  }
}

async function readAddress(
  reader: Reader,
  past: PastByAddress,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  const { index, pastOf, asked } = reader;
  const tip = index.blocks.at(-1);
  if (tip === undefined) return;
  await readStored(reader, past, address, signal);
  const before = asked.get(address) ?? unasked;
  const isNewestRead = before.rest !== null && before.whole >= wantedReadings;
  const { count, whole, rest } = isNewestRead
    ? await readRest(reader, past, address, before, signal)
    : await readNewest(reader, past, address, before, signal);
  const isRead = whole >= wantedReadings && rest === null;
  const next = isRead ? { ...unasked, count } : { count: before.count, whole, rest };
  asked.set(address, { ...next, tip: tip.hash });
  if (isRead) pastOf.delete(address);
}

async function readStored(
  { backend, index }: Reader,
  past: PastByAddress,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  const { funded, claimed, refunded } = index.escrows.get(address)?.escrow.stored ?? nothingSeen;
  const known = minedTransactions(index, address);
  for (const seen of [funded, claimed, refunded]) {
    if (seen === null || known.has(seen.txid)) continue;
    const found = await past.one(seen.txid, signal);
    const { ours } = await oursOf(backend, index, found === null ? [] : [found], signal);
    for (const { tx, height } of ours) applyTransaction(index, tx, height);
  }
}

type Progress = Pick<Asked, 'count' | 'whole' | 'rest'>;

/** Those since all was read: a machine that is behind lacks the newest. */
async function readNewest(
  reader: Reader,
  past: PastByAddress,
  address: string,
  asked: Asked,
  signal: AbortSignal,
): Promise<Progress> {
  const { backend, index } = reader;
  const tip = index.blocks.at(-1);
  const count = await past.count(address, signal);
  const most = Math.max(0, count - asked.count);
  const { mined, cutAt } = await past.read(address, { most, below: null }, signal);
  const { ours, areAll } = await oursOf(backend, index, mined, signal);
  const isAtTip = tip !== undefined && (await backend.blockHash(tip.height, signal)) === tip.hash;
  const before = minedTransactions(index, address).size;
  for (const { tx, height } of ours) applyTransaction(index, tx, height);
  const isWhole = mined.length >= most || cutAt !== null;
  const isShown = showsKnown(index, address, { ours, count });
  const isAll = isWhole && areAll && isAtTip && isShown;
  const isMore = minedTransactions(index, address).size > before;
  const whole = (isMore ? 0 : asked.whole) + (isAll ? 1 : 0);
  if (cutAt === null) return { count, whole, rest: null };
  return { count, whole, rest: { below: cutAt, most: most - mined.length, count, parts: 1 } };
}

/** Once, as a machine that is behind has these, too. One that lacks some has all read again. */
async function readRest(
  { backend, index }: Reader,
  past: PastByAddress,
  address: string,
  { rest, whole }: Asked,
  signal: AbortSignal,
): Promise<Progress> {
  if (rest === null) return unasked;
  const { count, most } = rest;
  const { mined, cutAt } = await past.read(address, rest, signal);
  const { ours, areAll } = await oursOf(backend, index, mined, signal);
  for (const { tx, height } of ours) applyTransaction(index, tx, height);
  const parts = rest.parts + 1;
  if (!areAll || (mined.length < most && cutAt === null)) return unasked;
  if (cutAt === null || parts >= mostParts) return { count, whole, rest: null };
  return { count, whole, rest: { below: cutAt, most: most - mined.length, count, parts } };
}

/** Whether the pages, of the newest as a rule, show all that is known since the oldest of them. */
function showsKnown(
  index: EscrowIndex,
  address: string,
  { ours, count }: { readonly ours: readonly MinedTx[]; readonly count: number },
): boolean {
  const shown = new Set(ours.map(({ tx }) => tx.txid()));
  const isPart = ours.length > 0 && ours.length < count;
  const oldest = isPart ? Math.min(...ours.map(({ height }) => height)) : -1;
  const isDue = (txid: string) => (index.records.get(txid)?.height ?? 0) > oldest;
  return [...minedTransactions(index, address)].every((txid) => shown.has(txid) || !isDue(txid));
}

/** Those in blocks of the chain that is followed; a payment above its end comes with its block. */
async function oursOf(
  backend: BitcoinBackend,
  { blocks }: EscrowIndex,
  mined: readonly MinedTx[],
  signal: AbortSignal,
): Promise<{ readonly ours: readonly MinedTx[]; readonly areAll: boolean }> {
  const tip = blocks.at(-1)?.height ?? 0;
  const hashes = new Map<number, string | null>(blocks.map(({ height, hash }) => [height, hash]));
  const below = mined.filter(({ height }) => height <= tip);
  const ours: MinedTx[] = [];
  for (const each of below) {
    const { height, block } = each;
    if (!hashes.has(height)) hashes.set(height, await backend.blockHash(height, signal));
    if (block === null || hashes.get(height) === block) ours.push(each);
  }
  return { ours, areAll: ours.length === below.length };
}
