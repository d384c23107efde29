// What the replies of success leave that one key has kept in a day: as many as it may ask for, with
// those of open swaps beyond its budget, and as many as the day has room for.

import type { Database } from '../server/db/database.ts';
import { partyLimit } from '../server/edge/budgets.ts';
import { mostKeptBytes } from '../server/edge/idempotency/replies.ts';
import { ask, type Exchange, must, quote } from '../server/edge/testing/exchange.ts';
import { account } from '../server/edge/testing/hands.ts';
import { bitcoinWallet, evmWallet } from '../server/edge/testing/signers.ts';
import { mostMessages } from '../server/market/bounds.ts';
import { readSettings } from '../server/settings/config.ts';
import { agree, deepen, fundLong, give, startWorld } from '../server/settle/testing/world.ts';
import { bytesOfEach, namedHeaders } from './growth-meter.ts';
import { type Row, rowOf } from './report.ts';

const settings = readSettings({});
const aDay = settings.rateLimit * 1_440;
/** Requests on swaps and broadcasts. */
const aDayOfParty = aDay + partyLimit * 1_440;
const megabyte = 1_000_000;
const unlimited = { rateLimit: 10_000_000, rateLimitPerNetwork: 10_000_000 };

/** A thread with as many prices as it remembers, accepted again and again. */
export async function acceptsKept(exchange: Exchange): Promise<Row> {
  const { edge, eth } = exchange;
  const { db } = edge.deps;
  const [taker, maker] = [await account(edge, bitcoinWallet()), await account(edge, evmWallet())];
  const { rfq } = must(await ask(exchange, taker.key, 'sell_base'));
  const { thread } = must(await quote(exchange, maker.key, { ...rfq, quoteAssetId: eth.id }));
  const url = `/v1/threads/${thread.id}`;
  let quoteAmount = thread.quoteAmount;
  for (let at = 1; at < mostMessages; at += 1) {
    quoteAmount = String(10n ** 40n + BigInt(at) * 7_919_000_000_007n ** 2n);
    must(await edge.call('POST', `${url}/propose`, { key: maker.key, body: { quoteAmount } }));
  }
  const body = { quoteAmount };
  const { key } = maker;
  return keptRow('accepts', db, aDay, async (at) => {
    const headers = namedHeaders(at);
    must(await edge.call('POST', `${url}/accept`, { key, body, headers }));
  });
}

/** A funding built again and again. */
export async function buildsKept(): Promise<Row> {
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
  const charged = async () => {
    const text = 'select coalesce(sum(bytes), 0) as bytes from kept_replies';
    const [row] = await db.rows<{ bytes: string }>({ name: 'bench_charged', text, values: [] });
    return Number(row?.bytes);
  };
  const before = await charged();
  const { each, requests } = await bytesOfEach(db, work);
  const charge = ((await charged()) - before) / requests;
  const kept = Math.min(asked, Math.floor(mostKeptBytes(settings) / charge));
  return rowOf({
    bench: 'growth',
    row: `${what}, kept for a key (${Math.round(each)} bytes each, charged ${Math.round(charge)})`,
    value: (each * kept) / megabyte,
    unit: 'MB a day',
    limit: 600,
    bar: 1,
    is: 'atMost',
    against: `${kept} of ${asked} a day are kept; all were ${Math.round((each * asked) / megabyte)} MB`,
  });
}
