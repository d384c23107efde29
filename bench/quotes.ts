// Durable quotes over REST, each answered after its commit: against pgbench inserting one like row
// a transaction at the same concurrency into the same PostgreSQL, and on a large book against the
// same on a small one.

import type { Loaded, Request } from './load.ts';
import { openPgbench } from './pgbench.ts';
import { alternating, type Effort } from './reads.ts';
import { type Row, rowOf } from './report.ts';
import { type Account, rfqIdHead, type Stage } from './stage.ts';

const connections = 64;
const mostPerSecond = 15_000;

/** Half of ours on the usual book: a quarter of the time is the database's. */
const pgbenchBar = 0.5;
const largeBar = 0.85;

type Quoting = {
  /** Quotes a second. */
  round(): Promise<number>;
};

export async function benchQuotes(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const quoting = await openQuoting(stage, rounds + 1, seconds);
  const book = { rfqIdHead, rfqs: stage.volume.open };
  const peer = await openPgbench(stage, book, stage.takers[0]!.accountId);
  try {
    const [value, limit] = await alternating(rounds, quoting.round, () =>
      peer.inserts(connections, seconds),
    );
    return [
      rowOf({
        bench: 'quotes',
        row: `POST /v1/rfqs/{id}/quotes ${on(stage)}, each a new thread with its event, committed first`,
        value,
        unit: 'quotes/s',
        limit,
        bar: pgbenchBar,
        is: 'atLeast',
        against: `pgbench inserting one like row a transaction, ${connections} at once`,
      }),
    ];
  } finally {
    await peer.stop();
  }
}

/** The same quotes on two books. */
export async function benchQuotesOfLarge(
  large: Stage,
  usual: Stage,
  { rounds, seconds }: Effort,
): Promise<Row> {
  const [ours, theirs] = [
    await openQuoting(large, rounds + 1, seconds),
    await openQuoting(usual, rounds + 1, seconds),
  ];
  const [value, limit] = await alternating(rounds, ours.round, theirs.round);
  return rowOf({
    bench: 'quotes',
    row: `the same ${on(large)}`,
    value,
    unit: 'quotes/s',
    limit,
    bar: largeBar,
    is: 'atLeast',
    against: `the same ${on(usual)}`,
  });
}

const on = ({ volume: { open, ended } }: Stage) => `on ${open} open RFQs and ${ended} ended`;

async function openQuoting(stage: Stage, runs: number, seconds: number): Promise<Quoting> {
  const pairs = runs * seconds * mostPerSecond;
  const makers: Account[] = [];
  while (makers.length * stage.volume.open < pairs) makers.push(await stage.account());
  let sentBefore = 0;
  return {
    round: async () => {
      const requests = quotesFrom(stage, makers, sentBefore, seconds * mostPerSecond);
      const asked = { port: stage.port, connections, seconds, requests, from: 0 };
      const { perSecond, sent, statuses } = await stage.loader.ask<Loaded>(asked);
      sentBefore += sent;
      if (Object.keys(statuses).some((each) => each !== '201')) {
        throw new Error(`answers by status: ${JSON.stringify(statuses)}`);
      }
      return perSecond;
    },
  };
}

/** The next requests: every maker on every RFQ, a pair once. */
function quotesFrom(
  { volume, rfqId }: Stage,
  makers: readonly Account[],
  from: number,
  count: number,
): Request[] {
  return Array.from({ length: count }, (_, index) => {
    const pair = from + index;
    return {
      method: 'POST',
      path: `/v1/rfqs/${rfqId(pair % volume.open)}/quotes`,
      key: makers[Math.floor(pair / volume.open) % makers.length]!.key,
      body: '{"quoteAmount":"65000000"}',
    };
  });
}
