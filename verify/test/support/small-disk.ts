// A small disk for one process and its children: a tmpfs in a mount namespace of theirs, which
// nobody else sees. Needs root, or user namespaces that ordinary users may make; where neither is
// to be had there is none, and the test says so.

import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ways = [['-m'], ['--user', '--map-current-user', '--keep-caps', '--mount']] as const;
const mount = (size: string, what: string) =>
  `mount -t tmpfs -o size=${size},mode=0755 parley-small ${what}`;

/** The command prefix that makes PARLEY_HOME a disk of this size; null: not here. */
export function onSmallDisk(size: string): string[] | null {
  for (const way of ways) {
    const tried = spawnSync('unshare', [...way, 'sh', '-c', mount('1m', '/mnt')]);
    if (tried.status !== 0) continue;
    return ['unshare', ...way, 'sh', '-c', `${mount(size, '"$PARLEY_HOME"')} && exec "$@"`, 'sh'];
  }
  return null;
}

/** Seen from outside: the folder as that process has it. */
export function insideOf(pid: number, folder: string): string {
  return `/proc/${pid}/root${folder}`;
}

const pieceBytes = 1 << 20;

/** Takes all the space that is left; gives it back when called. */
export async function fill(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'ballast');
  let size = pieceBytes;
  for (; size >= 1_024; ) {
    try {
      await writeFile(file, Buffer.alloc(size, 1), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size /= 2;
    }
  }
  return () => rm(file, { force: true });
}
