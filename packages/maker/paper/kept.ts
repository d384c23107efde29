// The won trades of paper on disk, a line each, so that an inventory of paper outlives its process.

import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { readUpTo } from '@parley/trader/places.ts';
import type { Books, Fill } from './book.ts';

/** About 200 000 trades. */
const mostBytes = 67_108_864;

type Started = { readonly asset: string; readonly start: BaseUnits };
type Written = Started | Fill;

/** Fills `books` with what the file has, and keeps what comes. Throws where a line is none. */
export async function keepFills(file: string, books: Books) {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const text = (await readUpTo(file, mostBytes)) ?? '';
  const lines = text.split('\n');
  // A power cut leaves half a line.
  const cut = lines.pop() ?? '';
  for (const [at, line] of lines.entries()) {
    try {
      const written = JSON.parse(line, bigints) as Written;
      if ('asset' in written) books.begin(written.asset, written.start);
      else books.add(written);
    } catch (cause) {
      throw new Error(`line ${at + 1} of ${file} is damaged`, { cause });
    }
  }
  const handle = await open(file, 'a', 0o600);
  if (cut !== '') await handle.truncate(Buffer.byteLength(text) - Buffer.byteLength(cut));
  const begun = new Set(books.start.keys());
  let queue: Promise<unknown> = Promise.resolve();
  const write = (line: Written) => {
    queue = queue.then(() => written(handle, line));
  };
  return {
    add: (fill: Fill): void => {
      for (const [asset, start] of books.start) {
        if (begun.has(asset)) continue;
        begun.add(asset);
        write({ asset, start });
      }
      write(fill);
    },
    /** Once all is on disk; rejects where something could not be written. */
    close: async (): Promise<void> => {
      try {
        await queue;
      } finally {
        await handle.close();
      }
    },
  };
}

async function written(handle: FileHandle, line: Written): Promise<void> {
  const text = JSON.stringify(line, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  await handle.appendFile(`${text}\n`);
  await handle.sync();
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,80}n$/.test(value)
    ? BigInt(value.slice(0, -1))
    : value;
}
