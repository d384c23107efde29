// Durable quotes over REST, each answered after its commit, against pgbench inserting one like row
// a transaction at the same concurrency into the same PostgreSQL.

import type { Loaded, Request } from './load.ts';
import { openPgbench } from './pgbench.ts';
import { alternating, type Effort } from './reads.ts';
import { type Row, rowOf } from './report.ts';
import { type Account, rfqIdHead, type Stage } from './stage.ts';

const connections = 64;
const mostPerSecond = 15_000;

export async function benchQuotes(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const runs = rounds + 1;
  const pairs = runs * seconds * mostPerSecond;
  const makers: Account[] = [];
  while (makers.length * stage.rfqIds.length < pairs) makers.push(await stage.account());
  const book = { rfqIdHead, rfqs: stage.rfqIds.length };
  const peer = await openPgbench(stage, book, stage.takers[0]!.accountId);
  let ours = 0;
  try {
    const [value, limit] = await alternating(
      rounds,
      async () => {
        const requests = quotesFrom(stage, makers, ours, seconds * mostPerSecond);
        const asked = { port: stage.port, connections, seconds, requests, from: 0 };
        const { perSecond, sent, statuses } = await stage.loader.ask<Loaded>(asked);
        ours += sent;
        if (Object.keys(statuses).some((each) => each !== '201')) {
          throw new Error(`answers by status: ${JSON.stringify(statuses)}`);
        }
        return perSecond;
      },
      () => peer.inserts(connections, seconds),
    );
    return [
      rowOf({
        bench: 'quotes',
        row: 'POST /v1/rfqs/{id}/quotes, each a new thread with its event, committed first',
        value,
        unit: 'quotes/s',
        limit,
        bar: 0.5,
        is: 'atLeast',
        against: `pgbench inserting one like row a transaction, ${connections} at once`,
      }),
    ];
  } finally {
    await peer.stop();
  }
}

/** The next requests: every maker on every RFQ, a pair once. */
function quotesFrom(
  { rfqIds }: Stage,
  makers: readonly Account[],
  from: number,
  count: number,
): Request[] {
  return Array.from({ length: count }, (_, index) => {
    const pair = from + index;
    const maker = makers[Math.floor(pair / rfqIds.length) % makers.length]!;
    return {
      method: 'POST',
      path: `/v1/rfqs/${rfqIds[pair % rfqIds.length]}/quotes`,
      key: maker.key,
      body: '{"quoteAmount":"65000000"}',
    };
  });
}
