// The packages of a test. All of them are compiled together, once in a run of `npm test`, by
// whichever process asks first; a file that runs by itself compiles for itself.

import { existsSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { lockFolder } from '@parley/host/folder-lock.ts';
import {
  compile,
  type PackageRoom,
  type Packed,
  pack,
  packages,
} from '@parley/scripts/package-build.ts';

const lookMs = 200;
/** Compiling takes ten seconds of a processor that others use too. */
const limitMs = 240_000;
let made: Promise<string> | null = null;

/** As `pack` of the sources makes it. */
export async function packed(room: PackageRoom, to: string): Promise<Packed> {
  made ??= compiled();
  return pack(room, to, await made);
}

async function compiled(): Promise<string> {
  // The runner gives its processes one folder for what is temporary, and ends it with the run.
  const isOfRun = process.env.PARLEY_TEST_USAGE !== undefined;
  const folder = join(tmpdir(), isOfRun ? 'packages' : `parley-packages-${process.pid}`);
  await mkdir(folder, { recursive: true });
  if (!isOfRun) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const into = join(folder, 'made');
  const done = join(folder, 'done');
  const until = performance.now() + limitMs;
  for (;;) {
    const lock = await lockFolder(folder, 'packages');
    try {
      if (existsSync(done)) return into;
      if (lock !== null) {
        await compile(Object.keys(packages) as PackageRoom[], into);
        await writeFile(done, '');
        return into;
      }
    } finally {
      await lock?.release();
    }
    if (performance.now() > until) throw new Error(`${into} is not compiled in ${limitMs} ms`);
    await wait(lookMs);
  }
}
