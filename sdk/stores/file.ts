// A store in a folder, one file a record. Written beside, synced, renamed: a power cut leaves the
// old content or the new. Secrets are never overwritten.

import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { sleep } from '../../chains/nodes/turn.ts';
import { opens, type Secret } from '../../core/hashlock.ts';
import { lockFolder } from '../../host/folder-lock.ts';
import { SettleError } from '../errors.ts';
import type { OwnTrade } from '../trade.ts';
import { readKept, type Store, type SwapRecord, writeKept } from './store.ts';

/** Between two tries to have a lock. */
const lockPauseMs = 50;
/** A disk's clock beside the machine's. */
const clockSlackMs = 60_000;
const idShape = /^[0-9a-zA-Z-]{1,64}$/;

export async function fileStore(dir: string): Promise<Store> {
  const secrets = join(dir, 'secrets');
  const trades = join(dir, 'trades');
  const swaps = join(dir, 'swaps');
  const folders = [dir, secrets, trades, swaps];
  for (const each of folders) await mkdir(each, { recursive: true, mode: 0o700 });
  for (const each of folders) await syncFolder(each);
  return {
    putSecret: async (hashlock, secret) => {
      const path = join(secrets, named(hashlock));
      const held = await readOrNull(path);
      if (held === secret) return;
      if (held !== null) throw new SettleError('bad_record', `${hashlock} already has a secret`);
      if (!opens(secret, hashlock)) {
        throw new SettleError('bad_record', `a secret that does not open ${hashlock}`);
      }
      await writeSafely(secrets, named(hashlock), secret);
    },
    getSecret: async (hashlock) => {
      const held = await readOrNull(join(secrets, named(hashlock)));
      if (held !== null && !opens(held, hashlock)) {
        throw new SettleError('bad_record', `the file of ${hashlock} holds another secret`);
      }
      return held as Secret | null;
    },
    putTrade: (trade) => writeSafely(trades, named(trade.threadId), writeKept(trade)),
    getTrade: (threadId) => read<OwnTrade>(trades, threadId),
    putSwap: (record) => writeSafely(swaps, named(record.swap.id), writeKept(record)),
    getSwap: (swapId) => read<SwapRecord>(swaps, swapId),
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

function named(id: string): string {
  if (idShape.test(id)) return id;
  throw new SettleError('bad_record', `"${id.slice(0, 80)}" cannot be the name of a record`);
}

async function read<T extends SwapRecord | OwnTrade>(dir: string, id: string): Promise<T | null> {
  const text = await readOrNull(join(dir, named(id)));
  if (text === null) return null;
  try {
    return readKept<T>(text);
  } catch (cause) {
    const sentence = `the record ${id} is not readable: keep the file, it holds terms`;
    throw new SettleError('bad_record', sentence, { cause });
  }
}

async function writtenSince(dir: string, names: string[], sinceMs: number): Promise<string[]> {
  if (sinceMs <= 0) return names;
  const written = async (name: string) => (await stat(join(dir, name))).mtimeMs;
  const times = await Promise.all(names.map(written));
  return names.filter((_, at) => (times[at] ?? 0) >= sinceMs);
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeSafely(folder: string, name: string, text: string): Promise<void> {
  const beside = join(folder, `.${name}.${process.pid}.${crypto.randomUUID()}`);
  try {
    const file = await open(beside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, join(folder, name));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** A new name is only safe when its folder is on disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
