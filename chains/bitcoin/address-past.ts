// The past of escrows at a source that has it by address, and is several machines, some of them
// behind. It is read until two readings show all that is known, and counted again at each new best
// block: what one answer lacked is found by then. A transaction counts only in our chain's blocks.

import type { BitcoinBackend, MinedTx, PastByAddress } from './backend.ts';
import { applyTransaction, type EscrowIndex, minedTransactions } from './escrow-index.ts';

/** Readings that must show as much as is known. */
const wantedReadings = 2;
/** Of one address in one pass. */
const mostReadings = 6;
/** Addresses that are counted again in one pass. */
const countedAtOnce = 20;

export type Asked = {
  /** The best block when it was read or counted last. */
  tip: string;
  /** As many as the source had when it was read. */
  count: number;
  /** Readings that showed all that is known, since it is known. */
  whole: number;
};

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
    const before = asked.get(address)?.count ?? 0;
    const count = await past.count(address, signal);
    asked.set(address, { tip, count: before, whole: 0 });
    const known = Math.max(before, minedTransactions(index, address).size);
    if (count > known) pastOf.set(address, 0);
  }
}

async function readAddress(
  { backend, index, pastOf, asked }: Reader,
  past: PastByAddress,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  const tip = index.blocks.at(-1);
  if (tip === undefined) return;
  const { mined, count, isWhole } = await past.read(address, signal);
  const { ours, areAll } = await oursOf(backend, index, mined, signal);
  const isAtTip = (await backend.blockHash(tip.height, signal)) === tip.hash;
  const before = minedTransactions(index, address).size;
  for (const { tx, height } of ours) applyTransaction(index, tx, height);
  const known = minedTransactions(index, address);
  const shown = new Set(ours.map(({ tx }) => tx.txid()));
  const isAll = isWhole && areAll && isAtTip && [...known].every((txid) => shown.has(txid));
  const whole = (known.size > before ? 0 : (asked.get(address)?.whole ?? 0)) + (isAll ? 1 : 0);
  const isRead = whole >= wantedReadings;
  asked.set(address, { tip: tip.hash, count, whole: isRead ? 0 : whole });
  if (isRead) pastOf.delete(address);
}

/** Those in blocks of the chain that is followed; what is above its end comes with its block. */
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
