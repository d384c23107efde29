// The text that an operator reads when a market does not start: once as `npm start` runs it, else
// what it prints of the error.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { startPgbouncer } from '@parley/verify/test/support/pgbouncer.ts';
import { pino } from 'pino';
import { migrate } from '../db/migrate.ts';
import { readSettings } from '../settings/config.ts';
import { startMarket } from './boot.ts';
import { databaseFault, devNetworkFault, listenFault } from './start-errors.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let home: string;
let database: TestDatabase;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-start-errors-'));
  database = await testDatabase();
});
after(async () => {
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

/** The sentence of a start that must fail. */
async function refusedStart(env: Record<string, string>): Promise<string> {
  const settings = readSettings({ PARLEY_HOME: home, PORT: '0', ...env });
  return startMarket(settings, pino({ level: 'silent' })).then(
    async (market) => {
      await market.stop();
      return assert.fail('it started');
    },
    (error: Error) => error.message,
  );
}

test('a start that fails prints one sentence, no stack, and nothing on standard output', async () => {
  const child = spawn(process.execPath, ['scripts/launch.mjs', 'apps/market/main.ts', '--json'], {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: home, PORT: '0', HOST: '192.0.2.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const [printed, said, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  assert.deepEqual([status, printed], [1, ''], said);
  assert.match(said, /^not started: HOST 192\.0\.2\.1 is no address of this machine; .+\n$/);
  assert.doesNotMatch(said, /\n {4}at /);
});

test('a port that is in use is named, with the setting that chooses another', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const { port } = other.address() as AddressInfo;
  try {
    const said = await refusedStart({ PORT: String(port) });
    assert.match(said, new RegExp(`PORT ${port} is in use on 127\\.0\\.0\\.1 .+ set PORT=`));
    const metrics = await refusedStart({ PARLEY_METRICS_PORT: String(port) });
    assert.match(metrics, new RegExp(`PARLEY_METRICS_PORT ${port} is in use`));
    const control = await refusedStart({ PARLEY_DEV_PORT: String(port) });
    assert.match(control, new RegExp(`PARLEY_DEV_PORT ${port} is in use`));
  } finally {
    other.close();
  }
});

test('a host that is no address of this machine, or no name at all, is said to be so', async () => {
  const foreign = await refusedStart({ HOST: '192.0.2.1' });
  assert.match(
    foreign,
    /HOST 192\.0\.2\.1 is no address of this machine; set HOST to 127\.0\.0\.1/,
  );
  const unknown = await refusedStart({ HOST: 'no-such-host.invalid' });
  assert.match(unknown, /HOST no-such-host\.invalid is not a name or address .+ set HOST/);
});

test('a home that cannot be written is named', async () => {
  const file = join(home, 'file');
  await writeFile(file, '');
  assert.match(await refusedStart({ PARLEY_HOME: file }), /PARLEY_HOME .+: it is a file/);
  const under = await refusedStart({ PARLEY_HOME: join(file, 'under') });
  assert.match(under, /PARLEY_HOME .+ lies under one\. Set PARLEY_HOME to a folder/);
});

test('DATABASE_URL: what is wrong with it, and never its password', async () => {
  const password = 'k3ep-th1s';
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return refusedStart({ DATABASE_URL: url.href });
  };
  const unreachable = await wrong((url) => {
    url.port = '9';
    url.password = password;
  });
  assert.match(unreachable, /DATABASE_URL: no PostgreSQL listens at 127\.0\.0\.1:9; start it/);
  const refused = await wrong((url) => {
    url.password = password;
  });
  assert.match(refused, /DATABASE_URL: .+ refuses user .+: correct user and password/);
  const missing = await wrong((url) => {
    url.pathname = '/nothing_here';
  });
  assert.match(missing, /has no database nothing_here; make it: createdb nothing_here/);
  const unknown = await wrong((url) => {
    url.hostname = 'no-such-host.invalid';
  });
  assert.match(unknown, /DATABASE_URL: the host of no-such-host\.invalid:\d+ is not known/);
  const malformed = await refusedStart({ DATABASE_URL: `postgres://me:${password}@[nonsense/x` });
  assert.match(malformed, /DATABASE_URL: it is not an address of the form postgres:/);
  const all = [unreachable, refused, missing, unknown, malformed].join('');
  assert.ok(!all.includes(password));
  assert.ok(!all.includes(new URL(database.url).password));
});

test('DATABASE_URL: a form that is not read is named, with no piece of what it holds', async () => {
  const forms: readonly (readonly [url: string, says: RegExp])[] = [
    ['postgres://me:12#k3ep@db/x', /percent-encoded: .+ %23/],
    ['postgres://me:12/k3ep@db/x', /percent-encoded/],
    ['postgres://me:12?k3ep@db/x', /percent-encoded/],
    ['postgres://me:k3ep/12@db/x', /percent-encoded/],
    ['postgres://me:k3ep?12@db/x', /percent-encoded/],
    ['postgres://me:x@k3ep/y@db/x', /percent-encoded/],
    ['postgres://me:12/k3ep?a=b@db/x', /percent-encoded/],
    ['postgres://me:x@k3ep?a=12&b=c@db/x', /percent-encoded/],
    ['postgres://me:k3ep%@db/x', /percent-encoded: .+ %25/],
    ['postgres://me:k3ep%ff@db/x', /percent-encoded/],
    ['postgres://me@db:k3ep/x', /the port is a number/],
    ['postgres:me:k3ep@db/x', /form postgres:\/\/user/],
    ['me:k3ep@db/x', /form postgres:\/\/user/],
    ['"postgres://me:k3ep@db/x"', /in quotes/],
    ['host=db user=me password=k3ep', /libpq's form key=value/],
    ['jdbc:postgresql://db/x?password=k3ep', /driver/],
    ['postgresql+asyncpg://me:k3ep@db/x', /driver/],
    ['/var/run/postgresql k3ep', /folder: write postgres:.+host=\/var\/run\/postgresql/],
    ['postgres://me:k3ep@one.invalid,two.invalid/x', /several hosts/],
    ['postgres://me:k3ep@/x?host=one.invalid,two.invalid', /several hosts/],
    ['postgres://me:k3ep@127.0.0.1:9/x?sslmode=on', /sslmode must be one of disable/],
    ['postgres://me:k3ep@127.0.0.1:9/x?sslrootcert=/no/such', /file of sslrootcert/],
    ['postgres://me:k3ep@/x?host=/no/such', /no PostgreSQL listens at \/no\/such;/],
    ['postgres://me:k3ep@%2Fno%2Fsuch/x', /no PostgreSQL listens at \/no\/such;/],
    ['postgres://%2Fno%2Fsuch/x?user=me@k3ep', /no PostgreSQL listens at \/no\/such;/],
  ];
  for (const [url, says] of forms) {
    const said = await refusedStart({ DATABASE_URL: url });
    assert.match(said, /^DATABASE_URL: /, url);
    assert.match(said, says, url);
    assert.ok(!said.includes('k3ep') && !/\b12\b/.test(said), said);
  }
  const readUrl = { DATABASE_URL: database.url, DATABASE_READ_URL: 'postgres://me:1#k3ep@db/x' };
  await assert.rejects(refusedStart(readUrl), /DATABASE_READ_URL must be .+percent-encoded/);
});

test('DATABASE_URL: TLS that is wanted or not to be had says which sslmode', async () => {
  const withTls = new URL(database.url);
  withTls.searchParams.set('sslmode', 'verify-full');
  assert.match(await refusedStart({ DATABASE_URL: withTls.href }), /has no TLS.+sslmode=disable/);
  const tells = (code: string, words: string) =>
    (databaseFault('postgres://a:b@c/d', Object.assign(new Error(words), { code })) as Error)
      .message;
  const wanted = 'no pg_hba.conf entry for host "1.2.3.4", user "a", database "d", no encryption';
  assert.match(tells('28000', wanted), /c:5432 wants TLS: add \?sslmode=verify-full/);
  assert.match(tells('SELF_SIGNED_CERT_IN_CHAIN', 'x'), /not accepted .+sslrootcert=FILE/);
  assert.match(tells('ERR_TLS_CERT_ALTNAME_INVALID', 'x'), /not accepted/);
});

test('a pooler that hands sessions round is refused at the start by its mode', async () => {
  const pooled = await startPgbouncer(database.url, 'transaction');
  try {
    const said = await refusedStart({ DATABASE_URL: pooled.url });
    assert.match(
      said,
      /DATABASE_URL: .+ pooler .+\(transaction mode\); name PostgreSQL itself, or/,
    );
    const reading = { DATABASE_URL: database.url, DATABASE_READ_URL: pooled.url };
    assert.match(await refusedStart(reading), /DATABASE_READ_URL: .+\(transaction mode\)/);
  } finally {
    await pooled.stop();
  }
});

test('a database of another version says which migration, and what to do', async () => {
  const { db, url } = database;
  const update = `update migrations set sha256 = 'other' where name =
    (select max(name) from migrations) returning name`;
  const [row] = await db.rows<{ name: string }>({ name: 'test_alter', text: update, values: [] });
  const message =
    `migration ${row?.name} changed after it was applied to this database: run the version that ` +
    'made the database, or take an empty one (another PARLEY_HOME or DATABASE_URL)';
  await assert.rejects(migrate(url), { message });
});

test('faults that cannot be had on this machine have words too; others stay what they are', () => {
  const place = { setting: 'PORT', port: 80, host: '127.0.0.1', hostSetting: 'HOST' };
  const denied = listenFault(place, Object.assign(new Error('x'), { code: 'EACCES' }));
  assert.match((denied as Error).message, /PORT 80 may not be used by this user/);
  const late = databaseFault('postgres://a:b@c/d', new Error('timeout expired'));
  assert.match((late as Error).message, /PostgreSQL at c:5432 did not answer in time/);
  const other = new Error('something else');
  assert.equal(listenFault(place, other), other);
  assert.equal(databaseFault('postgres://a:b@c/d', other), other);
});

test('a dev network whose parts were left out of the install says which, and what to do', async () => {
  // As a production install meets it: the package that is imported is not there.
  const missing = await import(String('litesvm-not-installed')).catch((error: unknown) => error);
  const { message } = devNetworkFault(missing) as Error;
  assert.match(
    message,
    /needs litesvm-not-installed, which npm ci --omit=dev leaves out: run npm ci/,
  );
  const left = `Cannot find module '/opt/parley/devnet/devnet.ts' imported from /opt/parley/x.ts`;
  const ofRelease = devNetworkFault(Object.assign(new Error(left), { code: missing.code }));
  assert.match((ofRelease as Error).message, /a release has no dev network: set PARLEY_NETWORK/);
  const other = new Error('other');
  assert.equal(devNetworkFault(other), other);
});
