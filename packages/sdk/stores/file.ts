// A store in a folder, one file a record. Secrets are never overwritten.

import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { lockFolder } from '@parley/host/folder-lock.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { makePrivateFolder, syncFolder, writePrivately } from '@parley/host/private-file.ts';
import {
  clockSlackMs,
  type Entries,
  type Folder,
  fileNameOf,
  idIn,
  idShape,
  storeOver,
} from './entries.ts';
import type { Store, SwapNonces } from './store.ts';

/** Between two tries to have a lock. */
const lockPauseMs = 50;

export async function fileStore(dir: string): Promise<Store & SwapNonces> {
  const swaps = join(dir, 'swaps');
  const kinds = ['secrets', 'trades', 'nonces'] satisfies Folder[];
  const folders = [dir, swaps, ...kinds.map((kind) => join(dir, kind))];
  /** As an older version has named it. */
  const olderOf = async (folder: Folder, name: string): Promise<string | null> => {
    if (fileNameOf(name) === name) return null;
    return (await readdir(join(dir, folder))).includes(name) ? join(dir, folder, name) : null;
  };
  const fileOf = (folder: Folder, name: string) => join(dir, folder, fileNameOf(name));
  const get: Entries['get'] = async (folder, name) => {
    const text = await readFile(fileOf(folder, name), 'utf8').catch(nullIfMissing);
    const older = text === null ? await olderOf(folder, name) : null;
    return older === null ? text : readFile(older, 'utf8');
  };
  for (const each of folders) await makePrivateFolder(each);
  for (const each of folders) await syncFolder(each);
  return {
    ...storeOver({
      get,
      put: async (folder, name, next) => {
        const text = next(folder === 'secrets' ? await get(folder, name) : null);
        if (text !== null) {
          await writePrivately(fileOf(folder, name), text);
          const older = await olderOf(folder, name);
          if (older === null) return;
          await rm(older);
        }
        // Its writing may have failed after it had its name.
        await syncFolder(join(dir, folder));
      },
      take: async (folder, name) => {
        const taken = join(dir, folder, `.${process.pid}.${crypto.randomUUID()}`);
        // As an older version has named it, it is never used: two kills could have it taken twice.
        const older = await olderOf(folder, name);
        if (older !== null) await rm(older, { force: true });
        try {
          // One of two processes moves it.
          await rename(fileOf(folder, name), taken);
          await syncFolder(join(dir, folder));
          return await readFile(taken, 'utf8');
        } catch (error) {
          return nullIfMissing(error as NodeJS.ErrnoException);
        } finally {
          await rm(taken, { force: true });
        }
      },
    }),
    swapIds: async (sinceMs) => {
      const all = (await readdir(swaps)).filter((name) => idShape.test(idIn(name)));
      const names =
        sinceMs === undefined ? all : await writtenSince(swaps, all, sinceMs - clockSlackMs);
      return [...new Set(names.map(idIn))];
    },
    lock: async (name, signal) => {
      const folder = join(dir, 'locks', bytesToHex(sha256(utf8ToBytes(name))));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (;;) {
        const lock = await lockFolder(folder, 'sdk');
        if (lock !== null || signal.aborted) return lock;
        await sleep(lockPauseMs);
      }
    },
  };
}

async function writtenSince(dir: string, names: string[], sinceMs: number): Promise<string[]> {
  if (sinceMs <= 0) return names;
  const written = async (name: string) => (await stat(join(dir, name))).mtimeMs;
  const times = await Promise.all(names.map(written));
  return names.filter((_, at) => (times[at] ?? 0) >= sinceMs);
}
