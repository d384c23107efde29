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

/** Without a row, and why it needs none. */
const without: Readonly<Record<string, string>> = {
  'keeper.wake': 'ends a pause of its own process and asks nobody for anything',
  watchHalts: 'only reads, for the log and the metrics of its own process',
  buildApp: 'serves requests, which have rows of their own',
};

const isLeftOut = (each: string) => !covered.has(each) && without[each] === undefined;

/**
 * What a start sets going: parts that it makes, whatever the word is that begins them, parts that
 * it begins, and all else that is given what reaches the database.
 */
function begunIn(source: string): string[] {
  const given = String.raw`\(\s*(?:\w+,\s*)?(?:deps|parts|made)\b`;
  const made = source.matchAll(new RegExp(String.raw`const (\w+) = create[A-Z]\w*${given}`, 'g'));
  const begun = source.matchAll(/\b(\w+)\.(?:start|begin)\(/g);
  const called = source.matchAll(new RegExp(String.raw`\b(?!create[A-Z])(\w+)${given}`, 'g'));
  const names = [...made, ...begun, ...called].map(([, name]) => name ?? '');
  return [...new Set(names)];
}

test('every pass of a process is in the matrix, and every part that a start sets going', async () => {
  const world = await openWorld();
  const passes = passesOf(world.market);
  world.market.wire.kill('at the end');
  await world.database.drop();
  assert.deepEqual(passes.filter(isLeftOut), []);
  const known = new Set(passes.map((each) => each.split('.')[0]));
  // A part that is made and begun at once is called as its passes are.
  const partOf = (name: string) => name.replace(/^start(?=[A-Z])/, '').toLowerCase();
  const [start = ''] = /^async function start\([\s\S]*?^}/m.exec(read('../server/boot.ts')) ?? [];
  const begun = begunIn(start);
  for (const each of ['presence', 'keeper', 'resealKept', 'startPruning', 'watchHalts']) {
    assert.ok(begun.includes(each), `what begins ${each} is not seen`);
  }
  assert.deepEqual(
    begun.filter((each) => isLeftOut(each) && !known.has(each) && !known.has(partOf(each))),
    [],
  );
  const stale = Object.keys(without).filter((each) => ![...passes, ...begun].includes(each));
  assert.deepEqual(stale, [], 'they are there no more');
});

test('a pass that a start begins by another word is seen', () => {
  const source = `
    const one = createOne(deps);
    one.whirl();
    await other.begin();
    const third = await stirUp(deps);
    await fourth(db, deps, [1]);
    createMetrics(settings.shortName);
    const made = { settings, db };`;
  assert.deepEqual(begunIn(source), ['one', 'other', 'stirUp', 'fourth']);
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
