// Requests that change something and passes, ended at awaits of them that a seed draws, and gone on
// with by another process; `npm run soak -- sim` ends each of them at every one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runPlanted } from '../planted/finders.ts';
import { endMachine, openWorld } from './crashes/copies.ts';
import { rows } from './crashes/rows.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const covered = new Set(rows.map(({ of }) => of));

test('every route that changes something is in the matrix', () => {
  const { paths } = JSON.parse(read('../../../docs/openapi.json')) as {
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

/** Without a row, by why they need none. */
const without: Readonly<Record<string, readonly string[]>> = {
  'only read, for the log and the metrics of their process': [
    'createHaltsWatch',
    'mustKnowContracts',
    'operatorPages',
  ],
  'asks an operator’s source of prices, and keeps the answer in memory': ['createFiat'],
  'serve or limit requests, which have rows of their own': ['buildApp', 'connectionsWithin'],
  'open what is asked later': ['connect', 'openMarketData', 'byTurns'],
  'counts rows for the planner, and changes none': ['analyzeAssets'],
  'values and limits': ['databaseLimits', 'openFiles', 'marketsOf', 'PoolerError'],
  'tries how a pooler hands connections out, and changes nothing': ['mustKeepSessions'],
  'looks up an asset that the faucet of the dev network gives': ['findCuratedAsset'],
  'what requests ask it for: they have rows of their own': ['keeper.desk'],
  'its passes are those of the keeper': ['watchtowerOf'],
  'a server without gas keys: what it asks for is answered by a watchtower’s pass': ['deskApart'],
};

test('every pass of a process is in the matrix, and every part that a start sets going', async () => {
  const world = await openWorld();
  const { passes } = world.market;
  await endMachine(world);
  await world.database.drop();
  const excused = new Set(Object.values(without).flat());
  assert.deepEqual(
    passes.filter((each) => !covered.has(each) && !excused.has(each)),
    [],
  );
  // The functions that a start takes from other rooms of the server; types, settings and ports do
  // nothing.
  const rooms =
    /^import \{([^}]+)\} from '\.(?:\.\/(?!\.\.|ports|settings)[^']+|\/watchtower\.ts)';$/gm;
  const taken = [...read('../../../apps/market/start/boot.ts').matchAll(rooms)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
  assert.ok(taken.includes('watchtowerOf') && taken.includes('resealKept'), 'imports are not seen');
  const parts = [...new Set(passes.map((each) => each.split('.')[0] ?? ''))];
  const isPart = (name: string) =>
    parts.some((part) =>
      name
        .replace(/^(create|start)/, '')
        .toLowerCase()
        .startsWith(part),
    );
  assert.deepEqual(
    taken.filter((each) => !covered.has(each) && !isPart(each) && !excused.has(each)),
    [],
  );
  const stale = [...excused].filter((each) => ![...passes, ...taken].includes(each));
  assert.deepEqual(stale, [], 'they are there no more');
});

/** A part of the rows each time, so that it takes seconds. */
const share = 12;

test('the end is the same, whatever a process was ended at', async (t) => {
  const seed = process.env.PARLEY_CRASH_SEED ?? String(Date.now() % 100_000);
  const args = ['--every', `${share}`, '--kills', '1', '--seed', seed, '--json'];
  const ran = await runPlanted(['verify/test/sim/crashes/run.ts', ...args], null);
  const { code, output, errors } = ran;
  t.diagnostic(output);
  assert.equal(code, 0, `${errors}\n${output}`);
  const counted = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, number>;
  const least = Math.floor(rows.length / share);
  assert.ok((counted.rows ?? 0) >= least && (counted.kills ?? 0) >= least, output);
});
