// A file that only its user reads, written beside, synced and renamed: a power cut leaves the old
// content or the new.

import { link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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

/** A new name is only safe when its folder is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
