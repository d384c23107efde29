// A file that a setting names, read without waiting: a FIFO would be waited for, and a device has
// no end. A file with a secret must be unreadable for others.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** A hundred chains with twenty nodes each take 300 KiB. systemd takes 1 MiB of all credentials. */
const mostFileBytes = 1_048_576;
/** The bits of a mode that are refused, by those who may read the file besides its owner. */
const forbidden = { anybody: 0, group: 0o027, nobody: 0o077 } as const;

/** `wrong` never quotes the content. */
export type Read = { readonly text: string } | { readonly wrong: string };

/** Reads a file that others may read too; `wrong` also for no regular file or > 1 MiB. */
export function readFile(file: string): Read {
  return readChecked(file, () => null);
}

/**
 * The content, trimmed. `anybody` takes any mode: the service manager guards a credential's folder.
 */
export function readSecretFile(file: string, readers: keyof typeof forbidden): Read {
  const read = readChecked(file, ({ mode }) => {
    if ((mode & forbidden[readers]) === 0) return null;
    const found = (mode & 0o777).toString(8);
    return `others may reach ${file} (mode ${found}): replace it if one may have read it, then chmod 600`;
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
    if (!stats.isFile()) return { wrong: `${file} is no regular file` };
    const wrong = refuse(stats);
    if (wrong !== null) return { wrong };
    if (stats.size <= mostFileBytes) return { text: readFileSync(opened, 'utf8') };
    return { wrong: `${file} has ${stats.size} bytes; at most ${mostFileBytes} may be` };
  } catch (error) {
    return { wrong: (error as Error).message };
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
