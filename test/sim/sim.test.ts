// The simulation on some seeds, those that once found something first; and that a seed is a seed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runPlanted } from '../planted/finders.ts';

const program = fileURLToPath(new URL('run.ts', import.meta.url));

async function run(...args: readonly string[]) {
  const { code, output, errors } = await runPlanted([program, ...args, '--json'], null);
  const last = output.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('{'), `${output}\n${errors}`);
  return { code, errors, ...(JSON.parse(last) as Counted) };
}

type Counted = {
  readonly seeds: number;
  readonly wanted: number;
  readonly broken: readonly number[];
  readonly missed: readonly string[];
  readonly ends: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly 'gas keys': Readonly<Record<string, number>>;
};

/** A second of the processor each, and more is in the soak. */
const mostMinutes = 0.4;
const leastSeeds = 8;

test('whoever follows the rules ends with its own or with what it was promised', async (t) => {
  const bounds = ['--minutes', String(mostMinutes), '--least', String(leastSeeds)];
  const found = await run('--known', '--seeds', '10', ...bounds);
  const { code, broken, missed, seeds, wanted, ends, faults, 'gas keys': keys, errors } = found;
  t.diagnostic(`${seeds} of ${wanted} simulated markets`);
  t.diagnostic(`ends ${JSON.stringify(ends)}, faults ${JSON.stringify(faults)}`);
  t.diagnostic(`gas keys ${JSON.stringify(keys)}`);
  assert.deepEqual([broken, missed], [[], []], errors);
  assert.equal(code, 0);
  assert.ok(seeds >= leastSeeds, `only ${seeds} seeds`);
  // The first of seeds.json meet these, however few there is time for.
  const met = [keys['relays landed'], keys['keeper claims']];
  assert.ok(
    met.every((times) => (times ?? 0) > 0),
    `relays landed, keeper claims: ${met.join()}`,
  );
});

test('a seed tells the same story every time, whatever runs before and beside it', async () => {
  const alone = await run('--seed', '6', '--story');
  const beside = await run('--seeds', '2', '--from', '5', '--story', '--workers', '2');
  const story = /^seed 6:\n(?: .*\n)*/m;
  const [one] = story.exec(alone.errors) ?? [];
  const [other] = story.exec(beside.errors) ?? [];
  assert.ok(one !== undefined && one.length > 500);
  assert.equal(one, other);
});

test('signals to the whole group end no seed that is under way, and what was run is counted', async () => {
  const args = [program, '--seeds', '5000', '--from', '700', '--story', '--json'];
  const child = spawn(process.execPath, [...args, '--workers', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  await Promise.race([once(child.stderr, 'data'), closed]);
  // As Ctrl-C does, and once more as whoever started it hands it on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGTERM'] as const) {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), signal);
  }
  const [code] = await closed;
  const last = output.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('{'), `${output}\n${errors}`);
  const { seeds, broken } = JSON.parse(last) as Counted;
  assert.deepEqual([code, broken], [1, []], errors);
  assert.ok(seeds >= 1 && seeds < 50, `${seeds} seeds`);
});
