// RFQs and the book over HTTP: every rule with both sides, every refusal.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { getAddress } from 'viem/utils';
import type { Family } from '../../../core/families.ts';
import { stubAdapter } from '../../../test/support/adapter.ts';
import { runs } from '../../../test/support/runs.ts';
import {
  type Answer,
  someAddress,
  type TestMarket,
  type Trader,
  testMarket,
} from '../../../test/support/trading.ts';
import { mostLiveRfqs } from '../../market/bounds.ts';
import { sequenceFeed } from '../../market/feed-log.ts';

let market: TestMarket;
let taker: Trader;
let maker: Trader;

before(async () => {
  market = await testMarket();
  taker = await market.trader();
  maker = await market.trader();
});
after(() => market.close());

/** A good RFQ, with these fields instead. */
function wanted(fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { btc, usd } = market.assets;
  return {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 600,
    ...fields,
  };
}

function refused(answer: Answer, status: number, code: string, sentence?: RegExp) {
  assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(answer.body));
  assert.deepEqual(Object.keys(answer.body), ['error']);
  if (sentence !== undefined) assert.match(answer.body.error, sentence);
}

async function post(fields: Record<string, unknown> = {}, by = taker) {
  const answer = await by.post('/v1/rfqs', wanted(fields));
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.rfq;
}

async function outboxOf(rfqId: string) {
  type Row = { topic: string; account_id: string | null; payload: { body: string } };
  return market.db.rows<Row>({
    name: 'test_outbox',
    text: `select topic, account_id, payload from outbox
      where payload->>'rfqId' = $1 and account_id is null order by id`,
    values: [rfqId],
  });
}

test('a posted RFQ shows what was asked, to all, with a feed event of the same', async () => {
  market.deps.freeze();
  const posted = await post({ askAmount: '65000000' });
  const { btc, usd } = market.assets;
  const now = market.deps.now();
  assert.match(posted.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(posted, {
    id: posted.id,
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    status: 'open',
    visibility: 'public',
    askAmount: '65000000',
    creatorId: taker.accountId,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
  });
  const read = await maker.get(`/v1/rfqs/${posted.id}`);
  assert.deepEqual([read.status, read.body], [200, posted]);
  const [event, ...more] = await outboxOf(posted.id);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [event?.topic, event?.account_id, JSON.parse(event?.payload.body ?? '')],
    ['feed.created', null, posted],
  );
});

test('malformed RFQs are 400 with the field named', async () => {
  const cases: [string, unknown, string?][] = [
    ['direction', 'sell'],
    ['direction', undefined],
    ['baseAssetId', 'not-a-uuid'],
    ['baseAssetId', 7],
    ['baseAmount', 100_000],
    ['baseAmount', '0', 'bad_amount'],
    ['baseAmount', '-5', 'bad_amount'],
    ['baseAmount', '+5', 'bad_amount'],
    ['baseAmount', '05', 'bad_amount'],
    ['baseAmount', '1e5', 'bad_amount'],
    ['baseAmount', '1.5', 'bad_amount'],
    ['baseAmount', '', 'bad_amount'],
    ['baseAmount', null],
    ['baseAmount', (2n ** 256n).toString(), 'bad_amount'],
    ['askAmount', (2n ** 256n).toString(), 'bad_amount'],
    ['askAmount', 5],
    ['ttlSeconds', 29],
    ['ttlSeconds', 604_801],
    ['ttlSeconds', '600'],
    ['ttlSeconds', 60.5],
    ['visibility', 'secret'],
    ['targetAddress', 7],
    ['surprise', 1],
  ];
  for (const [field, value, code = 'bad_field'] of cases) {
    const answer = await taker.post('/v1/rfqs', wanted({ [field]: value }));
    refused(answer, 400, code, new RegExp(field));
  }
  refused(await taker.post('/v1/rfqs', [wanted()]), 400, 'bad_field');
  const { body } = await taker.post('/v1/rfqs', wanted({ baseAmount: '1.5' }));
  assert.equal(
    body.error,
    'baseAmount must be a whole number of base units from 1 to 2^256-1, as a string without sign, ' +
      'leading zeros or exponent; it was "1.5"',
  );
});

test('amounts up to 2^256-1 and lifetimes of 30 s and 7 days are taken', async () => {
  const most = (2n ** 256n - 1n).toString();
  const { eth, btc } = market.assets;
  const fields = { baseAssetId: eth.id, quoteAssetId: btc.id, baseAmount: most };
  assert.equal((await post(fields)).baseAmount, most);
  await post({ ttlSeconds: 30 });
  await post({ ttlSeconds: 604_800 });
});

test('base and quote must be known, open, and on two chains', async () => {
  const { btc, eth, usd } = market.assets;
  const unknown = '01a1fb07-751f-7744-b69c-bc76bd408690';
  refused(await taker.post('/v1/rfqs', wanted({ quoteAssetId: unknown })), 400, 'bad_asset');
  refused(
    await taker.post('/v1/rfqs', wanted({ baseAssetId: eth.id, quoteAssetId: usd.id })),
    400,
    'same_chain',
  );
  refused(await taker.post('/v1/rfqs', wanted({ quoteAssetId: btc.id })), 400, 'same_chain');
  await setEnabled(eth.id, false);
  refused(await taker.post('/v1/rfqs', wanted({ quoteAssetId: eth.id })), 409, 'asset_closed');
  await setEnabled(eth.id, true);
  await post({ quoteAssetId: eth.id });
});

async function setEnabled(assetId: string, enabled: boolean) {
  await market.db.rows({
    name: 'test_enable',
    text: 'update assets set closings = $2 where id = $1',
    values: [assetId, enabled ? {} : { operator: { reasons: [], at: '' } }],
  });
}

test('giving an asset needs a wallet on its chain, login or proven; taking one does not', async () => {
  const evm = { family: 'evm' as const, address: someAddress('evm') };
  const onlyEvm = await market.trader({ wallets: [evm] });
  refused(await onlyEvm.post('/v1/rfqs', wanted()), 403, 'no_wallet', /bitcoin/);
  await post({ direction: 'buy_base' }, onlyEvm);
  const proven = { ...evm, family: 'bitcoin' as const, standing: 'proven' as const };
  await post(
    {},
    await market.trader({ wallets: [{ ...proven, address: someAddress('bitcoin') }] }),
  );
});

test('amounts that could not be claimed are refused, base and ask alike', async () => {
  const small = wanted({ baseAmount: '545' });
  refused(await taker.post('/v1/rfqs', small), 400, 'amount_too_small');
  await post({ baseAmount: '546' });
  const ask = wanted({ askAmount: '545' });
  refused(await taker.post('/v1/rfqs', ask), 400, 'amount_too_small');
});

test('a node that hangs is 504 with nothing posted, and the next try may succeed', async () => {
  let hangs = true;
  const hanging = stubAdapter('bitcoin', 'bitcoin', {
    checkAmount: () => (hangs ? new Promise(() => {}) : Promise.resolve()),
  });
  const slow = await testMarket({
    settings: { chainTimeoutMs: 150 },
    adapters: [hanging, stubAdapter('evm-dev', 'evm')],
  });
  try {
    const someone = await slow.trader();
    const fields = { baseAssetId: slow.assets.btc.id, quoteAssetId: slow.assets.usd.id };
    const headers = { 'idempotency-key': 'k1' };
    refused(await someone.post('/v1/rfqs', wanted(fields), headers), 504, 'chain_timeout');
    assert.deepEqual((await someone.get('/v1/rfqs')).body.rfqs, []);
    hangs = false;
    assert.equal((await someone.post('/v1/rfqs', wanted(fields), headers)).status, 201);
  } finally {
    await slow.close();
  }
});

test('scope taker posts and cancels; others do not', async () => {
  const reader = await market.trader({ scopes: ['read', 'maker'] });
  refused(await reader.post('/v1/rfqs', wanted()), 403, 'scope_missing');
  const { id } = await post();
  refused(await reader.post(`/v1/rfqs/${id}/cancel`), 403, 'scope_missing');
});

test('targetAddress goes with private only and must be an address of some family', async () => {
  const address = someAddress('evm');
  refused(await taker.post('/v1/rfqs', wanted({ targetAddress: address })), 400, 'bad_field');
  for (const bad of ['0x12', 'somebody', 'bc1qnot', '0'.repeat(128)]) {
    const fields = { visibility: 'private', targetAddress: bad };
    refused(await taker.post('/v1/rfqs', wanted(fields)), 400, 'bad_address');
  }
  const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const solana = 'So11111111111111111111111111111111111111112';
  for (const targetAddress of [address, address.toUpperCase().replace('X', 'x'), tron, solana]) {
    await post({ visibility: 'private', targetAddress });
  }
  const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
  const fields = { visibility: 'private', targetAddress: mainnet };
  refused(await taker.post('/v1/rfqs', wanted(fields)), 400, 'wrong_network', /mainnet/);
});

test('a target address in any spelling reaches the wallet of every family', async () => {
  const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const segwit = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  const cases: [Family, string, string][] = [
    [
      'evm',
      '0xdac17f958d2ee523a2206206994597c13d831ec7',
      '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    ],
    ['tron', '41A614F803B6FD780986A42C78EC9C7F77E6DED13C', usdt],
    ['bitcoin', segwit.toUpperCase(), segwit],
    [
      'solana',
      'So11111111111111111111111111111111111111112',
      'So11111111111111111111111111111111111111112',
    ],
  ];
  for (const [family, written, address] of cases) {
    const holder = await market.trader({ wallets: [{ family, address }] });
    const posted = await post({ visibility: 'private', targetAddress: written });
    assert.equal(posted.targetAddress, address);
    const asHolder = await holder.get(`/v1/rfqs/${posted.id}`);
    assert.equal(asHolder.body.targetAddress, address);
    const asOther = await maker.get(`/v1/rfqs/${posted.id}`);
    assert.equal(asOther.body.targetAddress, undefined);
  }
});

test('a private RFQ is read by its link, is in no list, and its target is told to its holder', async () => {
  const holder = await market.trader({
    wallets: [{ family: 'evm', address: '0x00000000000000000000000000000000000000AB' }],
  });
  // Hex compares without case.
  const written = '0x00000000000000000000000000000000000000ab';
  const posted = await post({ visibility: 'private', targetAddress: written });
  const { targetAddress } = posted;
  assert.equal(targetAddress, getAddress(written));
  const asHolder = await holder.get(`/v1/rfqs/${posted.id}`);
  const asOther = await maker.get(`/v1/rfqs/${posted.id}`);
  assert.equal(asHolder.body.targetAddress, targetAddress);
  assert.deepEqual([asOther.status, asOther.body.targetAddress], [200, undefined]);
  const { rfqs } = (await holder.get('/v1/rfqs?limit=100')).body;
  assert.equal(
    rfqs.find((each: { id: string }) => each.id === posted.id),
    undefined,
  );
  assert.equal((await outboxOf(posted.id)).length, 1);
  const link = await post({ visibility: 'private' });
  assert.deepEqual(await outboxOf(link.id), []);
});

test('unknown and malformed ids are 404', async () => {
  for (const id of ['01a1fb07-751f-7744-b69c-bc76bd408690', 'abc', '%20', "';drop"]) {
    const path = `/v1/rfqs/${encodeURIComponent(id)}`;
    refused(await taker.get(path), 404, 'unknown_rfq');
    refused(await taker.get(`${path}/threads`), 404, 'unknown_rfq');
    refused(await taker.post(`${path}/cancel`), 404, 'unknown_rfq');
    refused(await maker.post(`${path}/quotes`, { quoteAmount: '65000000' }), 404, 'unknown_rfq');
  }
});

test('its creator cancels it, again and again; a stranger never', async () => {
  const { id } = await post();
  refused(await maker.post(`/v1/rfqs/${id}/cancel`), 403, 'not_creator');
  refused(await taker.post(`/v1/rfqs/${id}/cancel`, { why: 1 }), 400, 'bad_field', /why/);
  const quote = await maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });
  for (let again = 0; again < 2; again += 1) {
    const { status, body } = await taker.post(`/v1/rfqs/${id}/cancel`);
    assert.deepEqual([status, body.rfq.status], [200, 'cancelled']);
  }
  refused(await maker.post(`/v1/rfqs/${id}/cancel`), 403, 'not_creator');
  const events = (await outboxOf(id)).map((each) => each.topic);
  assert.deepEqual(events, ['feed.created', 'feed.cancelled']);
  const thread = await maker.get(`/v1/threads/${quote.body.thread.id}`);
  assert.deepEqual([thread.body.status, thread.body.rfq.status], ['closed', 'cancelled']);
  const stored = await market.db.rows({
    name: 'test_stored_threads',
    text: 'select status from threads where rfq_id = $1',
    values: [id],
  });
  assert.deepEqual(stored, [{ status: 'closed' }]);
  refused(
    await maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' }),
    409,
    'rfq_gone',
    /cancelled/,
  );
});

test('an RFQ is live up to its expiry and expired from it on, swept or not', async () => {
  const { id, expiresAt } = await post({ ttlSeconds: 30 });
  market.deps.freeze(Date.parse(expiresAt) - 1);
  const shows = async () => {
    const { rfqs } = (await maker.get('/v1/rfqs?limit=100')).body;
    return rfqs.some((each: { id: string }) => each.id === id);
  };
  assert.equal(await shows(), true);
  market.deps.advance(1);
  assert.equal(await shows(), false);
  assert.equal((await maker.get(`/v1/rfqs/${id}`)).body.status, 'expired');
  refused(await taker.post(`/v1/rfqs/${id}/cancel`), 409, 'rfq_gone', /expired/);
  const { appended } = await sequenceFeed(market.deps);
  assert.ok(appended >= 1, `${appended} told`);
  assert.equal((await maker.get(`/v1/rfqs/${id}`)).body.status, 'expired');
});

test('an account has at most its live RFQs, also when it posts at once; cancelling frees one', async () => {
  const busy = await market.trader();
  await market.db.rows({
    name: 'test_many',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select gen_random_uuid(), $1, 'sell_base', $2, 100000, $3, 'private', 'open', $4, $5, $4
      from generate_series(1, $6)`,
    values: [
      busy.accountId,
      market.assets.btc.id,
      market.assets.usd.id,
      new Date(market.deps.now()),
      new Date(market.deps.now() + 600_000),
      mostLiveRfqs - 2,
    ],
  });
  const many = await Promise.all(Array.from({ length: 6 }, () => busy.post('/v1/rfqs', wanted())));
  const statuses = many.map((each) => each.status).sort();
  assert.deepEqual(statuses, [201, 201, 409, 409, 409, 409]);
  const [made] = many.filter((each) => each.status === 201);
  await busy.post(`/v1/rfqs/${made?.body.rfq.id}/cancel`);
  assert.equal((await busy.post('/v1/rfqs', wanted())).status, 201);
  refused(await busy.post('/v1/rfqs', wanted()), 409, 'too_many_open', /1000/);
});

test('the book filters, and a closed asset takes its RFQs off it and gives them back', async () => {
  const { btc, eth, usd } = market.assets;
  const a = await post({ quoteAssetId: eth.id });
  const b = await post({ quoteAssetId: eth.id, direction: 'buy_base' });
  const ids = async (query: string) => {
    const { rfqs } = (await maker.get(`/v1/rfqs?limit=100&${query}`)).body;
    return rfqs.map((each: { id: string }) => each.id);
  };
  const upper = eth.id.toUpperCase();
  assert.deepEqual((await ids(`quoteAssetId=${upper}`)).slice(0, 2), [b.id, a.id]);
  const buys = await ids(`quoteAssetId=${eth.id}&direction=buy_base`);
  assert.ok(buys.includes(b.id) && !buys.includes(a.id));
  assert.ok(!(await ids(`quoteAssetId=${usd.id}&baseAssetId=${btc.id}`)).includes(a.id));
  assert.deepEqual((await ids('unknown=1')).slice(0, 2), [b.id, a.id]);
  await setEnabled(eth.id, false);
  await new Promise((resolve) => setTimeout(resolve, 260));
  assert.deepEqual(await ids(`quoteAssetId=${eth.id}`), []);
  refused(
    await maker.post(`/v1/rfqs/${a.id}/quotes`, { quoteAmount: '650000' }),
    409,
    'asset_closed',
  );
  await setEnabled(eth.id, true);
  await new Promise((resolve) => setTimeout(resolve, 260));
  assert.deepEqual((await ids(`quoteAssetId=${eth.id}`)).slice(0, 2), [b.id, a.id]);
});

test('malformed queries and foreign cursors are 400', async () => {
  await post();
  await post();
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=x',
    'direction=both',
    'baseAssetId=1',
    'quoteAssetId=',
  ]) {
    refused(await maker.get(`/v1/rfqs?${query}`), 400, 'bad_field');
  }
  const { nextCursor } = (await maker.get('/v1/rfqs?limit=1')).body;
  const ok = await maker.get(`/v1/rfqs?limit=5&cursor=${nextCursor}`);
  assert.equal(ok.status, 200);
  const altered = `${nextCursor.slice(0, -3)}${nextCursor.at(-3) === 'A' ? 'B' : 'A'}AA`;
  for (const query of [
    `cursor=${nextCursor}&direction=sell_base`,
    `cursor=${altered}`,
    'cursor=abc',
    'cursor=',
  ]) {
    refused(await maker.get(`/v1/rfqs?${query}`), 400, 'bad_cursor');
  }
  refused(await maker.get(`/v1/assets?cursor=${nextCursor}`), 400, 'bad_cursor');
});

test('whoever was on the book when paging began is met exactly once, whatever comes or goes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom('post', 'cancel', 'quote', 'nothing'), { maxLength: 6 }),
      async (limit, steps) => {
        const other = await market.trader();
        const start: string[] = [];
        for (let i = 0; i < 7; i += 1)
          start.push((await post({ direction: 'buy_base' }, other)).id);
        const cancelled = new Set<string>();
        const met: string[] = [];
        let cursor: string | null = null;
        const pending = [...steps];
        do {
          const query: string = cursor === null ? '' : `&cursor=${cursor}`;
          const page: Answer = await maker.get(
            `/v1/rfqs?direction=buy_base&limit=${limit}${query}`,
          );
          assert.equal(page.status, 200);
          for (const each of page.body.rfqs) {
            if (each.creatorId === other.accountId) met.push(each.id);
          }
          cursor = page.body.nextCursor;
          const step = pending.shift();
          const victim = start[met.length % start.length]!;
          if (step === 'post') await post({ direction: 'buy_base' }, other);
          if (step === 'quote') {
            await maker.post(`/v1/rfqs/${victim}/quotes`, { quoteAmount: '65000000' });
          }
          if (step === 'cancel') {
            await other.post(`/v1/rfqs/${victim}/cancel`);
            cancelled.add(victim);
          }
        } while (cursor !== null && met.length < 50);
        assert.deepEqual(met, [...new Set(met)].sort().reverse());
        for (const id of start) {
          assert.ok(met.includes(id) || cancelled.has(id), `${id} was lost`);
        }
        assert.ok(
          met.every((id) => start.includes(id)),
          'a later RFQ showed up on a later page',
        );
      },
    ),
    { numRuns: runs(8) },
  );
});

test('a page shows every change as soon as its author was answered', async () => {
  const shown = async () => (await maker.get('/v1/rfqs')).body.rfqs[0];
  for (let round = 0; round < 20; round += 1) {
    await shown();
    const { id } = await post();
    assert.equal((await shown()).id, id);
    await maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });
    assert.equal((await shown()).status, 'negotiating');
    const reads = Array.from({ length: 5 }, shown);
    await taker.post(`/v1/rfqs/${id}/cancel`);
    assert.notEqual((await shown()).id, id);
    await Promise.all(reads);
    assert.notEqual((await shown()).id, id);
  }
});
