// A maker that prices its orders anew all the time: one key, one connection, batches of 50 one
// after the other, each committed before its answer. The maker needs 100 orders every 5 s. And the
// maker program while it does so: how many requests of its budget that takes, and how long.

import { mostQuotesAtOnce } from '../core/limits.ts';
import { createQuoting } from '../maker/quoting.ts';
import { limits, pair, partsOf } from '../maker/testing/stage.ts';
import { parleyClient } from '../sdk/client.ts';
import type { Rfq } from '../sdk/types.ts';
import { readSettings } from '../server/settings/config.ts';
import { until } from '../test/support/maker.ts';
import type { Request } from './load.ts';
import { atLeast, atMost, type Effort, inRounds, median, type Row } from './report.ts';
import { type Account, loaded, type Stage } from './stage.ts';

const orders = 100;
const everySeconds = 5;
const timesAMinute = 60 / everySeconds;
/** Prices that differ: each batch of a round moves all of its orders. */
const prices = 50;

/** A twentieth of the 5 s: the rest is the maker's, and other makers'. */
const timeBar = 0.05;
const rateBar = 20;
/** A commit each: a busy disk may not do it, which is why there are batches. */
const singleBar = 0.5;
/** Each its own request, transaction and commit. */
const batchedBar = 3;
/** A tenth of the budget: polls, acceptances and swaps have the rest. */
const requestsBar = 0.1;
/** From the price that moved to the last outcome. */
const programBar = 0.1;

const amountOf = (price: number) => String(65_000_000 + price);

export async function benchRequote(stage: Stage, effort: Effort): Promise<Row[]> {
  const { key } = await stage.account();
  const other = await stage.account();
  const third = await stage.account();
  const inBatches = await quotesASecond(stage, effort, batchesOf(stage, key), mostQuotesAtOnce);
  const byOne = await quotesASecond(stage, effort, singlesOf(stage, other.key), 1);
  const milliseconds = (orders / inBatches) * 1_000;
  return [
    atMost(
      `requote: ${orders} orders priced anew by one key, in batches of ${mostQuotesAtOnce}`,
      { value: milliseconds, unit: 'ms', limit: everySeconds * 1_000, bar: timeBar },
      `the ${everySeconds} s in which a maker does so`,
    ),
    atLeast(
      'requote: quotes a second an account, one a request, on one connection',
      { value: byOne, unit: 'quotes/s', limit: orders / everySeconds, bar: singleBar },
      `${orders} orders every ${everySeconds} s`,
    ),
    atLeast(
      'requote: quotes a second an account in batches, on one connection',
      { value: inBatches, unit: 'quotes/s', limit: orders / everySeconds, bar: rateBar },
      `${orders} orders every ${everySeconds} s`,
    ),
    atLeast(
      'requote: the same',
      { value: inBatches, unit: 'quotes/s', limit: byOne, bar: batchedBar },
      'one a request',
    ),
    ...(await programRows(stage, third, effort)),
  ];
}

function batchesOf(stage: Stage, key: string): Request[] {
  const batchOf = (from: number, price: number): Request => ({
    method: 'POST',
    path: '/v1/quotes',
    key,
    body: JSON.stringify({
      quotes: Array.from({ length: mostQuotesAtOnce }, (_, at) => ({
        rfqId: stage.rfqId(from + at),
        quoteAmount: amountOf(price),
        validForSeconds: 15,
      })),
    }),
  });
  return Array.from({ length: prices }, (_, price) =>
    Array.from({ length: orders / mostQuotesAtOnce }, (_each, at) =>
      batchOf(at * mostQuotesAtOnce, price),
    ),
  ).flat();
}

function singlesOf(stage: Stage, key: string): Request[] {
  return Array.from({ length: prices * orders }, (_, at) => ({
    method: 'POST',
    path: `/v1/rfqs/${stage.rfqId(at % orders)}/quotes`,
    key,
    body: JSON.stringify({ quoteAmount: amountOf(Math.floor(at / orders)), validForSeconds: 15 }),
  }));
}

async function quotesASecond(
  stage: Stage,
  { rounds, seconds }: Effort,
  requests: Request[],
  each: number,
): Promise<number> {
  // Opens the threads, which is answered with another status than a price that moves.
  for (const { path, key, body = '' } of requests.slice(0, orders)) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${stage.port}${path}`, {
      method: 'POST',
      headers,
      body,
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  const round = async () =>
    (await loaded(stage, { requests, connections: 1, seconds })).perSecond * each;
  // Histories of threads fill meanwhile, to the 100 prices that they remember.
  await round();
  return median(await inRounds(rounds, round));
}

/** The program's own quoting, by the SDK, as its price moves beyond the slip. */
async function programRows(stage: Stage, { key }: Account, { rounds }: Effort): Promise<Row[]> {
  let requests = 0;
  const client = parleyClient({
    baseUrl: `http://127.0.0.1:${stage.port}`,
    key,
    tries: 1,
    fetch: (url, init) => {
      requests += 1;
      return fetch(url, init);
    },
  });
  const book = new Map<string, Rfq>();
  for (let at = 0; at < orders; at += 1) {
    const rfq = await client.rfq(stage.rfqId(at));
    book.set(rfq.id, rfq);
  }
  const [base, quote] = stage.assets;
  const at = { ms: Date.now(), price: '400', mode: 'open' as const };
  // As the settings of a maker have it by default.
  const own = { quotesAMinute: 1_500, requestsAMinute: 150, quoteSeconds: 90 };
  const parts = partsOf({
    at,
    sols: 10n ** 30n,
    limits: { ...limits, ...own, mostQuotes: orders, mostQuotesATaker: orders },
  });
  const quoting = createQuoting({
    ...parts,
    client,
    pairs: [pair],
    feed: () => ({ book, state: () => 'live' }),
    idOf: (name) => (name === pair.base.name ? base?.id : quote?.id),
  });
  const priced = async () => {
    const began = performance.now();
    quoting.look();
    await until('all outcomes', async () => (parts.turns.size() === 0 ? true : null), {
      everyMs: 1,
    });
    const quoted = [...parts.promises.quotes.values()].filter(({ threadId }) => threadId !== null);
    if (quoted.length !== orders) throw new Error(`${quoted.length} of ${orders} are quoted`);
    return performance.now() - began;
  };
  await priced();
  requests = 0;
  let turn = 0;
  const all = await inRounds(rounds * timesAMinute, async () => {
    turn += 1;
    at.ms += everySeconds * 1_000;
    at.price = turn % 2 === 0 ? '400' : '408';
    return priced();
  });
  const aMinute = requests / rounds;
  const { rateLimit } = readSettings({});
  return [
    atMost(
      `requote: requests a minute of the maker program for ${orders} orders every ${everySeconds} s`,
      { value: aMinute, unit: 'requests/min', limit: rateLimit, bar: requestsBar },
      'the budget of an account',
    ),
    atMost(
      'requote: the maker program, from a price that moved to the last outcome',
      { value: median(all), unit: 'ms', limit: everySeconds * 1_000, bar: programBar },
      `the ${everySeconds} s to the next price`,
    ),
  ];
}
