// The peer of single reads and of quotes: pg alone, doing the one statement that matters.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { connect, databaseLimits, type Statement } from '../server/db/database.ts';
import { swapById } from '../server/db/swaps.ts';
import { uuidv7 } from '../server/ids.ts';
import { answerQuestions } from './children.ts';

export type Work = SwapReads | ThreadInserts;

type SwapReads = {
  readonly url: string;
  readonly concurrency: number;
  readonly seconds: number;
  readonly swapIds: readonly string[];
};

type ThreadInserts = Omit<SwapReads, 'swapIds'> & {
  readonly rfqIds: readonly string[];
  readonly makerIds: readonly string[];
  readonly takerId: string;
  /** Pairs of RFQ and maker that were used before. */
  readonly from: number;
};

export type Worked = { readonly perSecond: number; readonly next: number };

function work(asked: Work): Promise<Worked> {
  return 'swapIds' in asked ? readSwaps(asked) : insertThreads(asked);
}

/** As many connections as the market has, as many reads under way as it is sent. */
async function readSwaps({ url, swapIds, concurrency, seconds }: SwapReads): Promise<Worked> {
  let statement: Statement | undefined;
  await swapById(
    {
      rows: async (given) => {
        statement = given;
        return [];
      },
    },
    swapIds[0]!,
  );
  const db = connect(url, databaseLimits);
  let at = 0;
  const perSecond = await counted(concurrency, seconds, async () => {
    await db.rows({ ...statement!, values: [swapIds[at++ % swapIds.length]] });
  });
  await db.close();
  return { perSecond, next: at };
}

/** What pgbench would do: a connection each, one row a transaction, committed to disk. */
async function insertThreads(asked: ThreadInserts): Promise<Worked> {
  const { url, concurrency, seconds, rfqIds, makerIds, takerId } = asked;
  const pool = new pg.Pool({ connectionString: url, max: concurrency });
  // Without foreign keys: their row locks on the one taker would slow the peer down.
  await pool.query('create table if not exists bench_threads (like threads including indexes)');
  const clients = await Promise.all(Array.from({ length: concurrency }, () => pool.connect()));
  const message = JSON.stringify([{ by: 'maker', quoteAmount: '65000000', at: new Date() }]);
  let at = asked.from;
  const perSecond = await counted(concurrency, seconds, async (worker) => {
    const now = Date.now();
    const pair = at++;
    const makerId = makerIds[Math.floor(pair / rfqIds.length)];
    if (makerId === undefined) throw new Error('out of pairs: fewer seconds or more makers');
    await clients[worker]!.query({
      name: 'insert',
      text: `insert into bench_threads (id, rfq_id, maker_id, taker_id, status, quote_amount,
          proposed_by, messages, created_at, updated_at)
        values ($1, $2, $3, $4, 'open', '65000000', 'maker', $5, $6, $6)`,
      values: [
        uuidv7(now, randomBytes),
        rfqIds[pair % rfqIds.length],
        makerId,
        takerId,
        message,
        new Date(now),
      ],
    });
  });
  for (const each of clients) each.release();
  await pool.end();
  return { perSecond, next: at };
}

async function counted(
  concurrency: number,
  seconds: number,
  once: (worker: number) => Promise<void>,
): Promise<number> {
  let done = 0;
  const start = performance.now();
  const end = start + seconds * 1_000;
  const loop = async (worker: number) => {
    while (performance.now() < end) {
      await once(worker);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => loop(worker)));
  return done / ((performance.now() - start) / 1_000);
}

answerQuestions(work);
