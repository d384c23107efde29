// Every request that changes something and every pass, ended at awaits of it that a seed draws, and
// gone on with by another process; `npm run soak -- crashes` ends them at every one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { begunIn } from './crash-matrix/begun.ts';
import { migrations } from './crash-matrix/migrations.ts';
import { passesOf } from './crash-matrix/passes.ts';
import { rows } from './crash-matrix/rows.ts';
import { openWorld } from './crash-matrix/world.ts';

const program = fileURLToPath(new URL('crash-matrix/run.ts', import.meta.url));
const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const covered = new Set([...rows, migrations].map(({ of }) => of));

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
  halts: 'only reads, for the log and the metrics of its own process',
  buildApp: 'serves requests, which have rows of their own',
  databaseFault: 'writes the sentence of a start that fails',
  mustKnowContracts: 'counts the escrows of contracts that are not configured, and changes nothing',
  openDevnet: 'looks up assets that its faucet gives, and changes nothing here',
  connect: 'opens connections when something is asked for',
  'db.close': 'ends them',
};

const isLeftOut = (each: string) => !covered.has(each) && without[each] === undefined;

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
  for (const each of ['presence', 'keeper', 'resealKept', 'pruning', 'halts']) {
    assert.ok(begun.includes(each), `what begins ${each} is not seen`);
  }
  assert.deepEqual(
    begun.filter((each) => isLeftOut(each) && !known.has(each) && !known.has(partOf(each))),
    [],
  );
  const stale = Object.keys(without).filter((each) => ![...passes, ...begun].includes(each));
  assert.deepEqual(stale, [], 'they are there no more');
});

test('what a start gives the database to is seen, by whatever word and in whatever place', () => {
  const seen: Readonly<Record<string, readonly string[]>> = {
    'const one = createOne(deps); one.whirl();': ['one'],
    'await other.begin();': ['other'],
    'const third = await stirUp(deps);': ['stirUp'],
    'await fourth(db, deps, [1]);': ['fourth'],
    'await sweep(db);': ['sweep'],
    'await sweep(settings, log, deps);': ['sweep'],
    'await sweep({ ...deps, log });': ['sweep'],
    'await sweep(log, [deps.db]);': ['sweep'],
    'await sweep(log, isLate ? db : other);': ['sweep'],
    'await sweep<Row>(log, db);': ['sweep'],
    'void every(60, () => sweep(db));': ['sweep'],
    'void every(60, () => market.db);': ['every'],
    'await migrate(databaseUrl);': ['migrate'],
    'await migrate(settings.databaseUrl);': ['migrate'],
    'const { databaseUrl: own } = settings; await naming(words, migrate(own));': ['migrate'],
    'const own = settings.databaseUrl; await migrate(own);': ['migrate'],
    'const { stir } = createStirrer(deps); stir();': ['createStirrer'],
    'const third: Third = await createThird(log, made);': ['third'],
    'third.also(deps);': ['third.also'],
    'new Sweeper(deps);': ['Sweeper'],
    'await db.rows(statement);': ['db.rows'],
    'await deps.db.transaction((tx) => empty(tx));': ['deps.db.transaction'],
    'const own = connect(url); await sweep(own);': ['sweep'],
    'market.db = db; await fill(market);': ['fill'],
  };
  const made = 'const made = { settings, db }; const deps: Deps = { ...made, gas };';
  for (const [line, names] of Object.entries(seen)) {
    assert.deepEqual(begunIn(`${made} ${line}`), names, line);
  }
  const other = [
    'createMetrics(settings.shortName);',
    'if (own !== null) tell(settings.databaseUrl === null);',
    'const gas = await openKeys(settings, home); undo.push(() => gas.stop()); // sweep(db)',
  ];
  for (const line of other) assert.deepEqual(begunIn(`${made} ${line}`), [], line);
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
