// How soon the other side knows: a quote's taker, and an acceptance's maker, each by webhook and on
// the feed. Counted from the event's own time, which its transaction wrote.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMaker } from '@parley/market/edge/testing/feed-client.ts';
import { bars } from './bars.ts';
import { type Child, startChild } from './children.ts';
import { waited } from './miniature.ts';
import { atMost, type Effort, median, p99, type Row } from './report.ts';
import { type Account, orderOf, posted, type Stage } from './stage.ts';

const perSecond = 20;
/** A quarter of the second within which a maker is to know. */
const limitMs = bars.events.soonMs;
const quoteAmount = '65000000';

type Sides = {
  readonly market: Child<typeof import('./events-sides.ts')>;
  readonly receiver: Child<typeof import('./webhooks-sides.ts')>;
};
type Ways = { readonly webhook: number; readonly feed: number };

export async function benchEvents(stage: Stage, effort: Effort): Promise<Row[]> {
  const market: Sides['market'] = startChild('events-sides.ts');
  const receiver: Sides['receiver'] = startChild('webhooks-sides.ts');
  try {
    const { url, ca } = await receiver.ask('receive');
    const port = await market.ask('serve', stage.url, ca);
    const taker = await stage.account();
    const maker = await stage.account();
    const listening = async (by: Account, event: string) => {
      await posted(port, '/v1/webhooks', by, { url, events: [event] });
      return listen(port, by, event);
    };
    const quotes = await listening(taker, 'quote.created');
    const acceptances = await listening(maker, 'thread.accepted');
    const told = { quoted: [] as Ways[], accepted: [] as Ways[] };
    for (let round = 0; round <= effort.rounds; round += 1) {
      const threads: string[] = [];
      const count = Math.ceil(effort.seconds * perSecond);
      const orders: string[] = [];
      while (orders.length < count) {
        const { rfq } = await posted(port, '/v1/rfqs', taker, orderOf(stage.assets));
        orders.push(rfq!.id);
      }
      const quoted = await timed(receiver, quotes, orders, async (id) => {
        const { thread } = await posted(port, `/v1/rfqs/${id}/quotes`, maker, { quoteAmount });
        threads.push(thread!.id);
      });
      const accepted = await timed(receiver, acceptances, threads, async (id) => {
        const hashlock = randomBytes(32).toString('hex');
        await posted(port, `/v1/threads/${id}/accept`, taker, { quoteAmount, hashlock });
      });
      // The first warms up.
      if (round > 0) told.quoted.push(quoted);
      if (round > 0) told.accepted.push(accepted);
    }
    return [
      ...rowsOf('a quote -> its taker', told.quoted),
      ...rowsOf('an acceptance -> its maker', told.accepted),
    ];
  } finally {
    await market.stop();
    await receiver.stop();
  }
}

/** Milliseconds from an event to its frame, as they come. */
async function listen(port: number, { key }: Account, event: string): Promise<number[]> {
  const client = await openMaker(`http://127.0.0.1:${port}`, { apiKey: key, events: [event] });
  const milliseconds: number[] = [];
  client.ws.on('message', (data) => {
    const now = Date.now();
    client.frames.splice(0);
    const { type, createdAt } = JSON.parse(String(data));
    if (type === event) milliseconds.push(now - Date.parse(createdAt));
  });
  return milliseconds;
}

/** Does it for each of these, so many a second: the 99th percentiles. */
async function timed(
  receiver: Sides['receiver'],
  frames: number[],
  ids: readonly string[],
  once: (id: string) => Promise<void>,
): Promise<Ways> {
  await receiver.ask('slow', []);
  frames.splice(0);
  for (const id of ids) {
    await once(id);
    await sleep(1_000 / perSecond);
  }
  const heard = async () => (await receiver.ask('heard')).milliseconds;
  const missingOf = (webhooks: readonly number[]) =>
    2 * ids.length - webhooks.length - frames.length;
  await waited(2 * limitMs, async () => missingOf(await heard()) === 0);
  const milliseconds = await heard();
  const missing = missingOf(milliseconds);
  if (missing !== 0) throw new Error(`${missing} of ${2 * ids.length} were not told in time`);
  return { webhook: p99(milliseconds), feed: p99(frames) };
}

function rowsOf(what: string, all: readonly Ways[]): Row[] {
  return (['webhook', 'feed'] as const).map((way) => {
    const value = median(all.map((each) => each[way]));
    const name = `events: ${what}'s ${way}, p99 at ${perSecond}/s`;
    return atMost(name, { value, unit: 'ms', limit: limitMs, bar: 1 }, 'the limit');
  });
}
