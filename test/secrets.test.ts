// What a full run leaves behind: its logs at their most verbose, its metrics, its ready line and
// every row of its database hold none of the secrets that it was given. The run trades on real
// chains with a market of its own process, and makes it fail in many ways.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { base58 } from '@scure/base';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { evmWallet } from '../server/edge/testing/signers.ts';
import { readSettings } from '../server/settings/config.ts';
import {
  agree,
  claimLong,
  claimShort,
  type Deal,
  deepen,
  fundBoth,
  must,
  newParty,
  type Party,
  signEvm,
  signedSpend,
  startWorld,
  type World,
} from '../server/settle/testing/world.ts';
import { startMarket } from '../server/start/boot.ts';
import { type GuardedNode, guardedNode } from './support/guarded-node.ts';
import { newHome, type RunningMarket, startMarketProcess } from './support/market.ts';
import { found, rowsOfAll, secretsOfRun } from './support/secrets.ts';

/** Everything that must show nowhere, by what it is. */
const { secrets, note: secret } = secretsOfRun();

let world: World;
let market: RunningMarket;
let bitcoinNode: GuardedNode;
let evmNode: GuardedNode;
/** What the market has asked its nodes. */
const asked: string[] = [];
/** The market as parties reach it: through its own process. */
let there: World;
const cleanups: (() => Promise<void>)[] = [];

before(async () => {
  world = await startWorld();
  const hears = (words: string) => asked.push(words);
  bitcoinNode = await guardedNode(world.infos.bitcoin.rpcUrl, 'login', secret, hears);
  evmNode = await guardedNode(world.infos.evm.rpcUrl, 'path', secret, hears);
  const t = { after: (undo: () => Promise<void>) => cleanups.push(undo) };
  const role = `role_${randomBytes(4).toString('hex')}`;
  const password = secret('password of the database');
  const text = `create role ${role} superuser login password '${password}'`;
  await world.deps.db.rows({ name: 'test_role', text, values: [] });
  const database = new URL(await ownUrl());
  database.username = role;
  database.password = password;
  const { btc, eth, usd } = world.assets;
  market = await startMarketProcess(t as never, await newHome(t as never), {
    DATABASE_URL: database.href,
    PARLEY_ENCRYPTION_KEY: [32, 32]
      .map((bytes) => secret('encryption key', randomBytes(bytes).toString('hex')))
      .join(','),
    PARLEY_LOG_LEVEL: 'trace',
    PARLEY_METRICS_PORT: '0',
    PARLEY_FOLLOW_INTERVAL_MS: '500',
    PARLEY_RATE_LIMIT: '100000',
    PARLEY_MINT_LIMIT: '1000',
    PARLEY_CHAIN_TIMEOUT_MS: '20000',
    PARLEY_CHAINS: JSON.stringify([
      { family: 'bitcoin', chain: btc.chain, network: 'regtest', rpcUrl: bitcoinNode.url },
      { family: 'evm', chain: eth.chain, chainId: 31_337, rpcUrls: [evmNode.url] },
    ]),
    PARLEY_ASSETS: JSON.stringify(
      [btc, eth, usd].map(({ chain, symbol, address, decimals }) => ({
        chain,
        symbol,
        address,
        decimals,
      })),
    ),
  });
  there = { ...world, app: appAt(market.ready.url) };
  cleanups.push(async () => {
    await world.deps.db.rows({ name: 'test_reassign', text: `drop role ${role}`, values: [] });
  });
});
after(async () => {
  for (const undo of cleanups) await undo();
  bitcoinNode.close();
  evmNode.close();
  await world.close();
});

/** The URL of the test's database. */
async function ownUrl(): Promise<string> {
  const text = `select current_database() as name, inet_server_port() as port`;
  const [row] = await world.deps.db.rows<{ name: string; port: number }>({
    name: 'test_where',
    text,
    values: [],
  });
  return `postgres://127.0.0.1:${row?.port}/${row?.name}`;
}

/** As much of an application as parties use, over HTTP. */
function appAt(url: string): FastifyInstance {
  type Wanted = { method: string; url: string; headers: Record<string, string>; payload?: object };
  const inject = async ({ method, url: path, headers, payload }: Wanted) => {
    const reply = await fetch(url + path, {
      method,
      headers: {
        ...headers,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
    });
    const body = await reply.text();
    return {
      statusCode: reply.status,
      headers: Object.fromEntries(reply.headers),
      body,
      json: () => JSON.parse(body),
    };
  };
  return { inject } as unknown as FastifyInstance;
}

async function party(): Promise<Party> {
  const made = await newParty(there);
  secret('API key', made.key);
  return made;
}

async function deal(): Promise<Deal> {
  const made = await agree(there, { initiator: await party(), counterparty: await party() });
  secret('secret of a swap', made.secret);
  return made;
}

async function call(
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Record<string, string> }> {
  const { key, body, headers = {} } = options;
  const reply = await fetch(market.ready.url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, string> };
}

/** Signs in over HTTP, remembering all that was signed. */
async function mint(lines: readonly string[] = [], broken = false) {
  const wallet = evmWallet();
  const { nonce = '' } = (await call('GET', '/v1/keys/nonce')).body;
  secret('nonce', nonce);
  const message = [
    'Parley - create an API key',
    '',
    `Address: ${wallet.address}`,
    ...lines,
    `Nonce: ${nonce}`,
  ].join('\n');
  const signature = await (broken ? evmWallet() : wallet).sign(message);
  secret('signature', signature);
  const { address } = wallet;
  const body = { rail: 'evm', address, message, signature };
  const minted = await call('POST', '/v1/keys', { body, headers: { 'idempotency-key': nonce } });
  if (minted.body.key !== undefined) secret('API key', minted.body.key);
  return { wallet, ...minted };
}

async function shown(): Promise<string> {
  const metrics = await (await fetch(market.ready.metrics ?? '')).text();
  assert.match(metrics, /parley_chain_height/);
  const ready = await readFile(join(market.home, 'ready.json'), 'utf8');
  return [market.log(), metrics, ready, JSON.stringify(market.ready)].join('\n');
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    if (await holds()) return;
    await sleep(250);
  }
  assert.fail(`${what}\n${market.log().slice(-4_000)}`);
}

test('what is found is found: a secret in any of its forms', () => {
  const one = new Map([['it', 'ab'.repeat(32)]]);
  const hex = 'ab'.repeat(32);
  for (const form of [
    hex,
    hex.toUpperCase(),
    Buffer.from(hex).toString('hex'),
    Buffer.from(`x=${hex}`).toString('utf8'),
    Buffer.from(hex).toString('base64'),
    Buffer.from(hex, 'hex').toString('base64'),
    Buffer.from(`01${hex}0203`, 'hex').toString('base64'),
    Buffer.from(`0102${hex}03`, 'hex').toString('base64'),
    Buffer.from(`0102${hex}03`, 'hex').toString('base64url'),
    base58.encode(Buffer.from(`0102${hex}03`, 'hex')),
    Buffer.from(hex, 'hex').toString('latin1'),
    '\\u00aB'.repeat(32),
    JSON.stringify([...Buffer.from(hex, 'hex')], null, 1),
    BigInt(`0x${hex}`).toString(),
  ]) {
    assert.deepEqual(found(`before ${form} after`, one), ['it'], form);
  }
  assert.deepEqual(found('nothing', one), []);
});

test('a run that signs in, trades, fails and recovers shows no secret', async () => {
  await signInAndFail();
  const traded = await deal();
  await fundBoth(there, traded);
  await refuseClaims(traded);
  const before = new Map([...secrets].filter(([what]) => !what.startsWith('nonce')));
  assert.deepEqual(
    found(await rowsOfAll(world.deps.db), before),
    [],
    'before the secret is public',
  );
  await breakNodes(traded);
  await breakDatabase(traded);
  await settleIt(traded);
  assert.deepEqual(found(await shown(), secrets), []);
  const known = new Set([traded.secret]);
  const hidden = [...secrets].filter(
    ([what, value]) => !what.startsWith('nonce') && !known.has(value),
  );
  assert.deepEqual(found(await rowsOfAll(world.deps.db), new Map(hidden)), [], 'after the run');
  assert.ok(market.log().includes('request'), 'the log is as verbose as it gets');
  assert.equal(await market.stop(), 0, market.log().slice(-2_000));
  assert.deepEqual(found(market.log(), secrets), []);
});

async function signInAndFail(): Promise<void> {
  const { status, body } = await mint(['Key name: desk', 'Scopes: read, taker, maker']);
  assert.equal(status, 200, JSON.stringify(body));
  const { key = '' } = body;
  assert.equal((await mint([], true)).status, 400);
  assert.equal((await mint(['Scopes: everything'])).status, 400);
  const wrong = secret('API key', `parley_test_${randomBytes(32).toString('hex').slice(0, 43)}`);
  assert.equal((await call('GET', '/v1/me', { key: wrong })).status, 401);
  const bearer = { authorization: `Bearer ${wrong}` };
  assert.equal((await call('GET', '/v1/me', { headers: bearer })).status, 401);
  assert.equal((await call('GET', `/v1/me?apiKey=${key}`)).status, 401);
  assert.equal((await call('GET', `/v1/nothing/${key}`, { key })).status, 404);
  assert.equal((await call('GET', `/v1/rfqs/${key}`, { key })).status, 404);
  const posted = secret('secret in a body');
  for (const body of [
    { secret: posted },
    { [posted]: 1 },
    `{"secret":"${posted}"`,
    [posted],
    { direction: posted, baseAssetId: posted },
  ]) {
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
    assert.equal((await call('POST', '/v1/rfqs', { key, body, headers })).status, 400);
  }
}

/** Claims that are built but not sent, and such as are refused. */
async function refuseClaims(traded: Deal): Promise<void> {
  const { initiator, id, short } = traded;
  const path = `/v1/swaps/${id}/legs/${short}/claim`;
  const once = { 'idempotency-key': 'claim' };
  const built = must(await initiator.post(path, { secret: traded.secret }, once));
  assert.deepEqual((await initiator.post(path, { secret: traded.secret }, once)).body, built);
  const wrong = secret('secret of no swap', randomBytes(32).toString('hex'));
  for (const body of [
    { secret: wrong },
    { secret: `${traded.secret}00` },
    { secret: traded.secret.slice(1) },
    { secret: traded.secret, preimage: traded.secret },
    { secret: [traded.secret] },
    { secrets: traded.secret },
    { secret: traded.secret, [traded.secret]: 1 },
  ]) {
    const key = { 'idempotency-key': randomBytes(8).toString('hex') };
    const refused = await initiator.post(path, body, key);
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
  }
  assert.ok(asked.length > 100);
  const told = new Map(Object.entries({ secret: traded.secret, wrong }));
  assert.deepEqual(found(asked.join('\n'), told), [], 'a node heard a secret that was not sent');
  evmNode.manner = 'echo';
  for (const raw of await signEvm(there, initiator.evmAccount, built)) {
    secret('signed transaction', raw);
    const key = { 'idempotency-key': 'claim' };
    const refused = await initiator.post('/v1/tx/broadcast', { chain: 'evm', signed: raw }, key);
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    assert.ok(refused.body.error.includes(traded.secret), 'the node quotes the secret');
  }
  evmNode.manner = 'serve';
}

async function breakNodes({ initiator, counterparty, id, short, long }: Deal): Promise<void> {
  const warnings = () => market.log().split('\n').length;
  for (const node of [evmNode, bitcoinNode]) {
    const before = warnings();
    node.manner = 'fail';
    for (const [who, leg] of [
      [initiator, short],
      [counterparty, long],
    ] as const) {
      const path = `/v1/swaps/${id}/legs/${leg}/claim`;
      const { status } = await who.post(path, {
        secret: secrets.get('nothing') ?? '00'.repeat(32),
      });
      assert.ok(status === 400 || status >= 503, String(status));
    }
    await eventually('the log tells of a failing node', async () => warnings() > before);
    node.manner = 'serve';
  }
}

/** 500s: connections that are ended, rows that the database refuses and quotes. */
async function breakDatabase({ initiator, id, short, secret: own }: Deal): Promise<void> {
  const { db } = world.deps;
  const run = (text: string) => db.rows({ name: '', text, values: [] });
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'parley' and usename like 'role\\_%'`;
  const path = `/v1/swaps/${id}/legs/${short}/claim`;
  for (let tries = 0; tries < 5; tries += 1) {
    const asked = Array.from({ length: 8 }, (_, at) =>
      initiator.post(path, { secret: own }, { 'idempotency-key': `end-${tries}-${at}` }),
    );
    await run(end);
    await Promise.all(asked);
  }
  await run(`alter table api_keys add constraint refused check (name <> 'boom')`);
  assert.equal((await mint(['Key name: boom'])).status, 500);
  await run('alter table api_keys drop constraint refused');
  await run('alter table idempotency add constraint refused check (status <> 200) not valid');
  const refused = await initiator.post(path, { secret: own }, { 'idempotency-key': 'refused' });
  assert.equal(refused.status, 500);
  await run('alter table idempotency drop constraint refused');
  await run('alter table nonces rename to lost');
  assert.equal((await call('GET', '/v1/keys/nonce')).status, 500);
  await run('alter table lost rename to nonces');
}

/** Both claims; while the secret is first seen, the database refuses to store it. */
async function settleIt(traded: Deal): Promise<void> {
  const { db } = world.deps;
  const run = (text: string) => db.rows({ name: '', text, values: [] });
  await run('alter table swaps add constraint refused check (secret is null)');
  await claimShort(there, traded);
  await world.dev.mine(world.assets.eth.chain, 3);
  await eventually('the log tells that a swap is not stored', async () =>
    market.log().includes('could not be reconciled'),
  );
  await run('alter table swaps drop constraint refused');
  await eventually('the secret is seen', async () => {
    const { body } = await traded.counterparty.get(`/v1/swaps/${traded.id}`);
    return body.secret === traded.secret;
  });
  const path = `/v1/swaps/${traded.id}/legs/${traded.long}/claim`;
  const built = must(await traded.counterparty.post(path, { secret: traded.secret }));
  const signed = signedSpend(traded.counterparty, built, traded.secret);
  const { signaturesHex } = signed as { signaturesHex: string[] };
  for (const each of signaturesHex) secret('signature of a spend', each);
  bitcoinNode.manner = 'echo';
  const refused = await traded.counterparty.post('/v1/tx/broadcast', {
    chain: world.assets.btc.chain,
    signed,
  });
  assert.ok(refused.status >= 400, JSON.stringify(refused.body));
  bitcoinNode.manner = 'serve';
  await claimLong(traded);
  await deepen(there);
  await eventually('the swap is settled', async () => {
    const { body } = await traded.counterparty.get(`/v1/swaps/${traded.id}`);
    return body.status === 'counterparty_claimed';
  });
}

test('a start that is refused names no secret', async (t) => {
  const password = secret('password of a setting');
  const short = password.slice(0, 6);
  const login = `user:${password}@127.0.0.1:1`;
  const evm = { family: 'evm', chain: 'e', chainId: 31_337 };
  const valid = JSON.stringify([{ ...evm, rpcUrls: ['http://127.0.0.1:1'] }]);
  const home = await newHome(t);
  let logged = '';
  const write = (line: string) => {
    logged += line;
  };
  const log = pino({ level: 'trace' }, { write });
  const started = async (env: Record<string, string>) =>
    startMarket(
      readSettings({ DATABASE_URL: 'postgres://127.0.0.1:1/none', PARLEY_CHAINS: valid, ...env }),
      log,
    );
  for (const env of [
    { DATABASE_URL: `postgres://${login}/parley` },
    { DATABASE_URL: `postgres://user:${password}@127.0.0.1:99999/parley` },
    { DATABASE_URL: `${password}` },
    { PARLEY_ENCRYPTION_KEY: password },
    { PARLEY_ENCRYPTION_KEY: `${password}${password},${password}` },
    { PARLEY_CHAINS: `[{"rpcUrls": ["http://${login}"]` },
    { PARLEY_CHAINS: `http://${login}` },
    // What a parser shows of the text around a fault would show this one whole.
    { PARLEY_CHAINS: `["http://u:${short}@h",x]` },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`ftp://${login}`] }]) },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`http://${login}`] }]) },
    { PARLEY_CHAINS: JSON.stringify([{ ...evm, rpcUrls: [`http://user:${password}@`] }]) },
    { VALKEY_URL: `redis://:${password}@127.0.0.1:99999` },
    { VALKEY_URL: `http://:${password}@127.0.0.1:1` },
  ]) {
    await assert.rejects(started({ ...env, PARLEY_HOME: home }), (error: Error) => {
      const wrote = `${error.message} ${error.stack} ${inspect(error.cause)}`;
      assert.ok(!wrote.includes(short), `${Object.keys(env)} ${wrote}`);
      return true;
    });
  }
  assert.ok(!logged.includes(short), logged);
});
