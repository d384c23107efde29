// The database restarts or has no connection to give, in the middle of a swap and under load:
// requests are answered 503, nothing is done twice or by halves, and swaps go on by themselves.

import assert from 'node:assert/strict';
import pg from 'pg';
import {
  agreed,
  deep,
  endsRight,
  isFunded,
  probe,
  run,
  runUntil,
  shows,
  until,
} from './faults/deals.ts';
import { startLoad } from './faults/load.ts';
import { onStage } from './faults/scenario.ts';

const scenario = onStage();

for (const [manner, signal, decisive] of [
  ['fast', 'SIGINT', false],
  ['immediate', 'SIGQUIT', false],
] as const) {
  scenario(
    { fault: `${manner} restart under load, twice`, where: 'database', decisive },
    `a database restarted (${manner}) in the middle of a swap and under load loses and doubles nothing`,
    async ({ stage, pair }) => {
      const deal = await agreed(stage, pair, 'SOL', 'ETH');
      const load = startLoad(stage, pair[1]);
      const restarted = async () => {
        const { pid } = stage.postgres;
        process.kill(pid, signal);
        await until('another postmaster', async () => stage.postgres.pid !== pid);
      };
      const sides = [
        run(stage, deal, 'maker'),
        run(stage, deal, 'taker', {
          onProgress: (progress) => {
            if (isFunded(progress) || deep('a')(progress)) restarts.push(restarted());
          },
        }),
      ];
      const restarts: Promise<void>[] = [];
      const ends = await Promise.all(sides);
      assert.ok(restarts.length > 0);
      await Promise.all(restarts);
      await endsRight(stage, deal, ends, 'received');
      const counts = await load.stop();
      return { meanwhile: `requests ${counts}`, end: 'both paid' };
    },
  );
}

scenario(
  { fault: 'no connection to be had', where: 'database', decisive: true },
  'while the database takes no connection requests are 503, and a swap goes on afterwards',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'SOL', 'ETH');
    await Promise.all([
      runUntil(stage, deal, 'taker', isFunded),
      runUntil(stage, deal, 'maker', ({ step }) => step === 'verified'),
    ]);
    const hogs: pg.Client[] = [];
    // Ours first: the market's connections are cut, and others take their places.
    stage.database.fail({ kind: 'cut' });
    for (;;) {
      const hog = new pg.Client({ connectionString: stage.postgres.url });
      hog.on('error', () => {});
      const error = await hog.connect().then(
        () => null,
        (failure: { code?: string }) => failure,
      );
      if (error !== null) {
        assert.equal(error.code, '53300');
        break;
      }
      hogs.push(hog);
    }
    stage.database.heal();
    try {
      await until('a request is refused', async () => {
        const { status, code, retryAfter } = await probe(stage, pair[0], `/v1/swaps/${deal.id}`);
        return status === 503 && code === 'unavailable' && retryAfter === '5';
      });
    } finally {
      await Promise.all(hogs.map((each) => each.end()));
    }
    await shows(deal, 'it is read again', () => true);
    const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
    await endsRight(stage, deal, ends, 'received');
    return { meanwhile: `${hogs.length} others connected; 503`, end: 'both paid' };
  },
);
