// A look at a token with its market, from the provider's answer over HTTP to the judgement.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { found } from '../../chains/tokens/inspection.ts';
import { judge } from '../listing/judge.ts';
import { marketsOf } from '../listing/market-checks.ts';
import { openMarketData } from '../listing/providers/open.ts';
import { startProvider } from '../listing/providers/testing/server.ts';
import { chain, type Looks, lookMarket } from '../listing/testing/looks.ts';
import { readSettings } from '../settings/config.ts';

/** Of no asset: nothing of it is looked up but its symbol. */
const id = '00000000-0000-7000-8000-000000000000';
const never = new AbortController().signal;
const limits = { holders: null, ageSeconds: null, topHoldersShare: null };
const { listingRules } = readSettings({
  PARLEY_LISTING_RULES: JSON.stringify({ list: limits, keep: limits }),
});
let market: Looks;
before(async () => {
  market = await lookMarket();
});
after(() => market.close());

/** A market whose one provider says this capitalisation of every token; null = it is down. */
async function withCap(t: TestContext, cap: () => number | null) {
  const provider = await startProvider(t);
  provider.answer(({ url = '' }, response) => {
    const address = url.split('/').at(-1);
    const capUsd = cap();
    if (capUsd === null) {
      response.writeHead(503).end();
      return;
    }
    const pair = {
      chainId: 'ethereum',
      baseToken: { address },
      quoteToken: { address: '0x0' },
      priceUsd: '1',
      marketCap: capUsd,
      liquidity: { usd: 60_000, base: 30_000 },
      volume: { h24: 20_000 },
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify([pair]));
  });
  const settings = [{ provider: 'dexscreener', url: provider.base }] as const;
  const chains = [{ chain, family: 'evm', chainId: 1 }] as const;
  const data = openMarketData(settings, chains, { warn: () => {} });
  return { ...market.deps, markets: marketsOf(data, listingRules) };
}

test('a token is listed by its market too, and kept by less', async (t) => {
  const deps = await withCap(t, () => 70_000);
  const token = { chain, address: market.says({ symbol: 'MKT' }) };
  const judged = await judge(deps, token, null, never);
  const reason =
    'capitalisation: its market capitalisation is 70000 USD, says dexscreener;' +
    ' at least 100000 USD is wanted';
  assert.deepEqual([judged.outcome, judged.reasons], ['wait', [reason]]);
  assert.deepEqual(judged.notChecked, ['holders', 'age', 'concentration']);
  const known = { id, symbol: 'MKT', decimals: 18 };
  assert.equal((await judge(deps, token, known, never)).outcome, 'pass');
});

test('while nobody answers a new token waits, and nothing is said of a listed one', async (t) => {
  const deps = await withCap(t, () => null);
  const token = { chain, address: market.says({ symbol: 'NEW' }) };
  const judged = await judge(deps, token, null, never);
  assert.equal(judged.outcome, 'wait');
  assert.match(judged.reasons[0] ?? '', /market data is not available now$/);
  const known = { id, symbol: 'NEW', decimals: 18 };
  await assert.rejects(judge(deps, token, known, never), { code: 'market_data_unavailable' });
});

test('what a chain says against a listed token counts while nobody knows its market', async (t) => {
  const deps = await withCap(t, () => null);
  const findings = [found('pausable', 'wait', 'it is paused')];
  const token = { chain, address: market.says({ symbol: 'OLD', findings }) };
  const known = { id, symbol: 'OLD', decimals: 18 };
  const judged = await judge(deps, token, known, never);
  assert.deepEqual([judged.outcome, judged.reasons], ['wait', ['pausable: it is paused']]);
});
