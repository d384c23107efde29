// How much the database grows in a day by the worst that one key may do: the bytes that so many of
// its requests leave in tables and indexes, and as many replies as are kept. The figure includes
// rows that are pruned.

import type { Database } from '../server/db/database.ts';
import { partyLimit } from '../server/edge/budgets.ts';
import { mostKeptBytes } from '../server/edge/idempotency/replies.ts';
import { ask, type Exchange, must, quote, startExchange } from '../server/edge/testing/exchange.ts';
import { account } from '../server/edge/testing/hands.ts';
import { bitcoinWallet, evmWallet } from '../server/edge/testing/signers.ts';
import { mostKeptRefusals, mostMessages } from '../server/market/bounds.ts';
import { readSettings } from '../server/settings/config.ts';
import { agree, deepen, fundLong, give, startWorld } from '../server/settle/testing/world.ts';
import { batchesKept } from './growth-batches.ts';
import { atMost, type Row } from './report.ts';

const settings = readSettings({});
const aDay = settings.rateLimit * 1_440;
/** Requests on swaps and broadcasts. */
const aDayOfParty = aDay + partyLimit * 1_440;
const megabyte = 1_000_000;
const unlimited = { rateLimit: 10_000_000, rateLimitPerNetwork: 10_000_000 };
const load = { requests: 1_000, atOnce: 25 };

/** An Idempotency-Key as long as it may be. */
const namedHeaders = (at: number) => ({ 'idempotency-key': String(at).padStart(255, 'k') });

export async function benchGrowth(): Promise<Row[]> {
  const exchange = await startExchange();
  const { edge } = exchange;
  const { db } = edge.deps;
  const { key } = await account(edge, bitcoinWallet());
  try {
    const refused = await bytesOfEach(db, (at) => {
      const body = { [`x${'y'.repeat(1_000)}`]: at };
      return edge.call('POST', '/v1/rfqs', { key, body, headers: namedHeaders(at) });
    });
    const made = await bytesOfEach(db, async (at) => {
      const { rfq } = must(await ask(exchange, key, 'sell_base'));
      const url = `/v1/rfqs/${rfq.id}/cancel`;
      must(await edge.call('POST', url, { key, headers: namedHeaders(at) }));
    });
    const kept = (refused * Math.min(aDay, mostKeptRefusals)) / megabyte;
    return [
      rowOf(
        `refusals kept for a key (${Math.round(refused)} bytes each)`,
        [kept, 20],
        `${mostKeptRefusals} a day are kept; all ${aDay} of 1.8 kB were 800 MB`,
      ),
      rowOf(
        `RFQs posted and cancelled by a key (${Math.round(made)} bytes each)`,
        [(made * aDay) / 2 / megabyte, 1_000],
        `${aDay / 2} a day; pruned after 1, 7 and 30 days`,
      ),
      await acceptsKept(exchange),
      await batchesKept(exchange),
      await buildsKept(),
    ];
  } finally {
    await edge.close();
  }
}

function rowOf(row: string, [value, limit]: [number, number], against: string): Row {
  return atMost(`growth: ${row}`, { value, unit: 'MB a day', limit, bar: 1 }, against);
}

/** A thread with as many prices as it remembers, accepted again and again. */
async function acceptsKept(exchange: Exchange): Promise<Row> {
  const { edge, eth } = exchange;
  const taker = await account(edge, bitcoinWallet());
  const maker = await account(edge, evmWallet());
  const { rfq } = must(await ask(exchange, taker.key, 'sell_base'));
  const { thread } = must(await quote(exchange, maker.key, { ...rfq, quoteAssetId: eth.id }));
  const url = `/v1/threads/${thread.id}`;
  let quoteAmount = thread.quoteAmount;
  for (let at = 1; at < mostMessages; at += 1) {
    quoteAmount = String(10n ** 40n + BigInt(at) * 7_919_000_000_007n ** 2n);
    must(await edge.call('POST', `${url}/propose`, { key: maker.key, body: { quoteAmount } }));
  }
  const asked = { key: maker.key, body: { quoteAmount } };
  return keptRow('accepts', edge.deps.db, aDay, async (at) => {
    must(await edge.call('POST', `${url}/accept`, { ...asked, headers: namedHeaders(at) }));
  });
}

/** A funding built again and again. */
async function buildsKept(): Promise<Row> {
  const world = await startWorld({ settings: unlimited });
  try {
    const deal = await agree(world);
    await give(world, deal);
    await fundLong(world, deal);
    await deepen(world);
    const url = `/v1/swaps/${deal.id}/legs/${deal.short}/fund`;
    return await keptRow('fundings built', world.deps.db, aDayOfParty, async (at) => {
      const { status } = await deal.counterparty.post(url, undefined, namedHeaders(at));
      if (status !== 200) throw new Error(`a funding was answered with ${status}`);
    });
  } finally {
    await world.close();
  }
}

async function keptRow(
  what: string,
  db: Database,
  asked: number,
  work: (at: number) => Promise<void>,
): Promise<Row> {
  const charged = () => sumOf(db, 'select coalesce(sum(bytes), 0) as sum from kept_replies');
  const before = await charged();
  const each = await bytesOfEach(db, work);
  const charge = ((await charged()) - before) / load.requests;
  const kept = Math.min(asked, Math.floor(mostKeptBytes(settings) / charge));
  const all = Math.round((each * asked) / megabyte);
  return rowOf(
    `${what}, kept for a key (${Math.round(each)} bytes each, charged ${Math.round(charge)})`,
    [(each * kept) / megabyte, 600],
    `${kept} of ${asked} a day are kept; all were ${all} MB`,
  );
}

/** By which tables and indexes grow: an update leaves free space behind, which counts. */
async function bytesOfEach(db: Database, work: (at: number) => Promise<unknown>): Promise<number> {
  const { requests, atOnce } = load;
  const text = 'select sum(pg_total_relation_size(relid)) as sum from pg_stat_user_tables';
  const before = await sumOf(db, text);
  for (let at = 0; at < requests; at += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, n) => work(at + n)));
  }
  return ((await sumOf(db, text)) - before) / requests;
}

async function sumOf(db: Database, text: string): Promise<number> {
  const [row] = await db.rows<{ sum: string }>({ name: `bench_${text.length}`, text, values: [] });
  return Number(row?.sum);
}
