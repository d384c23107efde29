// A file that a setting names, read without waiting: a FIFO would be waited for, and a device has
// no end. A file with a secret must be unreadable for others.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

/** A hundred chains with twenty nodes each take 300 KiB. systemd takes 1 MiB of all credentials. */
const mostFileBytes = 1_048_576;
/** Others may neither read nor write it, and its group not write it. */
const forbiddenMode = 0o027;

/** `wrong` never quotes the content. */
export type Read = { readonly text: string } | { readonly wrong: string };

/** Reads a file that others may read too; `wrong` also for no regular file or > 1 MiB. */
export function readFile(file: string): Read {
  return readChecked(file, () => null);
}

/** Trimmed. `isCredential`: the service manager guards its folder, whatever the mode says. */
export function readSecretFile(file: string, isCredential: boolean): Read {
  const read = readChecked(file, ({ mode }) => {
    if (isCredential || (mode & forbiddenMode) === 0) return null;
    const found = (mode & 0o777).toString(8);
    return `others may reach ${file} (mode ${found}): chmod 600, or 640 for a group`;
  });
  if ('wrong' in read) return read;
  const text = read.text.trim();
  return text === '' ? { wrong: `${file} is empty` } : { text };
}

function readChecked(file: string, refuse: (stats: Stats) => string | null): Read {
  let opened: number | undefined;
  try {
    // Without O_NONBLOCK a FIFO is opened when somebody writes to it.
    opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(opened);
    if (!stats.isFile()) return { wrong: `${file} is ${kindOf(stats)}, no regular file` };
    const wrong = refuse(stats) ?? tooLarge(file, stats.size);
    if (wrong !== null) return { wrong };
    const bytes = Buffer.alloc(mostFileBytes + 1);
    const length = filled(opened, bytes);
    // It may have grown since, and files of /proc have no size.
    const grown = tooLarge(file, length);
    return grown === null ? { text: bytes.toString('utf8', 0, length) } : { wrong: grown };
  } catch (error) {
    return { wrong: (error as Error).message };
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

function tooLarge(file: string, bytes: number): string | null {
  if (bytes <= mostFileBytes) return null;
  return `${file} has ${bytes} bytes or more; at most ${mostFileBytes} may be`;
}

/** How many bytes there were, up to as many as have room. */
function filled(opened: number, bytes: Buffer): number {
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(opened, bytes, length, bytes.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return length;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
