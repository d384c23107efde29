// How much the database grows in a day by the worst that one key may do, from what so many of its
// requests leave in tables and indexes. What is pruned later is in it.

import { readSettings } from '../server/config.ts';
import { ask, must, startExchange } from '../server/edge/testing/exchange.ts';
import { account } from '../server/edge/testing/hands.ts';
import { bitcoinWallet } from '../server/edge/testing/signers.ts';
import { mostKeptRefusals } from '../server/market/bounds.ts';
import { type Row, rowOf } from './report.ts';

const requests = 1_000;
const atOnce = 25;
const aDay = readSettings({}).rateLimit * 1_440;
const megabyte = 1_000_000;

export async function benchGrowth(): Promise<Row[]> {
  const exchange = await startExchange();
  const { edge } = exchange;
  const { db } = edge.deps;
  const { key } = await account(edge, bitcoinWallet());
  const bytes = async () => {
    // What is free within a page is counted: an update leaves it behind.
    const [row] = await db.rows<{ bytes: string }>({
      name: 'bench_bytes',
      text: 'select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables',
      values: [],
    });
    return Number(row?.bytes);
  };
  const each = async (work: (at: number) => Promise<unknown>) => {
    const before = await bytes();
    for (let at = 0; at < requests; at += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, (_, n) => work(at + n)));
    }
    return ((await bytes()) - before) / requests;
  };
  const headers = (at: number) => ({ 'idempotency-key': String(at).padStart(255, 'k') });
  try {
    const refused = await each((at) => {
      const body = { [`x${'y'.repeat(1_000)}`]: at };
      return edge.call('POST', '/v1/rfqs', { key, body, headers: headers(at) });
    });
    const made = await each(async (at) => {
      const { rfq } = must(await ask(exchange, key, 'sell_base'));
      const url = `/v1/rfqs/${rfq.id}/cancel`;
      must(await edge.call('POST', url, { key, headers: headers(at) }));
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
    ];
  } finally {
    await edge.close();
  }
}
