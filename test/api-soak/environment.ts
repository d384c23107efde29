// A Python environment with what this folder runs (requirements.txt). Asks the registry of this
// machine's pip.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPython } from '../support/python.ts';

const run = promisify(execFile);
const wanted = join(import.meta.dirname, 'requirements.txt');
const installMs = 300_000;

/** Makes it in a folder that is not there yet; gives where its commands are. */
export async function environment(folder: string): Promise<string> {
  const found = findPython();
  if (found === null) throw new Error('there is no Python 3.11 or later with venv');
  await run(found, ['-m', 'venv', folder]);
  const bin = join(folder, 'bin');
  const flags = ['--only-binary', ':all:', '--quiet', '--disable-pip-version-check'];
  const install = ['-m', 'pip', 'install', ...flags, '-r', wanted];
  await run(join(bin, 'python'), install, { timeout: installMs });
  return bin;
}
