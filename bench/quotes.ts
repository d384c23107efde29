// Durable quotes over REST, each answered after its commit, against one like row a transaction.
//
// The peer is what pgbench does, by pg: the embedded PostgreSQL comes without pgbench. A connection
// each, one insert into a table like threads with its indexes, the same durability.

import { startChild } from './children.ts';
import type { Worked } from './database.ts';
import type { Loaded, Request } from './load.ts';
import { alternating, type Effort } from './reads.ts';
import { type Row, rowOf } from './report.ts';
import type { Account, Stage } from './stage.ts';

const connections = 64;
const mostPerSecond = 15_000;

export async function benchQuotes(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const runs = rounds + 1;
  const pairs = runs * seconds * mostPerSecond;
  const makers: Account[] = [];
  const peers: string[] = [];
  while (makers.length * stage.rfqIds.length < pairs) {
    makers.push(await stage.account());
    // The peer is faster at times: it gets pairs for twice the rate.
    peers.push((await stage.account()).accountId, (await stage.account()).accountId);
  }
  const peer = startChild('database.ts');
  let ours = 0;
  let theirs = 0;
  try {
    const [value, limit] = await alternating(
      rounds,
      async () => {
        const requests = quotesFrom(stage, makers, ours, seconds * mostPerSecond);
        const asked = { port: stage.port, connections, seconds, requests, from: 0 };
        const { perSecond, sent, statuses } = await stage.loader.ask<Loaded>(asked);
        ours += sent;
        if (Object.keys(statuses).some((each) => each !== '201' && each !== '200')) {
          throw new Error(`answers by status: ${JSON.stringify(statuses)}`);
        }
        return perSecond;
      },
      async () => {
        const work = {
          url: stage.url,
          concurrency: connections,
          seconds,
          rfqIds: stage.rfqIds,
          makerIds: peers,
          takerId: stage.takers[0]!.accountId,
          from: theirs,
        };
        const { perSecond, next } = await peer.ask<Worked>(work);
        theirs = next;
        return perSecond;
      },
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
        against: `pg inserting one like row a transaction, ${connections} at once`,
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
