// The ended swaps of a maker, kept for ever: a JSON line each, in a file a month. A swap may have
// several lines, and the last one counts.

import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { makePrivateFolder, syncFolder } from '@parley/host/private-file.ts';

const nameShape = /^\d{4}-\d{2}\.jsonl$/;
const newline = 0x0a;

const folderIn = (dir: string) => join(dir, 'history');

/** By the day of UTC, `2026-11-30`. */
export function dayOf(at: UnixSeconds): string {
  return new Date(at * 1_000).toISOString().slice(0, 10);
}

/** On disk when it resolves: a line of the month in which the swap ended. */
export async function addToLedger(dir: string, endedAt: UnixSeconds, line: string): Promise<void> {
  const folder = folderIn(dir);
  await makePrivateFolder(folder);
  const file = join(folder, `${dayOf(endedAt).slice(0, 7)}.jsonl`);
  const handle = await open(file, 'a+', 0o600);
  try {
    // A line that a power cut has torn must not take this one with it.
    const isTorn = await endsTorn(handle);
    await handle.appendFile(`${isTorn ? '\n' : ''}${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(folder);
}

async function endsTorn(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline;
}

export type Ledger<Deal> = {
  /** By thread. */
  readonly deals: ReadonlyMap<string, Deal>;
  /** Lines that could not be read, by file and number: a power cut has torn them. */
  readonly torn: readonly string[];
};

type Threaded = { readonly threadId: string };

/** All of it: an older store has none. `read` throws where a line is no deal. */
export async function readLedger<Deal extends Threaded>(
  dir: string,
  read: (line: string) => Deal,
): Promise<Ledger<Deal>> {
  const folder = folderIn(dir);
  const deals = new Map<string, Deal>();
  const torn: string[] = [];
  for (const name of await namesIn(folder)) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      number += 1;
      const deal = lineIn(line, read);
      if (deal !== null) deals.set(deal.threadId, deal);
      else if (line !== '') torn.push(`${name}:${number}`);
    }
  }
  return { deals, torn };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => nameShape.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function lineIn<Deal>(line: string, read: (line: string) => Deal): Deal | null {
  try {
    return read(line);
  } catch {
    return null;
  }
}
