// A maker that prices its orders anew all the time: one key, one connection, batches of 50 one
// after the other, each committed before its answer. What it needs is 100 orders every 5 s.

import { mostQuotesAtOnce } from '../server/market/bounds.ts';
import type { Request } from './load.ts';
import { atLeast, atMost, type Effort, inRounds, median, type Row } from './report.ts';
import { loaded, type Stage } from './stage.ts';

const orders = 100;
const everySeconds = 5;
/** Prices that differ: each batch of a round moves all of its orders. */
const prices = 50;

/** A twentieth of the 5 s: the rest is the maker's, and other makers'. */
const timeBar = 0.05;
const rateBar = 20;

export async function benchRequote(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const { key } = await stage.account();
  const batchOf = (from: number, price: number): Request => ({
    method: 'POST',
    path: '/v1/quotes',
    key,
    body: JSON.stringify({
      quotes: Array.from({ length: mostQuotesAtOnce }, (_, at) => ({
        rfqId: stage.rfqId(from + at),
        quoteAmount: String(65_000_000 + price),
        validForSeconds: 15,
      })),
    }),
  });
  const requests = Array.from({ length: prices }, (_, price) =>
    Array.from({ length: orders / mostQuotesAtOnce }, (_each, at) =>
      batchOf(at * mostQuotesAtOnce, price),
    ),
  ).flat();
  const round = async () => {
    const { perSecond } = await loaded(stage, { requests, connections: 1, seconds });
    return perSecond * mostQuotesAtOnce;
  };
  // Histories of threads fill meanwhile, to the 100 prices that they remember.
  await round();
  const perSecond = median(await inRounds(rounds, round));
  const milliseconds = (orders / perSecond) * 1_000;
  const needed = orders / everySeconds;
  return [
    atMost(
      `requote: ${orders} orders priced anew by one key, in batches of ${mostQuotesAtOnce}`,
      { value: milliseconds, unit: 'ms', limit: everySeconds * 1_000, bar: timeBar },
      `the ${everySeconds} s in which a maker does so`,
    ),
    atLeast(
      'requote: quotes a second an account, on one connection',
      { value: perSecond, unit: 'quotes/s', limit: needed, bar: rateBar },
      `${orders} orders every ${everySeconds} s`,
    ),
  ];
}
