// How much the database grows in a day by the worst that one key may do, from what so many of its
// requests leave in tables and indexes. What is pruned later is in it.

import { ask, must, startExchange } from '../server/edge/testing/exchange.ts';
import { account } from '../server/edge/testing/hands.ts';
import { bitcoinWallet } from '../server/edge/testing/signers.ts';
import { mostKeptRefusals } from '../server/market/bounds.ts';
import { readSettings } from '../server/settings/config.ts';
import { acceptsKept, buildsKept } from './growth-kept.ts';
import { bytesOfEach, namedHeaders } from './growth-meter.ts';
import { type Row, rowOf } from './report.ts';

const aDay = readSettings({}).rateLimit * 1_440;
const megabyte = 1_000_000;

export async function benchGrowth(): Promise<Row[]> {
  const exchange = await startExchange();
  const { edge } = exchange;
  const { db } = edge.deps;
  const { key } = await account(edge, bitcoinWallet());
  try {
    const { each: refused } = await bytesOfEach(db, (at) => {
      const body = { [`x${'y'.repeat(1_000)}`]: at };
      return edge.call('POST', '/v1/rfqs', { key, body, headers: namedHeaders(at) });
    });
    const { each: made } = await bytesOfEach(db, async (at) => {
      const { rfq } = must(await ask(exchange, key, 'sell_base'));
      const url = `/v1/rfqs/${rfq.id}/cancel`;
      must(await edge.call('POST', url, { key, headers: namedHeaders(at) }));
    });
    const row = { bench: 'growth', unit: 'MB a day', bar: 1, is: 'atMost' } as const;
    return [
      rowOf({
        ...row,
        row: `refusals kept for a key (${Math.round(refused)} bytes each)`,
        value: (refused * Math.min(aDay, mostKeptRefusals)) / megabyte,
        limit: 20,
        against: `${mostKeptRefusals} a day are kept; all ${aDay} of 1.8 kB were 800 MB`,
      }),
      rowOf({
        ...row,
        row: `RFQs posted and cancelled by a key (${Math.round(made)} bytes each)`,
        value: (made * aDay) / 2 / megabyte,
        limit: 1_000,
        against: `${aDay / 2} a day; pruned after 1, 7 and 30 days`,
      }),
      await acceptsKept(exchange),
      await buildsKept(),
    ];
  } finally {
    await edge.close();
  }
}
