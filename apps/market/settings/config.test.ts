// Settings that an operator may get wrong: refused by name, and a secret is never quoted.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSettings } from './config.ts';
import { parseValkeyUrl } from './networks.ts';

/** The message that refuses these settings. */
function refusal(env: Record<string, string>): string {
  try {
    readSettings(env);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('taken');
}

test('a product name may have any letters, and is one line', () => {
  assert.equal(readSettings({ PARLEY_PRODUCT_NAME: 'Рынок A' }).productName, 'Рынок A');
  for (const name of ['A\nB', 'A\u2028B', 'A\u0000', 'A\tB', '\ud800']) {
    assert.match(refusal({ PARLEY_PRODUCT_NAME: name }), /PARLEY_PRODUCT_NAME must be one line/);
  }
});

test('VALKEY_URL is an address of Redis or Valkey, with TLS or without', () => {
  const plain = { host: 'h', port: 6_379, tls: false, username: null, password: null, database: 0 };
  assert.deepEqual(parseValkeyUrl('redis://h'), plain);
  assert.deepEqual(parseValkeyUrl('valkey://h/'), plain);
  assert.deepEqual(parseValkeyUrl('valkeys://h'), { ...plain, tls: true });
  assert.deepEqual(parseValkeyUrl('rediss://me:p%40ss@[::1]:7000/3'), {
    host: '::1',
    port: 7_000,
    tls: true,
    username: 'me',
    password: 'p@ss',
    database: 3,
  });
  assert.equal(parseValkeyUrl('redis://:only@h')?.password, 'only');
  assert.equal(readSettings({}).valkeyUrl, null);
  assert.equal(readSettings({ VALKEY_URL: 'redis://h' }).valkeyUrl, 'redis://h');
});

test('a replica is an address, and beside a database of one’s own', () => {
  const DATABASE_URL = 'postgres://db1/parley';
  const DATABASE_READ_URL = 'postgres://db2/parley';
  const { databaseReadUrl } = readSettings({ DATABASE_URL, DATABASE_READ_URL });
  assert.equal(databaseReadUrl, DATABASE_READ_URL);
  assert.equal(readSettings({ DATABASE_URL }).databaseReadUrl, null);
  assert.match(refusal({ DATABASE_READ_URL }), /DATABASE_READ_URL names a replica .+: give both/);
  const message = refusal({ DATABASE_URL, DATABASE_READ_URL: 'db2:f00d' });
  assert.match(message, /DATABASE_READ_URL: it must be of the form postgres:/);
  assert.doesNotMatch(message, /f00d/);
});

test('any other VALKEY_URL is refused, and its password is not repeated', () => {
  const others = [
    'http://me:f00d@h',
    'redis://',
    'redis://me:f00d@h/name',
    'redis://me:f00d@h?db=1',
    'redis://me:f00d@h:99999',
    'redis://me:f00d@h:0',
    'redis://me:f00d%zz@h',
    'me:f00d@h',
  ];
  for (const url of others) {
    const message = refusal({ VALKEY_URL: url });
    assert.match(message, /VALKEY_URL must be redis:/, url);
    assert.doesNotMatch(message, /f00d/);
  }
});

test('trusted proxies are addresses, networks, or names of networks', () => {
  const given = '10.0.0.0/8, 192.0.2.1,2001:db8::/32,::1,loopback';
  const { trustedProxies } = readSettings({ PARLEY_TRUSTED_PROXIES: given });
  assert.deepEqual(trustedProxies, ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1', 'loopback']);
  assert.deepEqual(readSettings({}).trustedProxies, []);
});

test('a trusted proxy that is none, or everybody, is refused by name', () => {
  for (const each of ['proxy.example', '10.0.0.0/33', '::1/129', '0.0.0.0/0', '::/0', '10.0.0']) {
    const message = refusal({ PARLEY_TRUSTED_PROXIES: `127.0.0.1,${each}` });
    assert.ok(message.includes(`PARLEY_TRUSTED_PROXIES holds "${each}"`), message);
    assert.ok(!message.includes('127.0.0.1'));
  }
});

test('a client network is so many leading bits of an address', () => {
  assert.deepEqual(readSettings({}).clientPrefixes, { ipv4: 32, ipv6: 56 });
  const { clientPrefixes } = readSettings({ PARLEY_CLIENT_PREFIXES: '24,48' });
  assert.deepEqual(clientPrefixes, { ipv4: 24, ipv6: 48 });
  for (const each of ['24', '33,56', '32,129', '7,56', '32,7', '/24,/56']) {
    assert.match(refusal({ PARLEY_CLIENT_PREFIXES: each }), /PARLEY_CLIENT_PREFIXES must be/);
  }
});

test('a name that is no setting is refused with the nearest one, and what tools and Kubernetes set is not', () => {
  for (const [name, nearest] of [
    ['PARLEY_RATELIMIT', 'PARLEY_RATE_LIMIT'],
    ['PARLEY_TRUSTED_PROXY', 'PARLEY_TRUSTED_PROXIES'],
    ['PARLEY_METRIC_PORT', 'PARLEY_METRICS_PORT'],
    ['PARLEY_PORT', 'PORT'],
  ]) {
    const said = refusal({ [name!]: 'x' });
    assert.match(said, new RegExp(`${name} is no setting; the nearest name is ${nearest}$`, 'm'));
  }
  assert.match(refusal({ PARLEY_FOO: 'x' }), /PARLEY_FOO is no setting$/m);
  const kubernetes = {
    PARLEY_PORT: 'tcp://10.0.0.1:80',
    PARLEY_SERVICE_HOST: '10.0.0.1',
    PARLEY_PORT_80_TCP_ADDR: '10.0.0.1',
    PARLEY_VALKEY_SERVICE_HOST: '10.0.0.2',
    PARLEY_VALKEY_SERVICE_PORT_REDIS: '6379',
    PARLEY_POSTGRES_PORT: 'tcp://10.0.0.3:5432',
    PARLEY_DNS_PORT: 'udp://10.0.0.4:53',
    PARLEY_WEB_PORT_80_TCP_ADDR: '10.0.0.5',
  };
  readSettings({ ...kubernetes, PARLEY_TEST_LOG: 'info', PARLEY_BITCOIND: '/b', PARLEYS: 'x' });
});

test('metrics that others can reach need a token, of a file that holds one', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'parley-metrics-'));
  t.after(() => rm(dir, { recursive: true }));
  const token = join(dir, 'token');
  const on = { PARLEY_METRICS_PORT: '0' };
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
    const { metricsHost, metricsToken } = readSettings({ ...on, PARLEY_METRICS_HOST: host });
    assert.deepEqual([metricsHost, metricsToken], [host, null]);
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example']) {
    const said = refusal({ ...on, PARLEY_METRICS_HOST: host });
    assert.match(said, /can be reached from elsewhere: name a bearer token/);
  }
  const open = { ...on, PARLEY_METRICS_HOST: '0.0.0.0', PARLEY_METRICS_TOKEN_FILE: token };
  assert.match(refusal(open), /PARLEY_METRICS_TOKEN_FILE: ENOENT/);
  for (const wrong of ['', 'a'.repeat(15), 'two words of a token', 'a'.repeat(513)]) {
    await writeFile(token, wrong, { mode: 0o600 });
    const said = refusal(open);
    assert.match(said, new RegExp(`16 to 512 printable ASCII characters; it has ${wrong.length}`));
    assert.ok(wrong === '' || !said.includes(wrong), 'what it holds is not quoted');
  }
  await writeFile(token, `${'a'.repeat(16)}\n`);
  assert.equal(readSettings(open).metricsToken, 'a'.repeat(16));
  assert.match(refusal({ PARLEY_METRICS_HOST: '::1' }), /do nothing without PARLEY_METRICS_PORT/);
});

test('every name with which the repository is run is a setting, or known to be of a tool', () => {
  const root = new URL('../../..', import.meta.url);
  const names = globSync('{apps,scripts,dev,verify,bench,contracts,docs}/**/*.{ts,md}', {
    cwd: root,
  }).flatMap((file) => [
    ...readFileSync(new URL(file, root), 'utf8').matchAll(
      /(?:env\.|`|\b)(PARLEY_[A-Z0-9_]*[A-Z0-9])\b/g,
    ),
  ]);
  const unknown = new Set(
    names
      .map(([, name = '']) => name)
      .filter((name) => {
        try {
          readSettings({ [name]: '' });
          return false;
        } catch (error) {
          return (error as Error).message.includes('is no setting');
        }
      }),
  );
  const examples = [
    'PARLEY_FOO',
    'PARLEY_LOG_LEVL',
    'PARLEY_METRIC_PORT',
    'PARLEY_RATELIMIT',
    'PARLEY_TRUSTED_PROXY',
    'PARLEY_PORT',
    'PARLEY_POSTGRES_PORT',
    'PARLEY_DNS_PORT',
    // Names of secrets: a misspelt credential, a twin of what is none, a name of a credential alone.
    'PARLEY_ENCRYPTON_KEY',
    'PARLEY_RATE_LIMIT_FILE',
    'PARLEY_TELEGRAM_BOT_TOKEN',
    'PARLEY_METRICS_TOKEN',
  ];
  assert.deepEqual([...unknown].toSorted(), examples.toSorted());
});
