// The peer of single reads: pg alone, doing the one statement that matters.

import { connect, databaseLimits, type Statement } from '@parley/market/db/database.ts';
import { swapById } from '@parley/market/db/swaps.ts';
import { answerQuestions } from './children.ts';
import { perSecond } from './report.ts';

type Work = {
  readonly url: string;
  readonly concurrency: number;
  readonly seconds: number;
  readonly swapIds: readonly string[];
};

/** As many connections as the market has, as many reads under way as it is sent. */
async function readSwaps({ url, swapIds, concurrency, seconds }: Work): Promise<number> {
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
  const made = await perSecond(concurrency, seconds, () =>
    db.rows({ ...statement!, values: [swapIds[at++ % swapIds.length]] }),
  );
  await db.close();
  return made;
}

export const answers = { readSwaps };

answerQuestions(answers);
