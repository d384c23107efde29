// Webhook deliveries a second to a hundred receivers of which one hangs, against none that hangs;
// and how soon an event that was committed is at its receiver.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@parley/market/db/database.ts';
import { insertOutbox } from '@parley/market/db/outbox.ts';
import { uuidv7 } from '@parley/market/ports/ids.ts';
import { registerWebhook } from '@parley/market/webhooks/register.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { insertTrader } from '@parley/verify/test/support/trading.ts';
import { bars } from './bars.ts';
import { type Child, startChild } from './children.ts';
import { isMiniature, usually, waited } from './miniature.ts';
import { alternating, atLeast, atMost, type Effort, median, p99, type Row } from './report.ts';
import { freshDatabase } from './stage.ts';
import { benchChainEvents } from './webhooks-chain.ts';

const receivers = usually(100, 3);
/** More than are delivered in a round, for each receiver. */
const mostPerSecond = usually(30, 1_000);
const eventsPerSecond = 20;
const { soonMs, oneSlow } = bars.webhooks;
const turns = usually(3, 1);

type Side = Child<typeof import('./webhooks-sides.ts')>;
type Stage = {
  readonly db: Database;
  readonly deps: TestDeps;
  readonly accounts: readonly string[];
  readonly market: Side;
  readonly receiver: Side;
};

export async function benchWebhooks(effort: Effort): Promise<Row[]> {
  const { url: databaseUrl, db, stop } = await freshDatabase();
  const market: Side = startChild('webhooks-sides.ts');
  const receiver: Side = startChild('webhooks-sides.ts');
  try {
    const encryptionKey = '11'.repeat(32);
    const deps = testDeps({ db, settings: { encryptionKey, webhookNetworks: ['127.0.0.1'] } });
    const { url, ca } = await receiver.ask('receive');
    await market.ask('connect', databaseUrl, ca, encryptionKey);
    const accounts = await insertReceivers(deps, url);
    const stage = { db, deps, accounts, market, receiver };
    return [
      await throughput(stage, effort),
      await latency(stage, effort),
      await benchChainEvents(receiver, { url, ca }, effort.rounds),
    ];
  } finally {
    await market.stop();
    await receiver.stop();
    await stop();
  }
}

/** An account each, its webhook at a path of its own. */
async function insertReceivers(deps: TestDeps, url: string): Promise<string[]> {
  const accounts: string[] = [];
  for (let at = 0; at < receivers; at += 1) {
    const { accountId } = await insertTrader(deps, ['read'], []);
    const wanted = { accountId, url: new URL(`/${at}`, url).href, events: [], known: [] };
    await deps.db.transaction((tx) => registerWebhook(tx, deps, wanted));
    accounts.push(accountId);
  }
  return accounts;
}

/** Many short turns: the other work of the machine falls on both alike. */
async function throughput(stage: Stage, effort: Effort): Promise<Row> {
  const rounds = effort.rounds * turns;
  const seconds = effort.seconds / turns;
  const [value, limit] = await alternating(
    rounds,
    () => delivered(stage, ['/0'], seconds),
    () => delivered(stage, [], seconds),
  );
  const name = `webhooks: deliveries, one of ${receivers} receivers never answers`;
  return atLeast(
    name,
    { value, unit: 'deliveries/s', limit, bar: oneSlow },
    'every receiver answers',
  );
}

/** So many a second, with more events waiting than can be delivered in that time. */
async function delivered(stage: Stage, slow: readonly string[], seconds: number): Promise<number> {
  const { deps, accounts, market, receiver } = stage;
  await clear(stage);
  const each = Math.ceil(seconds * mostPerSecond);
  for (let at = 0; at < each; at += 1) await happens(deps, accounts);
  await receiver.ask('slow', slow);
  const began = Date.now();
  await market.ask('deliver', true);
  await waited(seconds * 1_000, () => heardAny(receiver));
  const { answered, arrivals } = await receiver.ask('heard');
  // A busy machine starts it sooner or later, which is nothing of the one that hangs.
  const perSecond = answered / ((Date.now() - (arrivals[0] ?? began)) / 1_000);
  await market.ask('deliver', false);
  if (answered >= (receivers - slow.length) * each) throw new Error('nothing was left to deliver');
  return perSecond;
}

const heardAny = async (receiver: Side) => (await receiver.ask('heard')).answered > 0;

/** One event for each of these accounts, in one transaction. */
async function happens(deps: TestDeps, accounts: readonly string[]): Promise<void> {
  const at = new Date(deps.now());
  const swapId = uuidv7(deps.now(), deps.randomBytes);
  const payload = { swapId, status: 'initiator_funded' };
  const events = accounts.map((accountId) => ({ topic: 'swap.funded', accountId, payload, at }));
  await deps.db.transaction((tx) => insertOutbox(tx, events));
}

async function clear({ db }: Stage): Promise<void> {
  for (const text of [
    'truncate outbox, deliveries cascade',
    'update webhooks set waiting = 0, last_milliseconds = 5',
    'vacuum analyze webhooks',
    // The writes of the round before are not left for this one to pay.
    ...(isMiniature ? [] : ['checkpoint']),
  ]) {
    await db.rows({ name: `bench_${text.slice(0, 12)}`, text, values: [] });
  }
}

async function latency(stage: Stage, { rounds, seconds }: Effort): Promise<Row> {
  const { deps, accounts, market, receiver } = stage;
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await clear(stage);
    await receiver.ask('slow', ['/0']);
    await market.ask('deliver', true);
    const count = Math.ceil(seconds * eventsPerSecond);
    for (let at = 0; at < count; at += 1) {
      await happens(deps, [accounts[at % receivers]!]);
      await sleep(1_000 / eventsPerSecond);
    }
    await waited(2 * soonMs, () => heardAny(receiver));
    const { milliseconds } = await receiver.ask('heard');
    await market.ask('deliver', false);
    figures.push(p99(milliseconds));
  }
  return atMost(
    `webhooks: event written -> at its receiver, p99 at ${eventsPerSecond}/s, one of ${receivers} hangs`,
    { value: median(figures), unit: 'ms', limit: soonMs, bar: 1 },
    'the limit',
  );
}
