// Records the examples of the API description: two customers trade on a market with dev chains, in
// every family, settled and refunded, and what they send and are answered is kept. An example that
// is there stays as long as it is true and says as much, so that recording again changes nothing.
// npm run -s node -- verify/test/api-soak/record.ts

import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Recorded } from '@parley/market/edge/recorded.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import { agreed, type Deal, deep, finish, fund, run, runUntil, until } from '../support/deals.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { createRecorder, type Recorder, saysMore } from './recorder.ts';

const file = new URL('../../../apps/market/edge/recorded.json', import.meta.url);
const description = new URL('../../../docs/openapi.json', import.meta.url);

/** Every request of this process to the market is noted from now on. */
function listenIn(market: string, { note }: Recorder): () => void {
  const before = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await before(input, init);
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== new URL(market).origin) return answer;
    // One that is no JSON is refused, and what was sent is no example.
    const body = typeof init?.body === 'string' && answer.ok ? JSON.parse(init.body) : undefined;
    const text = await answer.clone().text();
    note(init?.method ?? 'GET', url, body, answer.status, JSON.parse(text));
    return answer;
  };
  return () => {
    globalThis.fetch = before;
  };
}

async function beforeATrade(stage: Stage, taker: Customer, maker: Customer): Promise<void> {
  const { client } = taker;
  await client.me();
  await client.walletNonce('authorize');
  await client.assets({ chain: stage.place.evm.chain, limit: 2 });
  await client.rules();
  await client.status();
  await client.keyless.assets({ chain: stage.place.evm.chain, limit: 2 });
  const trade = { baseAssetId: taker.assets.BTC.id, quoteAssetId: taker.assets['EVM dollar'].id };
  const pair = { ...trade, direction: 'sell_base', baseAmount: '1000000' } as const;
  await client.pair(pair);
  await client.keyless.pair(pair);
  const { chains } = await stage.dev.status();
  const { tokens = [] } = chains.find(({ chain }) => chain === stage.place.evm.chain) ?? {};
  for (const symbol of ['FEE', 'USDX', 'USDV']) {
    const address = tokens.find((each) => each.symbol === symbol)?.address;
    if (address === undefined) continue;
    await client.listAsset({ chain: stage.place.evm.chain, address }).catch(() => undefined);
  }
  await levels(taker, maker);
  await negotiate(taker, maker);
}

async function levels(taker: Customer, maker: Customer): Promise<void> {
  const { BTC, 'EVM dollar': dollar } = taker.assets;
  const pair = { baseAssetId: BTC.id, quoteAssetId: dollar.id };
  const direction = 'sell_base' as const;
  const size = { baseAmount: '10000000', leastBaseAmount: '1000000' };
  const level = { direction, ...size, quoteAmount: '6450000000', validForSeconds: 600 };
  await maker.client.publishLevels({ ...pair, levels: [level] });
  const query = { ...pair, direction, baseAmount: '1000000' };
  await taker.client.levels(query);
  await taker.client.keyless.levels(query);
  await maker.client.withdrawLevels();
}

async function negotiate(taker: Customer, maker: Customer): Promise<void> {
  const { BTC, 'EVM dollar': dollar, ETH } = taker.assets;
  const direction = 'sell_base' as const;
  const wanted = { direction, baseAssetId: BTC.id, baseAmount: '1000000', ttlSeconds: 3_600 };
  const forDollars = { ...wanted, quoteAssetId: dollar.id, askAmount: '655000000' };
  const rfq = await taker.client.createRfq(forDollars);
  const other = await taker.client.createRfq({ ...wanted, quoteAssetId: ETH.id });
  await taker.client.rfqs({ direction: 'sell_base', baseAssetId: BTC.id, limit: 2 });
  await taker.client.rfq(rfq.id);
  const quoted = await maker.client.quote(rfq.id, '640000000', { validForSeconds: 600 });
  await maker.client.quote(rfq.id, '645000000', { validForSeconds: 600 });
  await taker.client.propose(quoted.id, '650000000');
  await maker.client.thread(quoted.id);
  await taker.client.threadsOfRfq(rfq.id, { limit: 2 });
  const both = [
    { rfqId: rfq.id, quoteAmount: '648000000', validForSeconds: 600 },
    { rfqId: other.id, quoteAmount: '15000000000000000', validForSeconds: 600 },
  ];
  await maker.client.quoteMany(both);
  await maker.client.quotes({ role: 'maker', status: 'open', limit: 2 });
  await taker.client.recordOf(quoted.id);
  await maker.client.withdrawQuote(quoted.id);
  await maker.client.withdrawQuotes();
  await refusals(taker, maker, rfq.id);
  await taker.client.cancelRfq(rfq.id);
  await taker.client.cancelRfq(other.id);
}

/** One of each status that a request alone brings about. */
async function refusals(taker: Customer, maker: Customer, rfqId: string): Promise<void> {
  const { baseUrl } = taker.client;
  const ask = (method: string, path: string, more: Record<string, string> = {}, body?: string) =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${taker.key}`, ...more },
      ...(body === undefined ? {} : { body }),
    });
  const json = { 'content-type': 'application/json' };
  await ask('POST', `/v1/rfqs/${rfqId}/quotes`, json, '{"quoteAmount":"0"}');
  await ask('GET', '/v1/me', { authorization: `Bearer parley_test_${'x'.repeat(43)}` });
  await ask('POST', `/v1/rfqs/${rfqId}/quotes`, json, '{"quoteAmount":"1000"}');
  await ask('GET', '/v1/swaps/01936b22-e9a5-7d20-b71c-8e4f5a3c1d96');
  await ask('PUT', '/v1/me');
  await ask('POST', '/v1/webhooks', json, JSON.stringify({ url: 'x'.repeat(70_000) }));
  await ask('POST', '/v1/webhooks', { 'content-type': 'text/plain' }, 'url');
  const again = { ...json, 'idempotency-key': 'once' };
  for (const amount of ['1', '2']) {
    const body = JSON.stringify({ quoteAmount: amount });
    await ask('POST', `/v1/rfqs/${rfqId}/quotes`, again, body);
  }
  const ended = await taker.client.createRfq({
    direction: 'sell_base',
    baseAssetId: taker.assets.BTC.id,
    baseAmount: '1000000',
    quoteAssetId: taker.assets.ETH.id,
    ttlSeconds: 3_600,
  });
  await taker.client.cancelRfq(ended.id);
  await maker.client.quote(ended.id, '15000000000000000').catch(() => undefined);
}

async function settled(stage: Stage, taker: Customer, maker: Customer): Promise<void> {
  const pair = [taker, maker] as const;
  const deal = await agreed(stage, pair, 'BTC', 'EVM dollar');
  await built(stage, deal);
  await finish(stage, deal);
  const isOver = async () => (await taker.client.swap(deal.id)).status === 'counterparty_claimed';
  await until('the swap is settled', isOver);
  await maker.client.swaps({ status: 'counterparty_claimed', limit: 1 });
  const trade = { baseAssetId: taker.assets.BTC.id, quoteAssetId: taker.assets['EVM dollar'].id };
  await taker.client.pairPrice(trade);
  await taker.client.keyless.pairPrice(trade);
  const other = await agreed(stage, pair, 'TRX', 'SOL');
  await built(stage, other);
  await finish(stage, other);
}

/** The SDK builds claims by itself: they are asked for before it goes on. */
async function built(stage: Stage, deal: Deal): Promise<void> {
  const { taker, maker } = deal;
  await fund(stage, deal, 'both');
  const sides = [taker.who, maker.who];
  const kept = await Promise.all(sides.map(({ store }) => store.getSecret(deal.hashlock)));
  const secret = kept.find((each) => each !== undefined && each !== null) ?? '';
  await until('the claims are built', async () => {
    await taker.who.client.claim(deal.id, 'a', secret);
    return await maker.who.client.claim(deal.id, 'b', secret);
  });
}

/** The initiator funds, the other side never comes. */
async function refunded(stage: Stage, taker: Customer, maker: Customer): Promise<void> {
  const deal = await agreed(stage, [taker, maker], 'BTC', 'ETH');
  await fund(stage, deal, 'initiator');
  await runUntil(stage, deal, 'taker', deep('b'));
  const { deadlines } = await taker.client.swap(deal.id);
  const last = Math.max(deadlines.refundAt.a, deadlines.refundAt.b);
  await stage.move(last - stage.now() + 7_200);
  await until('the refund is built', () => taker.client.refund(deal.id, 'b'));
  await run(stage, deal, 'taker');
}

async function webhooks({ client }: Customer, url: string): Promise<void> {
  const events = ['swap.funded', 'thread.accepted', 'thread.proposed', 'thread.closed'];
  const { webhook } = await client.registerWebhook({ url, events });
  await client.webhooks({ limit: 2 });
  await client.pingWebhook(webhook.id);
  await client.removeWebhook(webhook.id);
}

/** The recording of a whole market. */
export async function record(): Promise<Recorded> {
  const stage = await startStage();
  const recorder = createRecorder(JSON.parse(await readFile(description, 'utf8')));
  let quiet = () => {};
  try {
    await stage.startServer();
    quiet = listenIn(stage.url, recorder);
    const taker = await newCustomer(stage, 'taker', 'evm');
    const maker = await newCustomer(stage, 'maker', 'bitcoin');
    const named = ['thread.accepted', 'thread.proposed', 'thread.closed'];
    const { url } = stage.receiver;
    for (const { client } of [taker, maker]) await client.registerWebhook({ url, events: named });
    await beforeATrade(stage, taker, maker);
    await settled(stage, taker, maker);
    await refunded(stage, taker, maker);
    await webhooks(taker, url);
    const leaver = await newCustomer(stage, 'leaver', 'evm');
    await leaver.client.removeWallet(leaver.tron.address);
  } finally {
    quiet();
    for (const { body } of stage.receiver.received) recorder.noteEvent(JSON.parse(body));
    await stage.close();
  }
  return normalised(recorder.recorded());
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The same ids at each recording, no key and secret that was one, and room for the names. */
function normalised(all: Recorded): Recorded {
  const text = JSON.stringify(all)
    .replace(/parley_test_[0-9A-Za-z]{6}(?=")/g, '{short}_test_4kX9mQ')
    .replace(/parley_test_[0-9A-Za-z]+/g, `{short}_test_${'4kX9mQ2v'.repeat(5)}abc`)
    .replace(/whsec_[0-9A-Za-z_-]+/g, `whsec_${'9fT2kLmQ'.repeat(4)}`)
    .replace(/https:\/\/127\.0\.0\.1:\d+\/hook[^"]*/g, 'https://example.com/hooks')
    .replace(/Parley asks/g, '{product} asks')
    .replace(/a test of Parley/g, 'a test of {product}');
  const ids = new Map<string, string>();
  const named = text.replace(uuid, (id) => {
    if (!ids.has(id)) {
      const place = (ids.size + 1).toString(16).padStart(3, '0');
      const one = hashlockOf(`${place}`.padStart(64, '0'));
      const other = '01936b20';
      const tail = `a${one.slice(0, 3)}-${one.slice(3, 15)}`;
      ids.set(id, `${other}-${one.slice(15, 19)}-7${place}-${tail}`);
    }
    return ids.get(id) as string;
  });
  return JSON.parse(named);
}

/** The earlier recording, where the new one says no more. */
function kept(before: Recorded, now: Recorded): Recorded {
  const both = <T>(one: Readonly<Record<string, T>>, other: Readonly<Record<string, T>>) =>
    Object.fromEntries(
      Object.entries(other).map(([key, value]) => {
        const old = one[key];
        return [key, old === undefined || saysMore(value, old) ? value : old];
      }),
    ) as Record<string, T>;
  return {
    operations: both(before.operations, now.operations),
    errors: both(before.errors, now.errors),
    events: both(before.events, now.events),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const before = JSON.parse(await readFile(file, 'utf8')) as Recorded;
  const now = kept(before, await record());
  await writeFile(file, `${JSON.stringify(now, null, 2)}\n`);
  console.log(`${Object.keys(now.operations).length} operations recorded`);
}
