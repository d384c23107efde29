// Indicative levels: published by choice, read by everybody, binding nobody.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { stubAdapter } from '@parley/verify/test/support/adapter.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { revokeSessions } from '../../db/sessions.ts';
import { prune } from '../../market/prune.ts';
import { openSession } from '../../people/sessions.ts';
import { refused } from '../testing/edge.ts';
import { negotiating } from '../testing/negotiating.ts';
import { pageHeaders } from '../testing/session.ts';

const evm = stubAdapter('evm-dev', 'evm', {
  checkAmount: async (_token, amount) => {
    if (amount < 1_000n) throw new ParleyError('amount_too_small', `${amount} is dust`);
  },
});
const market = await negotiating({ adapters: [stubAdapter('bitcoin', 'bitcoin'), evm] });
const { maker, taker, sql, deps } = market;
const { btc, eth, usd } = market.assets;
type Pair = readonly [{ readonly id: string }, { readonly id: string }];
type Level = Record<string, unknown>;
const straight: Pair = [btc, usd];
const turned: Pair = [usd, btc];

const bid = (baseAmount: string, quoteAmount: string, more: Level = {}): Level => ({
  direction: 'sell_base',
  baseAmount,
  quoteAmount,
  validForSeconds: 600,
  ...more,
});
const ask = (baseAmount: string, quoteAmount: string, more: Level = {}) =>
  bid(baseAmount, quoteAmount, { direction: 'buy_base', ...more });
const publish = (levels: readonly Level[], by = maker, [base, quote] = straight, headers = {}) =>
  by.post('/v1/levels', { baseAssetId: base.id, quoteAssetId: quote.id, levels }, { ...headers });
const published = async (...how: Parameters<typeof publish>) => {
  const { status, body } = await publish(...how);
  assert.equal(status, 200, JSON.stringify(body));
};
const path = (direction: string, [base, quote]: Pair, more = '') =>
  `/levels?direction=${direction}&baseAssetId=${base.id}&quoteAssetId=${quote.id}${more}`;
const read = async (direction: string, pair = straight, more = ''): Promise<Level[]> => {
  const { status, body } = await taker.get(`/v1${path(direction, pair, more)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.levels;
};
const amounts = (levels: readonly Level[]) =>
  levels.map(({ baseAmount, quoteAmount }) => `${baseAmount} ${quoteAmount}`);
const withdrawn = async (...all: Trader[]) => {
  for (const each of all) await each.post('/v1/levels/withdraw');
};

test('levels are read by everybody, with a key and without, under their account and its standing', async () => {
  const { status, body } = await publish([
    bid('100000', '65000000', { leastBaseAmount: '1000' }),
    ask('200000', '132000000', { validForSeconds: 60 }),
  ]);
  const pair = { baseAssetId: btc.id, quoteAssetId: usd.id };
  assert.deepEqual([status, body], [200, { ...pair, published: 2, endsAt: body.endsAt }]);
  const [shown, ...more] = await read('sell_base');
  assert.deepEqual(shown, {
    makerId: maker.accountId,
    makerStanding: shown?.makerStanding,
    direction: 'sell_base',
    ...pair,
    baseAmount: '100000',
    quoteAmount: '65000000',
    leastBaseAmount: '1000',
    publishedAt: shown?.publishedAt,
    expiresAt: shown?.expiresAt,
  });
  assert.equal((shown!.makerStanding as { settled: number }).settled, 0);
  const lifetime = Date.parse(`${shown?.expiresAt}`) - Date.parse(`${shown?.publishedAt}`);
  assert.deepEqual([lifetime, more], [600_000, []]);
  const [other] = await read('buy_base');
  assert.deepEqual([other?.leastBaseAmount, other?.expiresAt], [null, body.endsAt]);
  const open = await market.app.inject({ url: `/market${path('sell_base', straight)}` });
  assert.deepEqual(open.json(), { levels: [shown], nextCursor: null });
  await withdrawn(maker);
});

test('the best price for the taker is first, by its exact quotient, page by page from both sides', async () => {
  const others = [await market.trader(), await market.trader()] as const;
  const huge = 10n ** 77n;
  // Quotients that differ in the 77th digit.
  await published([bid(`${huge}`, `${huge + 1n}`), bid('1000', '1000'), bid('1000', '3000')]);
  await published([bid(`${huge + 1n}`, `${huge + 2n}`), bid('1000', '2999')], others[0]);
  await published([bid('1000', '10000')], others[1], turned);
  const best = [
    '1000 3000',
    '1000 2999',
    `${huge} ${huge + 1n}`,
    `${huge + 1n} ${huge + 2n}`,
    '1000 1000',
  ];
  assert.deepEqual(amounts(await read('sell_base')), best);
  for (const [direction, pair, wanted] of [
    ['sell_base', straight, best],
    ['buy_base', turned, best.map((each) => each.split(' ').reverse().join(' '))],
  ] as const) {
    const found: string[] = [];
    let cursor = '';
    for (let page = 0; page < wanted.length; page += 1) {
      const { body } = await taker.get(`/v1${path(direction, pair, `&limit=1${cursor}`)}`);
      found.push(...amounts(body.levels));
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    }
    assert.deepEqual([found, cursor], [wanted, '']);
  }
  const { body } = await taker.get(`/v1${path('sell_base', straight, '&limit=1')}`);
  const elsewhere = path('sell_base', straight, `&baseAmount=5&cursor=${body.nextCursor}`);
  refused(await taker.get(`/v1${elsewhere}`), '400 bad_cursor');
  await withdrawn(maker, ...others);
});

test('a size is for amounts from its least to its whole, seen from both sides; a maker and its record can be asked for', async () => {
  const other = await market.trader();
  await published([bid('2000', '3000', { leastBaseAmount: '1001' })]);
  await published([bid('1000', '1400')], other);
  const found = async (pair: Pair, amount: number) => {
    const way = pair === straight ? 'sell_base' : 'buy_base';
    return (await read(way, pair, `&baseAmount=${amount}`)).length;
  };
  for (const [amount, count] of [
    [1_000, 1] as const,
    [1_001, 1] as const,
    [2_000, 1] as const,
    [2_001, 0] as const,
  ]) {
    assert.equal(await found(straight, amount), count, `${amount}`);
  }
  // 1 001 of the first are 1 501.5 of the other.
  for (const [amount, count] of [
    [1_400, 1] as const,
    [1_501, 0],
    [1_502, 1],
    [3_000, 1],
    [3_001, 0],
  ] as const) {
    assert.equal(await found(turned, amount), count, `turned ${amount}`);
  }
  const of = `&makerId=${other.accountId.toUpperCase()}`;
  assert.deepEqual(amounts(await read('sell_base', straight, of)), ['1000 1400']);
  assert.deepEqual(await read('sell_base', straight, `&makerId=${btc.id}`), []);
  const counts = `jsonb_set(counts, '{settled}', '3')`;
  await sql(`update standings set counts = ${counts} where account_id = $1`, other.accountId);
  assert.deepEqual(amounts(await read('sell_base', straight, '&minSettled=3')), ['1000 1400']);
  assert.deepEqual(await read('sell_base', straight, '&minSettled=4'), []);
  await withdrawn(maker, other);
});

test('a level ends by the clock of the market to the millisecond, and is forgotten', async () => {
  deps.freeze();
  const short = bid('100000', '65000000', { validForSeconds: 10 });
  const { body } = await publish([short, ask('100000', '66000000')]);
  assert.equal(Date.parse(body.endsAt), deps.now() + 10_000);
  deps.advance(9_999);
  assert.equal((await read('sell_base')).length, 1);
  deps.advance(1);
  assert.deepEqual(await read('sell_base'), []);
  assert.equal((await read('buy_base')).length, 1);
  assert.equal((await prune(deps)).levels, 0);
  deps.advance(60_001);
  assert.equal((await prune(deps)).levels, 1);
  assert.equal((await maker.post('/v1/levels/withdraw')).body.withdrawn, 1);
});

test('levels go with the key or the session that published them, and with the last wallet that would give', async () => {
  const by = await market.trader();
  const other = await market.trader();
  const both = [bid('100000', '65000000'), ask('100000', '66000000')];
  for (const each of [by, other]) await published(both, each);
  const shown = async () => {
    const all = [...(await read('sell_base')), ...(await read('buy_base'))];
    const whose = (makerId: unknown) => (makerId === by.accountId ? 'by' : 'other');
    return all.map(({ makerId, direction }) => `${whose(makerId)} ${direction}`).sort();
  };
  const whole = ['by', 'other'].flatMap((each) => [`${each} buy_base`, `${each} sell_base`]);
  assert.deepEqual(await shown(), whole);
  const revoke = (isRevoked: boolean) =>
    sql(
      `update api_keys set revoked_at = case when $2::boolean then now() end where account_id = $1`,
      by.accountId,
      isRevoked,
    );
  await revoke(true);
  assert.deepEqual(await shown(), ['other buy_base', 'other sell_base']);
  await revoke(false);
  assert.deepEqual(await shown(), whole);
  const expire = (at: number) =>
    sql('update api_keys set expires_at = $2 where account_id = $1', by.accountId, new Date(at));
  await expire(deps.now());
  assert.deepEqual(await shown(), ['other buy_base', 'other sell_base']);
  await expire(deps.now() + 3_600_000);
  assert.deepEqual(await shown(), whole);
  const browser = { hash: randomBytes(32), device: '', place: '' };
  const means = { by: 'email', wallet: null } as const;
  const whose = { accountId: by.accountId, means, browser, isNew: true };
  const { token } = await market.db.transaction((tx) => openSession(tx, deps, whose));
  const page = await market.app.inject({
    method: 'POST',
    url: '/v1/levels',
    headers: pageHeaders(token, by.accountId),
    payload: { baseAssetId: btc.id, quoteAssetId: usd.id, levels: both },
  });
  assert.equal(page.statusCode, 200, page.body);
  assert.deepEqual(await shown(), whole);
  await revokeSessions(market.db, by.accountId, null, new Date(deps.now()));
  assert.deepEqual(await shown(), ['other buy_base', 'other sell_base']);
  await published(both, by);
  // The maker that buys BTC from the taker gives USD on the EVM chain; the one that sells it gives
  // bitcoin.
  await sql(`delete from wallets where account_id = $1 and family = 'evm'`, by.accountId);
  assert.deepEqual(await shown(), ['by buy_base', 'other buy_base', 'other sell_base']);
  await withdrawn(by, other);
});

test('levels that could not be quoted are not published, and the earlier ones stay', async () => {
  await published([bid('100000', '65000000')]);
  const noBitcoin = await market.trader({
    wallets: [{ family: 'evm', address: `0x${'1'.repeat(40)}` }],
  });
  const none = '0193b5a0-0000-7000-8000-000000000000';
  const good = bid('100000', '65000000');
  for (const [answer, code, words] of [
    [publish([good, bid('100000', '999')]), '400 amount_too_small', /999 is dust/],
    [
      publish([bid('10', '65000', { leastBaseAmount: '11' })]),
      '400 bad_field',
      /levels\.0 is for 11/,
    ],
    [publish([good], maker, [btc, { id: none }]), '400 bad_asset', /quoteAssetId/],
    [publish([good], maker, [eth, usd]), '400 same_chain', /two chains/],
    [publish([ask('100000', '66000000')], noBitcoin), '403 no_wallet', /BTC/],
  ] as const) {
    refused(await answer, code, words);
  }
  // It gives the other asset.
  assert.equal((await publish([good], noBitcoin)).status, 200);
  assert.equal((await read('sell_base')).length, 2);
  await withdrawn(maker, noBitcoin);
});
