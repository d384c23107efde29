// The won trades of paper on disk, a line each, so that an inventory of paper outlives its process.

import { stat, truncate } from 'node:fs/promises';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { appendLine, linesIn } from '../json-lines.ts';
import type { Books, Fill } from './book.ts';

type Started = { readonly asset: string; readonly start: BaseUnits };
type Written = Started | Fill;

/** Fills `books` with what the file has, and keeps what comes. Throws where a line is none. */
export async function keepFills(file: string, books: Books) {
  if ((await stat(file).catch(nullIfMissing)) !== null) await fill(file, books);
  const begun = new Set(books.start.keys());
  let queue: Promise<unknown> = Promise.resolve();
  const write = (line: Written) => {
    queue = queue.then(() => appendLine(file, textOf(line)));
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
    close: async (): Promise<void> => void (await queue),
  };
}

async function fill(file: string, books: Books): Promise<void> {
  let wholeBytes = 0;
  for await (const { text, number, isWhole } of linesIn(file)) {
    // A power cut leaves half a line.
    if (!isWhole) return truncate(file, wholeBytes);
    wholeBytes += Buffer.byteLength(text) + 1;
    try {
      const written = JSON.parse(text, bigints) as Written;
      if ('asset' in written) books.begin(written.asset, written.start);
      else books.add(written);
    } catch (cause) {
      const way = 'move the file away to begin anew, or take the line out';
      throw new Error(`line ${number} of ${file} is damaged: ${way}`, { cause });
    }
  }
}

function textOf(line: Written): string {
  return JSON.stringify(line, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,80}n$/.test(value)
    ? BigInt(value.slice(0, -1))
    : value;
}
