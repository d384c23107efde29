// API keys in the browser: list, make, revoke, and what minting by signature says of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApp } from '../app.ts';
import { caller, codeOf, refused, testEdge } from '../testing/edge.ts';
import { renewed, type SignedIn, signedIn } from '../testing/session.ts';

const edge = await testEdge();
const scopes = ['read', 'taker', 'maker'];
const make = (browser: SignedIn, body: object = { scopes }) => browser.post('/account/keys', body);
const list = async (browser: SignedIn) => (await browser.get('/account/keys')).body.keys;
const revoke = (browser: SignedIn, id: string) => browser.call('DELETE', `/account/keys/${id}`);
const works = async (key: string) => (await edge.call('GET', '/v1/me', { key })).status === 200;
const daysTo = (instant: string) => (Date.parse(instant) - edge.deps.now()) / 86_400_000;
const events = ({ accountId }: SignedIn) =>
  edge.sql(
    `select topic, payload from outbox where account_id = $1 and topic like 'key.%' order by id`,
    accountId,
  );

test('a key is made with name, scopes and life, shown once, listed and announced', async () => {
  const browser = await signedIn(edge);
  const name = 'desk 1 ❤\ufe0f';
  const { body: made } = await make(browser, {
    name: ` ${name} `,
    scopes: ['maker', 'read'],
    lifeDays: 7,
  });
  assert.deepEqual([made.name, made.scopes, made.replaced], [name, ['read', 'maker'], false]);
  assert.match(made.note, /up to 10 keys.*a leaked key is revoked in the browser$/);
  assert.ok(Math.abs(daysTo(made.expiresAt) - 7) < 0.01);
  assert.ok(await works(made.key));
  const { key: _, replaced: __, note: ___, ...known } = made;
  const [{ createdAt: ____, ...shown }] = await list(browser);
  assert.deepEqual(shown, { ...known, usedOn: null, usedFrom: null });
  const { id: keyId, prefix, expiresAt } = made;
  const payload = { keyId, prefix, name, scopes: ['read', 'maker'], expiresAt };
  assert.deepEqual(await events(browser), [{ topic: 'key.created', payload }]);
  const { body: plain } = await make(browser);
  assert.deepEqual([plain.name, Math.round(daysTo(plain.expiresAt))], [null, 90]);
});

test('a revoked key works in no process once that is answered, and it is announced', async () => {
  const other = await buildApp(edge.deps);
  const there = caller(other);
  const browser = await signedIn(edge);
  for (let round = 0; round < 4; round += 1) {
    const { id: keyId, key, prefix } = (await make(browser, { scopes, name: 'leaked' })).body;
    assert.equal((await there('GET', '/v1/me', { key })).status, 200);
    assert.equal(codeOf(await revoke(browser, keyId)), '200 ok');
    assert.equal((await there('GET', '/v1/me', { key })).status, 401);
    assert.equal(await works(key), false);
    const payload = { keyId, prefix, name: 'leaked' };
    assert.deepEqual((await events(browser)).at(-1), { topic: 'key.revoked', payload });
  }
  await other.close();
});

test('making and revoking want a sign-in of the last 10 minutes; the list does not', async () => {
  const browser = await signedIn(edge);
  const { id, key } = (await make(browser)).body;
  edge.deps.freeze();
  edge.deps.advance(browser.stored.signedInAt.getTime() + 600_000 - edge.deps.now());
  assert.equal((await make(browser)).status, 201);
  edge.deps.advance(1);
  refused(await make(browser), '403 session_stale');
  refused(await revoke(browser, id), '403 session_stale');
  assert.ok(await works(key));
  assert.equal((await list(browser)).length, 2);
  browser.cookies.set('parley_session', await renewed(edge.deps, browser));
  assert.equal(codeOf(await revoke(browser, id)), '200 ok');
});
