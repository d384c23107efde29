// How much of a mixed load is held: so many customers who each send the next request when the last
// is answered, makers on sockets, and a receiver of webhooks.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Customer, newCustomer } from '../support/customers.ts';
import { amounts } from '../support/deals.ts';
import { mustAllBeQuoted, openSockets, type Sent } from './clients.ts';
import { between, type Used, usedBy } from './meters.ts';
import { rfqOf, type Scene, sockets } from './operations.ts';

const heldMs = 20_000;
const lanes = { rfqs: 2, batches: 2, book: 8, own: 4 } as const;
const batch = 20;
/** Of an account 1 000 RFQs may live. */
const mostRfqs = 900;

export type Held = {
  readonly seconds: number;
  readonly requests: number;
  readonly quotes: number;
  readonly frames: number;
  readonly webhooks: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly used: Used;
};

export async function holdLoad({ market, client, people }: Scene): Promise<Held> {
  const { makers, listening } = people;
  const { stage } = market;
  const taker = await newCustomer(stage, 'Gus');
  const open = await openSockets(stage.url, listening.key, sockets);
  const ids: string[] = [];
  let quotes = 0;
  let prices = 0;
  const post = async () => {
    if (ids.length >= mostRfqs) {
      await sleep(100);
      return;
    }
    const { rfq } = (await client.ask(taker, {
      path: '/v1/rfqs',
      body: rfqOf(taker, ids.length),
    })) as { rfq: { id: string } };
    ids.push(rfq.id);
  };
  const quote = (who: Customer) => async () => {
    const last = ids.slice(-batch);
    if (last.length === 0) {
      await sleep(10);
      return;
    }
    prices += 1;
    const quoteAmount = String(amounts.ETH + BigInt(prices));
    const body = { quotes: last.map((rfqId) => ({ rfqId, quoteAmount, validForSeconds: 60 })) };
    mustAllBeQuoted(await client.ask(who, { path: '/v1/quotes', body, isUnnamed: true }));
    quotes += last.length;
  };
  const read = (who: Customer, sent: Sent) => () => client.ask(who, sent);
  const steps: (() => Promise<unknown>)[] = [
    ...Array.from({ length: lanes.rfqs }, () => post),
    ...Array.from({ length: lanes.batches }, (_, at) => quote(makers[at % 2] as Customer)),
    ...Array.from({ length: lanes.book }, () => read(makers[0], { path: '/v1/rfqs' })),
    ...Array.from({ length: lanes.own }, () => read(taker, { path: '/v1/rfqs?own=true' })),
  ];
  try {
    client.times();
    const told = open.told();
    const heard = stage.receiver.received.length;
    const before = await usedBy(market);
    const end = performance.now() + heldMs;
    await Promise.all(
      steps.map(async (step) => {
        while (performance.now() < end) await step();
      }),
    );
    const used = between(before, await usedBy(market));
    const times = client.times().sort((one, other) => one - other);
    return {
      seconds: used.seconds,
      requests: times.length,
      quotes,
      used,
      frames: open.told() - told,
      webhooks: stage.receiver.received.length - heard,
      medianMs: times[Math.floor(times.length / 2)] ?? 0,
      p99Ms: times[Math.ceil(times.length * 0.99) - 1] ?? 0,
    };
  } finally {
    await open.close();
  }
}

const contendMs = 8_000;

export type Contended = { readonly apart: number; readonly together: number };

/**
 * Quotes a second by batches of four makers at once: each on RFQs that only it quotes, and all on
 * the same ones, whose rows they lock one after the other.
 */
export async function contend({ market, client, people }: Scene): Promise<Contended> {
  const { makers, hooked, listening } = people;
  const all = [...makers, hooked, listening];
  const taker = await newCustomer(market.stage, 'Hal');
  const ids: string[] = [];
  for (let at = 0; at < all.length * batch; at += 1) {
    const asked = { path: '/v1/rfqs', body: rfqOf(taker, at) };
    const { rfq } = (await client.ask(taker, asked)) as { rfq: { id: string } };
    ids.push(rfq.id);
  }
  let price = amounts.ETH;
  const aSecond = async (idsOf: (at: number) => readonly string[]) => {
    const began = performance.now();
    let quotes = 0;
    await Promise.all(
      all.map(async (who, at) => {
        while (performance.now() < began + contendMs) {
          price += 1n;
          const quoteAmount = String(price);
          const body = { quotes: idsOf(at).map((rfqId) => ({ rfqId, quoteAmount })) };
          mustAllBeQuoted(await client.ask(who, { path: '/v1/quotes', body, isUnnamed: true }));
          quotes += batch;
        }
      }),
    );
    return (quotes * 1_000) / (performance.now() - began);
  };
  const own = (at: number) => ids.slice(at * batch, (at + 1) * batch);
  await aSecond(own);
  return { apart: await aSecond(own), together: await aSecond(() => own(0)) };
}
