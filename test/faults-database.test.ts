// The database restarts or has no connection to give, in the middle of a swap and under load:
// requests are answered 503, nothing is done twice or by halves, and swaps go on by themselves.

import assert from 'node:assert/strict';
import pg from 'pg';
import { startLoad } from './faults/load.ts';
import { onStage } from './faults/scenario.ts';
import {
  agreed,
  deep,
  endsRight,
  finish,
  fund,
  isFunded,
  probe,
  run,
  shows,
  until,
} from './support/deals.ts';

const scenario = onStage();

for (const [manner, signal] of [
  ['fast', 'SIGINT'],
  ['immediate', 'SIGQUIT'],
] as const) {
  scenario(
    'soak',
    `a database restarted (${manner}) in the middle of a swap and under load loses and doubles nothing`,
    async ({ stage, pair }) => {
      const deal = await agreed(stage, pair, 'SOL', 'ETH');
      const load = startLoad(stage, pair[1]);
      const { postgres } = stage;
      assert.ok(postgres);
      const restarts: Promise<void>[] = [];
      const restarted = async () => {
        const { pid } = postgres;
        process.kill(pid, signal);
        await until('another postmaster', async () => postgres.pid !== pid);
      };
      const ends = await Promise.all([
        run(stage, deal, 'maker'),
        run(stage, deal, 'taker', {
          onProgress: (progress) => {
            if (isFunded(progress) || deep('a')(progress)) restarts.push(restarted());
          },
        }),
      ]);
      assert.ok(restarts.length > 0);
      await Promise.all(restarts);
      await endsRight(
        stage,
        deal,
        ends.map(({ end }) => end),
        'received',
      );
      await load.stop();
    },
  );
}

scenario(
  'decisive',
  'while the database takes no connection requests are 503, and a swap goes on afterwards',
  async ({ stage, pair }) => {
    const deal = await agreed(stage, pair, 'SOL', 'ETH');
    await fund(stage, deal, 'initiator');
    const hogs: pg.Client[] = [];
    // Ours first: the market's connections are cut, and others take their places.
    stage.database.fail({ kind: 'cut' });
    for (;;) {
      const hog = new pg.Client({ connectionString: stage.postgres?.url });
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
    await endsRight(stage, deal, await finish(stage, deal), 'received');
  },
);
