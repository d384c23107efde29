// Several processes over one database: one follows a chain, the others stand by, and one of them
// takes over. The adapters are the real ones but for what an escrow shows.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { connect } from '../db/database.ts';
import { readHeads, storeHeads } from '../db/heads.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { createMetrics } from '../ports/metrics.ts';
import { workOf } from '../ports/work.ts';
import { createSettlement, passLimits, type Settlement, stoodAt } from './follow.ts';
import { reconcile } from './reconcile.ts';
import { letGoEnded } from './take-up.ts';
import { agreedSwap, insertAsset, nodelessAdapters, nodelessDeps } from './testing/rows.ts';
import { scriptedBy } from './testing/scripted.ts';
import { shows } from './testing/states.ts';

let database: TestDatabase;
let deps: TestDeps;
let trade: Parameters<typeof agreedSwap>[1];
/** The facts that each escrow shows, by address; a function may wait or throw. */
let script: Map<string, () => EscrowFacts | Promise<EscrowFacts>>;
let asked: WatchedEscrow[];

before(async () => {
  database = await testDatabase({ connections: 10 });
  deps = nodelessDeps(
    database.db,
    nodelessAdapters().map(scriptedBy(() => ({ script, asked, touched: [] }))),
  );
  const base = await insertAsset(deps, 'bitcoin', null, null);
  const quote = await insertAsset(deps, 'evm-dev', null, null);
  trade = { direction: 'sell_base', base, quote, baseAmount: 5n, quoteAmount: 5n };
});
beforeEach(() => {
  script = new Map();
  asked = [];
});
after(() => database.drop());

type Made = { readonly id: string; readonly long: string };

async function newSwap(): Promise<Made> {
  const { id, state } = await agreedSwap(deps, trade);
  return { id, long: `${state.legs.b.escrow}` };
}

const all = () => ({ chains: 'all' as const, signal: AbortSignal.timeout(60_000) });
const stored = async ({ id }: Made) => (await swapById(deps.db, id)) as Swap;

/** The process that follows Bitcoin, with nothing left to do; it has this number. */
async function follower(number: number): Promise<Settlement> {
  const following = createSettlement({ ...deps, follower: number });
  await deps.db.rows({
    name: '',
    text: `insert into leases values ('bitcoin', $1, false, 1, now() + '30 seconds', now())
      on conflict (name) do update set holder = $1`,
    values: [number],
  });
  while ((await following.pass('bitcoin')).left > 0);
  return following;
}

/** The number of the process that has this lease. */
async function holderOf(lease: string): Promise<number | undefined> {
  const text = `select holder from leases where name = $1 and ends_at > now()`;
  const [row] = await deps.db.rows<{ holder: number }>({ name: '', text, values: [lease] });
  return row?.holder;
}

const isFunded = async (swap: Made) => (await stored(swap)).state.legs.b.facts.funded !== null;

test('the follower of a chain reads again what another process stored, and not its own', async () => {
  const swap = await newSwap();
  const following = await follower(1);
  script.set(swap.long, () => shows.seen);
  await reconcile({ ...deps, follower: 1 }, swap.id, all());
  assert.equal((await following.pass('bitcoin')).reconciled, 0);
  script.set(swap.long, () => shows.funded);
  await reconcile({ ...deps, follower: 2 }, swap.id, all());
  script.set(swap.long, () => nothingSeen);
  assert.equal(await isFunded(swap), true);
  await following.pass('bitcoin');
  assert.equal(await isFunded(swap), false);
});

test('what a former follower stores after its lease is read again by the next one', async () => {
  const swap = await newSwap();
  script.set(swap.long, () => shows.funded);
  await follower(1);
  const reading = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  script.set(swap.long, async () => {
    reading.resolve();
    await gate.promise;
    return nothingSeen;
  });
  const paused = reconcile({ ...deps, follower: 1 }, swap.id, all());
  await reading.promise;
  script.set(swap.long, () => shows.funded);
  const next = await follower(2);
  gate.resolve();
  await paused;
  assert.equal(await isFunded(swap), false, 'a fact of then');
  await next.pass('bitcoin');
  assert.equal(await isFunded(swap), true);
});

test('a follower lets go of swaps that another process brought to their end', async () => {
  const swap = await newSwap();
  const adapter = deps.adapters.get('bitcoin') as ChainAdapter;
  const left: string[] = [];
  const swaps = new Set([swap.id]);
  const unwatch = (addresses: readonly string[]) => void left.push(...addresses);
  await letGoEnded(deps, { ...adapter, unwatch }, swaps);
  assert.deepEqual([left, [...swaps]], [[], [swap.id]]);
  await deps.db.rows({
    name: '',
    text: 'update escrows set done = true where swap_id = $1',
    values: [swap.id],
  });
  await letGoEnded(deps, { ...adapter, unwatch }, swaps);
  assert.deepEqual([left, [...swaps]], [[swap.long], []]);
});

/**
 * A process that may follow Bitcoin, and the calls of its adapter: watched escrows are a count. Each
 * look finds one more block, and the first finds that something happened to `touched`.
 */
function calling(touched: string[] = []) {
  const bitcoin = deps.adapters.get('bitcoin') as ChainAdapter;
  const calls: (string | number)[] = [];
  let watched = 0;
  let height = 702;
  const adapter: ChainAdapter = {
    ...bitcoin,
    resumeFrom: (height) => void calls.push(`from ${height}`),
    watch: (escrows) => {
      watched += escrows.length;
    },
    changes: async () => {
      calls.push(watched);
      height += 1;
      const heads = { height, hash: `h${height}`, clock: 1 };
      return { touched: touched.splice(0), heads, readTo: height - 1 };
    },
  };
  const { pass } = createSettlement({ ...deps, adapters: new Map([['bitcoin', adapter]]) });
  return { calls, pass: () => pass('bitcoin') };
}

test('a process that takes a chain up tells its adapter once how far all was read and stored', async () => {
  await deps.db.rows({ name: '', text: 'delete from chain_heads', values: [] });
  const { long } = await newSwap();
  while ((await calling().pass()).left > 0);
  await deps.db.rows({ name: '', text: 'delete from chain_heads', values: [] });
  const first = calling([long]);
  script.set(long, () => Promise.reject(new ParleyError('chain_unavailable', 'away')));
  for (let passes = 0; passes < 3; passes += 1) await assert.rejects(first.pass());
  const { calls } = first;
  assert.equal(typeof calls[0], 'number', 'it was read by no process');
  await storeHeads(
    deps.db,
    'evm-dev',
    { height: 5, hash: 'h', clock: 1, doneTo: 5 },
    new Date(),
    null,
  );
  const second = calling();
  await assert.rejects(second.pass());
  assert.equal(typeof second.calls[0], 'number', 'it stored nothing of what it read');
  script.set(long, () => shows.funded);
  let pass = await second.pass();
  while (pass.left > 0) pass = await second.pass();
  assert.equal((await storedHead())?.doneTo, pass.heads.height - 1, 'no later pass may end');
  const { height } = (await second.pass()).heads;
  const next = calling();
  await next.pass();
  await next.pass();
  assert.equal(next.calls[0], `from ${height - 2}`);
  assert.equal(next.calls.filter((each) => typeof each === 'string').length, 1);
});

test('a pass without a new block stores no head, of a chain without a place to read on from too', async () => {
  const stored: string[] = [];
  const rows: typeof deps.db.rows = (statement) => {
    stored.push(statement.name);
    return deps.db.rows(statement);
  };
  const adapters = bitcoinAt(() => 300);
  const { pass } = createSettlement({ ...deps, db: { ...deps.db, rows }, adapters });
  while ((await pass('bitcoin')).left > 0);
  await pass('bitcoin');
  assert.equal(stored.filter((name) => name === 'heads_store').length, 1);
});

test('a block is read once, so an adapter first hears of all escrows, however many there are', async () => {
  const { id } = await newSwap();
  // Copies have no script.
  const text = `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at, done)
    select chain, address || number, swap_id, leg, terms, facts, created_at, done
      from escrows, generate_series(1, 2000) number where swap_id = $1 and chain = 'bitcoin'`;
  await deps.db.rows({ name: '', text, values: [id] });
  const { calls, pass } = calling();
  await pass();
  const watched = calls.find((each) => typeof each === 'number');
  await deps.db.rows({
    name: '',
    text: `delete from escrows where chain = 'bitcoin' and swap_id = $1 and redeem_script is null`,
    values: [id],
  });
  assert.ok(Number(watched) > 2_000, `${watched}`);
});

test('a process that does not follow a chain knows its escrows, and reads its blocks on', async () => {
  const { long } = await newSwap();
  await follower(1);
  const bitcoin = deps.adapters.get('bitcoin') as ChainAdapter;
  const told: string[] = [];
  const adapters = new Map([
    [
      'bitcoin',
      {
        ...bitcoin,
        watch: ([first]: readonly WatchedEscrow[]) => {
          if (first?.address === long) told.push('watch');
        },
        changes: (signal: AbortSignal) => {
          told.push('changes');
          return bitcoin.changes(signal);
        },
        catchUp: async () => {
          told.push('catchUp');
          return { height: 1, hash: 'h', clock: 1 };
        },
      },
    ],
  ]);
  const metrics = createMetrics('parley');
  const other = createSettlement({ ...deps, metrics, adapters, follower: 2 });
  other.start();
  try {
    await waitUntil(async () => told.includes('catchUp'));
    // Another process's measure of the chain is no measure of this one.
    const text = await waitUntil(async () => {
      const found = await metrics.registry.metrics();
      return found.includes('parley_chain_leader{chain="bitcoin"} 0') ? found : null;
    });
    assert.doesNotMatch(text, /^parley_follow_behind_seconds\{/m);
  } finally {
    await other.stop();
  }
  assert.deepEqual(told, ['watch', 'catchUp']);
});

test('a process whose node is silent to what time changes leaves that to another one', async (t) => {
  const swap = await newSwap();
  const holder = () => holderOf('time');
  const bitcoin = deps.adapters.get('bitcoin') as ChainAdapter;
  const look = () =>
    Promise.reject(new ParleyError('chain_unavailable', 'away', { chain: 'bitcoin' }));
  const adapters = new Map(deps.adapters).set('bitcoin', { ...bitcoin, look });
  const own = createSettlement({ ...deps, adapters, follower: 3 });
  const other = connect(database.url);
  const another = createSettlement({ ...deps, db: other, adapters: new Map(), follower: 4 });
  t.after(async () => {
    await Promise.all([own.stop(), another.stop()]);
    await other.close();
  });
  own.start();
  await waitUntil(async () => (await holder()) === 3);
  another.start();
  const { expiresAt } = (await stored(swap)).state.deadlines;
  const past = expiresAt + 1;
  deps.advance(past * 1_000 - deps.now());
  workOf(deps.db).ring('swaps');
  await waitUntil(async () => ((await stored(swap)).dueAt ?? 0) > past);
  assert.equal(await holder(), 3, 'not yet');
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + 15_000);
  await waitUntil(async () => (await holder()) === 4);
});

function bitcoinAt(height: () => number) {
  const bitcoin = deps.adapters.get('bitcoin') as ChainAdapter;
  const heads = async () => ({ height: height(), hash: `h${height()}`, clock: height() });
  const changes = async () => ({ touched: [], heads: await heads() });
  return new Map([['bitcoin', { ...bitcoin, changes, catchUp: heads }]]);
}

const storedHead = async () => (await readHeads(deps.db)).find(({ chain }) => chain === 'bitcoin');

test('a follower whose node stands still is overtaken by a process whose nodes go on', async (t) => {
  await deps.db.rows({ name: '', text: `update leases set ends_at = '-infinity'`, values: [] });
  let height = 90;
  const other = connect(database.url);
  const own = createSettlement({ ...deps, adapters: bitcoinAt(() => 100), follower: 5 });
  const adapters = bitcoinAt(() => height);
  const another = createSettlement({ ...deps, db: other, adapters, follower: 6 });
  t.after(async () => {
    await Promise.all([own.stop(), another.stop()]);
    await other.close();
  });
  let ms = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + ms);
  own.start();
  await waitUntil(async () => (await storedHead())?.height === 100);
  assert.equal(await holderOf('bitcoin'), 5);
  another.start();
  await waitUntil(async () => {
    // As if the time between two polls had gone by.
    ms += passLimits.standByMs;
    height += 1;
    workOf(other).ring('escrows');
    return (await holderOf('bitcoin')) === 6;
  });
});

test('a follower stands still where its stored head does, while the nodes of this process go on', () => {
  const polls = (heights: readonly number[], stored: readonly (string | null)[]) =>
    heights.map((height, at) => ({ height, stored: stored[at] ?? null }));
  const same = ['h7', 'h7', 'h7', 'h7'];
  for (const [heights, stored, at] of [
    [[7, 8, 8, 8], same, 'h7'],
    [[6, 7, 9, 9], same, 'h7'],
    // It has not had the time yet.
    [[7, 8, 8], same, null],
    [[7, 7, 8, 8], same, null],
    // A node that tells too great a height, and stands there.
    [[1_000, 1_000, 1_000, 1_000], same, null],
    [[7, 8, 8, 8], ['h7', 'h7', 'h7', 'h8'], null],
    [[7, 8, 8, 8], [], null],
  ] as const) {
    assert.equal(stoodAt(polls(heights, stored)), at, `${heights}`);
  }
});

test('a follower that stood still for as long as its lease stores no head of then', async () => {
  let height = 200;
  const adapters = bitcoinAt(() => height);
  const own = createSettlement({ ...deps, adapters, follower: 5 });
  for (const [holder, stored] of [
    [5, 200],
    [6, 200],
  ] as const) {
    const lease = `insert into leases as l (name, holder, is_shown, turn, ends_at, done_at)
      values ('bitcoin', ${holder}, false, 1, now() + interval '8 seconds', now())
      on conflict (name) do update set holder = excluded.holder, ends_at = excluded.ends_at`;
    await deps.db.rows({ name: '', text: lease, values: [] });
    await own.pass('bitcoin');
    assert.equal((await storedHead())?.height, stored);
    height += 1;
  }
});

test('a chain that nobody reaches is as far behind for its next follower', async () => {
  await follower(1);
  await deps.db.rows({
    name: '',
    text: `update leases set ends_at = '-infinity', done_at = now() - interval '90 seconds'`,
    values: [],
  });
  const bitcoin = deps.adapters.get('bitcoin') as ChainAdapter;
  const changes = () => Promise.reject(new Error('no node answers'));
  const adapters = new Map([['bitcoin', { ...bitcoin, changes }]]);
  const metrics = createMetrics('parley');
  const next = createSettlement({ ...deps, metrics, adapters, follower: 2 });
  next.start();
  try {
    const seconds = await waitUntil(async () => {
      const text = await metrics.registry.metrics();
      if (!text.includes('parley_chain_leader{chain="bitcoin"} 1')) return null;
      return /^parley_follow_behind_seconds\{chain="bitcoin"\} (.*)$/m.exec(text)?.[1];
    });
    assert.ok(Number(seconds) >= 90, `${seconds}`);
  } finally {
    await next.stop();
  }
});
