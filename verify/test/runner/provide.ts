// Brings what tests lack of Debian, once and before the first of them, and says what and why. Root
// installs it; any other user is told the command.

import { spawn } from 'node:child_process';
import {
  cacheFolder,
  type DebianProgram,
  fetchDebianPrograms,
} from '@parley/dev/devnet/debian-package.ts';
import { type Installed, type Need, spare, type Unpacked } from './needs.ts';

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
  unpack(programs: readonly DebianProgram[]): Promise<void>;
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
  if (!(await installAll(installed, machine))) return false;
  const unpacked = lacking.filter((need): need is Unpacked => 'program' in need);
  await machine.unpack(unpacked.map(({ program }) => program)).catch((error: Error) => {
    machine.say(`${unpacked.map(({ what }) => what).join(', ')} cannot be had: ${error.message}`);
  });
  return true;
}

/** Together: apt reads its lists anew each time. Apart where that fails: a spare one may be why. */
async function installAll(lacking: readonly Installed[], machine: Machine): Promise<boolean> {
  const must = lacking.filter(({ isSpare }) => isSpare !== true);
  const others = lacking.filter(({ isSpare }) => isSpare === true);
  const groups = [must, ...others.map((one) => [one])].filter((each) => each.length > 0);
  let command = `apt-get update -o Acquire::Languages=none && ${installing}`;
  if (machine.isRoot && groups.length > 1) {
    const { code } = await machine.run(`${command} ${packagesOf(lacking)}`);
    if (code === 0) return true;
    // The lists are new by now.
    command = installing;
  }
  for (const each of groups) {
    const isHad = await install(each, command, machine);
    if (!isHad && each === must) return false;
    command = installing;
  }
  return true;
}

const packagesOf = (lacking: readonly Installed[]) =>
  lacking.flatMap((need) => need.packages).join(' ');

async function install(
  lacking: readonly Installed[],
  command: string,
  machine: Machine,
): Promise<boolean> {
  const packages = packagesOf(lacking);
  if (!machine.isRoot) {
    machine.say(`As root, once: ${command} ${packages}`);
    return false;
  }
  const { code, output } = await machine.run(`${command} ${packages}`);
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
  unpack: async (programs) => fetchDebianPrograms(programs, await cacheFolder(spare)),
  say: (line) => console.log(line),
};
