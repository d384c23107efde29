// The finders of planted bugs, each in a process of its own that loads the sources with the bug in
// them. A process that only ended or threw is no finding: any bug that crashes would be.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Bug, crashed, type Finder, type Kind, type Look, type Looked, root } from './bugs.ts';
import { byForge, byPrograms } from './contracts.ts';
import { byPytest, withBug } from './python.ts';

export type Ran = {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
};

/** One that hangs is ended. */
const limitMs = 16 * 60_000;

/** The environment of a process that loads the sources with these edits in them. */
export function plantedBy(edits: Bug['edits']): NodeJS.ProcessEnv {
  const plant = `--import=${join(import.meta.dirname, 'plant.ts')}`;
  const options = `${process.env.NODE_OPTIONS ?? ''} ${plant}`;
  return { NODE_OPTIONS: options, PARLEY_TEST_PLANTED: JSON.stringify(edits) };
}

/**
 * Runs a program of the tree with these edits in its sources; null: as they are. It is ended once
 * its output holds `enough`.
 */
export function runPlanted(
  args: readonly string[],
  bug: Pick<Bug, 'edits'> | null,
  more: NodeJS.ProcessEnv = {},
  enough?: RegExp,
): Promise<Ran> {
  const env = { ...process.env, ...more, ...(bug === null ? {} : plantedBy(bug.edits)) };
  const signal = AbortSignal.timeout(limitMs);
  const child = spawn(process.execPath, args, { cwd: root, env, signal });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    if (enough?.test(output)) child.kill();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ code: null, output, errors: message }));
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

type Last = { readonly broken: readonly { readonly where: string; readonly rules: string[] }[] };

/** From the last line of a program, which is JSON. */
export function lookedOf({ code, output, errors }: Ran): Looked {
  const last = output.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return { crashed: `ended with ${code}: ${errors.slice(-600)}` };
  const { broken } = JSON.parse(last) as Last;
  const said = broken.flatMap(({ where, rules }) =>
    rules.map((rule) => ({ rule, text: `${where}: ${rule}` })),
  );
  const found = said.find(({ rule }) => !Object.values<string>(crashed).includes(rule));
  if (found !== undefined) return { rule: found.text };
  return broken.length === 0 ? 'well' : { crashed: said.map(({ text }) => text).join('; ') };
}

/** A file that could not be run has no test that failed. */
const failedTest = /^ *not ok \d+ - (?!.*\.test\.ts)(.+)\n/m;

function testedOf({ code, output }: Ran): Looked {
  if (code === 0) return 'well';
  const failed = failedTest.exec(output);
  return failed === null ? { crashed: output.slice(-600) } : { rule: failed[1] ?? '' };
}

const program =
  (...args: readonly string[]): Look =>
  async (what, bug, env) =>
    lookedOf(await runPlanted([...args, what, '--json'], bug, env));

const few = ['--kills', '2'] as const;
const looks: Readonly<Record<Kind, Look>> = {
  // A test that failed may leave a socket open, which would hold its process for ever.
  test: async (what, bug, env) =>
    testedOf(await runPlanted(['--test', '--test-reporter=tap', what], bug, env, failedTest)),
  // Without a bug a few kills are enough: every kill has a part of the soak.
  crashes: (what, bug, env) =>
    program(
      'verify/test/sim/crashes/run.ts',
      '--first',
      ...(bug ? [] : few),
      '--row',
    )(what, bug, env),
  sim: program('verify/test/sim/run.ts', '--workers', '1', '--seed'),
  driver: program('verify/test/sim/run.ts', '--driver', '--workers', '1', '--seed'),
  forge: byForge,
  solana: byPrograms,
  python: byPytest,
  'python-driver': (what, bug, env) => {
    const args = ['verify/test/sim/run.ts', '--python', '--workers', '1', '--seed', what, '--json'];
    if (bug === null) return runPlanted(args, null, env).then(lookedOf);
    return withBug(bug, async (PARLEY_TEST_PYTHON) =>
      lookedOf(await runPlanted(args, null, { ...env, PARLEY_TEST_PYTHON })),
    );
  },
};

const areWell = new Map<string, Promise<Looked>>();

/** A finder that breaks with nothing planted finds nothing. */
export async function lookFor(bug: Bug, by: Finder, env: NodeJS.ProcessEnv): Promise<Looked> {
  const { kind, what } = by;
  const own = `${kind} ${what}`;
  const well = areWell.get(own) ?? looks[kind](what, null, env);
  areWell.set(own, well);
  const without = await well;
  if (without === 'well') return looks[kind](what, bug, env);
  return { crashed: `it breaks with nothing planted too: ${JSON.stringify(without)}` };
}
