// The simulator on disk: one line of JSON a block, with what it changed in the state. Appended
// before anybody hears of the block, so a crash loses nothing that was mined.

import { appendFileSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Changes } from '@parley/contracts/tron/testing/state.ts';
import { DevnetError } from '@parley/host/failure.ts';
import type { Block } from './blocks.ts';

export type Line =
  | { readonly block: Block; readonly changes: Changes }
  /** Blocks above this number were taken back. */
  | { readonly backTo: number };

export type Store = {
  readonly lines: readonly Line[];
  append(line: Line): void;
  close(): void;
};

export async function openStore(file: string): Promise<Store> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lines = await readLines(file);
  const descriptor = openSync(file, 'a', 0o600);
  return {
    lines,
    append: (line) => {
      appendFileSync(descriptor, `${JSON.stringify(line)}\n`);
    },
    close: () => {
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
  };
}

/** A line that a crash cut off is cut off the file too. */
async function readLines(file: string): Promise<Line[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await truncate(file, Buffer.byteLength(whole));
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      try {
        return JSON.parse(line) as Line;
      } catch (cause) {
        const where = { file, line: index + 1 };
        throw new DevnetError('the TRON simulator cannot read its blocks', where, { cause });
      }
    });
}
