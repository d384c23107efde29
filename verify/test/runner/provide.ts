// Brings what tests lack of Debian, once and before the first of them, and says what and why. Root
// installs it; any other user is told the command.

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installed, Need, Unpacked } from './needs.ts';

/** The limit of one call of apt-get, which may have 500 MB to fetch. */
const aptMs = 900_000;
/** Another package manager may be at work: a test run of another clone, or upgrades at night. */
const lockMs = 300_000;
const lookMs = 2_000;
const isLocked = /Could not get lock|Unable to (?:acquire|lock)|is another process using it/;
const installing = ['install', '-y', '--no-install-recommends', '--no-remove'];

export type Said = { readonly code: number | null; readonly output: string };
/** The machine that is asked; tests have another. */
export type Machine = {
  readonly isRoot: boolean;
  run(command: readonly string[]): Promise<Said>;
  say(line: string): void;
  wait(): Promise<void>;
};

/** True: all is here, or it could not be had and is said. False: no test may run without it. */
export async function provide(wanted: readonly Need[], machine = ours): Promise<boolean> {
  const here = await Promise.all(wanted.map((need) => need.isHere()));
  const lacking = wanted.filter((_, at) => !here[at]);
  const installed = lacking.filter((need): need is Installed => 'packages' in need);
  const unpacked = lacking.filter((need): need is Unpacked => 'obtain' in need);
  if (!machine.isRoot) {
    const had = await known(installed, machine);
    if (had.length > 0) return tell(had, machine);
  }
  if (lacking.length === 0) return true;
  const listed = lacking.map(({ what, why }) => `${what} (${why})`).join(', ');
  machine.say(`Debian is asked, once, for what these tests need and is not here: ${listed}`);
  if (machine.isRoot && installed.length > 0 && !(await install(installed, machine))) return false;
  for (const { what, obtain } of unpacked) {
    await obtain().catch((error: Error) => machine.say(`${what} cannot be had: ${error.message}`));
  }
  return true;
}

function tell(lacking: readonly Installed[], { say }: Machine): false {
  const listed = lacking.map(({ what, why }) => `${what} (${why})`).join(', ');
  const packages = lacking.flatMap((need) => need.packages).join(' ');
  say(`These tests need what root alone can install: ${listed}. As root, once:`);
  say(`  apt-get update && apt-get ${installing.join(' ')} ${packages}`);
  return false;
}

/** Those that this Debian has. Where it knows no package yet, that cannot be told: all. */
async function known(lacking: readonly Installed[], { run }: Machine): Promise<Installed[]> {
  if (lacking.length === 0) return [];
  const names = lacking.flatMap(({ packages }) => packages);
  const { output } = await run(['apt-cache', 'policy', 'apt', ...names]);
  const found = output.matchAll(/^(\S+):\n.*\n +Candidate: (?:\d+:)?(\d\S*)/gm);
  const versions = new Map([...found].map(([, name, version = '']) => [name, version] as const));
  if (!/^ +500 http/m.test(output)) return [...lacking];
  return lacking.filter(({ packages: [name], fits }) => {
    const version = versions.get(name ?? '');
    return fits === undefined || (version !== undefined && fits(version));
  });
}

async function install(lacking: readonly Installed[], machine: Machine): Promise<boolean> {
  // One that fails may have brought enough: `install` names the packages that lack then.
  const updated = await apt(['update'], machine);
  const had = await known(lacking, machine);
  for (const each of lacking) {
    if (!had.includes(each)) machine.say(`${each.what} cannot be had of this Debian`);
  }
  const together = had.flatMap(({ packages }) => packages);
  if (had.length === 0) return true;
  const { code: failed } = await apt([...installing, ...together], machine);
  if (failed === 0) return true;
  for (const { what, packages, fits } of had) {
    const { code, output } = await apt([...installing, ...packages], machine);
    if (code === 0) continue;
    machine.say(`${what} cannot be had: apt-get ended with ${code}\n${tail(output)}`);
    if (fits !== undefined) continue;
    if (updated.code !== 0) machine.say(`apt-get update failed before:\n${tail(updated.output)}`);
    return false;
  }
  return true;
}

const tail = (output: string) => output.trimEnd().split('\n').slice(-10).join('\n');

async function apt(args: readonly string[], machine: Machine): Promise<Said> {
  for (let waited = 0; ; waited += lookMs) {
    const said = await machine.run(['apt-get', ...args]);
    if (said.code === 0 || !isLocked.test(said.output) || waited >= lockMs) return said;
    if (waited === 0) {
      const most = `${lockMs / 1_000} s at most`;
      machine.say(`another package manager is at work, and is waited for: ${most}`);
    }
    await machine.wait();
  }
}

function run(command: readonly string[]): Promise<Said> {
  const [file = '', ...args] = command;
  // Its words are looked at.
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: aptMs });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
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
  wait: () => sleep(lookMs),
};
