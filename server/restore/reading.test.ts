// Reading back page by page: stored as it goes, gone on with by whoever comes next, once.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { HashlockReader } from '../../chains/interface/history.ts';
import { ParleyError } from '../../core/errors.ts';
import { stubAdapter } from '../../test/support/adapter.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { openReadings, shortenReadings, skipReadings } from '../db/gaps.ts';
import { beatOnce } from './gap.ts';
import { assertMayAgree, toldOf } from './gate.ts';
import { createPresence } from './presence.ts';
import { readRound, shortSilenceSeconds } from './reading.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  await sql('truncate heartbeat, gaps, gap_readings, hashlocks cascade');
});

const sql = (text: string, ...values: unknown[]) =>
  database.db.rows<Record<string, unknown>>({ name: '', text, values });

const never = new AbortController().signal;
const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 10));
/** The hashlock of block `at`. */
const hashlockAt = (name: string, at: number) =>
  `${Buffer.from(name).toString('hex')}${at.toString(16).padStart(8, '0')}`.padStart(64, '0');

type Kind = { readonly family?: 'bitcoin' | 'evm'; shownUntil?: () => number };

/** A chain of ten blocks with a hashlock each, three a page; `fails` at some block, once. */
function chainOf(name: string, fails: { at: number } = { at: Number.NaN }, kind: Kind = {}) {
  const { family = 'evm', shownUntil = () => 0 } = kind;
  const asked: number[] = [];
  const reader: HashlockReader = {
    begin: async () => '0',
    next: async (cursor) => {
      const from = Number(cursor) + 1;
      asked.push(from);
      if (from === fails.at) {
        throw new ParleyError('chain_unavailable', `${name} is gone`, { chain: name });
      }
      const to = Math.min(10, from + 2);
      const hashlocks = Array.from({ length: to - from + 1 }, (_, at) =>
        hashlockAt(name, from + at),
      );
      const done = { cursor: String(to), isWhole: to === 10, left: 10 - to };
      const used = { contract: 'C', funder: 'F', number: '00', counter: to };
      return { hashlocks, lanes: [used], shownUntil: shownUntil(), ...done };
    },
  };
  const adapter: ChainAdapter = { ...stubAdapter(name, family), hashlocks: reader };
  return { adapter, asked, fails };
}

async function gapOf(adapters: readonly ChainAdapter[], seconds = 3_600): Promise<TestDeps> {
  const map = new Map(adapters.map((each) => [each.chain, each]));
  const deps = testDeps({ db: database.db, adapters: map });
  const chains = { served: [...map.keys()], areDev: false };
  const begin = (at: number) => database.db.transaction((tx) => beatOnce(tx, null, at, chains));
  await begin(deps.now() - seconds * 1_000);
  await begin(deps.now());
  return deps;
}

test('each page is stored, and what failed goes on where it was', async () => {
  const one = chainOf('one', { at: 7 });
  const other = chainOf('other');
  const deps = await gapOf([one.adapter, other.adapter]);
  assert.equal(await readRound(deps, never), false);
  const [open, ...rest] = await openReadings(database.db);
  assert.deepEqual(rest, [], 'the other chain is read');
  assert.deepEqual([open?.cursor, open?.found, open?.trouble], ['6', 6, 'one is gone']);
  one.fails.at = Number.NaN;
  assert.equal(await readRound(deps, never), true);
  assert.deepEqual(one.asked, [1, 4, 7, 7, 10]);
  const [count] = await sql('select count(*) as hashlocks from hashlocks');
  assert.equal(count?.hashlocks, 20);
  const next = await sql('select chain, counter from lanes order by chain');
  assert.deepEqual(next, [
    { chain: 'one', counter: 11 },
    { chain: 'other', counter: 11 },
  ]);
});

test('of two that read at once one does, and both know when it is done', async () => {
  const { adapter, asked } = chainOf('one');
  const deps = await gapOf([adapter]);
  await Promise.all([readRound(deps, never), readRound(deps, never)]);
  assert.equal(await readRound(deps, never), true);
  assert.deepEqual(asked.slice(0, 4), [1, 4, 7, 10]);
});

test('afterwards a chain is read on for a day, and holds nobody', async () => {
  const { adapter, asked } = chainOf('one');
  const deps = await gapOf([adapter]);
  assert.equal(await readRound(deps, never), true);
  const first = asked.length;
  assert.equal(await readRound(deps, never), true);
  assert.ok(asked.length > first);
  deps.advance(25 * 3_600_000);
  const before = asked.length;
  assert.equal(await readRound(deps, never), true);
  assert.equal(asked.length, before);
});

test('a chain that nobody can read holds until its operator skips it', async () => {
  const deps = await gapOf([stubAdapter('mute', 'evm')]);
  assert.equal(await readRound(deps, never), false);
  assert.match((await openReadings(database.db))[0]?.trouble ?? '', /can read it back/);
  assert.equal(await skipReadings(database.db, 'mute', new Date()), 1);
  assert.equal(await readRound(deps, never), true);
});

test('what is longer than is read by itself is read as far as its operator says', async () => {
  const { adapter, asked } = chainOf('one');
  const deps = await gapOf([adapter], 31 * 86_400);
  assert.equal(await readRound(deps, never), false);
  assert.deepEqual(asked, []);
  await shortenReadings(database.db, Math.floor(deps.now() / 1_000) - 86_400);
  assert.equal(await readRound(deps, never), true);
  assert.equal(asked.length, 4);
});

test('a node that catches up is not taken for one that has shown all', async () => {
  const { adapter } = chainOf('one');
  const late = { height: 10, hash: '', clock: Math.floor(Date.now() / 1_000) - 3_600 };
  const deps = await gapOf([{ ...adapter, heads: async () => late }]);
  const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' as const } };
  assert.equal(await readRound(live, never), false);
  assert.match((await openReadings(database.db))[0]?.trouble ?? '', /it is catching up/);
});

test('a short stop waits for no block of Bitcoin, a longer one and a restore do', async () => {
  const read = async (
    seconds: number,
    isRestored = false,
    family: 'bitcoin' | 'evm' = 'bitcoin',
  ) => {
    const { adapter } = chainOf('one', undefined, { family });
    const heads = async () => ({ height: 10, hash: '', clock: Math.floor(Date.now() / 1_000) });
    const deps = await gapOf([{ ...adapter, heads }], seconds);
    if (isRestored)
      await database.db.rows({ name: '', text: "update gaps set why = 'restored'", values: [] });
    const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' as const } };
    const isRead = await readRound(live, never);
    await skipReadings(database.db, 'one', new Date());
    return isRead;
  };
  assert.equal(await read(shortSilenceSeconds - 1), true);
  assert.equal(await read(shortSilenceSeconds), false);
  assert.equal(await read(shortSilenceSeconds - 1, true), false);
  assert.equal(await read(shortSilenceSeconds - 1, false, 'evm'), false);
});

// The most that a family's clocks may be apart; Bitcoin's adapter has answered for its own.
for (const [family, afterEnd] of [
  ['evm', 60],
  ['bitcoin', 0],
] as const) {
  test(`a node of ${family} that has shown no block of after the gap has not shown all of it`, async () => {
    let shownUntil = 0;
    const { adapter } = chainOf('one', undefined, { family, shownUntil: () => shownUntil });
    // As new as heads are, and yet of before the end.
    const clock = () => Math.floor(deps.now() / 1_000) - 60;
    const heads = async () => ({ height: 10, hash: '', clock: clock() });
    const deps = await gapOf([{ ...adapter, heads }]);
    const live = { ...deps, settings: { ...deps.settings, network: 'mainnet' as const } };
    const [gap] = await openReadings(database.db);
    const end = Math.ceil((gap?.endedAt.getTime() ?? Number.NaN) / 1_000);
    const round = async (at: number) => {
      shownUntil = at;
      return readRound(live, never);
    };
    for (const at of [end - 3_600, end - 1, end + afterEnd - 1]) {
      assert.equal(await round(at), false, `${at - end} s after the end`);
      const [open] = await openReadings(database.db);
      assert.ok(open);
      assert.deepEqual([open.cursor, open.found, open.trouble], ['10', 10, null], 'all is kept');
      assert.equal(toldOf(open), 'one waits for a block made after that time');
    }
    await assert.rejects(
      database.db.transaction((tx) => assertMayAgree(tx, undefined)),
      /one waits for a block made after that time/,
    );
    assert.equal(await round(end + afterEnd), true);
    await database.db.transaction((tx) => assertMayAgree(tx, undefined));
    assert.equal(await round(0), true, 'once is enough');
  });
}

test('a start tells what agreements wait for, and when they wait no more', async () => {
  const { adapter, fails } = chainOf('one', { at: 7 });
  const deps = await gapOf([adapter]);
  const presence = createPresence(deps);
  await presence.begin();
  try {
    assert.match((await presence.held()).join(), /^one (begins|has \d+ to go|does not answer)$/);
    let isOver = false;
    const over = presence.agreeing.then(() => {
      isOver = true;
    });
    while ((await openReadings(database.db))[0]?.trouble !== 'one is gone') await nextTurn();
    assert.deepEqual([isOver, await presence.held()], [false, ['one does not answer']]);
    fails.at = Number.NaN;
    await over;
    assert.deepEqual(await presence.held(), []);
  } finally {
    await presence.stop();
  }
});

test('what could not be asked for once is not told as read back', async () => {
  const { adapter } = chainOf('one');
  const deps = await gapOf([adapter]);
  await skipReadings(database.db, 'one', new Date());
  let asked = 0;
  const db: typeof deps.db = {
    ...deps.db,
    rows: (statement) => {
      if (statement.name !== 'gap_readings_due') return deps.db.rows(statement);
      asked += 1;
      if (asked === 1) return Promise.reject(new Error('the connection is gone'));
      return deps.db.rows(statement);
    },
  };
  const said: unknown[] = [];
  const warn = (...told: unknown[]) => void said.push(told[1]);
  const log = { ...deps.log, warn, info: () => {} };
  const presence = createPresence({ ...deps, db, log });
  await presence.begin();
  try {
    await presence.agreeing;
    assert.deepEqual([asked, said], [2, ['a pass failed; it is tried again']]);
  } finally {
    await presence.stop();
  }
});
