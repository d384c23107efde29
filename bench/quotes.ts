// Durable quotes over REST, each answered after its commit: against pgbench inserting one like row
// a transaction at the same concurrency into the same PostgreSQL, and on a large book against the
// same on a small one.

import type { Request } from './load.ts';
import { openPgbench } from './pgbench.ts';
import { alternating, atLeast, type Effort, type Row } from './report.ts';
import { type Account, loaded, rfqIdHead, type Stage } from './stage.ts';

const connections = 64;
const mostPerSecond = 15_000;

/** Half of ours on the usual book: a quarter of the time is the database's. */
const pgbenchBar = 0.5;
const largeBar = 0.85;

export async function benchQuotes(stage: Stage, { rounds, seconds }: Effort): Promise<Row[]> {
  const quoting = await openQuoting(stage, rounds + 1, seconds);
  const book = { rfqIdHead, rfqs: stage.volume.open };
  const peer = await openPgbench(stage, book, stage.takers[0]!.accountId);
  try {
    const [value, limit] = await alternating(rounds, quoting, () =>
      peer.inserts(connections, seconds),
    );
    return [
      atLeast(
        `quotes: POST /v1/rfqs/{id}/quotes ${on(stage)}, each a new thread with its event, committed first`,
        { value, unit: 'quotes/s', limit, bar: pgbenchBar },
        `pgbench inserting one like row a transaction, ${connections} at once`,
      ),
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
  const ours = await openQuoting(large, rounds + 1, seconds);
  const theirs = await openQuoting(usual, rounds + 1, seconds);
  const [value, limit] = await alternating(rounds, ours, theirs);
  const figure = { value, unit: 'quotes/s', limit, bar: largeBar };
  return atLeast(`quotes: the same ${on(large)}`, figure, `the same ${on(usual)}`);
}

const on = ({ volume: { open, ended } }: Stage) => `on ${open} open RFQs and ${ended} ended`;

/** A round of it gives quotes a second: every maker on every RFQ, a pair once. */
async function openQuoting(stage: Stage, runs: number, seconds: number) {
  const { open } = stage.volume;
  const makers: Account[] = [];
  const mostAsked = seconds * mostPerSecond;
  while (makers.length * open < runs * mostAsked) makers.push(await stage.account());
  let sentBefore = 0;
  const quoteOf = (pair: number): Request => ({
    method: 'POST',
    path: `/v1/rfqs/${stage.rfqId(pair % open)}/quotes`,
    key: makers[Math.floor(pair / open) % makers.length]!.key,
    body: '{"quoteAmount":"65000000"}',
  });
  return async (): Promise<number> => {
    const requests = Array.from({ length: mostAsked }, (_, at) => quoteOf(sentBefore + at));
    const { perSecond, sent } = await loaded(stage, {
      requests,
      connections,
      seconds,
      status: 201,
    });
    sentBefore += sent;
    return perSecond;
  };
}
