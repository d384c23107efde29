// Every answer of POST /v1/assets, and what each leaves behind.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { found } from '@parley/tokens/inspection.ts';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { findCandidate } from '../db/candidates.ts';
import { closeAsset } from '../market/listing.ts';
import { chain, type Looks, lookMarket } from './testing/looks.ts';

let market: Looks;
let taker: Trader;

before(async () => {
  market = await lookMarket();
  taker = await market.trader({ scopes: ['read', 'taker'] });
});
after(() => market.close());

const ask = (address: string, by = taker) => by.post('/v1/assets', { chain, address });
const candidate = (address: string) => findCandidate(market.db, chain, address);
const pause = found('pausable', 'wait', 'its owner 0xabc can pause it');
const fee = found('transfer', 'reject', '3 of 100 did not arrive');
const change = (assetId: string) => ({ assetId, at: new Date(market.deps.now()), reasons: ['x'] });
const close = (assetId: string, by: 'checks' | 'operator') =>
  market.db.transaction((tx) => closeAsset(tx, { ...change(assetId), by }));
const unchecked = ['capitalisation', 'liquidity', 'volume', 'holders', 'age', 'concentration'];

test('a token that passes every check is listed at once, and is open to trade', async () => {
  const address = market.says({ symbol: 'GOOD', decimals: 9 });
  const { status, body } = await ask(address);
  assert.equal(status, 201, JSON.stringify(body));
  const { id, ...asset } = body.asset;
  assert.deepEqual(
    { ...body, asset },
    {
      status: 'listed',
      asset: {
        chain,
        symbol: 'GOOD',
        address,
        decimals: 9,
        enabled: true,
        verified: false,
        source: 'api',
      },
      notChecked: unchecked,
    },
  );
  const listed = await taker.get(`/v1/assets?address=${address}`);
  assert.deepEqual(listed.body.assets, [body.asset]);
  const posted = await taker.post('/v1/rfqs', {
    direction: 'buy_base',
    baseAssetId: id,
    baseAmount: '1000',
    quoteAssetId: market.assets.btc.id,
    ttlSeconds: 600,
  });
  assert.equal(posted.status, 201, JSON.stringify(posted.body));
  assert.equal(await candidate(address), null);
});

test('a token that may be better later waits, with its reasons, and is listed when it is', async () => {
  const address = market.says({ findings: [pause] });
  const { status, body } = await ask(address);
  assert.deepEqual(
    [status, body],
    [
      202,
      {
        status: 'pending',
        reasons: ['pausable: its owner 0xabc can pause it'],
        notChecked: unchecked,
      },
    ],
  );
  const waiting = await candidate(address);
  assert.deepEqual([waiting?.status, waiting?.accountId], ['pending', taker.accountId]);
  market.says({}, address);
  assert.equal((await ask(address)).status, 201);
  assert.equal(await candidate(address), null);
});

test('a token that can never be listed is refused with 422, the code in the header, and not checked again', async () => {
  const address = market.says({ findings: [pause, fee] });
  const once = { 'idempotency-key': address };
  const first = await taker.post('/v1/assets', { chain, address }, once);
  const { status, code, body } = first;
  assert.deepEqual(await taker.post('/v1/assets', { chain, address }, once), first, 'replayed');
  const reasons = ['transfer: 3 of 100 did not arrive', `pausable: ${pause.reason}`];
  assert.deepEqual([status, code], [422, 'token_rejected']);
  const error = `${address} on ${chain} cannot be listed, for ever: ${reasons.join('; ')}`;
  assert.deepEqual(body, { error, status: 'rejected', reasons });
  market.says({}, address);
  const again = await ask(address, await market.trader());
  assert.deepEqual([again.status, again.body], [422, body]);
  assert.equal(market.looksAt(address), 1);
});

test('an asset that the checks closed is looked at again when asked for, and reopens', async () => {
  const address = market.says({});
  const { asset } = (await ask(address)).body;
  await close(asset.id, 'checks');
  market.says({ findings: [pause] }, address);
  const still = await ask(address);
  assert.deepEqual(
    [still.status, still.body.status, still.body.reasons],
    [202, 'closed', [`pausable: ${pause.reason}`]],
  );
  market.says({}, address);
  const open = await ask(address);
  assert.deepEqual([open.status, open.body.asset], [200, asset]);
});

test('no such chain, a chain without tokens, no address, no token: 400, and nothing is kept', async () => {
  const nothing = market.says(new ParleyError('not_a_token', 'there is no contract'));
  const post = (fields: unknown) => taker.post('/v1/assets', fields);
  const address = nothing;
  for (const [fields, code] of [
    [{ chain: 'nowhere', address }, 'bad_chain'],
    [{ chain: 'bitcoin', address }, 'bad_chain'],
    [{ chain, address: '0x12' }, 'bad_address'],
    [{ chain, address }, 'not_a_token'],
    [{ chain }, 'bad_field'],
    [{ chain, address, symbol: 'X' }, 'bad_field'],
    [{ chain, address: null }, 'bad_field'],
  ] as const) {
    const answer = await post(fields);
    assert.deepEqual([answer.status, answer.code], [400, code], JSON.stringify(fields));
  }
  assert.equal(await candidate(nothing), null);
});

test('an account has at most a hundred tokens that wait, and is told so', async () => {
  const one = await market.trader();
  const another = await market.trader();
  const waits = () => ask(market.says({ findings: [pause] }), one);
  for (let count = 0; count < 100; count += 1) assert.equal((await waits()).status, 202);
  const over = await waits();
  assert.deepEqual([over.status, over.code], [409, 'too_many_pending']);
  assert.match(over.body.error, /^100 tokens/);
  assert.equal((await ask(market.says({}), one)).status, 201, 'what passes waits for nothing');
  assert.equal((await ask(market.says({ findings: [pause] }), another)).status, 202);
});

test('two that ask for the same token at once agree: one lists it, the others find it', async () => {
  const address = market.says({});
  const traders = await Promise.all(Array.from({ length: 6 }, () => market.trader()));
  const answers = await Promise.all(traders.map((each) => ask(address, each)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 201]);
  assert.equal(new Set(answers.map(({ body }) => body.asset.id)).size, 1);
});

test('a symbol that looks like a curated one, cannot be seen or is too long is refused', async () => {
  for (const symbol of ['<b>x</b>', 'usd', 'U\u200bSD2', '\u202eDSU', 'X'.repeat(33), 'BTC']) {
    const { status, body } = await ask(market.says({ symbol }));
    assert.deepEqual([status, body.status], [422, 'rejected'], symbol);
    assert.match(body.reasons[0], /^symbol: /);
  }
  const twice = await Promise.all([1, 2].map(() => ask(market.says({ symbol: 'PEPE' }))));
  assert.deepEqual(
    twice.map(({ status }) => status),
    [201, 201],
    'two that are not curated may share a symbol',
  );
  assert.equal((await ask(market.says({ symbol: '' }))).status, 202);
});
