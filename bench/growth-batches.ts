// The bytes that one key leaves in a day that sends as many quotes as its budgets allow. Its taker
// has as many webhooks as there may be, and all of them refuse. It is counted by tables and indexes
// as they grow while the house does what it does: hands out, delivers, prunes and vacuums.

import { mostQuotesAtOnce } from '../core/limits.ts';
import type { Database } from '../server/db/database.ts';
import { storeOutcome } from '../server/db/deliveries.ts';
import { quotesOfRequest } from '../server/edge/budgets.ts';
import { ask, type Exchange, must } from '../server/edge/testing/exchange.ts';
import { account } from '../server/edge/testing/hands.ts';
import { bitcoinWallet, evmWallet } from '../server/edge/testing/signers.ts';
import { mostMessages } from '../server/market/bounds.ts';
import { prune } from '../server/market/prune.ts';
import { readSettings } from '../server/settings/config.ts';
import { retryAfterSeconds } from '../server/webhooks/deliver.ts';
import { handOut, handOutBatch, mostWaiting } from '../server/webhooks/hand-out.ts';
import { mostLogged, trimEvery } from '../server/webhooks/log-length.ts';
import { mostWebhooks, registerWebhook } from '../server/webhooks/register.ts';
import { atMost, type Row } from './report.ts';

const batchesADay = (readSettings({}).rateLimit * 1_440 * quotesOfRequest) / mostQuotesAtOnce;
const megabyte = 1_000_000;
/** In a minute, after which autovacuum comes; minutes that are not measured, and that are. */
const ofMinute = batchesADay / 1_440;
const minutes = { first: 3, measured: 4 } as const;
/** Of which deliveries are measured. */
const delivered = 4;
const rounds = 3;
/** As much as is kept of what a receiver answers. */
const refusal = 'x'.repeat(500);

type House = Exchange['edge']['deps'];

export async function batchesKept(exchange: Exchange): Promise<Row> {
  const { deps } = exchange.edge;
  const { takerId, send } = await pricing(exchange);
  // On threads that have as many prices as they remember.
  await send(mostMessages);
  const ofBatch = (await grown(deps, 'not', minutes, () => send(ofMinute))) / ofMinute;
  const events = ['quote.created'];
  const url = 'https://a.example/hook';
  const wanted = { accountId: takerId, url, events, known: events };
  await deps.db.transaction((tx) => registerWebhook(tx, deps, wanted));
  const each = delivered * mostQuotesAtOnce;
  const empty = await bytesOf(deps.db, '');
  await send(delivered);
  await handedOut(deps);
  const ofWaiting = ((await bytesOf(deps.db, '')) - empty) / each;
  const ofLogged =
    (await grown(deps, '', { first: 1, measured: rounds }, async () => {
      await refused(deps);
      await send(delivered);
      await handedOut(deps);
    })) / each;
  return rowOf({ ofBatch, ofLogged, ofWaiting });
}

/** Quotes of one maker on as many RFQs of one taker as a request may name. */
async function pricing(exchange: Exchange) {
  const { edge } = exchange;
  const taker = await account(edge, bitcoinWallet());
  const maker = await account(edge, evmWallet());
  const { userId: takerId } = must(await edge.call('GET', '/v1/me', { key: taker.key }));
  const rfqIds: string[] = [];
  for (let at = 0; at < mostQuotesAtOnce; at += 1) {
    rfqIds.push(must(await ask(exchange, taker.key, 'sell_base')).rfq.id);
  }
  let sent = 0;
  const sendOne = async () => {
    const quoteAmount = String(10n ** 40n + BigInt(sent) * 7_919_000_000_007n ** 2n);
    const body = { quotes: rfqIds.map((rfqId) => ({ rfqId, quoteAmount })) };
    const headers = { 'idempotency-key': String(sent).padStart(255, 'k') };
    sent += 1;
    const asked = { key: maker.key, body, headers };
    const { outcomes } = must(await edge.call('POST', '/v1/quotes', asked));
    if (outcomes.some(({ threadId }: { threadId?: string }) => threadId === undefined)) {
      throw new Error(`a quote of many was refused: ${JSON.stringify(outcomes[0])}`);
    }
  };
  const send = async (times: number) => {
    for (let at = 0; at < times; at += 1) await sendOne();
  };
  return { takerId, send };
}

/** Bytes that a minute of such work leaves in tables where room is used again. */
async function grown(
  deps: House,
  not: 'not' | '',
  { first, measured }: { readonly first: number; readonly measured: number },
  work: () => Promise<unknown>,
): Promise<number> {
  let before = 0;
  for (let at = 0; at < first + measured; at += 1) {
    if (at === first) before = await bytesOf(deps.db, not);
    await work();
    await handedOut(deps);
    await prune(deps);
    await vacuumed(deps.db);
  }
  return ((await bytesOf(deps.db, not)) - before) / measured;
}

type Weights = {
  readonly ofBatch: number;
  /** A delivery that was refused six times. */
  readonly ofLogged: number;
  readonly ofWaiting: number;
};

function rowOf({ ofBatch, ofLogged, ofWaiting }: Weights): Row {
  const requests = (batchesADay * ofBatch) / megabyte;
  const logged = (mostWebhooks * (mostLogged + trimEvery) * ofLogged) / megabyte;
  const waiting = (mostWebhooks * mostWaiting.answered * ofWaiting) / megabyte;
  const each = `${Math.round(ofBatch)} bytes each, ${Math.round(ofLogged)} a delivery`;
  return atMost(
    `growth: batches of ${mostQuotesAtOnce} quotes of a key, vacuumed (${each})`,
    { value: requests + logged + waiting, unit: 'MB a day', limit: 600, bar: 1 },
    `${batchesADay} a day: ${Math.round(requests)} MB; of ${mostWebhooks} webhooks` +
      ` ${Math.round(logged)} MB in their logs and ${Math.round(waiting)} MB that wait`,
  );
}

async function handedOut(deps: House): Promise<void> {
  while ((await handOut(deps)) === handOutBatch);
}

/** Every attempt of what waits, answered at length. */
async function refused({ db, now }: House): Promise<void> {
  const due = await db.rows<{ id: string; webhookId: string }>({
    name: 'bench_waiting',
    text: `select id, webhook_id as "webhookId" from deliveries where state = 'waiting'`,
    values: [],
  });
  const last = retryAfterSeconds.length + 1;
  for (let attempt = 1; attempt <= last; attempt += 1) {
    for (const each of due) {
      const at = new Date(now());
      const came = { startedAt: at, endedAt: at, status: 500, error: null, answer: refusal };
      const nextAt = attempt === last ? null : at;
      await storeOutcome(db, { ...each, ...came, delivered: false, attempt, nextAt });
    }
  }
}

/** As autovacuum does. */
async function vacuumed(db: Database): Promise<void> {
  await db.rows({ name: 'bench_vacuum', text: 'vacuum', values: [] });
}

/** Of what is kept of deliveries, or of all else; with indexes. */
async function bytesOf(db: Database, not: 'not' | ''): Promise<number> {
  const [row] = await db.rows<{ sum: string }>({
    name: `bench_bytes_${not}`,
    text: `select sum(pg_total_relation_size(relid)) as sum from pg_stat_user_tables
      where ${not} relname in ('deliveries', 'delivery_attempts')`,
    values: [],
  });
  return Number(row?.sum);
}
