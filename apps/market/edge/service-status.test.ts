// `GET /status`: the facts for programs and pages of anybody, and those that are left out.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testMarket } from '@parley/verify/test/support/trading.ts';
import { storeHeads } from '../db/heads.ts';
import { insertOutbox } from '../db/outbox.ts';
import { delayedFromSeconds, readServiceStatus } from '../market/service-status.ts';

const market = await testMarket();
after(() => market.close());
const { deps, db, app } = market;
deps.freeze(Date.parse('2026-01-01T12:00:00.000Z'));
const startedAt = deps.now();
const read = () => readServiceStatus(deps, startedAt);
const wait = (seconds: number) => deps.advance(seconds * 1_000);
const see = (chain: string, height: number) => {
  const head = { height, hash: `h${height}`, clock: 1_700_000_000, doneTo: null } as const;
  return storeHeads(db, chain, head as never, new Date(deps.now()), null);
};
const chainOf = async (chain: string) => (await read()).chains.find((each) => each.chain === chain);
const seeAll = async (height: number) => {
  for (const { chain } of deps.adapters.values()) await see(chain, height);
};

test('a chain shows the age of its newest block, and is delayed past what its policy expects', async () => {
  assert.equal((await chainOf('bitcoin'))?.delayedSince, new Date(startedAt).toISOString());
  wait(5);
  await seeAll(7);
  const seenAt = new Date(deps.now()).toISOString();
  const fresh = await chainOf('bitcoin');
  assert.ok(fresh !== undefined);
  const { expectedWithinSeconds } = fresh;
  assert.deepEqual([fresh.height, fresh.blockAgeSeconds, fresh.delayedSince], [7, 0, null]);
  wait(expectedWithinSeconds);
  assert.deepEqual((await chainOf('bitcoin'))?.delayedSince, null);
  wait(1);
  // A block that a restart sees again is as old as it was.
  await see('bitcoin', 7);
  const late = await chainOf('bitcoin');
  assert.equal(late?.blockAgeSeconds, expectedWithinSeconds + 1);
  assert.equal(late?.delayedSince, seenAt);
  assert.equal((await read()).isNormal, false);
  await see('bitcoin', 8);
  assert.equal((await chainOf('bitcoin'))?.blockAgeSeconds, 0);
});

test('events that wait to be handed out are a delay of their audience from half a minute on', async () => {
  await seeAll(10);
  const account = '00000000-0000-7000-8000-000000000000';
  for (const [audience, topic, accountId] of [
    ['webhooks', 'swap.agreed', account],
    ['feed', 'feed.created', null],
    ['messages', 'key.created', account],
  ] as const) {
    await market.sql('delete from outbox');
    const at = new Date(deps.now());
    await db.transaction((tx) => insertOutbox(tx, [{ topic, accountId, payload: {}, at }]));
    wait(delayedFromSeconds - 1);
    const normal = { state: 'normal', bySeconds: 0 };
    const all = { webhooks: normal, feed: normal, messages: normal };
    assert.deepEqual((await read()).delays, all);
    wait(1);
    const late = { state: 'delayed', bySeconds: delayedFromSeconds };
    const found = await read();
    assert.deepEqual([found.delays, found.isNormal], [{ ...all, [audience]: late }, false]);
    await seeAll(11 + delayedFromSeconds);
  }
  await market.sql('delete from outbox');
});

test('it needs no key, costs no budget, may be kept for seconds, and is for every page', async () => {
  const asked = (headers = {}) => app.inject({ url: '/status', headers });
  const first = await asked();
  assert.equal(first.statusCode, 200, first.body);
  const told = first.json();
  assert.deepEqual(Object.keys(told), [
    'isNormal',
    'version',
    'network',
    'at',
    'startedAt',
    'agrees',
    'waitsFor',
    'chains',
    'haltedAssets',
    'delays',
  ]);
  assert.match(told.version, /^\d+\.\d+\.\d+/);
  const { headers } = first;
  assert.equal(headers['cache-control'], 'public, max-age=5');
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['access-control-allow-credentials'], undefined);
  assert.equal(headers['ratelimit-limit'], undefined);
  const same = await asked({ 'if-none-match': `"other", ${headers.etag}` });
  assert.deepEqual([same.statusCode, same.body, same.headers.etag], [304, '', headers.etag]);
  assert.equal((await asked({ 'if-none-match': 'W/"other"' })).statusCode, 200);
});
