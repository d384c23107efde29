// The disk of the market and of its own database is full, in the middle of a swap: what needs space
// is answered 503, nothing is done by halves, and when there is space again all goes on by itself.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { runningPostgres } from '../host/postgres/postgres.ts';
import { agreed, endsRight, isFunded, run, runUntil, until } from './faults/deals.ts';
import { startLoad } from './faults/load.ts';
import { onStage } from './faults/scenario.ts';
import { fill, insideOf, onSmallDisk } from './faults/small-disk.ts';

const disk = onSmallDisk('220m');
const scenario =
  disk === null ? null : onStage({ DATABASE_URL: '', PARLEY_TEST_SHELL: JSON.stringify(disk) });

if (disk === null) {
  test('a full disk needs a small one', () => {
    const why = 'No small disk can be mounted here: neither root nor user namespaces';
    assert.notEqual(process.env.PARLEY_SMALL_DISK, 'required', `required, and not tested: ${why}`);
    console.log(`NOT TESTED: a full disk. ${why}`);
  });
}

for (const [what, isLogFull, decisive] of [
  ['full for tables', false, false],
  ['full for its log too, the database killed', true, true],
] as const) {
  scenario?.(
    { fault: `disk ${what}`, where: 'PARLEY_HOME, embedded database', decisive },
    `with its disk ${what} the market answers 503, and goes on by itself when there is space`,
    async ({ stage, pair }) => {
      const { market } = stage.servers[0] ?? assert.fail('no server');
      const home = insideOf(market.child.pid ?? 0, market.home);
      const deal = await agreed(stage, pair, 'SOL', 'ETH');
      await Promise.all([
        runUntil(stage, deal, 'taker', isFunded),
        runUntil(stage, deal, 'maker', ({ step }) => step === 'verified'),
      ]);
      const free = await fill(home);
      const load = startLoad(stage, pair[1]);
      try {
        if (isLogFull) {
          await useUpLog(home);
          // And cannot start again either: not even its note of who it is finds space.
          const note = await readFile(join(home, 'postgres/data/postmaster.pid'), 'utf8');
          process.kill(Number(note.split('\n')[0]), 'SIGKILL');
        }
        const refused = load.counts.get(503) ?? 0;
        await until('requests are refused', async () => (load.counts.get(503) ?? 0) >= refused + 5);
      } finally {
        await free();
      }
      const made = load.counts.get(201) ?? 0;
      await until(
        'requests are served',
        async () => (load.counts.get(201) ?? 0) > made + 5,
        60_000,
      );
      const ends = await Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
      await endsRight(stage, deal, ends, 'received');
      return { meanwhile: `requests ${await load.stop()}`, end: 'both paid' };
    },
  );
}

/** What was written ahead goes on in new files, for which there is no space: the database ends. */
async function useUpLog(home: string): Promise<void> {
  const url = await runningPostgres(home);
  assert.ok(url, await readFile(join(home, 'postgres', 'server.log'), 'utf8'));
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.query('create table if not exists ballast (text text)').catch(() => {});
  for (let tries = 0; tries < 40; tries += 1) {
    const ended = await client
      .query(`select pg_logical_emit_message(false, 'ballast', repeat('x', 4000000))`)
      .then(
        () => false,
        () => true,
      );
    if (ended) break;
  }
  await client.end().catch(() => {});
}
