// What each operation costs, one kind at a time: processor milliseconds of each part, and
// statements.

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../host/in-parallel.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import { agreed, amounts, finish, type Pair, shows, until } from '../support/deals.ts';
import { type Client, mustAllBeQuoted, openSockets, type Sent } from './clients.ts';
import type { Market } from './market.ts';
import { between, each, type Used, usedBy, without } from './meters.ts';

const atOnce = 8;
const rfqs = 200;
const batch = 50;
const warmTurns = 200;
const reads = 400;
/** Times that the batches are priced anew. */
const rounds = 5;
const swaps = 100;
const settled = 3;
export const sockets = 100;
const idleMs = 20_000;
const watchMs = 40_000;
/** What an operation leaves to be done by itself is done by then: feed, webhooks, notices. */
const quietMs = 1_500;

export type People = {
  /** Has no webhook. */
  readonly taker: Customer;
  readonly hooked: Customer;
  readonly makers: readonly [Customer, Customer];
  readonly listening: Customer;
};

export async function newPeople(market: Market): Promise<People> {
  const { receiver, ...own } = market.stage;
  return {
    taker: await newCustomer(own, 'Ann'),
    hooked: await newCustomer({ ...own, receiver }, 'Ben'),
    makers: [await newCustomer(own, 'Cleo'), await newCustomer(own, 'Dan')],
    listening: await newCustomer(own, 'Eve'),
  };
}

export type Cost = { readonly what: string; readonly used: Used };

export type Scene = { readonly market: Market; readonly client: Client; readonly people: People };

export function rfqOf({ assets }: Customer, at = 0) {
  return {
    direction: 'sell_base',
    ttlSeconds: 86_400,
    quoteAssetId: assets.ETH.id,
    baseAssetId: assets.SOL.id,
    baseAmount: String(amounts.SOL + BigInt(at)),
  };
}

export async function idleOf(market: Market, ms = idleMs): Promise<Used> {
  const before = await usedBy(market);
  await sleep(ms);
  return between(before, await usedBy(market));
}

/** In the order in which one gives what the next needs. */
export async function costsOf(scene: Scene, tell: (cost: Cost) => void): Promise<void> {
  const { market, client, people } = scene;
  const { taker, hooked, makers, listening } = people;
  const [one, other] = makers;
  await warm(scene);
  const idle = await idleOf(market);
  tell({ what: 'nothing happens, a second', used: each(idle, idle.seconds) });
  const measured = async (what: string, count: number, work: () => Promise<unknown>) => {
    const before = await usedBy(market);
    await work();
    await sleep(quietMs);
    const used = each(without(between(before, await usedBy(market)), idle), count);
    tell({ what, used });
    return used;
  };
  const posted = async (who: Customer, all: readonly Sent[]) => {
    const ids: string[] = [];
    await inParallel(all, atOnce, async (sent) => {
      const { rfq, thread } = (await client.ask(who, sent)) as Record<string, { id: string }>;
      ids.push((rfq ?? thread)?.id ?? '');
    });
    return ids;
  };
  const ordersOf = (who: Customer) =>
    Array.from({ length: rfqs }, (_, at) => ({ path: '/v1/rfqs', body: rfqOf(who, at) }));
  let book: string[] = [];
  let deals: string[] = [];
  const quotesOn = (ids: readonly string[], price: bigint) =>
    ids.map((id) => ({
      path: `/v1/rfqs/${id}/quotes`,
      body: { quoteAmount: String(price), validForSeconds: 600 },
    }));
  const price = amounts.ETH;
  const bare = await measured('RFQ', rfqs, async () => {
    book = await posted(taker, ordersOf(taker));
  });
  const quote = await measured('quote: a new thread', rfqs, async () => {
    deals = await posted(one, quotesOn(book, price));
  });
  await measured('quote: another price', rfqs, () => posted(one, quotesOn(book, price + 1n)));
  const batches = (amount: bigint) => {
    const all: Sent[] = [];
    for (let from = 0; from < rfqs; from += batch) {
      const quotes = book.slice(from, from + batch).map((rfqId) => {
        return { rfqId, quoteAmount: String(amount), validForSeconds: 600 };
      });
      all.push({ path: '/v1/quotes', body: { quotes } });
    }
    return all;
  };
  const sent = (all: readonly Sent[]) =>
    inParallel(all, 2, async (asked) => mustAllBeQuoted(await client.ask(other, asked)));
  await measured('quote in a batch of 50: a new thread', rfqs, () => sent(batches(price)));
  await measured('quote in a batch of 50: another price', rfqs * rounds, async () => {
    for (let at = 1; at <= rounds; at += 1) await sent(batches(price + BigInt(at)));
  });
  const read = (who: Customer, path: string) =>
    inParallel(Array.from({ length: reads }), atOnce, () => client.ask(who, { path }));
  await measured('public list of 20', reads, () => read(one, '/v1/rfqs'));
  await measured('own list of 20', reads, () => read(taker, '/v1/rfqs?own=true'));
  await withSockets(scene, listening, async () => {
    const heard = await measured('RFQ with sockets', rfqs, () => posted(hooked, ordersOf(hooked)));
    const perSocket = each(between(bare, heard), sockets);
    tell({ what: 'event of the feed, a socket', used: perSocket });
  });
  const own = await ownOf(client, hooked);
  const told = await measured('quote with a webhook', own.length, async () => {
    const from = market.stage.receiver.received.length;
    await posted(one, quotesOn(own, price));
    await until('webhooks arrive', async () => {
      return market.stage.receiver.received.length >= from + own.length;
    });
  });
  tell({ what: 'delivery to a webhook', used: between(quote, told) });
  // Chains on which something is followed are polled more often, however little it is.
  const [first = '', ...pairs] = deals.slice(0, swaps);
  await acceptBoth(scene, first, price + 1n);
  const following = await idleOf(market);
  const alone = without(following, idle);
  tell({ what: 'an open swap is there, a second', used: each(alone, alone.seconds) });
  await measured('acceptance: two of a swap', pairs.length, async () => {
    // All are of two accounts, which lock each other's out.
    await inParallel(pairs, 2, (id) => acceptBoth(scene, id, price + 1n));
  });
  const watched = without(await idleOf(market, watchMs), following);
  tell({ what: 'an open swap more, a minute', used: perMinute(watched, pairs.length) });
  await settledOnes(scene, measured);
}

/** What a process compiles and plans first is not counted. */
async function warm({ client, people: { makers, taker, listening } }: Scene): Promise<void> {
  const turns = Array.from({ length: warmTurns }, (_, at) => at);
  await inParallel(turns, atOnce, async (at) => {
    await client.ask(makers[0], { path: '/v1/rfqs' });
    await client.ask(taker, { path: '/v1/rfqs?own=true' });
    const posted = await client.ask(listening, { path: '/v1/rfqs', body: rfqOf(listening, at) });
    const { id } = posted.rfq as { id: string };
    const quoteAmount = String(amounts.ETH);
    await client.ask(makers[1], { path: `/v1/rfqs/${id}/quotes`, body: { quoteAmount } });
    await client.ask(listening, { path: `/v1/rfqs/${id}/cancel`, body: {} });
  });
}

const perMinute = (used: Used, count: number) => each(used, (count * used.seconds) / 60);

async function withSockets({ market }: Scene, who: Customer, work: () => Promise<void>) {
  const open = await openSockets(market.stage.url, who.key, sockets);
  try {
    await work();
    const all = rfqs * sockets;
    await until('every socket is told of every RFQ', async () => open.told() >= all);
  } finally {
    await open.close();
  }
}

async function ownOf(client: Client, who: Customer): Promise<string[]> {
  const { rfqs: all } = (await client.ask(who, { path: '/v1/rfqs?own=true&limit=100' })) as {
    rfqs: { id: string }[];
  };
  return all.map(({ id }) => id);
}

/** By the taker with its hashlock, and by the maker. */
async function acceptBoth({ client, people }: Scene, id: string, price: bigint): Promise<void> {
  const hashlock = createHash('sha256').update(randomBytes(32)).digest('hex');
  const path = `/v1/threads/${id}/accept`;
  const quoteAmount = String(price);
  await client.ask(people.taker, { path, body: { quoteAmount, hashlock } });
  await client.ask(people.makers[0], { path, body: { quoteAmount } });
}

/** From the agreement to its end, by the SDK on both sides. */
async function settledOnes(
  { market, people }: Scene,
  measured: (what: string, count: number, work: () => Promise<unknown>) => Promise<Used>,
): Promise<void> {
  const pair: Pair = [people.hooked, people.makers[0]];
  await measured('swap from its RFQ to its end', settled, async () => {
    for (let at = 0; at < settled; at += 1) {
      const [b, a] = at % 2 === 0 ? (['SOL', 'ETH'] as const) : (['ETH', 'SOL'] as const);
      const deal = await agreed(market.stage, pair, b, a);
      await finish(market.stage, deal);
      await shows(deal, 'it ends', ({ status }) => status === 'counterparty_claimed');
    }
  });
}
