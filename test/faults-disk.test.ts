// The disk of the market and of its own database is full, in the middle of a swap: what needs space
// is answered 503, nothing is done by halves, and when there is space again all goes on by itself.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { runningPostgres } from '../host/postgres/postgres.ts';
import { startLoad } from './faults/load.ts';
import { onStage } from './faults/scenario.ts';
import { fill, insideOf, onSmallDisk } from './faults/small-disk.ts';
import { agreed, endsRight, finish, fund, until } from './support/deals.ts';

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

for (const [what, when] of [
  ['full for tables', 'soak'],
  ['full for its log too, the database killed', 'decisive'],
] as const) {
  scenario?.(
    when,
    `with its disk ${what} the market answers 503, and goes on by itself when there is space`,
    async ({ stage, pair }) => {
      const { market } = stage.servers[0] ?? assert.fail('no server');
      const home = insideOf(market.child.pid ?? 0, market.home);
      const deal = await agreed(stage, pair, 'SOL', 'ETH');
      await fund(stage, deal, 'initiator');
      const free = await fill(home);
      const load = startLoad(stage, pair[1]);
      try {
        if (when === 'decisive') {
          await useUpLog(home);
          // And cannot start again either: not even its note of who it is finds space.
          await killDatabase(home);
        }
        const refused = load.counts.get(503) ?? 0;
        await until('requests are refused', async () => (load.counts.get(503) ?? 0) >= refused + 5);
      } finally {
        await free();
      }
      const made = load.counts.get(201) ?? 0;
      await until('requests are served', async () => (load.counts.get(201) ?? 0) > made + 5);
      await endsRight(stage, deal, await finish(stage, deal), 'received');
      await load.stop();
    },
  );
}

/**
 * What was written ahead goes on in new files, for which there is no space: the database ends. The
 * market may have written the last of it: then there is no database to connect to.
 */
async function useUpLog(home: string): Promise<void> {
  const url = await runningPostgres(home);
  if (url === null) return;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    for (let tries = 0; tries < 40; tries += 1) {
      await client.query(`select pg_logical_emit_message(false, 'x', repeat('x', 4000000))`);
    }
  } catch {
    // It has ended.
  }
  await client.end().catch(() => {});
}

/** Whichever of those that are started again and again is there just now, if any. */
async function killDatabase(home: string): Promise<void> {
  const note = await readFile(join(home, 'postgres/data/postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(note.split('\n')[0]);
  if (pid > 0) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    }
  }
}
