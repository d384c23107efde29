// The ended swaps of a maker, kept for ever: a JSON line each, in a file a month. A swap may have
// several lines, and the last one counts.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { appendLine, linesIn } from '../json-lines.ts';

const nameShape = /^\d{4}-\d{2}\.jsonl$/;

const folderIn = (dir: string) => join(dir, 'history');

/** By the day of UTC, `2026-11-30`. */
export function dayOf(at: UnixSeconds): string {
  return new Date(at * 1_000).toISOString().slice(0, 10);
}

/** On disk when it resolves: a line of the month in which the swap ended. */
export async function addToLedger(dir: string, endedAt: UnixSeconds, line: string): Promise<void> {
  await appendLine(join(folderIn(dir), nameOf(endedAt)), line);
}

const nameOf = (at: UnixSeconds) => `${dayOf(at).slice(0, 7)}.jsonl`;

type Threaded = { readonly threadId: string };

type Reading<Deal> = {
  /** Throws where a line is no deal. */
  readonly read: (line: string) => Deal;
  /** Told of what could not be read: a line by file and number, as a power cut tears one, or a file. */
  readonly torn: (what: string) => void;
  /** Months before it are left out; null leaves out none. */
  readonly from?: UnixSeconds | null;
};

/**
 * Each ended swap once, by its last line. The newest month comes first, and one month is in memory at
 * a time, with the threads of all. An older store has none.
 */
export async function* ledgerDeals<Deal extends Threaded>(
  dir: string,
  { read, torn, from = null }: Reading<Deal>,
): AsyncGenerator<Deal> {
  const folder = folderIn(dir);
  const first = from === null ? '' : nameOf(from);
  const names = ((await readdir(folder).catch(nullIfMissing)) ?? [])
    .filter((name) => nameShape.test(name) && name >= first)
    .sort();
  const seen = new Set<string>();
  for (const name of names.reverse()) {
    const month = new Map<string, Deal>();
    try {
      for await (const { text, number } of linesIn(join(folder, name))) {
        const deal = lineIn(text, read);
        if (deal !== null) month.set(deal.threadId, deal);
        else if (text !== '') torn(`${name}:${number}`);
      }
    } catch (error) {
      torn(messageOf(error));
    }
    for (const [threadId, deal] of month) {
      if (seen.has(threadId)) continue;
      seen.add(threadId);
      yield deal;
    }
  }
}

function lineIn<Deal>(line: string, read: (line: string) => Deal): Deal | null {
  try {
    return read(line);
  } catch {
    return null;
  }
}
