// The outcome of all that was signed with one nonce: a block takes one of them at most, and what
// nodes say that it has cost lowers what it counts with so far and no further.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GasAccount, GasOutcome, Paid } from '@parley/chains/gas/account.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type Attempt, liveAttempts } from './db/attempts.ts';
import { keySums } from './db/sums.ts';
import { type Asking, withOutcomes } from './outcomes.ts';
import type { Database } from './port.ts';

const limits = { timeout: 60_000 };
const many = 16;
const mostCost = 1_000n;
let database: TestDatabase;
let keys = 0;
before(async () => {
  database = await testDatabase();
}, limits);
after(() => database?.drop());

/** Versions of one nonce, the oldest first, as replacements leave them. */
async function signed(address: string, count = many, nonce = 7): Promise<Attempt[]> {
  await database.db.rows({
    name: '',
    text: `insert into keeper_attempts (chain, address, verb, txid, nonce, offer, most_cost,
        charged, signed_at, sent_at, shown_at, fate, sealed, sealed_version)
      select $1, $1, 'claim', $1 || ' ' || $4::int || ' ' || v, $4, v, $3::numeric,
        case when v = $2 then $3::numeric else 0 end, '2031-01-01', '2031-01-01',
        case when v = 1 then '2031-01-01'::timestamptz end, 'unknown', '', 1
      from generate_series(1, $2::int) v`,
    values: [address, count, mostCost.toString(), nonce],
  });
  return liveAttempts(database.db, address, address);
}

type Says = (sent: { readonly txid: string; readonly isPast?: boolean }) => GasOutcome;

/** A key of its own; `asked` is how often it was asked about outcomes. */
function keyThat(says: Says, more: Partial<GasAccount> = {}) {
  keys += 1;
  const address = `key ${keys}`;
  const asked: string[] = [];
  const account = {
    chain: address,
    address,
    outcome: async (sent: Parameters<GasAccount['outcome']>[0]) => {
      asked.push(sent.txid);
      await sleep(30);
      return says(sent);
    },
    ...more,
  } as GasAccount;
  const on = (seconds = 30): Asking => ({
    deps: { db: database.db as Database, now: () => Date.UTC(2031, 0, 1), seal: {} as never },
    gas: { account } as Asking['gas'],
    signal: AbortSignal.timeout(seconds * 1_000),
  });
  return { address, asked, on };
}

const outcomesOf = async (address: string) => {
  const rows = await database.db.rows<{ outcome: string; charged: string; count: number }>({
    name: '',
    text: `select fate as outcome, charged, count(*)::int as count from keeper_attempts
      where address = $1 group by fate, charged order by fate, charged`,
    values: [address],
  });
  return rows.map(({ outcome, charged, count }) => [outcome, Number(charged), count]);
};

test(
  'once the nonce is used the one that has it is found among many, in time',
  limits,
  async () => {
    const landed = ' 7 9';
    const says: Says = ({ txid }) => (txid.endsWith(landed) ? 'mined' : 'gone');
    const { address, on } = keyThat(says);
    const fresh = await withOutcomes(on(20), await signed(address));
    const live = fresh.filter(({ outcome }) => outcome !== 'gone');
    assert.deepEqual(
      live.map(({ txid, outcome }) => [txid, outcome]),
      [[address + landed, 'mined']],
    );
  },
);

test('a deep one ends all others of its nonce unasked, and those before it', limits, async () => {
  const says: Says = ({ txid, isPast }) =>
    txid.endsWith(` 7 ${many}`) ? 'deep' : isPast === true ? 'gone' : 'unknown';
  const { address, asked, on } = keyThat(says);
  await signed(address, 2, 6);
  const fresh = await withOutcomes(on(), await signed(address));
  assert.equal(fresh.length, many + 2);
  // Known to be deep, it tells of those before it.
  await withOutcomes(on(), await liveAttempts(database.db, address, address));
  assert.deepEqual(await outcomesOf(address), [
    ['deep', 1_000, 1],
    ['gone', 0, many - 1 + 1],
    // Which of those before it has their nonce nobody says.
    ['gone', 1_000, 1],
  ]);
  assert.equal(asked.filter((txid) => txid.includes(' 7 ')).length, 1);
});

test('a nonce that is said to be used, and by none of ours, stays counted', limits, async () => {
  const { address, on } = keyThat(() => 'gone');
  await withOutcomes(on(), await signed(address, 3));
  assert.deepEqual(await outcomesOf(address), [
    ['gone', 0, 2],
    ['gone', 1_000, 1],
  ]);
});

test(
  'the one that took it is found at a later poll, and is counted in the place of the newest',
  limits,
  async () => {
    let isBehind = true;
    let isDeep = false;
    const says: Says = ({ txid }) => {
      if (!txid.endsWith(' 7 1')) return 'gone';
      if (isBehind) throw new ParleyError('chain_unavailable', 'of a test', {});
      return isDeep ? 'deep' : 'mined';
    };
    const { address, on } = keyThat(says);
    const versions = await signed(address, 2);
    await withOutcomes(on(), versions);
    isBehind = false;
    // As a job has them: the ended one stays with the other.
    const [older, newest] = versions as [Attempt, Attempt];
    await withOutcomes(on(), [older, { ...newest, outcome: 'gone' }]);
    assert.deepEqual(await outcomesOf(address), [
      ['gone', 1_000, 1],
      ['mined', 0, 1],
    ]);
    isDeep = true;
    await withOutcomes(on(), [older, { ...newest, outcome: 'gone' }]);
    assert.deepEqual(await outcomesOf(address), [
      ['deep', 1_000, 1],
      ['gone', 0, 1],
    ]);
  },
);

for (const [what, paid, charged] of [
  ['nothing', { cost: 0n, said: 1 }, 125],
  ['less than nothing', { cost: -(10n ** 30n), said: 2 }, 1_000],
  ['more than it can', { cost: 1_001n, said: 1 }, 1_000],
  ['more than a number holds', { cost: 2n ** 511n, said: 1 }, 1_000],
  ['what is plausible', { cost: 400n, said: 1 }, 400],
  ['little, as two nodes say', { cost: 3n, said: 2 }, 3],
  ['nobody knows what', null, 1_000],
] as const satisfies readonly (readonly [string, Paid | null, number])[]) {
  test(
    `a node that says it has cost ${what} moves the day’s sum within its bounds`,
    limits,
    async () => {
      const says: Says = ({ txid }) => (txid.endsWith(' 7 1') ? 'deep' : 'gone');
      const { address, on } = keyThat(says, { paid: async () => paid });
      // The older one has landed: replaced, it counted with nothing.
      await withOutcomes(on(), await signed(address, 2));
      assert.deepEqual(await outcomesOf(address), [
        ['deep', charged, 1],
        ['gone', 0, 1],
      ]);
      const of = { chain: address, since: new Date(0), except: null };
      assert.equal((await keySums(database.db, of)).spent, BigInt(charged));
    },
  );
}

test(
  'a process that ends once an outcome is stored leaves its charge stored, once',
  limits,
  async () => {
    const says: Says = ({ txid }) => (txid.endsWith(' 7 1') ? 'deep' : 'gone');
    const { address, on } = keyThat(says, { paid: async () => ({ cost: 400n, said: 1 }) });
    const rows: Database['rows'] = async <Row>(statement: Parameters<Database['rows']>[0]) => {
      const stored = await database.db.rows<Row>(statement);
      if (statement.name === 'keeper_store_fate') throw new Error('it ends');
      return stored;
    };
    const versions = await signed(address, 1);
    const dying = on();
    const deps = { ...dying.deps, db: { ...dying.deps.db, rows } };
    await assert.rejects(withOutcomes({ ...dying, deps }, versions), /it ends/);
    await withOutcomes(on(), await liveAttempts(database.db, address, address));
    assert.deepEqual(await outcomesOf(address), [['deep', 400, 1]]);
  },
);
