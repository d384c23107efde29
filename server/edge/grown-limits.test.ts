// A larger limit for who settles swaps: how large, when it is counted, that nothing waits for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertSwap } from '../../test/support/settled.ts';
import { waitUntil } from '../../test/support/waiting.ts';
import { createGrownLimits, grownLimit } from './grown-limits.ts';
import { negotiating } from './testing/negotiating.ts';

test('each settled swap adds a tenth of the limit, up to ten times the limit', () => {
  const of = (settled: number) => grownLimit(300, settled);
  assert.deepEqual([0, 1, 89, 90, 91, 1_000].map(of), [300, 330, 2_970, 3_000, 3_000, 3_000]);
  assert.deepEqual([grownLimit(1, 9), grownLimit(1, 10), grownLimit(3, 1)], [1, 2, 3]);
});

const market = await negotiating({ settings: { rateLimit: 300 } });
const { maker, taker, deps } = market;
const own = { makerId: maker.accountId, takerId: taker.accountId };
const day = 86_400;

test('RateLimit-Limit grows with swaps settled in 30 days, of other days and counterparties', async () => {
  const now = Math.floor(deps.now() / 1_000);
  for (const agreedAt of [now - day, now - 2 * day, now - 29 * day, now - 31 * day]) {
    await insertSwap(deps.db, own, agreedAt);
  }
  await insertSwap(deps.db, own, now - day, 'initiator_claimed');
  const limit = async () => {
    const headers = { authorization: `Bearer ${maker.key}` };
    return (await market.app.inject({ url: '/v1/me', headers })).headers['ratelimit-limit'];
  };
  // What is not known yet is counted beside the request.
  assert.equal(await limit(), '300');
  for (let tries = 0; (await limit()) === '300' && tries < 200; tries += 1) await sleep(10);
  assert.equal(await limit(), '390');
  const { limits } = (await maker.get('/v1/rules')).body;
  assert.deepEqual(limits, {
    windowSeconds: 60,
    requests: 300,
    requestsOfSettledSwap: 30,
    mostRequests: 3_000,
    settledDays: 30,
  });
});

test('a count is kept for ten minutes, asked for once, and survives what cannot be read', async () => {
  let at = 0;
  let [fails, queries] = [false, 0];
  const db = {
    ...deps.db,
    rows: (async (statement) => {
      queries += 1;
      if (fails) throw new Error('away');
      return deps.db.rows(statement);
    }) as typeof deps.db.rows,
  };
  const limitOf = createGrownLimits({ ...deps, db }, () => at);
  const settle = async (wanted: number) => {
    for (let tries = 0; limitOf(own.makerId) !== wanted && tries < 200; tries += 1) await sleep(5);
    return limitOf(own.makerId);
  };
  assert.deepEqual([limitOf(own.makerId), limitOf(own.makerId)], [300, 300]);
  assert.equal(await settle(390), 390);
  assert.equal(queries, 1);
  await insertSwap(deps.db, own, Math.floor(deps.now() / 1_000) - 3 * day);
  at = 599_999;
  limitOf(own.makerId);
  await sleep(20);
  assert.equal(queries, 1);
  [at, fails] = [600_000, true];
  limitOf(own.makerId);
  await waitUntil(() => queries >= 2);
  await sleep(5);
  // Neither more nor less while it cannot be read.
  assert.equal(limitOf(own.makerId), 390);
  [at, fails] = [660_000, false];
  assert.equal(await settle(420), 420);
  assert.equal(queries, 3);
});
