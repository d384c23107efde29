// `npm run soak -- rows`: ten million RFQs that ended, of which half are due to be dropped, as the
// market drops them: whether that stays as fast, whether reads stay so, and whether the room that
// it leaves is used again. All figures are of one run, on the embedded database as it is set.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { analyzeAssets } from '../../server/db/assets.ts';
import { connect, databaseLimits, type Statement } from '../../server/db/database.ts';
import { migrate } from '../../server/db/migrate.ts';
import { findRfq, listBook, wholeBook } from '../../server/db/rfqs.ts';
import { seedAssets } from '../../server/market/assets.ts';
import { prune } from '../../server/market/prune.ts';
import { startCluster } from '../support/cluster.ts';
import { testDeps } from '../support/deps.ts';
import { insertTrader } from '../support/trading.ts';

const usage = `usage: npm run node -- test/postgres-soak/rows.ts [--rows N]
  --rows  default 10000000
Exit status: 0 all within their bounds, 1 one is not, 2 not understood.`;

const fillAtOnce = 250_000;
const open = 10_000;
const readTimes = 500;
/** A part of the run may be so many times slower than another: others use this machine too. */
const mostSlower = 4;
/** Reads that look slow are read again, so that only what stays slow is: once the machine was. */
const mostLooks = 10;
const betweenLooksMs = 6_000;
const mostLarger = 1.3;
/** Days by which they ended: half of them more than 30 days ago. */
const oldestDays = 59;
const newestDays = 1;

const asked = understood({
  usage,
  understand: (args) => {
    const options = {
      rows: { type: 'string', default: '10000000' },
      help: { type: 'boolean' },
    } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    return { rows: wholeNumber('--rows', values.rows, { least: 100_000, most: 100_000_000 }) };
  },
});

const median = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0;
/** What a tenth is quicker than: others who use the machine are not in it. */
const quick = (all: readonly number[]) =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 10)] ?? 0;
const secondsOf = (ms: number) => `${Math.round(ms / 1_000)} s`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

async function timed<R>(work: () => Promise<R>): Promise<[R, number]> {
  const began = performance.now();
  return [await work(), performance.now() - began];
}

type Filled = { readonly from: number; readonly to: number; readonly at: Date };
type Names = { readonly account: string; readonly base: string; readonly quote: string };

/** Ended RFQs, the oldest first; ids are in the order of time, as UUIDv7 are. */
async function fill(admin: pg.Client, names: Names, { from, to, at }: Filled): Promise<void> {
  for (let first = from; first < to; first += fillAtOnce) {
    await admin.query(
      `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
          visibility, status, created_at, expires_at, updated_at)
        select ('019e0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'sell_base', $2,
          100000, $3, 'public', case when n % 3 = 0 then 'cancelled' else 'expired' end,
          ended - interval '1 hour', ended, ended
        from generate_series($4::bigint, $5::bigint - 1) n, lateral (select $6::timestamptz
          - make_interval(secs => 86400 * ($7::float8 - ($7::float8 - $8::float8)
            * (n - $9::bigint) / ($10::bigint - $9::bigint)::float8))
          as ended) as e`,
      [
        names.account,
        names.base,
        names.quote,
        first,
        Math.min(to, first + fillAtOnce),
        at,
        oldestDays,
        newestDays,
        from,
        to,
      ],
    );
  }
}

async function openRfqs(admin: pg.Client, names: Names, at: Date): Promise<void> {
  await admin.query(
    `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select ('019f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'sell_base', $2,
        100000, $3, 'public', 'open', $4, $4::timestamptz + interval '6 days', $4
      from generate_series(1, $5::int) n`,
    [names.account, names.base, names.quote, at, open],
  );
}

const firstPage = { before: null, limit: 50 };

/** A page is read in the order of an index. */
async function mustNotSort(client: pg.Client, at: Date): Promise<void> {
  const asked: Statement[] = [];
  const rows = async (statement: Statement) => {
    asked.push(statement);
    return [];
  };
  await listBook({ rows }, wholeBook, firstPage, at);
  await client.query('set enable_seqscan = off');
  const { text = '', values = [] } = asked[0] ?? {};
  const plan = await client.query(`explain (format json) ${text}`, [...values]);
  assert.doesNotMatch(JSON.stringify(plan.rows), /"Sort"/);
}

async function sizes(admin: pg.Client): Promise<{ table: number; indexes: number; dead: number }> {
  const { rows } = await admin.query(
    `select pg_relation_size('rfqs')::float8 as table, pg_indexes_size('rfqs')::float8 as indexes,
      (select n_dead_tup from pg_stat_user_tables where relname = 'rfqs')::float8 as dead`,
  );
  return rows[0];
}

const cluster = await startCluster();
const admin = new pg.Client({ connectionString: cluster.adminUrl });
try {
  await migrate(cluster.adminUrl);
  await admin.connect();
  const db = connect(cluster.adminUrl, { ...databaseLimits, connections: 4 });
  const deps = testDeps({ db });
  deps.freeze();
  const at = new Date(deps.now());
  const [base, quote] = await seedAssets(db, deps, [
    { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 },
    { chain: 'evm-dev', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 },
  ]);
  await analyzeAssets(db);
  const wallets = [{ family: 'evm', address: `0x${'1'.padStart(40, '0')}` }] as const;
  const { accountId } = await insertTrader(deps, ['read'], wallets);
  const names: Names = { account: accountId, base: base?.id ?? '', quote: quote?.id ?? '' };

  /** Of a single RFQ and of a page of the book, milliseconds. */
  const reads = async (): Promise<[number, number]> => {
    const [one, page]: [number[], number[]] = [[], []];
    for (let times = 0; times < readTimes; times += 1) {
      const tail = Math.floor(Math.random() * asked.rows);
      const id = `019e0000-0000-7000-8000-${tail.toString(16).padStart(12, '0')}`;
      one.push((await timed(() => findRfq(db, id)))[1]);
      page.push((await timed(() => listBook(db, wholeBook, firstPage, at)))[1]);
    }
    return [quick(one), quick(page)];
  };
  const isAsFast = (now: readonly number[], then: readonly number[]) =>
    now.every((ms, kind) => ms / (then[kind] ?? 0) < mostSlower);
  const readsBeside = async (then: readonly number[]): Promise<[number, number]> => {
    for (let looks = 1; ; looks += 1) {
      const now = await reads();
      if (isAsFast(now, then) || looks === mostLooks) return now;
      await sleep(betweenLooksMs);
    }
  };

  await openRfqs(admin, names, at);
  await admin.query('vacuum (analyze) rfqs');
  await mustNotSort(admin, at);
  const bare = await reads();
  const [, filling] = await timed(() => fill(admin, names, { from: 0, to: asked.rows, at }));
  const [, first] = await timed(() => admin.query('vacuum (analyze) rfqs'));
  await mustNotSort(admin, at);
  const full = await readsBeside(bare);
  const before = await sizes(admin);
  console.log(
    `${asked.rows} rows in ${secondsOf(filling)}, vacuum ${secondsOf(first)}: table ` +
      `${megabytes(before.table)}, indexes ${megabytes(before.indexes)}`,
  );

  const passes: number[] = [];
  let dropped = 0;
  for (;;) {
    const [{ rfqs }, ms] = await timed(() => prune(deps));
    dropped += rfqs;
    if (rfqs === 0) break;
    passes.push(ms / rfqs);
  }
  const tenth = Math.max(1, Math.floor(passes.length / 10));
  const early = median(passes.slice(0, tenth));
  const late = median(passes.slice(-tenth));
  const { dead } = await sizes(admin);
  const during = await readsBeside(bare);
  const [, second] = await timed(() => admin.query('vacuum rfqs'));
  const again = await sizes(admin);
  const more = { from: asked.rows, to: asked.rows + dropped, at };
  await fill(admin, names, more);
  await admin.query('vacuum (analyze) rfqs');
  const after = await sizes(admin);
  const last = await readsBeside(bare);
  await db.close();

  const micro = (ms: number) => `${Math.round(ms * 1_000)} µs`;
  const told = [bare, full, during, last].map((each) => each.map(micro).join(' and '));
  const larger = (after.table + after.indexes) / (before.table + before.indexes);
  console.log(`one RFQ and a page of the book, without them: ${told[0]}; with them: ${told[1]}`);
  console.log(
    `${dropped} dropped in batches: ${Math.round(1 / early)} rows a ms at first, ` +
      `${Math.round(1 / late)} at last; ${Math.round(dead)} dead rows were left, reads ${told[2]}, ` +
      `vacuum ${secondsOf(second)}`,
  );
  console.log(
    `as many again: ${megabytes(again.table + again.indexes)} became ` +
      `${megabytes(after.table + after.indexes)}, ${larger.toFixed(2)} of what it was; reads ${told[3]}`,
  );
  assert.ok(Math.abs(dropped / asked.rows - 0.5) < 0.02, `${dropped} were dropped`);
  assert.ok(late / early < mostSlower, 'dropping stays as fast');
  for (const each of [full, during, last]) {
    assert.ok(isAsFast(each, bare), `reads stay as fast: ${told}`);
  }
  assert.ok(larger < mostLarger, 'the room is used again');
  console.log(`rows: ${asked.rows} RFQs, half of them dropped and made again`);
} finally {
  await admin.end();
  await cluster.stop();
}
