// `npm test`: types, lint, contracts (their artifacts and gas too), and beside them every *.test.ts
// on real PostgreSQL and real chains.
// Prints the tests as they go and each other part when it ends, then one closing line of counts.
// A skipped test fails the run: what is not run must be heard of; so must what a test file has no
// means to run here, which it prints as a line `NOT TESTED: …`. `npm test -- core chains/evm` runs
// the tests below those folders only.

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { biomeBinary, lintArguments, typeArguments } from './check.ts';
import { Misused, parsed, understood } from './command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** With `npm ci` before it the whole stays below 20 minutes. */
const limitMs = 19.3 * 60_000;
/** Databases of the tests are stopped meanwhile. */
const endingMs = 10_000;
const usage = `usage: npm test [-- PREFIX...]
  PREFIX   test files whose paths begin so, such as core or chains/evm, and nothing else; without
           one types, lint, contracts and every test
Exit status: 0 all passed, 1 not, or one was skipped, 2 not understood.`;

function understand(args: string[]): readonly string[] | null {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', default: false } },
  });
  if (values.help) return null;
  const none = positionals.filter((prefix) => !all.some((file) => file.startsWith(prefix)));
  if (none.length > 0) throw new Misused(`no test file begins with "${none.join(' ')}"`);
  return positionals;
}

const all = globSync('**/*.test.ts', { cwd: root })
  .filter((file) => !file.startsWith('node_modules') && !file.startsWith('.parley'))
  .sort();
const folders = understood({ usage, understand });
const compiled = mkdtempSync(join(tmpdir(), 'parley-compiled-'));
const env = {
  ...process.env,
  // Each of hundreds of processes would strip the types of the same sources anew.
  NODE_COMPILE_CACHE: compiled,
  // And the same Solidity (chains/evm/testing/compile.ts).
  PARLEY_TEST_COMPILED: join(compiled, 'solidity'),
  PATH: [`${root}node_modules/.bin`, dirname(process.execPath), process.env.PATH].join(delimiter),
};

type Outcome = { readonly code: number; readonly output: string };

const children = new Set<ChildProcess>();
function stop(why: string): void {
  console.error(`stopped: ${why}`);
  for (const child of children) child.kill('SIGTERM');
  setTimeout(() => {
    for (const child of children) child.kill('SIGKILL');
    process.exit(1);
  }, endingMs).unref();
}
const tooLong = `the whole took longer than ${limitMs / 60_000} minutes`;
const overall = setTimeout(() => stop(tooLong), limitMs);
// Else what runs here would go on alone.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop(name));

/** What it prints is shown as it comes, or once it ended where others print meanwhile. */
function run(command: string, args: readonly string[], live: boolean): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    let output = '';
    const take = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk;
      if (live) to.write(chunk);
    };
    child.stdout.on('data', take(process.stdout));
    child.stderr.on('data', take(process.stderr));
    child.on('error', (error) => {
      output += error.message;
      if (live) console.error(error.message);
    });
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code: code ?? 1, output });
    });
  });
}

/** The number behind `word` in the last line of that form, such as `ℹ pass 35`. */
function counted(output: string, form: RegExp): number {
  return Number([...output.matchAll(form)].at(-1)?.[1] ?? 0);
}

let passed = 0;
let failed = 0;
let skipped = 0;

type Step = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly live?: boolean;
};

async function step({ name, command, args, live = false }: Step): Promise<Outcome> {
  if (live) console.log(`\n== ${name}`);
  const began = Date.now();
  const outcome = await run(command, args, live);
  const seconds = Math.round((Date.now() - began) / 1000);
  const ended = `== ${name}: ${outcome.code === 0 ? 'ok' : 'FAILED'} in ${seconds} s`;
  console.log(live ? ended : `\n== ${name}\n${outcome.output.trimEnd()}\n${ended}`);
  return outcome;
}

async function check(name: string, command: string, args: readonly string[]): Promise<void> {
  const { code } = await step({ name, command, args });
  if (code === 0) passed += 1;
  else failed += 1;
}

const node = process.execPath;

async function checkAll(): Promise<void> {
  // More of them each work out most of it anew: less waiting, and twice the processor's time.
  await check('types', 'oxlint', typeArguments);
  await check('lint', biomeBinary, lintArguments);
  const args = ['contracts/escrows/test.ts'];
  const forge = await step({ name: 'contracts/escrows', command: node, args });
  passed += counted(forge.output, /forge: (\d+) passed/g);
  failed += Math.max(counted(forge.output, /forge: \d+ passed, (\d+) failed/g), forge.code && 1);
}

// One after the other on what the tests leave of the machine: they wait half of the time.
const checking = folders.length === 0 ? checkAll() : Promise.resolve();
const files = all.filter(
  (file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)),
);
const { code, output } = await step({
  name: 'tests',
  command: node,
  // Two more than cores: most files wait for chains and clocks half of the time.
  args: ['scripts/test-files.ts', String(Math.max(2, availableParallelism()) + 2), ...files],
  live: true,
});
await checking;
passed += counted(output, /^ℹ pass (\d+)$/gm);
const lost = counted(output, /^ℹ fail (\d+)$/gm) + counted(output, /^ℹ cancelled (\d+)$/gm);
failed += Math.max(lost, code === 0 ? 0 : 1);
skipped += counted(output, /^ℹ skipped (\d+)$/gm) + counted(output, /^ℹ todo (\d+)$/gm);

clearTimeout(overall);
rmSync(compiled, { recursive: true, force: true });
console.log(`\n${files.length} test files`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
for (const [line] of output.matchAll(/NOT TESTED: .*/g)) console.error(line);
if (skipped > 0) console.error('a skipped test is a failure here: see above which');
process.exit(failed > 0 || skipped > 0 || passed === 0 ? 1 : 0);
