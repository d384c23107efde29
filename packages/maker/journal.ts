// The deals that the maker has agreed to, kept in a file beside the store of the SDK: a line a
// change, synced before it is acted on, the last line of a deal counts. A line that a crash cut off
// is no line.

import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { writePrivate } from '@parley/trader/places.ts';

/** `lapsed`: the other side never agreed. `refused`: no coin moved, and none will. */
export type End = 'received' | 'refunded' | 'lost' | 'nothing' | 'lapsed' | 'refused';

export type Deal = {
  readonly threadId: string;
  readonly rfqId: string;
  readonly takerId: string;
  /** By the names of the settings. */
  readonly pair: string;
  readonly gives: 'base' | 'quote';
  readonly base: BaseUnits;
  readonly quote: BaseUnits;
  readonly acceptedAt: UnixSeconds;
  /** null: not known yet. */
  readonly swapId: string | null;
  readonly end: End | null;
  readonly endedAt: UnixSeconds | null;
  /** From when what is left in the own escrow can be refunded. Absent: nothing is. */
  readonly remainsFrom?: UnixSeconds;
};

export type Journal = {
  /** By thread. */
  readonly deals: ReadonlyMap<string, Deal>;
  /** Returns when it survives a power cut. */
  keep(deal: Deal): Promise<void>;
  close(): Promise<void>;
};

const fileName = 'deals.jsonl';
/** The file is written anew, without ended deals this old, once it has grown by so much. */
const forgottenSeconds = 7 * 86_400;
const mostGrowth = 8_388_608;

const write = (deal: Deal) =>
  `${JSON.stringify(deal, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part))}\n`;

function parse(line: string): Deal | null {
  try {
    const deal = JSON.parse(line) as Deal & { base: string; quote: string };
    return { ...deal, base: BigInt(deal.base), quote: BigInt(deal.quote) };
  } catch {
    return null;
  }
}

/** Throws where a line before the last is no deal: the lines after it could not be believed. */
export function readJournal(text: string): Map<string, Deal> {
  const deals = new Map<string, Deal>();
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    if (line === '') continue;
    const deal = parse(line);
    if (deal !== null) deals.set(deal.threadId, deal);
    else if (at < lines.length - 1) throw new Error(`line ${at + 1} of ${fileName} is no deal`);
  }
  return deals;
}

/** `dir` is there, and locked for this process alone. */
export async function openJournal(dir: string, now: () => UnixSeconds): Promise<Journal> {
  const file = join(dir, fileName);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const deals = readJournal(text);
  let handle: FileHandle | null = await anew(file, deals, now());
  let grown = 0;
  let queue: Promise<void> = Promise.resolve();
  const close = async () => {
    const own = handle;
    handle = null;
    await own?.close();
  };
  const append = async (deal: Deal) => {
    const line = write(deal);
    try {
      handle ??= await anew(file, deals, now());
      await handle.appendFile(line);
      await handle.datasync();
    } catch (error) {
      // Half a line may be there, of a full disk: the next line must not come after it.
      await close().catch(() => undefined);
      throw error;
    }
    deals.set(deal.threadId, deal);
    grown += line.length;
    if (grown < mostGrowth) return;
    grown = 0;
    // Written anew with the next deal.
    await close();
  };
  return {
    deals,
    keep: (deal) => {
      const run = queue.then(() => append(deal));
      queue = run.catch(() => undefined);
      return run;
    },
    close: async () => {
      await queue;
      await close();
    },
  };
}

/** Whole or not at all; open for more. Forgets deals that ended long ago. */
async function anew(file: string, deals: Map<string, Deal>, now: UnixSeconds): Promise<FileHandle> {
  for (const { threadId, endedAt, remainsFrom = 0 } of deals.values()) {
    if (endedAt === null) continue;
    if (now - Math.max(endedAt, remainsFrom) > forgottenSeconds) deals.delete(threadId);
  }
  await writePrivate(file, [...deals.values()].map(write).join(''));
  return open(file, 'a');
}
