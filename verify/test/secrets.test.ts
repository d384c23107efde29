// The traces of a full run: its logs at their most verbose, its metrics, its ready line and every
// row of its database hold none of the secrets that it was given. The run trades on chains of all
// four families and makes sign-ins, nodes, receivers and the database fail. And of the SDK: no byte
// of a secret leaves a side before it has decided to show it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { untriedGas } from '@parley/chains/evm/gas-policy.ts';
import type { Signed } from '@parley/chains/interface/material.ts';
import type { Family } from '@parley/core/families.ts';
import type { Place } from '@parley/dev/demo/place.ts';
import { mintKey } from '@parley/sdk/keys.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { base58 } from '@scure/base';
import { parseTransaction } from 'viem';
import { type Customer, newCustomer } from './support/customers.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import {
  agreed,
  type Deal,
  fund,
  type Hooks,
  refusal,
  run,
  shows,
  until,
} from './support/deals.ts';
import { type GuardedNode, guardedNode } from './support/guarded-node.ts';
import type { RunningMarket } from './support/market.ts';
import { found, rowsOfAll, secretsOfRun } from './support/secrets.ts';
import { families, type Stage, sharedChains, startStage } from './support/stage.ts';

const limits = { timeout: 300_000 };
/** Everything that must show nowhere, by what it is. */
const { secrets, note: secret } = secretsOfRun();

const chains = sharedChains();
let database: TestDatabase;
let stage: Stage;
let market: RunningMarket;
let taker: Customer;
let maker: Customer;
/** By which the market sees its chains, and all that it has asked them. */
const nodes = {} as Record<Family, GuardedNode>;
const asked: string[] = [];
/** By which the parties see them, and what of an undecided secret left a side, by its deal. */
const own = {} as Record<Family, GuardedNode>;
const undecided = new Map<string, string>();
const leaks: string[] = [];
const direct = globalThis.fetch;
const role = `role_${randomBytes(4).toString('hex')}`;

const sql = (text: string) => database.db.rows({ name: '', text, values: [] });
const guardOf = (family: Family) => (family === 'bitcoin' ? 'login' : 'path');

function hears(where: string, text: string): void {
  leaks.push(...found(text, undecided).map((what) => `${what} in ${where}: ${text.slice(0, 300)}`));
}

/** Notes the secret parts of an answer or a request of the market. */
function noteAll(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (name === 'nonce' || name === 'signature') secret(name, value);
    if (name === 'consent' && value.startsWith('0x') && value.length === 132) secret(name, value);
    if (name === 'key') secret('API key', value);
    if (name === 'secret' && value.startsWith('whsec_')) secret('secret of a webhook', value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      noteAll(each, Array.isArray(value) || name === 'consent' ? name : key);
    }
  }
}

const noted: typeof fetch = async (input, init) => {
  const reply = await direct(input, init);
  if (!String(input).startsWith(stage.url)) return reply;
  // The market keeps the payee's word for its lane, for the funder.
  const as = String(input).endsWith('/lane') ? 'consent' : '';
  if (typeof init?.body === 'string') noteAll(JSON.parse(init.body), as);
  noteAll(await reply.clone().json());
  return reply;
};

before(async () => {
  database = await testDatabase();
  const password = secret('password of the database');
  await sql(`create role ${role} superuser login password '${password}'`);
  const url = new URL(database.url);
  [url.username, url.password] = [role, password];
  const key = () => secret('encryption key', randomBytes(32).toString('hex'));
  stage = await startStage({
    chains: await chains(),
    env: {
      DATABASE_URL: url.href,
      PARLEY_ENCRYPTION_KEY: `${key()},${key()}`,
      PARLEY_LOG_LEVEL: 'trace',
      PARLEY_METRICS_PORT: '0',
      PARLEY_CHAIN_TIMEOUT_MS: '20000',
    },
    way: async (family, rpcUrl) => {
      const guard = guardOf(family);
      nodes[family] = await guardedNode(rpcUrl, guard, secret, (words) => asked.push(words));
      return nodes[family].url;
    },
  });
  ({ market } = await stage.startServer());
  const unnoted = (_: string, value = randomBytes(8).toString('hex')) => value;
  const seen = { ...stage.place } as Record<Family, Place['bitcoin']>;
  for (const family of families) {
    const heard = (words: string) => hears(`a ${family} node`, words);
    const { rpcUrl } = stage.place[family];
    own[family] = await guardedNode(rpcUrl, guardOf(family), unnoted, heard);
    seen[family] = { ...stage.place[family], rpcUrl: own[family].url };
  }
  globalThis.fetch = noted;
  taker = await newCustomer(stage, 'Taker', 'tron', seen as unknown as Place);
  maker = await newCustomer(stage, 'Maker', 'solana', seen as unknown as Place);
}, limits);
after(async () => {
  globalThis.fetch = direct;
  await stage?.close();
  for (const node of [...Object.values(nodes), ...Object.values(own)]) await node.stop();
  await sql(`drop role ${role}`);
  await database.drop();
}, limits);

async function call(
  method: string,
  path: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Record<string, string> }> {
  const { key, body, headers = {} } = options;
  const reply = await direct(stage.url + path, {
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

const once = () => ({ 'idempotency-key': randomBytes(8).toString('hex') });

const logTells = (what: string, words: string, from = 0) =>
  until(what, async () => market.log().slice(from).includes(words));

async function shown(): Promise<string> {
  const metrics = await (await fetch(market.ready.metrics ?? '')).text();
  assert.match(metrics, /parley_chain_height/);
  const ready = await readFile(join(market.home, 'ready.json'), 'utf8');
  return [market.log(), metrics, ready, JSON.stringify(market.ready)].join('\n');
}

test('the search finds a secret in any of its forms', () => {
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

/** A nonce that was shown is used up. */
const kept = (drop: RegExp) => new Map([...secrets].filter(([what]) => !drop.test(what)));

test('a run that signs in, trades, fails and recovers shows no secret', limits, async () => {
  await signInAndFail();
  await hearOfIt();
  const pairs = [
    ['BTC', 'ETH'],
    ['TRX', 'SOL'],
    ['SOL', 'TRX'],
    ['BTC', 'ETH'],
  ] as const;
  const deals: Deal[] = [];
  for (const [b, a] of pairs) deals.push(await agreed(stage, [taker, maker], b, a));
  for (const deal of deals) await undecide(deal);
  await Promise.all(deals.map((deal) => fund(stage, deal, 'both')));
  assert.deepEqual(leaks, []);
  undecided.clear();
  for (const deal of deals.slice(0, 3)) await refuseClaims(deal);
  mustHaveAll();
  assert.ok(asked.length > 100);
  const heard = new Map([...secrets].filter(([what]) => /^secret of/.test(what)));
  assert.deepEqual(found(asked.join('\n'), heard), [], 'a node heard a secret that was not sent');
  const rows = () => rowsOfAll(database.db);
  assert.deepEqual(found(await rows(), kept(/^nonce|^consent/)), [], 'before a secret is public');
  const [first, ...others] = deals as [Deal, ...Deal[]];
  await quoteClaims(deals.slice(0, 3));
  await breakNodes(first);
  await breakDatabase(first);
  await settleAll(first, others);
  assert.deepEqual(found(await shown(), secrets), []);
  const hidden = kept(/^nonce|^consent|^secret of a swap|^signature/);
  assert.deepEqual(found(await rows(), hidden), [], 'after the run');
  assert.ok(market.log().includes('request'), 'the log is as verbose as it gets');
  assert.equal(await market.stop(), 0, market.log().slice(-2_000));
  assert.deepEqual(found(market.log(), secrets), []);
  await plantLeaks();
});

async function undecide(deal: Deal): Promise<void> {
  const { hashlock, id } = deal;
  const own = (await taker.store.getSecret(hashlock)) ?? assert.fail();
  undecided.set(id, own);
  if (!secrets.has(`secret of a swap ${id}`)) secret('secret of a swap', own);
}

/** The searched secrets were there. */
function mustHaveAll(): void {
  const all = [...secrets.keys()].join();
  const kinds = ['nonce', 'signature', 'API key', 'secret of a webhook', 'secret of a swap'];
  for (const each of [...kinds, 'path of a node', 'login of a node', 'password of the database']) {
    assert.ok(all.includes(each), each);
  }
}

async function signInAndFail(): Promise<void> {
  const { key } = taker;
  const market = { baseUrl: stage.url };
  for (const family of families) {
    // By the wrong wallet, for each purpose.
    const { address } = maker[family];
    const forged = { ...taker[family], address } as Customer['evm'];
    assert.equal((await refusal(mintKey(market, forged))).status, 400, family);
    for (const purpose of ['link', 'authorize'] as const) {
      const { nonce } = await maker.client.walletNonce(purpose);
      const message = `Parley asks you to sign to link this wallet.\nAddress: ${address}\nNonce: ${nonce}`;
      const signature = await taker[family].signMessage(message);
      const proof = maker.client.proveWallet(family, { address, message, signature });
      assert.equal((await refusal(proof)).status, 400, family);
    }
  }
  const unknown = mintKey(market, taker.evm, { scopes: ['everything' as 'read'] });
  assert.equal((await refusal(unknown)).status, 400);
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
    assert.equal((await call('POST', '/v1/rfqs', { key, body, headers: once() })).status, 400);
  }
  assert.equal((await call('POST', '/v1/webhooks', { key, body: { url: posted } })).status, 400);
}

/** A receiver that takes deliveries, and one that does not. */
async function hearOfIt(): Promise<void> {
  const { key } = taker;
  const { body } = await call('GET', '/v1/webhooks', { key });
  const { id } = (body as unknown as { webhooks: [{ id: string }] }).webhooks[0];
  for (const answer of [500, 200]) {
    stage.receiver.answer(answer);
    assert.equal((await call('POST', `/v1/webhooks/${id}/ping`, { key, body: {} })).status, 200);
  }
}

const claimPath = ({ id }: Deal, leg = 'a') => `/v1/swaps/${id}/legs/${leg}/claim`;
const secretOf = async ({ hashlock }: Deal) => (await taker.store.getSecret(hashlock)) ?? '';

/** Claims that are built but not sent, and such as are refused. */
async function refuseClaims(deal: Deal): Promise<void> {
  const { key } = taker;
  const path = claimPath(deal);
  await shows(deal, 'leg a is deep enough', ({ legs }) => legs.a.status === 'funded');
  const own = await secretOf(deal);
  const again = { key, body: { secret: own }, headers: once() };
  const built = await call('POST', path, again);
  assert.equal(built.status, 200, JSON.stringify(built.body));
  assert.deepEqual((await call('POST', path, again)).body, built.body);
  const wrong = secret('secret of no swap', randomBytes(32).toString('hex'));
  for (const body of [
    { secret: wrong },
    { secret: `${own}00` },
    { secret: own.slice(1) },
    { secret: own, preimage: own },
    { secret: [own] },
    { secrets: own },
    { secret: own, [own]: 1 },
  ]) {
    const refused = await call('POST', path, { key, body, headers: once() });
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
  }
}

const soon = () => AbortSignal.timeout(60_000);

async function signedClaim(deal: Deal): Promise<{ chain: string; signed: Signed }> {
  const material = await taker.client.claim(deal.id, 'a', await secretOf(deal));
  const { chain } = material;
  if (material.sign === 'solana-tx') {
    return { chain, signed: (await taker.solana.sign(material, soon())).raw };
  }
  if (material.sign === 'tron-txid') {
    const [first = assert.fail()] = material.transactions;
    return { chain, signed: (await taker.tron.sign(first, soon())).raw };
  }
  assert.equal(material.sign, 'evm-tx');
  const [first = assert.fail()] = material.txs;
  return { chain, signed: (await taker.evm.sign(material.chainId, first, soon())).raw };
}

/** Nodes that quote what they were sent, and refuse it. */
async function quoteClaims(deals: readonly Deal[]): Promise<void> {
  for (const deal of deals) {
    const { chain, signed } = await signedClaim(deal);
    const { family } = stage.place.coins[deal.coins.a];
    secret('signed claim', typeof signed === 'string' ? signed : JSON.stringify(signed));
    nodes[family].manner = 'echo';
    const body = { chain, signed };
    const refused = await call('POST', '/v1/tx/broadcast', { key: taker.key, body });
    nodes[family].manner = 'serve';
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    assert.match(refused.body.error ?? '', /refused: /, 'the node quotes what it was sent');
    taker.evm.forget();
  }
}

async function breakNodes(deal: Deal): Promise<void> {
  for (const family of families) {
    const before = market.log().length;
    nodes[family].manner = 'fail';
    const body = { secret: await secretOf(deal) };
    const { status } = await call('POST', claimPath(deal), { key: taker.key, body });
    const isAsked = family === 'bitcoin' || family === 'evm';
    assert.ok(isAsked ? status >= 503 : status === 200, `${family} ${status}`);
    await logTells('of a failing node', stage.place[family].chain, before);
    nodes[family].manner = 'serve';
  }
}

/** 500s: connections that are ended, rows that the database refuses and quotes. */
async function breakDatabase(deal: Deal): Promise<void> {
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'parley/%' and usename like 'role\\_%'`;
  const body = { secret: await secretOf(deal) };
  const claim = () => call('POST', claimPath(deal), { key: taker.key, body, headers: once() });
  for (let tries = 0; tries < 5; tries += 1) {
    const asked = Array.from({ length: 8 }, claim);
    await sql(end);
    await Promise.all(asked);
  }
  await sql(`alter table api_keys add constraint refused check (name <> 'boom')`);
  const boom = mintKey({ baseUrl: stage.url }, taker.evm, { name: 'boom' });
  assert.equal((await refusal(boom)).status, 500);
  await sql('alter table api_keys drop constraint refused');
  await sql('alter table idempotency add constraint refused check (status <> 200) not valid');
  assert.equal((await claim()).status, 500);
  await sql('alter table idempotency drop constraint refused');
  await sql('alter table nonces rename to lost');
  assert.equal((await call('GET', '/v1/keys/nonce')).status, 500);
  await sql('alter table lost rename to nonces');
}

const whole = (value: unknown) => inspect(value, { depth: null, maxStringLength: null });

/** A side whose every word to the market, to its listener and to its store is heard. */
function heardOf({ client, store }: Customer): Hooks {
  const proxied = new Proxy(client, {
    get: (market, name) => {
      const value = Reflect.get(market, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...words: unknown[]) => {
        hears('the market', whole(words));
        return value.apply(market, words);
      };
    },
  });
  const own: Store = {
    ...store,
    putSwap: async (record) => {
      if (record.publicSecret === null) hears('the store', whole(record));
      await store.putSwap(record);
      if (record.publicSecret !== null) undecided.delete(record.swap.id);
    },
  };
  const onProgress = (news: unknown) => hears('progress', JSON.stringify(news));
  return { client: proxied, store: own, onProgress };
}

async function paid(deals: readonly Deal[]): Promise<void> {
  for (const deal of deals) await undecide(deal);
  const sides = deals.flatMap((deal) => [
    run(stage, deal, 'taker', heardOf(taker)),
    run(stage, deal, 'maker', heardOf(maker)),
  ]);
  for (const { end } of await Promise.all(sides)) assert.equal(end, 'received');
  assert.deepEqual([[...undecided.keys()], leaks], [[], []]);
}

async function claimGas({ id }: Deal): Promise<number> {
  const claim = (await taker.store.getSwap(id))?.claim;
  return Number(parseTransaction((claim?.raw ?? '0x') as `0x${string}`).gas);
}

/** All claims; while a secret is first seen, the database refuses to store it. */
async function settleAll(first: Deal, others: readonly Deal[]): Promise<void> {
  await sql('alter table swaps add constraint refused check (secret is null) not valid');
  const [last = assert.fail(), ...rest] = others.toReversed();
  const paying = paid([first, ...rest]);
  await logTells('that a swap is not stored', 'could not be reconciled');
  await sql('alter table swaps drop constraint refused');
  await paying;
  assert.ok((await claimGas(first)) >= 80_000, 'what was tried');
  for (const node of Object.values(own)) node.manner = 'no estimates';
  await paid([last]);
  for (const node of Object.values(own)) node.manner = 'serve';
  const untried = Number(untriedGas(31_337, 'reveal'));
  assert.equal(await claimGas(last), untried, 'what does where nothing can be tried');
  for (const deal of [first, ...others]) {
    await shows(deal, 'it is settled', ({ status }) => status === 'counterparty_claimed');
  }
  await until('a delivery about it came', async () =>
    stage.receiver.received.some(({ body }) => body.includes(first.id)),
  );
}

/** How a careless side would tell each family's node: as it stands in a transaction. */
const plants: Readonly<Record<Family, (secret: Buffer) => unknown>> = {
  bitcoin: (secret) => ({ method: 'testmempoolaccept', params: [[secret.toString('hex')]] }),
  evm: (secret) => ({ method: 'eth_call', params: [{ data: `0xAB${secret.toString('hex')}` }] }),
  tron: (secret) => ({ parameter: secret.toString('hex').toUpperCase() }),
  solana: (secret) => ({
    method: 'simulateTransaction',
    params: [Buffer.concat([Buffer.from('x'), secret]).toString('base64')],
  }),
};

async function plantLeaks(): Promise<void> {
  for (const family of families) {
    const planted = randomBytes(32);
    undecided.set(family, planted.toString('hex'));
    const url = new URL(own[family].url);
    [url.username, url.password] = ['', ''];
    await direct(url, { method: 'POST', body: JSON.stringify(plants[family](planted)) });
    assert.match(leaks.join(), new RegExp(`${family} in a ${family} node`));
  }
}
