// A Python environment with what this folder runs (requirements.txt), kept until that changes.
// Asks the registry of this machine's pip.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPython } from '../support/python.ts';

const run = promisify(execFile);
const wanted = join(import.meta.dirname, 'requirements.txt');
const cache = join(import.meta.dirname, '../../node_modules/.cache');
const installMs = 300_000;

/** Where its commands are. */
export async function environment(): Promise<string> {
  const python = findPython();
  if (python === null)
    throw new Error('no Python 3.11 or later with venv (PARLEY_PYTHON names one)');
  const digest = createHash('sha256')
    .update(await readFile(wanted))
    .digest('hex')
    .slice(0, 12);
  const place = join(cache, `api-soak-${digest}`);
  const bin = join(place, 'bin');
  if (existsSync(join(place, 'complete'))) return bin;
  await rm(place, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await run(python, ['-m', 'venv', place]);
  const flags = ['--only-binary', ':all:', '--quiet', '--disable-pip-version-check'];
  const install = ['-m', 'pip', 'install', ...flags, '-r', wanted];
  await run(join(bin, 'python'), install, { timeout: installMs });
  await mkdir(join(place, 'complete'));
  return bin;
}
