// A store in a folder, one file a record. Secrets are never overwritten.

import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { lockFolder } from '@parley/host/folder-lock.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { makePrivateFolder, syncFolder, writePrivately } from '@parley/host/private-file.ts';
import { clockSlackMs, type Entries, type Folder, idShape, storeOver } from './entries.ts';
import type { Store, SwapNonces } from './store.ts';

/** Between two tries to have a lock. */
const lockPauseMs = 50;

export async function fileStore(dir: string): Promise<Store & SwapNonces> {
  const swaps = join(dir, 'swaps');
  const kinds = ['secrets', 'trades', 'nonces'] satisfies Folder[];
  const folders = [dir, swaps, ...kinds.map((kind) => join(dir, kind))];
  const get: Entries['get'] = (folder, name) =>
    readFile(join(dir, folder, name), 'utf8').catch(nullIfMissing);
  for (const each of folders) await makePrivateFolder(each);
  for (const each of folders) await syncFolder(each);
  return {
    ...storeOver({
      get,
      put: async (folder, name, next) => {
        const text = next(folder === 'secrets' ? await get(folder, name) : null);
        if (text !== null) return writePrivately(join(dir, folder, name), text);
        // Its writing may have failed after it had its name.
        await syncFolder(join(dir, folder));
      },
      take: async (folder, name) => {
        const from = join(dir, folder, name);
        const taken = join(dir, folder, `.${process.pid}.${crypto.randomUUID()}`);
        try {
          // One of two processes moves it.
          await rename(from, taken);
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
      const all = (await readdir(swaps)).filter((name) => idShape.test(name));
      return sinceMs === undefined ? all : writtenSince(swaps, all, sinceMs - clockSlackMs);
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
