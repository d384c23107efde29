// A file that only its user reads, written beside, synced and renamed: a power cut leaves the old
// content or the new.

import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

type Writing = {
  /** Never in the place of another file: throws `EEXIST`. */
  readonly isNew?: boolean;
};

/** On disk with mode 0600 when it resolves; its folder is there. */
export async function writePrivately(
  file: string,
  text: string,
  { isNew = false }: Writing = {},
): Promise<void> {
  const folder = dirname(file);
  const beside = join(folder, `.${process.pid}.${crypto.randomUUID()}`);
  try {
    const handle = await open(beside, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A name that is taken is refused by the link, whoever comes first.
    await (isNew ? link(beside, file) : rename(beside, file));
  } finally {
    await rm(beside, { force: true });
  }
  await syncFolder(folder);
}

/** With mode 0700, and what lacks above it; all of their names are on disk when it resolves. */
export async function makePrivateFolder(folder: string): Promise<void> {
  const first = await mkdir(resolve(folder), { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

/** A new name is only safe when its folder is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
