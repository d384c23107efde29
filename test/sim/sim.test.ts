// The simulation on as many seeds as a minute lets through, those that once found something first;
// and that a seed is a seed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('run.ts', import.meta.url));

async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const last = output.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('{'), `${output}\n${errors}`);
  return { code, errors, ...(JSON.parse(last) as Counted) };
}

type Counted = {
  readonly seeds: number;
  readonly broken: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
};

test('whoever follows the rules ends with its own or with what it was promised', async (t) => {
  const found = await run('--known', '--seeds', '300', '--minutes', '1');
  const { code, broken, seeds, counts, errors } = found;
  assert.deepEqual(broken, [], errors);
  assert.equal(code, 0);
  assert.ok(seeds > 0 && (counts.swaps ?? 0) > 0);
  t.diagnostic(`${seeds} simulated markets, ${JSON.stringify(counts)}`);
});

test('a seed tells the same story every time', async () => {
  const [one, other] = [await run('--seed', '6', '--story'), await run('--seed', '6', '--story')];
  assert.ok(one.errors.includes('seed 6'));
  assert.equal(one.errors, other.errors);
});
