// What may break while three processes are under load: each process, the watchtower, Valkey, and
// the ways from a process to the database and to Valkey. A swap goes on through each of them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Customer, newCustomer } from '../support/customers.ts';
import {
  agreed,
  amounts,
  type Deal,
  deep,
  finish,
  fund,
  type Pair,
  runUntil,
  shows,
} from '../support/deals.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { type Ask, createAsk, lostOf } from '../upgrade-soak/asking.ts';
import { type Load, startLoad } from '../upgrade-soak/load.ts';
import type { Market, Process } from './market.ts';

/** How long something stays broken, and what follows it. */
const brokenMs = 8_000;
const calmMs = 1_000;
/** Longer than a process waits for a statement. */
const silentMs = 17_000;
const batch = 20;
const paceMs = 100;

type Break = {
  readonly name: string;
  /** Ends when it is mended. */
  readonly play: (market: Market) => Promise<unknown>;
};

const killed = (at: number): Break => ({
  name: `process ${at + 1} killed, and back`,
  play: async ({ processes }) => (processes[at] as Process).replace(),
});

const cut = (at: number, what: 'database' | 'valkey', fault: Fault, ms: number): Break => ({
  name: `process ${at + 1} and its ${what}: ${fault.kind}`,
  play: async ({ processes }) => {
    const way = (processes[at] as Process)[what];
    way.fail(fault);
    await sleep(ms);
    assert.ok(way.struck() > 0, 'the fault met something');
    way.heal();
  },
});

const breaks: readonly Break[] = [
  killed(0),
  killed(1),
  killed(2),
  {
    name: 'Valkey killed, and back',
    play: async ({ valkey }) => {
      await valkey.kill();
      await sleep(brokenMs);
      await valkey.start();
    },
  },
  {
    name: 'Valkey stands still',
    play: async ({ valkey }) => {
      valkey.pause();
      await sleep(brokenMs);
      valkey.resume();
    },
  },
  cut(0, 'valkey', { kind: 'cut' }, brokenMs),
  cut(1, 'valkey', { kind: 'mute' }, brokenMs),
  cut(2, 'database', { kind: 'cut' }, brokenMs),
  cut(0, 'database', { kind: 'deaf' }, silentMs),
  cut(1, 'database', { kind: 'mute' }, silentMs),
];

/** A line for each, and one of all that was looked for in the end. */
export async function* playFaults(market: Market, which: RegExp): AsyncGenerator<string> {
  const { stage } = market;
  const { url } = stage;
  const named = async (name: string) => newCustomer(stage, name);
  const pair: Pair = [await named('Ann'), await named('Ben')];
  const taker = await named('Cleo');
  const maker = await named('Dan');
  const load = startLoad({ url, taker, maker, listening: await named('Eve') });
  const batches = startBatches(createAsk(url, load.counts, false), await named('Fay'));
  try {
    const wanted = breaks.filter(({ name }) => which.test(name));
    assert.ok(wanted.length > 0, `no fault is called ${which}`);
    for (const [at, each] of wanted.entries()) yield await under(market, each, load, pair, at);
    yield await relayedLater(market, pair);
    await batches.stop();
    await load.stop();
    yield await load.check(stage);
    assert.equal(lostOf(load.counts), 0, JSON.stringify([...load.counts.lost]));
    yield await batches.check();
    yield onceTold(stage.receiver.received);
  } finally {
    await batches.stop();
    await load.stop();
    for (const each of load.listeners) each.close();
  }
}

async function under(
  market: Market,
  { name, play }: Break,
  { counts }: Load,
  pair: Pair,
  at: number,
): Promise<string> {
  const { stage } = market;
  const [b, a] = at % 2 === 0 ? (['SOL', 'ETH'] as const) : (['ETH', 'SOL'] as const);
  const deal = await agreed(stage, pair, b, a);
  const answered = counts.answered;
  const told = counts.toldToRetry;
  const began = performance.now();
  const settling = settled(market, deal);
  settling.catch(() => {});
  await play(market);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const meanwhile = `${counts.answered - answered} answered, ${counts.toldToRetry - told} told to come again`;
  assert.ok(counts.answered > answered, 'others answer meanwhile');
  await settling;
  const ended = ((performance.now() - began) / 1_000).toFixed(1);
  await sleep(calmMs);
  return `${name}, ${seconds} s: ${meanwhile}; a swap begun before it settled after ${ended} s`;
}

async function settled({ stage }: Market, deal: Deal): Promise<void> {
  await finish(stage, deal);
  await shows(deal, 'it settles', ({ status }) => status === 'counterparty_claimed');
}

/** A secret becomes public while there is no watchtower, and its other side never claims. */
async function relayedLater({ stage, watchtower }: Market, pair: Pair): Promise<string> {
  const deal = await agreed(stage, pair, 'ETH', 'SOL');
  await fund(stage, deal, 'both');
  await watchtower.kill();
  await runUntil(stage, deal, 'taker', deep('a', 'claim'));
  await sleep(calmMs);
  const { legs } = await deal.taker.who.client.swap(deal.id);
  assert.notEqual(legs.b.status, 'claimed');
  const began = performance.now();
  await watchtower.start();
  const { legs: after } = await shows(deal, 'claimed', (swap) => swap.legs.b.status === 'claimed');
  assert.equal(after.b.claimedBy, 'keeper');
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  return `the watchtower killed, and back: what a party left undone was claimed for it ${seconds} s later`;
}

/** A maker that prices the newest RFQs anew by batches; the last answered price must be there. */
function startBatches(ask: Ask, maker: Customer) {
  const last = new Map<string, { readonly threadId: string; readonly quoteAmount: string }>();
  let isOver = false;
  let price = amounts.ETH;
  let answered = 0;
  const step = async () => {
    const found = (await ask(maker, { path: `/v1/rfqs?limit=${batch}` })) as Book | null;
    const ids = (found?.rfqs ?? []).map(({ id }) => id);
    if (ids.length === 0) return;
    price += 1n;
    const quoteAmount = String(price);
    const body = { quotes: ids.map((rfqId) => ({ rfqId, quoteAmount })) };
    const reply = await ask(maker, { path: '/v1/quotes', key: randomUUID(), body });
    for (const { rfqId, threadId } of (reply as Outcomes | null)?.outcomes ?? []) {
      if (threadId === undefined) continue;
      last.set(rfqId, { threadId, quoteAmount });
      answered += 1;
    }
  };
  const running = (async () => {
    while (!isOver) {
      await step();
      await sleep(paceMs);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
    },
    check: async () => {
      assert.ok(last.size > batch, 'there were batches');
      for (const { threadId, quoteAmount } of last.values()) {
        const found = (await ask(maker, { path: `/v1/threads/${threadId}` })) as Found | null;
        assert.equal(found?.quoteAmount, quoteAmount, `thread ${threadId}`);
      }
      return `${answered} quotes in batches, and the last price of each of ${last.size} threads is there`;
    },
  };
}

type Book = { readonly rfqs: readonly { readonly id: string }[] };
type Outcomes = {
  readonly outcomes: readonly { readonly rfqId: string; readonly threadId?: string }[];
};
type Found = { readonly quoteAmount: string };

/** Deliveries that came more than once had one id and one body. */
function onceTold(all: readonly { readonly path: string; readonly body: string }[]): string {
  const bodies = new Map<string, string>();
  const quotes = new Map<string, string>();
  for (const { path, body } of all) {
    const { deliveryId, type, threadId, quoteAmount } = JSON.parse(body) as Record<string, string>;
    const id = `${path} ${deliveryId}`;
    assert.ok((bodies.get(id) ?? body) === body, 'one delivery id, one body');
    bodies.set(id, body);
    if (type !== 'quote.created') continue;
    const event = `${path} ${threadId} ${quoteAmount}`;
    assert.ok((quotes.get(event) ?? deliveryId) === deliveryId, 'one event, one delivery id');
    quotes.set(event, deliveryId as string);
  }
  return `${all.length} deliveries of ${bodies.size} ids`;
}
