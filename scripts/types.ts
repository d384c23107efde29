// Checks the types of all packages, and compiles what is published: `tsc -b`, one process at a time,
// since two would write the same files. A second run finds them up to date. `tsconfig.json` is for
// editors and lint: one program of all files, where one for each package reads most files again.

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { lockFolder } from '@parley/host/folder-lock.ts';
import { generate } from './generate.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const mostOutput = 16 * 1_024 * 1_024;
const limitMs = 240_000;
const lookMs = 200;
/** Programs of Go collect their garbage at every doubling otherwise: a fifth of the time. */
export const goEnvironment = { GOGC: 'off', GOMEMLIMIT: '3GiB' };

/**
 * @param projects `tsconfig.build.json` files, from the root; that of the root is all of them
 * @throws Error with the words of the compiler
 */
export async function buildTypes(projects: readonly string[]): Promise<void> {
  const cache = `${root}node_modules/.cache`;
  await mkdir(cache, { recursive: true });
  const until = performance.now() + limitMs;
  let lock = await lockFolder(cache, 'types');
  while (lock === null) {
    if (performance.now() > until) throw new Error(`types are checked elsewhere for ${limitMs} ms`);
    await sleep(lookMs);
    lock = await lockFolder(cache, 'types');
  }
  try {
    await generate();
    const env = { ...process.env, ...goEnvironment };
    const args = ['-b', ...projects, '--checkers', '1'];
    const options = { cwd: root, env, maxBuffer: mostOutput };
    await promisify(execFile)(`${root}node_modules/.bin/tsc`, args, options);
  } catch (error) {
    const { message, stdout = '' } = error as Error & { readonly stdout?: string };
    throw new Error(stdout === '' ? message : stdout, { cause: error });
  } finally {
    await lock.release();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildTypes(['tsconfig.build.json']).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
