// Missing time: the gaps that count and those that do not, and the acts in one transaction.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { isGivenUp } from '@parley/core/release.ts';
import { otherLeg } from '@parley/core/trade.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { insertTrader, someAddress } from '@parley/verify/test/support/trading.ts';
import { pino } from 'pino';
import { feedLogEnds } from '../db/feed-log.ts';
import { endHolds, type Heartbeat, holdingGaps } from '../db/gaps.ts';
import { swapById } from '../db/swaps.ts';
import { issueNonce, minting, withNonce } from '../market/nonces.ts';
import { agreedSwap, insertAsset, nodelessDeps } from '../settle/testing/rows.ts';
import { beatOnce, missing } from './gap.ts';
import { assertMayAgree } from './gate.ts';
import { createPresence } from './presence.ts';

const nowMs = Date.UTC(2026, 0, 1);
const market = { isDev: false };

const row: Heartbeat = {
  beat: 100,
  at: new Date(nowMs),
  age: 1,
  lineage: '1/1',
  lineageNow: '1/1',
};

test('a restart is no gap; a long silence, a lost beat and another history are', () => {
  assert.equal(missing(row, null, nowMs + 59_000), null);
  assert.equal(missing(row, null, nowMs + 61_000), 'silence');
  assert.equal(missing({ ...row, age: 61 }, null, nowMs), 'silence', 'by the database’s clock');
  assert.equal(missing({ ...row, age: 4_000 }, 100, nowMs), null, 'it was only not reachable');
  assert.equal(missing(row, 101, nowMs), 'went_back');
  assert.equal(missing({ ...row, lineageNow: '1/2' }, 100, nowMs), 'lineage');
  assert.equal(missing({ ...row, lineage: null }, 100, nowMs), null, 'where it may not be known');
});

type Served = Parameters<typeof beatOnce>[3];
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  const text = `truncate heartbeat, gaps, feed_log cascade`;
  await database.db.rows({ name: '', text, values: [] });
});

const beat = (remembered: number | null, at: number, of: Served = market) =>
  database.db.transaction((tx) => beatOnce(tx, remembered, at, of));

const mayAgree = (counted: number | null) =>
  assertMayAgree(database.db, { beat: () => counted }).then(
    () => 'yes',
    (error: unknown) => {
      assert.ok(error instanceof ParleyError);
      return `${error.code}: ${error.message}`;
    },
  );

const sql = (text: string, ...values: unknown[]) =>
  database.db.rows<Record<string, unknown>>({ name: '', text, values });

test('the first start of a new database misses nothing; the first of an old one may', async () => {
  const first = await beat(null, nowMs);
  assert.equal(first.gap, null);
  assert.equal(await mayAgree(first.beat), 'yes');
  await sql('truncate heartbeat');
  await sql(`insert into chain_heads values ('bitcoin', 1, '', 0, $1)`, new Date(nowMs - 120_000));
  const old = await beat(null, nowMs);
  assert.equal(old.gap?.why, 'silence');
  assert.equal(old.gap.beganAt.getTime(), nowMs - 120_000);
  await sql('truncate chain_heads');
});

test('a clock that was set makes no gap shorter, nor ends it before it was noticed', async () => {
  const hourMs = 3_600_000;
  for (const setBy of [-2 * hourMs, -30_000, 0, hourMs]) {
    await sql('truncate heartbeat, gaps cascade');
    await beat(null, nowMs);
    await sql(`update heartbeat set beaten_at = beaten_at - interval '5 hours'`);
    const thenMs = nowMs + 5 * hourMs;
    const { gap } = await beat(null, thenMs + setBy);
    assert.equal(gap?.why, 'silence');
    const [open = assert.fail()] = await holdingGaps(database.db);
    const seconds = (open.endedAt.getTime() - open.beganAt.getTime()) / 1_000;
    assert.ok(seconds >= 5 * 3_600, `${seconds} s`);
    const lateMs = open.endedAt.getTime() - Math.max(thenMs, thenMs + setBy);
    assert.ok(lateMs >= 0 && lateMs < 60_000, `${lateMs} ms`);
    // Whichever of the two clocks was right.
    assert.ok(gap.beganAt.getTime() <= Math.min(nowMs, nowMs + setBy));
    assert.ok(gap.beganAt.getTime() > Math.min(nowMs, nowMs + setBy) - 60_000);
  }
});

test('a process that remembers more than its database agrees to nothing at once', async () => {
  const { beat: counted } = await beat(null, nowMs);
  assert.equal(await mayAgree(counted), 'yes');
  assert.match(await mayAgree(counted + 50), /^restoring: /);
  const found = await beat(counted + 50, nowMs + 3_000);
  assert.equal(found.gap?.why, 'went_back');
  assert.ok(found.beat > counted + 1_000, 'nobody else takes it for another gap');
  assert.equal((await beat(found.beat, nowMs + 6_000)).gap, null);
});

test('another history of the cluster is noticed in an agreement and by the next beat', async () => {
  const { beat: counted } = await beat(null, nowMs);
  await sql(`update heartbeat set lineage = 'another'`);
  assert.match(await mayAgree(counted), /^restoring: /);
  assert.equal((await beat(counted, nowMs + 3_000)).gap?.why, 'lineage');
});

test('where the database is an older one every API key ends, unless its operator keeps them', async () => {
  const deps = testDeps({ db: database.db });
  const wallet = { family: 'evm', address: someAddress('evm') } as const;
  await insertTrader(deps, ['taker'], [wallet]);
  const good = () => sql('update api_keys set revoked_at = null');
  const alive = async () => (await sql('select 1 from api_keys where revoked_at is null')).length;
  const { beat: counted } = await beat(null, nowMs);
  const back = (keepKeys: boolean) => beat(counted + 50, nowMs + 3_000, { ...market, keepKeys });
  for (const keepKeys of [true, false]) {
    await good();
    await sql('update heartbeat set beat = $1', counted);
    const { gap } = await back(keepKeys);
    assert.deepEqual([gap?.why, gap?.revoked], ['went_back', keepKeys ? null : 1]);
    assert.equal(await alive(), keepKeys ? 1 : 0);
  }
  await good();
  await sql(`update heartbeat set lineage = 'another'`);
  assert.equal((await beat(null, nowMs + 6_000)).gap?.revoked, 1);
  await good();
  const long = await beat(null, nowMs + 3_600_000);
  assert.deepEqual([long.gap?.why, long.gap?.revoked], ['silence', null]);
  assert.equal(await alive(), 1, 'a long stop is no restore');
});

test('where the database is an older one a swap is given up that a lost release makes unsafe', async () => {
  const deps = nodelessDeps(database.db);
  const base = await insertAsset(deps, 'bitcoin', null, null);
  const quote = await insertAsset(deps, 'evm-dev', null, null);
  const amounts = { baseAmount: 1_000_000n, quoteAmount: 650_000_000n };
  const terms = { direction: 'sell_base', base, quote, ...amounts } as const;
  const plain = await agreedSwap(deps, terms);
  const unfunded = await agreedSwap(deps, terms);
  const funded = await agreedSwap(deps, terms);
  const isTaproot = `update legs set payout_form = 'p2tr', refund_form = 'p2tr'
    where chain = 'bitcoin' and swap_id = any($1)`;
  await sql(isTaproot, [unfunded.id, funded.id]);
  const isFunded = `update escrows set facts = jsonb_set(facts, '{funded}', '{}')
    where leg = $1 and swap_id = $2`;
  await sql(isFunded, otherLeg(funded.long), funded.id);
  const given = async () => {
    const swaps = await Promise.all(
      [plain, unfunded, funded].map(({ id }) => swapById(deps.db, id)),
    );
    return swaps.map((swap) => swap !== null && isGivenUp(swap.state));
  };
  const { beat: counted } = await beat(null, nowMs);
  for (const keepKeys of [true, false]) {
    await sql('update heartbeat set beat = $1', counted);
    await beat(counted + 50, nowMs + 3_000, { ...market, keepKeys });
    assert.deepEqual(await given(), [false, !keepKeys, false]);
  }
});

test('agreements wait until an operator goes on, and say for which time', async () => {
  const { beat: counted } = await beat(null, nowMs);
  const { beat: next } = await beat(null, nowMs + 3_600_000);
  assert.match(
    await mayAgree(next),
    /^restoring: .*2026-01-01T00:00:\d\d.* to 2026-01-01T01:00:00/,
  );
  assert.match(await mayAgree(counted), /^restoring: /, 'whatever a process remembers');
  assert.equal(await endHolds(database.db), 1);
  assert.equal(await mayAgree(next), 'yes');
  assert.equal((await beat(next, nowMs + 3_603_000)).gap, null);
});

test('a dev market that rested says so without a warning, and any other one warns', async () => {
  const warnings = async (network: 'dev' | 'mainnet') => {
    await beat(null, nowMs);
    const lines: { level: number; msg: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
    const now = () => nowMs + 3_600_000;
    const deps = testDeps({ db: database.db, log, now });
    await createPresence({ ...deps, settings: { ...deps.settings, network } }).beatNow();
    await sql('truncate heartbeat, gaps');
    return lines.map(({ level, msg }) => (level > 30 ? msg : 'info'));
  };
  assert.deepEqual(await warnings('dev'), ['info']);
  const [first = '', ...others] = await warnings('mainnet');
  assert.equal(first, 'time is missing from the database');
  assert.match(others.join('; '), /^agreements wait.*; API keys that were revoked/);
});

test('a nonce of before is void, and one of after is good', async () => {
  const deps = testDeps({ db: database.db });
  await beat(null, deps.now());
  const old = await issueNonce(deps, minting);
  await beat(null, deps.now() + 3_600_000);
  await assert.rejects(
    withNonce(deps, old, minting, async () => null),
    { code: 'bad_nonce' },
  );
  const fresh = await issueNonce(deps, minting);
  assert.equal(await withNonce(deps, fresh, minting, async () => 'good'), 'good');
});

test('a leg that somebody may have signed a funding for in the missing time is pinned', async () => {
  await beat(null, nowMs);
  const signed = '0xSigned';
  const plain = '0xPlain';
  const escrows = [signed, plain, '0xUntried', 'TRON', null];
  await database.db.transaction(async (tx) => {
    const run = (text: string, ...values: unknown[]) => tx.rows({ name: '', text, values });
    // The row belongs to no swap.
    await run('set local session_replication_role = replica');
    for (const token of escrows) {
      await run(
        `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at)
          values ('evm-dev', $1, gen_random_uuid(), 'a', $2, '{}', now())`,
        `${token}`,
        JSON.stringify({ token }),
      );
    }
    const abilities = { permit: null, authorization: null };
    const takes = { ...abilities, authorization: { name: 'Dollar' } };
    for (const [token, each] of [[signed, takes] as const, [plain, abilities] as const]) {
      const text = `insert into token_abilities values ('evm-dev', $1, $2, now())`;
      await run(text, token, JSON.stringify(each));
    }
  });
  const pinned = async () =>
    (await sql('select address from escrows where authorized_at is not null order by address')).map(
      ({ address }) => address,
    );
  await beat(null, nowMs + 3_000);
  assert.deepEqual(await pinned(), []);
  await beat(null, nowMs + 3_600_000);
  assert.deepEqual(await pinned(), [signed, '0xUntried']);
  await sql('truncate escrows, token_abilities cascade');
});

test('the feed’s log begins anew, beyond every number that was given out', async () => {
  await beat(null, nowMs);
  await sql(
    `insert into feed_log (kind, rfq_id, creator_id, body, at)
     select 'gone', gen_random_uuid(), gen_random_uuid(), '', now() from generate_series(1, 3)`,
  );
  const before = await feedLogEnds(database.db);
  await beat(null, nowMs + 3_600_000);
  const ends = await feedLogEnds(database.db);
  assert.ok(before !== null && ends !== null);
  assert.deepEqual(ends.oldest, ends.newest);
  const { number } = ends.newest;
  assert.ok(number > before.newest.number + 3_600 * 10_000, `${number}`);
});
