// One owner a folder. The lock is a listening local socket: the kernel frees it however its owner
// ends, so that a `kill -9` leaves nothing behind and nobody ever has to judge a stale lock file.
import { createHash } from 'node:crypto';
import { stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nullIfMissing } from './missing-file.ts';

const ownerReplyMs = 1_000;

export type FolderLock = { release(): Promise<void> };

/** Null: another live process holds the folder for this purpose, a word of letters. */
export async function lockFolder(folder: string, purpose: string): Promise<FolderLock | null> {
  const address = await socketAddress(folder, purpose);
  // The second round is for a socket file whose owner is gone: on Linux there is no file.
  for (let round = 0; round < 2; round++) {
    const server = await listen(address);
    if (server !== null) return { release: () => server[Symbol.asyncDispose]() };
    if (address.startsWith('\0') || (await isAnswered(address))) return null;
    await unlink(address).catch(nullIfMissing);
  }
  return null;
}

async function socketAddress(folder: string, purpose: string): Promise<string> {
  // Device and inode name the folder itself, whatever path or link led to it.
  const { dev, ino } = await stat(folder, { bigint: true });
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  const file = `parley-${purpose}-${name}`;
  return process.platform === 'linux' ? `\0${file}` : join(tmpdir(), `${file}.sock`);
}

function listen(address: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen({ path: address, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const finish = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(ownerReplyMs, () => finish(true));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
