// The peer of single reads: pg alone, doing the one statement that matters.

import { connect, databaseLimits, type Statement } from '../server/db/database.ts';
import { swapById } from '../server/db/swaps.ts';
import { answerQuestions } from './children.ts';

export type Work = {
  readonly url: string;
  readonly concurrency: number;
  readonly seconds: number;
  readonly swapIds: readonly string[];
};

export type Worked = { readonly perSecond: number };

/** As many connections as the market has, as many reads under way as it is sent. */
async function readSwaps({ url, swapIds, concurrency, seconds }: Work): Promise<Worked> {
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
  return { perSecond };
}

async function counted(
  concurrency: number,
  seconds: number,
  once: () => Promise<void>,
): Promise<number> {
  let done = 0;
  const start = performance.now();
  const end = start + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < end) {
      await once();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return done / ((performance.now() - start) / 1_000);
}

answerQuestions(readSwaps);
