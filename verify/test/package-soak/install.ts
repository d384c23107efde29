// Packages as an outsider gets them: by the npm that runs this, into a folder of their own.

import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const installMs = 180_000;
const commandMs = 60_000;

function npm(): string {
  const path = process.env.npm_execpath;
  if (path === undefined) throw new Error('installs by npm: start it by npm run soak');
  return path;
}

export async function install(folder: string, packages: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
  const args = [npm(), 'install', ...flags, ...packages];
  await run(process.execPath, args, { cwd: folder, timeout: installMs });
}

/** The output of an installed package's command, as `npx` runs it. */
export async function npx(folder: string, ...command: string[]): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  env.PATH = `${dirname(process.execPath)}:${env.PATH}`;
  const args = [npm(), 'exec', '--offline', '--', ...command];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env, timeout: commandMs });
  return stdout;
}
