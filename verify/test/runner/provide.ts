// Brings what tests lack of Debian, once and before the first of them, and says what and why. Root
// installs it; any other user is told the command.

import { spawn } from 'node:child_process';
import type { Installed, Need, Unpacked } from './needs.ts';

/** The limit of one call of apt-get, which may have 500 MB to fetch. */
const aptMs = 900_000;
/** Another package manager may be at work: a test run of another clone, or upgrades at night. */
const installing =
  'apt-get install -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300';

export type Said = { readonly code: number | null; readonly output: string };
/** The machine that is asked; tests have another. */
export type Machine = {
  readonly isRoot: boolean;
  run(command: string): Promise<Said>;
  say(line: string): void;
};

/** True: all is here, or it could not be had and is said. False: no test may run without it. */
export async function provide(wanted: readonly Need[], machine = ours): Promise<boolean> {
  const here = await Promise.all(wanted.map((need) => need.isHere()));
  const lacking = wanted.filter((_, at) => !here[at]);
  if (lacking.length === 0) return true;
  const listed = lacking.map(({ what, why }) => `${what} (${why})`).join(', ');
  machine.say(`These tests need what is not here: ${listed}`);
  const installed = lacking.filter((need): need is Installed => 'packages' in need);
  const must = installed.filter(({ isSpare }) => isSpare !== true);
  if (!(await install(must, machine))) return false;
  for (const each of installed) if (each.isSpare === true) await install([each], machine);
  for (const { what, obtain } of lacking.filter((need): need is Unpacked => 'obtain' in need)) {
    await obtain().catch((error: Error) => machine.say(`${what} cannot be had: ${error.message}`));
  }
  return true;
}

async function install(lacking: readonly Installed[], machine: Machine): Promise<boolean> {
  if (lacking.length === 0) return true;
  const packages = lacking.flatMap((need) => need.packages).join(' ');
  const command = `apt-get update && ${installing} ${packages}`;
  if (!machine.isRoot) {
    machine.say(`As root, once: ${command}`);
    return false;
  }
  const { code, output } = await machine.run(command);
  if (code === 0) return true;
  machine.say(`${packages} cannot be had: apt-get ended with ${code}\n${tail(output)}`);
  return false;
}

const tail = (output: string) => output.trimEnd().split('\n').slice(-10).join('\n');

function run(command: string): Promise<Said> {
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn('sh', ['-c', command], { env, stdio: [...stdio], timeout: aptMs });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

const ours: Machine = {
  isRoot: process.getuid?.() === 0,
  run,
  say: (line) => console.log(line),
};
