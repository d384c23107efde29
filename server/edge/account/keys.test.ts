// API keys in the browser: list, make, revoke, and what minting by signature says of them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { someAddress } from '../../../test/support/trading.ts';
import { buildApp } from '../app.ts';
import { caller, codeOf, refused, testEdge } from '../testing/edge.ts';
import { renewed, type SignedIn, signedIn } from '../testing/session.ts';
import { evmWallet, type TestWallet } from '../testing/signers.ts';

const edge = await testEdge();

const scopes = ['read', 'taker', 'maker'];
const make = (browser: SignedIn, body: object = { scopes }) => browser.post('/account/keys', body);
const list = async (browser: SignedIn) => (await browser.get('/account/keys')).body.keys;
const revoke = (browser: SignedIn, id: string) => browser.call('DELETE', `/account/keys/${id}`);
const works = async (key: string) => (await edge.call('GET', '/v1/me', { key })).status === 200;

function byWallet({ family, address }: TestWallet): Promise<SignedIn> {
  return signedIn(edge, { proven: { way: 'wallet', family, address, pubkey: null } });
}

async function events(accountId: string): Promise<{ topic: string; payload: unknown }[]> {
  return edge.sql(
    `select topic, payload from outbox where account_id = $1 and topic like 'key.%'
      order by id`,
    accountId,
  );
}

test('a key is made with name, scopes and life, shown once, listed and announced', async () => {
  const browser = await signedIn(edge);
  const body = { name: ' desk 1 ❤\ufe0f ', scopes: ['maker', 'read'], lifeDays: 7 };
  const { status, body: made } = await make(browser, body);
  assert.equal(status, 201, JSON.stringify(made));
  const name = 'desk 1 ❤\ufe0f';
  assert.deepEqual([made.name, made.scopes, made.replaced], [name, ['read', 'maker'], false]);
  assert.match(made.note, /up to 10 keys.*a leaked key is revoked in the browser$/);
  const days = (Date.parse(made.expiresAt) - edge.deps.now()) / 86_400_000;
  assert.ok(days > 6.99 && days <= 7, `${days} days`);
  assert.ok(await works(made.key));
  const { key: _, replaced: __, note: ___, ...known } = made;
  const [shown] = await list(browser);
  assert.deepEqual(
    { ...shown, createdAt: null },
    {
      ...known,
      createdAt: null,
      usedOn: null,
      usedFrom: null,
    },
  );
  const { id: keyId, prefix, expiresAt } = made;
  const payload = { keyId, prefix, name, scopes: ['read', 'maker'], expiresAt };
  assert.deepEqual(await events(browser.accountId), [{ topic: 'key.created', payload }]);
});

test('without name and life it has none and 90 days', async () => {
  const { body } = await make(await signedIn(edge));
  assert.equal(body.name, null);
  assert.equal(Math.round((Date.parse(body.expiresAt) - edge.deps.now()) / 86_400_000), 90);
});

test('a key is not made of what is not known, of no scope, for no day or under a name not drawn', async () => {
  const browser = await signedIn(edge);
  const names = ['', '  ', 'x'.repeat(81), 'a\nb', 'a\u202eb', '\u3164', '\ufe0f'];
  for (const body of [
    ...[{}, { scopes: [] }, { scopes: ['admin'] }, { scopes: ['read', 'read'] }],
    ...[0, 91, 0.5].map((lifeDays) => ({ scopes, lifeDays })),
    ...names.map((name) => ({ scopes, name })),
    { scopes, admin: true },
  ]) {
    refused(await make(browser, body), '400 bad_field');
  }
  assert.deepEqual(await list(browser), []);
});

test('a browser account holds ten: the eleventh is 400 in the browser and by signature', async () => {
  const wallet = evmWallet();
  const browser = await byWallet(wallet);
  await edge.sql(`update accounts set kind = 'browser' where id = $1`, browser.accountId);
  const made: { id: string; key: string }[] = [];
  for (let held = 0; held < 9; held += 1) made.push((await make(browser)).body);
  const { status, body: minted } = await edge.mint(wallet);
  assert.deepEqual([status, minted.replaced], [200, false]);
  assert.match(minted.note, /a leaked key is revoked in the browser/);
  for (const answer of [await make(browser), await edge.mint(wallet)]) {
    refused(answer, '400 too_many_keys', /holds 10 live keys already; revoke one in the browser/);
  }
  assert.equal((await list(browser)).length, 10);
  assert.ok(await works(made[0]?.key ?? ''));
  assert.equal(codeOf(await revoke(browser, made[0]?.id ?? '')), '200 ok');
  assert.equal((await make(browser)).status, 201);
});

test('a wallet-only account holds one: the next replaces it, here and by signature', async () => {
  const wallet = evmWallet();
  const browser = await byWallet(wallet);
  const { body: first } = await make(browser);
  assert.deepEqual([first.replaced, first.note], [false, null]);
  const { body: second } = await make(browser);
  assert.equal(second.replaced, true);
  assert.deepEqual([await works(first.key), await works(second.key)], [false, true]);
  const { body: third } = await edge.mint(wallet);
  assert.deepEqual([third.replaced, third.note], [true, null]);
  assert.deepEqual([await works(second.key), await works(third.key)], [false, true]);
  assert.equal((await list(browser)).length, 1);
});

test('a revoked key works in no process once that is answered, and its owner is told', async () => {
  const other = await buildApp(edge.deps);
  const there = caller(other);
  const browser = await signedIn(edge);
  for (let round = 0; round < 4; round += 1) {
    const { body: made } = await make(browser, { scopes, name: 'leaked' });
    const { key } = made;
    assert.equal((await there('GET', '/v1/me', { key })).status, 200);
    assert.equal(codeOf(await revoke(browser, made.id)), '200 ok');
    assert.equal((await there('GET', '/v1/me', { key })).status, 401);
    assert.equal(await works(key), false);
    const { id: keyId, prefix } = made;
    const last = (await events(browser.accountId)).at(-1);
    assert.deepEqual(last, { topic: 'key.revoked', payload: { keyId, prefix, name: 'leaked' } });
  }
  assert.deepEqual(await list(browser), []);
  await other.close();
});

test("nobody revokes another account's key, one twice, or what is no key", async () => {
  const [one, other] = [await signedIn(edge), await signedIn(edge)];
  const { body: made } = await make(one);
  refused(await revoke(other, made.id), '404 unknown_key');
  assert.ok(await works(made.key));
  const answers = await Promise.all([revoke(one, made.id), revoke(one, made.id)]);
  assert.deepEqual(answers.map(codeOf).sort(), ['200 ok', '404 unknown_key']);
  for (const id of [randomUUID(), 'nonsense', '%20', one.stored.id]) {
    refused(await revoke(one, id), '404 unknown_key');
  }
  const told = (await events(one.accountId)).filter(({ topic }) => topic === 'key.revoked');
  assert.equal(told.length, 1);
});

test('on /v1 a webhook’s secret and the end of a proof want a fresh session too; a key wants none', async () => {
  const browser = await signedIn(edge);
  const { body: made } = await make(browser, { scopes: ['read'] });
  edge.deps.freeze();
  edge.deps.advance(browser.stored.signedInAt.getTime() + 600_001 - edge.deps.now());
  const url = 'https://hooks.example.org/';
  const register = await browser.post('/v1/webhooks', { url });
  refused(register, '403 session_stale');
  const address = `/v1/wallets/${someAddress('evm')}`;
  refused(await browser.call('DELETE', address), '403 session_stale');
  const { key } = made;
  assert.equal((await edge.call('POST', '/v1/webhooks', { key, body: { url } })).status, 201);
  refused(await edge.call('DELETE', address, { key }), '404 unknown_wallet');
  browser.cookies.set('parley_session', await renewed(edge.deps, browser));
  assert.equal((await browser.post('/v1/webhooks', { url })).status, 201);
});

test('making and revoking want a sign-in of the last 10 minutes; the list does not', async () => {
  const browser = await signedIn(edge);
  const { body: made } = await make(browser);
  edge.deps.freeze();
  edge.deps.advance(browser.stored.signedInAt.getTime() + 600_000 - edge.deps.now());
  assert.equal((await make(browser)).status, 201);
  edge.deps.advance(1);
  refused(await make(browser), '403 session_stale');
  refused(await revoke(browser, made.id), '403 session_stale');
  assert.ok(await works(made.key));
  assert.equal((await list(browser)).length, 2);
  browser.cookies.set('parley_session', await renewed(edge.deps, browser));
  assert.equal(codeOf(await revoke(browser, made.id)), '200 ok');
});

test('keys made in the browser count against the mints of the client network', async () => {
  const small = await testEdge({ settings: { mintLimit: 2 } });
  const browser = await signedIn(small);
  assert.equal((await make(browser)).status, 201);
  assert.equal((await small.mint(evmWallet())).status, 200);
  const over = await make(browser);
  refused(over, '429 mint_rate_limited');
  assert.match(String(over.headers['retry-after']), /^\d+$/);
  await small.close();
});
