// A larger limit for who settles swaps: how large, and when it is counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertSwap } from '@parley/verify/test/support/settled.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { grownLimit } from './grown-limits.ts';
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
  await waitUntil(async () => (await limit()) === '390');
  const { limits } = (await maker.get('/v1/rules')).body;
  assert.deepEqual(limits, {
    windowSeconds: 60,
    requests: 300,
    requestsOfSettledSwap: 30,
    mostRequests: 3_000,
    settledDays: 30,
  });
});
