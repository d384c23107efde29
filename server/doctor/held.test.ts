// What holds new trades, made by hand in a real database: halts, gaps in each of their states, what
// became of keys, and key files that others may read. As findings, and as lines of the command.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { testDeps } from '../../test/support/deps.ts';
import { insertTrader } from '../../test/support/trading.ts';
import { connect, type Database, databaseLimits } from '../db/database.ts';
import { setListing } from '../db/listing.ts';
import { seedAssets } from '../market/assets.ts';
import { examine } from './examine.ts';
import { exitStatus, type Finding, linesOf, notice } from './findings.ts';

const run = promisify(execFile);
let database: TestDatabase;
/** As the doctor has it: only to read. */
let db: Database;
let home: string;
let assetId: string;

before(async () => {
  database = await testDatabase();
  db = connect(database.url, { ...databaseLimits, connections: 1, readOnly: true });
  home = await mkdtemp(join(tmpdir(), 'parley-held-'));
  const deps = testDeps({ db: database.db });
  const btc = { chain: 'bitcoin', symbol: 'BTC', address: null, decimals: 8 };
  const [asset] = await seedAssets(database.db, deps, [btc]);
  assetId = asset?.id ?? '';
});
after(async () => {
  await db?.close();
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});
afterEach(async () => {
  await sql('truncate halts, heartbeat, gaps, gap_readings, api_keys cascade');
});

const sql = (text: string) => database.db.rows<never>({ name: '', text, values: [] });

async function doctor(
  keeper: Parameters<typeof settingsOf>[0] = 'dev',
  { reading = db, at = home } = {},
) {
  const found: Finding[] = [];
  const deps = {
    settings: { ...settingsOf(keeper), home: at },
    db: reading,
    chains: [],
    now: Date.now,
    wall: Date.now,
    signal: AbortSignal.timeout(60_000),
  };
  const wanted = { swap: null, all: false, limit: 10 };
  const { counts } = await examine(deps, wanted, (each) => found.push(each));
  const held = found.filter(({ what }) => what !== 'disk' && what !== 'connections');
  return { held, what: held.map(({ what }) => what), code: exitStatus(counts) };
}

const settingsOf = (keeper: 'dev' | { chain: string; keyFile: string }[]) => ({
  home,
  databaseConnections: 1,
  chainTimeoutMs: 1_000,
  followIntervalMs: 50,
  keeper: keeper as never,
});

/** As JSON, and as text: of a chain that is away, which both say too. */
async function lines(...args: string[]): Promise<string[]> {
  const script = join(import.meta.dirname, '../../scripts/doctor.ts');
  const away = { family: 'evm', chain: 'evm-dev', chainId: 31_337, world: 'dev' };
  const env = {
    ...process.env,
    DATABASE_URL: database.url,
    PARLEY_HOME: home,
    PARLEY_CHAIN_TIMEOUT_MS: '1000',
    PARLEY_FOLLOW_INTERVAL_MS: '50',
    PARLEY_CHAINS: JSON.stringify([{ ...away, rpcUrls: ['http://127.0.0.1:1'] }]),
  };
  const options = { env, timeout: 60_000 };
  const { stdout } = await run(process.execPath, [script, ...args], options).catch(
    (error: { stdout: string }) => error,
  );
  return stdout.trim().split('\n');
}

const gap = (why: string, ago: string, readings = '') =>
  sql(`with gap as (insert into gaps (why, began_at, ended_at)
      values ('${why}', now() - interval '${ago}' - interval '1 hour', now() - interval '${ago}')
      returning id)
    insert into gap_readings (gap_id, chain, since, cursor, blocks_left, found, trouble, read_at,
      skipped_at, watched_until)
    select id, each.*, now() from gap,
      (values ${readings || `('evm-dev', 1, 'x', 0, 0, null, now(), null::timestamptz)`}) as each`);

const reading = (chain: string, since: string, left: string, trouble: string) =>
  `('${chain}', ${since}::bigint, 'x', ${left}::bigint, 3, ${trouble}::text, null::timestamptz,
    null::timestamptz)`;

test('without a halt or a gap nothing is told', async () => {
  assert.deepEqual(await doctor(), { held: [], what: [], code: 0 });
});

test('a halted chain and a halted asset are told with since and reason, and nothing differs', async () => {
  await sql(`insert into halts (chain, reason, at) values ('evm-dev', 'its nodes disagree',
    '2026-01-02T03:04:05Z')`);
  const halt = { at: '2026-01-03T03:04:05.000Z', reasons: ['fees'] };
  await setListing(database.db, assetId, { halt }, null);
  try {
    const { held, code } = await doctor();
    assert.deepEqual(
      held.map(({ severity, what, where, facts }) => ({ severity, what, where, facts })),
      [
        {
          severity: 'notice',
          what: 'halted',
          where: 'chain evm-dev',
          facts: { since: '2026-01-02T03:04:05.000Z', reason: 'its nodes disagree' },
        },
        {
          severity: 'notice',
          what: 'halted',
          where: `asset BTC of bitcoin (${assetId})`,
          facts: { since: halt.at, reason: 'fees' },
        },
      ],
    );
    assert.equal(code, 0);
  } finally {
    await setListing(database.db, assetId, {}, null);
  }
});

test('a gap that is not read back differs, with how far each chain is and what to do', async () => {
  await gap(
    'silence',
    '3 minutes',
    [
      reading('evm-dev', '1', '12', 'null'),
      reading('bitcoin', '1', '9', `'pruned'`),
      reading('tron-dev', 'null', 'null', 'null'),
    ].join(),
  );
  const { held, code } = await doctor();
  assert.equal(code, 1);
  const unread = held.filter(({ what }) => what === 'gap_unread');
  const [bitcoin, evm, tron] = unread;
  assert.ok(unread.length === 3 && bitcoin && evm && tron);
  assert.match(evm.says, /^the time from \S+Z to \S+Z is missing .* evm-dev has 12 to go$/);
  assert.match(evm.todo, /^wait/);
  assert.match(bitcoin.says, /bitcoin does not answer \(pruned\)$/);
  assert.match(bitcoin.todo, /^bring its node back/);
  assert.match(tron.says, /tron-dev waits for its operator$/);
  assert.match(tron.todo, /read-days/);
  assert.deepEqual([bitcoin.severity, bitcoin.facts.found], ['differs', 3]);
});

test('an unread gap is told with its time however many came since', async () => {
  await gap('silence', '40 days', reading('evm-dev', '1', '12', 'null'));
  for (let more = 0; more < 21; more += 1) await gap('silence', '35 days');
  const { held } = await doctor();
  const [unread, ...rest] = held;
  assert.deepEqual(rest, []);
  assert.match(unread?.says ?? '', /^the time from 20\S+Z to 20\S+Z is missing/);
});

test('the command tells both as lines, and as JSON', async () => {
  await sql(`insert into halts (chain, reason, at) values ('evm-dev', 'its nodes disagree',
    '2026-01-02T03:04:05Z')`);
  await gap('silence', '3 minutes', reading('evm-dev', '1', '12', 'null'));
  const [text, json] = await Promise.all([lines(), lines('--json')]);
  const says = text.join('\n');
  assert.match(says, /^notice {3}halted {2}chain evm-dev: .*:05\.000Z: its nodes disagree$/m);
  assert.match(says, /^ +→ npm run resume -- --chain evm-dev /m);
  assert.match(says, /^differs {2}gap_unread {2}gap \d+ chain evm-dev: .*\n +→ wait/m);
  const found = json.map((each) => JSON.parse(each) as Finding);
  const { held } = await doctor();
  const kinds = held.map(({ what }) => what);
  assert.deepEqual(kinds, ['halted', 'gap_unread', 'time_missing']);
  const same = found.filter(({ what }) => kinds.includes(what));
  assert.deepEqual(same, held);
});

test('a row that cannot be read is one finding, and all the rest is looked at', async () => {
  await sql(`insert into halts (chain, at, reason) values
    ('bitcoin', 'infinity', 'r'), ('evm-dev', now(), 'its nodes disagree')`);
  await sql(`update assets set closings = '{"halt":{"at":"x","reasons":"no list"}}'`);
  await gap('silence', '3 minutes', reading('evm-dev', '1', '12', 'null'));
  const { held, code } = await doctor();
  await sql(`update assets set closings = '{}'`);
  assert.deepEqual(
    held.map(({ what, where }) => `${what} ${where.replace(/\d+/, 'N')}`),
    [
      'ended chain bitcoin',
      'halted chain evm-dev',
      `ended asset BTC of bitcoin (${assetId})`.replace(/\d+/, 'N'),
      'gap_unread gap N chain evm-dev',
      'time_missing gap N',
    ],
  );
  assert.equal(code, 2);
});

test('a part that ends half-way leaves the parts after it to be looked at', async () => {
  const failing: Database = {
    ...db,
    rows: async (query) => {
      if (query.text.includes('from halts') || query.text.includes('from gap_readings')) {
        throw new Error('a page of it cannot be read');
      }
      return db.rows(query);
    },
  };
  await gap('silence', '3 minutes');
  const { what } = await doctor('dev', { reading: failing });
  assert.deepEqual(what, ['ended', 'ended', 'time_missing']);
});

test('what others have written moves no cursor and begins no line of its own', () => {
  const said = notice(
    'halted',
    'a',
    'since x: r\n\u001b[2J\r\u0085\u202eall well: 0 open',
    'go\n',
    {},
  );
  assert.equal(
    linesOf(said),
    'notice   halted  a: since x: r [2J all well: 0 open\n         → go ',
  );
});

test('a database brought back that no server has seen yet differs', async () => {
  await sql(`insert into heartbeat (beat, at, beaten_at, restored) values (1, now(), now(), true)`);
  const restored = await doctor();
  assert.deepEqual([restored.what, restored.code], [['gap_unread'], 1]);
  assert.match(restored.held[0]?.says ?? '', /npm run restore/);
  await sql(`update heartbeat set restored = false, lineage = 'another/history'`);
  const other = await doctor();
  assert.deepEqual([other.what, other.code], [['gap_unread'], 1]);
  assert.match(other.held[0]?.says ?? '', /another history/);
  await sql('update heartbeat set lineage = database_lineage()');
  assert.deepEqual((await doctor()).what, []);
});

test('a chain that an operator skipped is told, and is no difference', async () => {
  const skipped = `('evm-dev', 1::bigint, 'x', 5::bigint, 0, null, null::timestamptz, now())`;
  await gap('silence', '2 days', skipped);
  const { held, code } = await doctor();
  assert.deepEqual([held.map(({ what }) => what), code], [['gap_skipped'], 0]);
  assert.match(held[0]?.where ?? '', /^gap \d+ chain evm-dev$/);
});

test('a gap that was read back: void nonces, and how many keys were revoked or are good', async () => {
  const { accountId } = await insertTrader(testDeps({ db: database.db }), ['read'], []);
  const key = (set: string) =>
    sql(`update api_keys set ${set} where account_id = '${accountId}' and revoked_at is null`);
  await key(`created_at = now() - interval '1 day'`);
  // Minted since: nobody revoked it in the time that is missing.
  await insertTrader(testDeps({ db: database.db }), ['read'], []);
  await gap('silence', '3 minutes');
  const alive = await doctor();
  assert.deepEqual([alive.what, alive.code], [['time_missing'], 0]);
  assert.match(
    alive.held[0]?.says ?? '',
    /^the time from .* are void; 0 .* revoked .*, 1 of before/,
  );
  assert.match(alive.held[0]?.todo ?? '', /^npm run gaps -- revoke-keys/);
  await key(`revoked_at = now() - interval '4 minutes'`);
  const { held } = await doctor();
  const { keysRevoked, keysAlive, why } = held[0]?.facts ?? {};
  assert.deepEqual([keysRevoked, keysAlive, why], [1, 0, 'silence']);
  assert.match(held[0]?.todo ?? '', /^nothing/);
  // A long stop is news for a day; that keys of before may be good again, for a month.
  await sql(`update gaps set ended_at = now() - interval '25 hours'`);
  assert.deepEqual((await doctor()).what, []);
  await sql(`update gaps set why = 'went_back'`);
  assert.deepEqual((await doctor()).what, ['time_missing']);
  await sql(`update gaps set ended_at = now() - interval '31 days'`);
  assert.deepEqual((await doctor()).what, []);
});

test('key files of the keeper that others may read are found, in the home and elsewhere', async (t) => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'parley-keys-'));
  t.after(() => rm(elsewhere, { recursive: true, force: true }));
  const own = join(home, 'keeper-evm-dev.key');
  const other = join(elsewhere, 'gas');
  for (const [file, mode] of [
    [own, 0o604],
    [other, 0o640],
  ] as const) {
    await writeFile(file, 'x');
    await chmod(file, mode);
  }
  t.after(() => rm(own));
  const open = async (...keys: string[]) => {
    const { held, code } = await doctor(keys.map((keyFile) => ({ chain: 'evm', keyFile })));
    return [held.map(({ severity, what, where }) => `${severity} ${what} ${where}`), code];
  };
  assert.deepEqual(await open(other, own), [[`danger mode ${other}`, `danger mode ${own}`], 1]);
  assert.deepEqual(await open(), [[`danger mode ${own}`], 1]);
  const gone = await doctor([{ chain: 'evm', keyFile: other }] as never, {
    at: join(home, 'gone'),
  });
  assert.deepEqual(gone.what, ['home', 'mode']);
  await chmod(own, 0o600);
  await chmod(other, 0o600);
  assert.deepEqual(await open(other, own), [[], 0]);
});
