// The refusals of a faucet, and the order of its steps, over HTTP and on a real file. Its chains
// are stubs here: the test market of docs/testnet.md paid on real nodes.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import { daySeconds, openBook } from './book.ts';
import { type Asked, createFaucet, type Payer, Refused } from './give.ts';
import type { Gift } from './settings.ts';
import { createSite, longestAddress, mostTries } from './site.ts';

const gift: Gift = {
  chain: 'testchain',
  token: null,
  symbol: 'COIN',
  decimals: 2,
  amount: 100n,
  dailyCap: 400n,
};
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function stubPayer() {
  const sent: string[] = [];
  const state: { failure?: Error | undefined; signed: number } = { signed: 0 };
  const payer: Payer = {
    chain: gift.chain,
    address: 'own',
    parse: (text) => {
      if (/^[a-z]\w*$/.test(text)) return text;
      throw new ParleyError('bad_address', `"${text}" is no address`, {});
    },
    sign: async ({ to }) => {
      state.signed += 1;
      return { txid: `tx-${to}-${state.signed}`, raw: `bytes-${to}-${state.signed}` };
    },
    send: async ({ raw }: Kept) => {
      if (state.failure !== undefined) throw state.failure;
      sent.push(raw);
    },
    close: async () => {},
  };
  return { payer, sent, state };
}

function stage(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-faucet-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'gifts.db');
  const clock = { now: 1_000_000 };
  const open = (stub: ReturnType<typeof stubPayer>, perClient = 2, gifts = [gift]) => {
    const book = openBook(file);
    const parts = { gifts, payers: [stub.payer], book, perClient, log: quiet };
    return createFaucet({ ...parts, now: () => clock.now });
  };
  return { file, clock, open };
}

const asked = (address: string, client = 'net'): Asked => {
  return { chain: gift.chain, token: null, address, client };
};
const refused = (code: Refused['code']) => (error: unknown) =>
  error instanceof Refused && error.code === code;

test('an address has a gift once in 24 hours, and a client network so many', async (t) => {
  const { clock, open } = stage(t);
  const faucet = open(stubPayer());
  const { txid } = await faucet.give(asked('alice'));
  const again = await faucet.give(asked('alice', 'elsewhere')).catch((error) => error);
  assert.ok(refused('address_limit')(again));
  assert.deepEqual(again.facts, { txid, seconds: daySeconds });
  await faucet.give(asked('bob'));
  await assert.rejects(faucet.give(asked('carol')), refused('client_limit'));
  await faucet.give(asked('carol', 'elsewhere'));
  clock.now += daySeconds - 1;
  await assert.rejects(faucet.give(asked('alice', 'third')), refused('address_limit'));
  clock.now += 1;
  await faucet.give(asked('alice'));
  await faucet.close();
});

test('a gift that no node takes counts for its client and the day, and not for its address', async (t) => {
  const { file, open } = stage(t);
  const stub = stubPayer();
  const faucet = open(stub, 3);
  stub.state.failure = new ParleyError('chain_unavailable', 'reached none', {});
  await assert.rejects(faucet.give(asked('alice')), refused('unavailable'));
  stub.state.failure = undefined;
  await faucet.give(asked('alice'));
  await faucet.give(asked('bob'));
  await assert.rejects(faucet.give(asked('carol')), refused('client_limit'));
  await faucet.give(asked('carol', 'elsewhere'));
  assert.equal(faucet.left(gift), 0n);
  await assert.rejects(faucet.give(asked('dave', 'third')), refused('daily_cap'));
  assert.throws(() => openBook(file), /another faucet/);
  await faucet.close();
  // After a restart too.
  const again = open(stubPayer(), 3);
  await assert.rejects(again.give(asked('alice')), refused('address_limit'));
  await again.close();
});

test('a gift that a node may have taken counts for its address, and its coins stay spent', async (t) => {
  for (const [failure, isFree] of [
    [new ParleyError('refused_by_node', 'no', {}), true],
    [new ParleyError('chain_unavailable', 'reached none', {}), true],
    [new ParleyError('chain_timeout', 'one may have it', {}), false],
    [new DOMException('30 s', 'TimeoutError'), false],
  ] as const) {
    const { open } = stage(t);
    const stub = stubPayer();
    const freed: Kept[] = [];
    const forget = (kept: Kept) => void freed.push(kept);
    const faucet = open({ ...stub, payer: { ...stub.payer, forget } });
    stub.state.failure = failure;
    await assert.rejects(faucet.give(asked('alice')), refused('unavailable'));
    stub.state.failure = undefined;
    assert.equal(freed.length, isFree ? 1 : 0);
    if (isFree) await faucet.give(asked('alice'));
    else await assert.rejects(faucet.give(asked('alice')), refused('address_limit'));
    await faucet.close();
  }
});

test('a gift is counted before it is sent, and one that is not counted is not sent', async (t) => {
  const { file, clock } = stage(t);
  const { payer, sent } = stubPayer();
  const freed: string[] = [];
  const forget = ({ txid }: Kept) => void freed.push(txid);
  const book = openBook(file);
  const keep = () => {
    throw new Error('database or disk is full');
  };
  const parts = { gifts: [gift], payers: [{ ...payer, forget }], perClient: 2, log: quiet };
  const faucet = createFaucet({ ...parts, book: { ...book, keep }, now: () => clock.now });
  await assert.rejects(faucet.give(asked('alice')), /disk is full/);
  assert.deepEqual([sent, freed], [[], ['tx-alice-1']]);
  const sign = () => Promise.reject(new Error('secret'));
  const poor = createFaucet({ ...parts, payers: [{ ...payer, sign }], book, now: () => clock.now });
  await assert.rejects(poor.give(asked('alice')), refused('unavailable'));
  assert.equal(poor.left(gift), gift.dailyCap);
  await faucet.close();
});

test('asked side by side an address gets one gift, and no more wait than may', async (t) => {
  const { open } = stage(t);
  const stub = stubPayer();
  const faucet = open(stub);
  const all = await Promise.allSettled(
    Array.from({ length: 30 }, () => faucet.give(asked('alice'))),
  );
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  const codes = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
  assert.equal(codes.filter((code) => code === 'busy').length, 10);
  assert.equal(stub.state.signed, 1);
  await faucet.close();
});

test('the page and JSON: each refusal has its status, code, words and when to come again', async (t) => {
  const { open, clock } = stage(t);
  const faucet = open(stubPayer());
  const settings = { trustedProxies: ['127.0.0.1'], clientPrefixes: { ipv4: 32, ipv6: 56 } };
  const site = createSite(faucet, settings, () => clock.now * 1_000);
  t.after(async () => {
    await site.close();
    await faucet.close();
  });
  const post = (payload: object, more: Record<string, string> = {}, remoteAddress = '9.9.9.9') => {
    const url = '/gifts';
    return site.inject({ method: 'POST', url, payload, headers: more, remoteAddress });
  };
  const { chain } = gift;
  const given = await post({ chain, address: 'alice' });
  assert.deepEqual(
    [given.statusCode, given.json().txid, given.json().amount],
    [200, 'tx-alice-1', '100'],
  );
  const again = await post({ chain, address: 'alice' });
  assert.deepEqual([again.statusCode, again.json().error.code], [429, 'address_limit']);
  assert.equal(again.headers['retry-after'], `${daySeconds}`);
  assert.equal((await post({ chain, address: '!' })).json().error.code, 'bad_address');
  assert.equal((await post({ chain, address: 'own' })).json().error.code, 'own_address');
  assert.equal((await post({ chain: 'other', address: 'bob' })).statusCode, 404);
  assert.equal((await post({ chain, address: 1 })).statusCode, 400);
  const long = await post({ chain, address: 'a'.repeat(longestAddress + 1) });
  assert.equal(long.json().error.code, 'bad_request');
  assert.equal((await post({ address: 'x'.repeat(3_000) })).statusCode, 413);
  const elsewhere = await post({ chain, address: 'bob' }, { 'sec-fetch-site': 'cross-site' });
  assert.equal(elsewhere.json().error.code, 'elsewhere');
  const foreign = await post({ chain, address: 'bob' }, { origin: 'https://evil.example' });
  assert.equal(foreign.statusCode, 403);
  // A sandboxed frame of a stranger, where no TLS has the browser say more.
  assert.equal((await post({ chain, address: 'bob' }, { origin: 'null' })).statusCode, 403);
  const { body, headers } = await site.inject({ url: '/' });
  assert.match(body, /worth nothing[\s\S]*1 COIN \(testchain\)/);
  assert.match(String(headers['content-security-policy']), /default-src 'none'/);
  assert.equal(headers['referrer-policy'], 'same-origin', 'else its own form has no origin');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const page = await site.inject({
    method: 'POST',
    url: '/gifts',
    headers: form,
    remoteAddress: '9.9.9.8',
    payload: 'asset=testchain&address=%3Cb%3E',
  });
  assert.equal(page.statusCode, 400);
  assert.match(page.body, /&lt;b&gt;/);
  assert.doesNotMatch(page.body, /<b>/);
  // A stranger's word for whom it asks is not taken, a proxy's is.
  for (let n = 0; n < mostTries; n += 1) {
    await post({ chain, address: '!' }, { 'x-forwarded-for': `10.0.0.${n}` }, '8.8.8.8');
  }
  assert.equal((await post({ chain, address: '!' }, {}, '8.8.8.8')).json().error.code, 'too_many');
  const proxied = { 'x-forwarded-for': '7.7.7.7' };
  assert.equal((await post({ chain, address: 'bob' }, proxied, '127.0.0.1')).statusCode, 200);
});
