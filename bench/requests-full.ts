// Requests on a market that is full: pages of a hundred, batches of the most that one may hold, and
// one withdrawal of all that a maker has quoted.

import assert from 'node:assert/strict';
import { mostLevels, mostQuotesAtOnce, pageLimit } from '@parley/core/limits.ts';
import { mostWithdrawn } from '@parley/market/market/bounds.ts';
import { uuidv7 } from '@parley/market/ports/ids.ts';
import { insertAsset, swapBetween } from '@parley/market/settle/testing/rows.ts';
import {
  evm,
  must,
  newParty,
  type Party,
  type World,
} from '@parley/market/settle/testing/world.ts';
import { mostWebhooks } from '@parley/market/webhooks/register.ts';
import { usually } from './miniature.ts';

const page = usually(pageLimit.most, 5);
const atOnce = usually(mostQuotesAtOnce, 5);
const all = usually(mostWithdrawn, 5);
const baseAmount = '1000000';
const quoteAmount = '650000000';

/** All that stays from one round to the next. */
export type Full = {
  /** Has a page of swaps and all the webhooks that it may have, and quotes what others ask for. */
  readonly trader: Party;
  /** The makers of a page of levels, and of a page of quotes on one RFQ. */
  readonly makers: readonly Party[];
};

export async function fillMarket(world: World): Promise<Full> {
  const { deps, assets } = world;
  const trader = await newParty(world);
  const makers = await times(page, () => newParty(world));
  await times(page, (at) => {
    const address = `0x${(at + 1).toString(16).padStart(40, '0')}`;
    return insertAsset(deps, evm, address, null);
  });
  await times(usually(mostWebhooks - 1, 1), async (at) => {
    must(await trader.post('/v1/webhooks', { url: `https://127.0.0.1:9/${at}` }));
  });
  const terms = {
    direction: 'sell_base',
    base: assets.btc,
    quote: assets.usd,
    baseAmount: BigInt(baseAmount),
    quoteAmount: BigInt(quoteAmount),
  } as const;
  await times(page, (at) => {
    const { accountId: makerId } = makers[at] as Party;
    return swapBetween(deps, terms, { makerId, takerId: trader.accountId });
  });
  await endSwaps(world);
  return { trader, makers };
}

/** Settled, one every few hours, so that no chain is asked about them. */
async function endSwaps({ deps }: World): Promise<void> {
  const run = (text: string) => deps.db.rows({ name: '', text, values: [] });
  await run(`update swaps set status = 'counterparty_claimed', done = true, kept = true,
    due_at = null`);
  await run('update escrows set done = true, kept = true');
  await run(`update rfqs r set updated_at = now() - o.at * interval '6 hours'
    from (select id, row_number() over (order by id) as at from rfqs) o where o.id = r.id`);
}

/** Sends the batches; the result is what the questions name. A party is `measured` by its copy. */
export async function askFull(
  world: World,
  { trader, makers }: Full,
  measured: (party: Party) => Party,
  named: <B extends object>(what: string, body: B) => B,
): Promise<Readonly<Record<string, string>>> {
  const { assets } = world;
  const asks = measured(trader);
  const ids = { baseAssetId: assets.btc.id, quoteAssetId: assets.usd.id };
  const order = { direction: 'sell_base', ...ids, baseAmount, ttlSeconds: 600 };
  const { rfq } = must(await asks.post('/v1/rfqs', order));
  let thread = '';
  for (const maker of makers) {
    const quoted = must(await maker.post(`/v1/rfqs/${rfq.id}/quotes`, { quoteAmount }));
    thread = quoted.thread.id;
  }
  for (const maker of makers.slice(0, Math.ceil(page / mostLevels))) {
    const levels = Array.from({ length: mostLevels }, () => {
      return { direction: 'sell_base', baseAmount, quoteAmount, validForSeconds: 600 };
    });
    const body = named(`${mostLevels} levels`, { ...ids, levels });
    must(await measured(maker).post('/v1/levels', body));
  }
  const open = await insertRfqs(world, all);
  for (let from = 0; from < open.length; from += atOnce) {
    const batch = open.slice(from, from + atOnce);
    const quotes = batch.map((rfqId) => ({ rfqId, quoteAmount }));
    const body = named(`${atOnce} quotes`, { quotes });
    const { outcomes } = must(await asks.post('/v1/quotes', body));
    assert.ok(outcomes.every(({ status }: { status: number }) => status === 201));
  }
  const { swaps } = must(await trader.get('/v1/swaps?limit=1'));
  const pair = `baseAssetId=${ids.baseAssetId}&quoteAssetId=${ids.quoteAssetId}`;
  return { rfq: rfq.id, thread, swap: swaps[0].id, pair };
}

export async function withdrawAll(
  asks: Party,
  named: <B extends object>(what: string, body: B) => B,
): Promise<void> {
  const body = named(`${all} quotes`, {});
  const { withdrawn } = must(await asks.post('/v1/quotes/withdraw', body));
  assert.equal(withdrawn, all);
}

/** Open RFQs of somebody else. */
async function insertRfqs(world: World, count: number): Promise<string[]> {
  const { deps, assets } = world;
  const { accountId } = await newParty(world);
  const now = deps.now();
  const ids = Array.from({ length: count }, () => uuidv7(now, deps.randomBytes));
  await deps.db.rows({
    name: 'bench_rfqs',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount,
        quote_asset_id, visibility, status, created_at, expires_at, updated_at)
      select id, $2, 'sell_base', $3, $4, $5, 'public', 'open', $6, $7, $6
      from unnest($1::uuid[]) id`,
    values: [
      ids,
      accountId,
      assets.btc.id,
      baseAmount,
      assets.usd.id,
      new Date(now),
      new Date(now + 600_000),
    ],
  });
  return ids;
}

async function times<T>(count: number, once: (at: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < count; at += 1) all.push(await once(at));
  return all;
}
