// `npm test`: types, lint, contracts (their artifacts and gas too), then every *.test.ts on real
// PostgreSQL and real chains, which have the machine for themselves.
// Prints the tests as they go and each other part when it ends, then one closing line of counts.
// A skipped test fails the run: a test that is not run must be heard of; so must one that a file
// has no means to run here, which it prints as a line `NOT TESTED: …`.

import { type ChildProcess, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { Misused, parsed, understood } from '@parley/host/command.ts';
import { type Check, checks } from '@parley/scripts/check.ts';
import { generate } from '@parley/scripts/generate.ts';
import { root, runFiles } from './files.ts';
import { needsOf } from './needs.ts';
import { provide } from './provide.ts';
import { secondsOfTimes, type Used, used } from './usage.ts';

/** With `npm ci` before it the whole stays below 20 minutes. */
const limitMs = 19.3 * 60_000;
/** Databases of the tests are stopped meanwhile. */
const endingMs = 10_000;
const usage = `usage: npm test [-- [PREFIX...] [--name PATTERN] [--watch]]
  PREFIX   test files whose paths begin so, such as core or packages/chains/evm, and nothing else; without
           one types, lint, contracts and every test
  --name   of them the tests whose names fit this regular expression
  --watch  runs a file again whenever it, or what it imports, changes; needs a PREFIX
Exit status: 0 all passed, 1 not, or one was skipped, 2 not understood.`;

function understand(args: string[]) {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: { name: { type: 'string' }, watch: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) return null;
  const none = positionals.filter((prefix) => !all.some((file) => file.startsWith(prefix)));
  if (none.length > 0) throw new Misused(`no test file begins with "${none.join(' ')}"`);
  if (values.watch && positionals.length === 0) throw new Misused('--watch needs a PREFIX');
  return { name: patternOf(values.name), isWatching: values.watch === true, prefixes: positionals };
}

function patternOf(name: string | undefined): RegExp | undefined {
  if (name === undefined) return undefined;
  try {
    return new RegExp(name);
  } catch {
    throw new Misused(`--name is a regular expression, not "${name}"`);
  }
}

const all = globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules', '.parley'] }).sort();
const { name, isWatching, prefixes } = understood({ usage, understand });
const isWhole = prefixes.length === 0 && name === undefined;
const files = all.filter(
  (file) => prefixes.length === 0 || prefixes.some((each) => file.startsWith(each)),
);

await generate();

const stopping = new AbortController();
const children = new Set<ChildProcess>();
function stop(why: string): void {
  console.error(`stopped: ${why}`);
  stopping.abort(new Error(why));
  for (const child of children) child.kill('SIGTERM');
  setTimeout(() => {
    for (const child of children) child.kill('SIGKILL');
    process.exit(1);
  }, endingMs).unref();
}
const tooLong = `the whole took longer than ${limitMs / 60_000} minutes`;
const overall = isWatching ? undefined : setTimeout(() => stop(tooLong), limitMs);
// Else what runs here would go on alone.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(signal));

let passed = 0;
let failed = 0;
const usedBefore: Used[] = [];

/** A part beside others: its shell tells what it used, where the system tells of all together. */
const timing = [
  '-c',
  'trap "kill \\$child" TERM; "$@" & child=$!; wait $child; code=$?; times >&3; exit $code',
  'sh',
];

/** Its output is shown once it has ended: another one runs beside it. */
async function check({ part, command, args }: Check): Promise<string> {
  const began = Date.now();
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  const child = spawn('sh', [...timing, command, ...args], { cwd: root, stdio: [...stdio] });
  children.add(child);
  let output = '';
  let times = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    times += chunk;
  });
  const code = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', resolve);
  });
  children.delete(child);
  usedBefore.push({ what: part, seconds: secondsOfTimes(times) });
  const seconds = Math.round((Date.now() - began) / 1000);
  const ended = code === 0 ? 'ok' : `FAILED (${code})`;
  console.log(`\n== ${part}\n${output.trimEnd()}\n== ${part}: ${ended} in ${seconds} s`);
  if (code === 0) passed += 1;
  else failed += 1;
  return output;
}

const contracts: Check = {
  part: 'contracts/escrows',
  command: process.execPath,
  args: ['contracts/escrows/test/run.ts'],
};

async function checkAll(): Promise<void> {
  // The long ones first: one core has two of them, the other the third and the short one.
  const waiting = [...checks.slice(0, 2), contracts, ...checks.slice(2)];
  const oneByOne = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (stopping.signal.aborted) return;
      const output = await check(next);
      const [, wins = 0, losses = 0] = /^forge: (\d+) passed, (\d+) failed$/m.exec(output) ?? [];
      passed += Number(wins);
      failed += Number(losses);
    }
  };
  await Promise.all([oneByOne(), oneByOne()]);
}

process.env.PATH = [dirname(process.execPath), process.env.PATH].join(':');
used('the start of the run');
// Packages of Debian come by the network meanwhile, and are here before the first test.
const provided = provide(needsOf(root, files)).then((isHere) => {
  if (isHere) return;
  for (const child of children) child.kill('SIGTERM');
  process.exit(1);
});
if (isWhole) await checkAll();
await provided;
const known = usedBefore.reduce((sum, { seconds }) => sum + seconds, 0);
const packages = used('packages of Debian');
usedBefore.push({ ...packages, seconds: packages.seconds - known });
if (stopping.signal.aborted) process.exit(1);
const { signal } = stopping;
const tests = await runFiles({ files, name, isWatching, signal, used: usedBefore });
clearTimeout(overall);
passed += tests.passed;
failed += tests.failed;
console.log(`\n${files.length} test files`);
console.log(`${passed} passed, ${failed} failed, ${tests.skipped} skipped`);
for (const line of tests.notTested) console.error(line);
if (tests.skipped > 0) console.error('a skipped test is a failure here: see above which');
if (passed + failed === 0) console.error(`no test has a name that fits ${name}`);
process.exit(failed > 0 || tests.skipped > 0 || passed === 0 ? 1 : 0);
