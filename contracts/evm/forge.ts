// Runs forge on the tests of a folder, with the binary and the compiler that npm brings.

import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { foundryBinary } from './anvil.ts';

const FORGE_MS = { default: 15 * 60_000, soak: 90 * 60_000 } as const;
type Profile = keyof typeof FORGE_MS;
const isProfile = (name: string): name is Profile => Object.hasOwn(FORGE_MS, name);
export type ForgeResult = { passed: number; failed: number; exitCode: number };

const SUMMARY = /: (\d+) tests passed, (\d+) failed/g;

/** The binary, and how it is started in a folder under a profile of its foundry.toml. */
export function forgeCommand(profile: string, folder: string) {
  // ./solc runs the node that runs this
  const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, FOUNDRY_PROFILE: profile, PATH: path, NO_COLOR: '1' };
  return [foundryBinary('forge'), { cwd: folder, env }] as const;
}

/** Runs forge and shows what it prints. A run without a summary counts as one failure. */
export function forgeTest(profile: Profile, folder: string): Promise<ForgeResult> {
  return new Promise((resolve, reject) => {
    const [forge, options] = forgeCommand(profile, folder);
    const child = spawn(forge, ['test'], {
      ...options,
      stdio: ['ignore', 'pipe', 'inherit'],
      signal: AbortSignal.timeout(FORGE_MS[profile]),
    });
    let tail = '';
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk);
      tail = (tail + chunk.toString()).slice(-65_536);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      const last = [...tail.matchAll(SUMMARY)].at(-1);
      const exitCode = code ?? 1;
      if (last === undefined) resolve({ passed: 0, failed: 1, exitCode: exitCode || 1 });
      else resolve({ passed: Number(last[1]), failed: Number(last[2]), exitCode });
    });
  });
}

/** The profile named on the command line. */
export function profileArgument(): Profile {
  const { values } = parseArgs({ options: { profile: { type: 'string', default: 'default' } } });
  const { profile } = values;
  if (isProfile(profile)) return profile;
  throw new Error(`--profile is one of ${Object.keys(FORGE_MS).join(', ')}, not ${profile}`);
}
