// Every request that changes something and every pass, ended at awaits of it that a seed draws, and
// gone on with by another process; `npm run soak -- crashes` ends them at every one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { passesOf } from './crash-matrix/passes.ts';
import { rows } from './crash-matrix/rows.ts';
import { openWorld } from './crash-matrix/world.ts';

const program = fileURLToPath(new URL('crash-matrix/run.ts', import.meta.url));
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const covered = new Set(rows.map(({ of }) => of));

test('every route that changes something is in the matrix', () => {
  const { paths } = JSON.parse(read('../docs/openapi.json')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== 'get')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.ok(routes.length > 10);
  assert.deepEqual(
    routes.filter((each) => !covered.has(each)),
    [],
  );
});

test('every pass of a process is in the matrix, and every part that a start sets going', async () => {
  const world = await openWorld();
  const passes = passesOf(world.market);
  world.market.wire.kill('at the end');
  await world.database.drop();
  assert.deepEqual(
    passes.filter((each) => !covered.has(each)),
    [],
  );
  const started = read('../server/boot.ts').matchAll(/(\w+)\.start\(\)|start(Pruning)\(/g);
  const parts = [...started].map(([, part, made]) => (made ?? part ?? '').toLowerCase());
  assert.ok(parts.length > 3);
  const known = new Set(passes.map((each) => each.split('.')[0]));
  assert.deepEqual(
    parts.filter((each) => !known.has(each)),
    [],
  );
});

test('whatever a process was ended at, the end is the same', async (t) => {
  const seed = process.env.PARLEY_CRASH_SEED ?? String(Date.now() % 100_000);
  const args = [program, '--kills', '1', '--seed', seed, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  t.diagnostic(output);
  assert.equal(code, 0, `${errors}\n${output}`);
  const counted = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, number>;
  assert.equal(counted.rows, rows.length + 1);
  assert.ok((counted.kills ?? 0) >= rows.length);
});
