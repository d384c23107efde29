// The refusals of a faucet, and the order of its steps, over HTTP and on a real file. Its chains
// are stubs here: the test market of docs/testnet.md paid on real nodes.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import { daySeconds, type End, openBook } from './book.ts';
import { type Asked, createFaucet, mostOpen, type Payer, type Push, Refused } from './give.ts';
import { longestAddress } from './page.ts';
import type { Gift } from './settings.ts';
import { createSite, mostTries } from './site.ts';

const gift: Gift = {
  chain: 'testchain',
  token: null,
  symbol: 'COIN',
  decimals: 2,
  amount: 100n,
  dailyCap: 400n,
};
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function stubPayer(ends: Map<string, End> = new Map()) {
  const sent: string[] = [];
  const state = { isSilent: false, signed: 0 };
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
      if (state.isSilent) throw new ParleyError('chain_unavailable', 'silent', {});
      sent.push(raw);
    },
    end: async ({ txid }) => ends.get(txid) ?? null,
    close: async () => {},
  };
  return { payer, sent, state, ends };
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

test('a lost gift counts for its client and the day, and no longer for its address', async (t) => {
  const { open } = stage(t);
  const stub = stubPayer();
  const faucet = open(stub, 3);
  const { txid } = await faucet.give(asked('alice'));
  stub.ends.set(txid, 'lost');
  await faucet.look();
  await faucet.give(asked('alice'));
  await faucet.give(asked('bob'));
  await assert.rejects(faucet.give(asked('carol')), refused('client_limit'));
  await faucet.give(asked('carol', 'elsewhere'));
  assert.equal(faucet.left(gift), 0n);
  await assert.rejects(faucet.give(asked('dave', 'third')), refused('daily_cap'));
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

test('a gift kept and not sent is sent after a crash, the same bytes, and no more', async (t) => {
  const { file, open } = stage(t);
  const before = stubPayer();
  before.state.isSilent = true;
  const first = open(before);
  const { txid, sent } = await first.give(asked('alice'));
  assert.equal(sent, false);
  assert.throws(() => openBook(file), /another faucet/);
  await first.close();
  const after = stubPayer();
  const second = open(after);
  await second.look();
  assert.deepEqual(after.sent, ['bytes-alice-1']);
  await assert.rejects(second.give(asked('alice')), refused('address_limit'));
  after.ends.set(txid, 'landed');
  await second.look();
  await second.look();
  assert.deepEqual([after.sent.length, after.state.signed], [1, 0]);
  await second.close();
});

test('only signed gifts are counted, and no more are signed than may wait', async (t) => {
  const { open } = stage(t);
  const stub = stubPayer();
  const { sign } = stub.payer;
  const gifts = [{ ...gift, dailyCap: 10_000n }];
  const faucet = open(
    { ...stub, payer: { ...stub.payer, sign: () => Promise.reject(new Error('secret')) } },
    100,
    gifts,
  );
  await assert.rejects(faucet.give(asked('alice')), refused('unavailable'));
  assert.equal(faucet.left(gifts[0] as Gift), 10_000n);
  await faucet.close();
  const other = open({ ...stub, payer: { ...stub.payer, sign } }, 100, gifts);
  for (let n = 0; n < mostOpen; n += 1) await other.give(asked(`a${n}`));
  await assert.rejects(other.give(asked('late')), refused('busy'));
  await other.close();
});

test('a gift that no block takes is raised after its time', async (t) => {
  const { open, clock } = stage(t);
  const stub = stubPayer();
  const push: Push = {
    afterSeconds: 100,
    by: async ({ kept: { txid, raw } }) => ({ txid: `${txid}+`, raw: `${raw}+`, former: [txid] }),
  };
  const pushed = { ...stub, payer: { ...stub.payer, push } };
  const first = open(pushed);
  await first.give(asked('alice'));
  const sentBy = async (faucet: ReturnType<typeof open>, seconds: number) => {
    clock.now += seconds;
    await faucet.look();
    return stub.sent.splice(0);
  };
  const bytes = 'bytes-alice-1';
  const raised = 'bytes-alice-1+';
  assert.deepEqual(await sentBy(first, 99), [bytes, bytes]);
  assert.deepEqual(await sentBy(first, 1), [bytes, raised]);
  await first.close();
  // The book keeps the raised payment, and its wait begins anew.
  const second = open(pushed);
  assert.deepEqual(await sentBy(second, 99), [raised]);
  const again = await second.give(asked('alice')).catch((error) => error);
  assert.equal(again.facts.txid, 'tx-alice-1+');
  assert.deepEqual(await sentBy(second, 1), [raised, `${raised}+`]);
  stub.ends.set('tx-alice-1++', 'landed');
  assert.deepEqual(await sentBy(second, 100), []);
  await second.close();
});

test('a node that hangs keeps no other chain from being looked at', async (t) => {
  const { file, clock } = stage(t);
  const slow = stubPayer();
  const quick = stubPayer();
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const end = async () => {
    begun.resolve();
    await released.promise;
    return null;
  };
  const payers = [
    { ...slow.payer, end },
    { ...quick.payer, chain: 'other' },
  ];
  const gifts = [gift, { ...gift, chain: 'other' }];
  const book = openBook(file);
  const parts = { gifts, payers, book, perClient: 2, log: quiet, now: () => clock.now };
  const faucet = createFaucet(parts);
  await faucet.give(asked('alice'));
  const { txid } = await faucet.give({ ...asked('bob'), chain: 'other' });
  quick.ends.set(txid, 'landed');
  const looked = faucet.look();
  await begun.promise;
  // As far as the look comes meanwhile.
  await new Promise(setImmediate);
  assert.deepEqual(
    book.open().map(({ chain }) => chain),
    [gift.chain],
  );
  released.resolve();
  await looked;
  await faucet.close();
});

test('no gift is raised while another of its chain is being signed', async (t) => {
  const { open, clock } = stage(t);
  const { payer, ...stub } = stubPayer();
  const known: string[] = [];
  const by: Push['by'] = async ({ kept }) => {
    known.push(kept.txid);
    return null;
  };
  const begun = Promise.withResolvers<void>();
  const signed = Promise.withResolvers<void>();
  const sign: Payer['sign'] = async (pay, ...more) => {
    if (pay.to === 'bob') begun.resolve();
    if (pay.to === 'bob') await signed.promise;
    return payer.sign(pay, ...more);
  };
  const faucet = open({ ...stub, payer: { ...payer, sign, push: { afterSeconds: 100, by } } });
  await faucet.give(asked('alice'));
  clock.now += 100;
  const gift = faucet.give(asked('bob'));
  await begun.promise;
  const looked = faucet.look();
  // As far as the look comes meanwhile.
  await new Promise(setImmediate);
  assert.deepEqual(known, []);
  signed.resolve();
  await Promise.all([gift, looked]);
  assert.deepEqual(known, ['tx-alice-1']);
  await faucet.close();
});

test('a gift that could not be kept is not sent, and its nonce or coins are free again', async (t) => {
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
