// Files of JSON lines: the ledger, batches, won trades of paper, recordings. A line that a power cut
// has torn takes no other one with it.

import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { constants, createGunzip } from 'node:zlib';
import { makePrivateFolder, syncFolder } from '@parley/host/private-file.ts';
import { messageOf } from '@parley/sdk/errors.ts';

/** A longer line is of no writer of ours: an RFQ has a thousand characters. */
const mostLength = 1_048_576;
const finishFlush = constants.Z_SYNC_FLUSH;
const newline = 0x0a;

/** `isWhole`: it has an end, which the last one of a file that was cut has not. */
export type Line = { readonly text: string; readonly number: number; readonly isWhole: boolean };

/** A name that ends in `.gz` is unpacked. Throws where the file cannot be read, and names it. */
export async function* linesIn(file: string): AsyncGenerator<Line> {
  const raw = createReadStream(file);
  // The end of a packed file that a killed writer left is not there.
  const unpacked = file.endsWith('.gz') ? raw.pipe(createGunzip({ finishFlush })) : raw;
  raw.on('error', (error) => unpacked.destroy(error));
  unpacked.setEncoding('utf8');
  let rest = '';
  let number = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<string>) {
      const texts = `${rest}${chunk}`.split('\n');
      rest = texts.pop() ?? '';
      for (const text of texts) {
        number += 1;
        yield { text, number, isWhole: true };
      }
      if (rest.length > mostLength) throw new Error('it has a line that is too long');
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : messageOf(error);
    throw new Error(`${file} cannot be read: ${why}`, { cause: error });
  }
  if (rest !== '') yield { text: rest, number: number + 1, isWhole: false };
}

/** On disk when it resolves, in a private folder that is made where it is missing. */
export async function appendLine(file: string, line: string): Promise<void> {
  const folder = dirname(file);
  await makePrivateFolder(folder);
  const handle = await open(file, 'a+', 0o600);
  try {
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
