// The disk of the market and of its own database is full, for tables and for the log, in the middle
// of a swap: a request that needs space is answered 503, and all goes on by itself when there is
// space again.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runningPostgres } from '@parley/host/postgres/postgres.ts';
import pg from 'pg';
import { newCustomer } from './support/customers.ts';
import {
  agreed,
  amounts,
  endsRight,
  finish,
  fund,
  type Pair,
  probe,
  until,
} from './support/deals.ts';
import { fill, insideOf, onSmallDisk } from './support/small-disk.ts';
import { type Stage, sharedChains, startStage } from './support/stage.ts';

const disk = onSmallDisk('220m');
const limits = { timeout: 235_000 };

if (disk === null) {
  test('a full disk needs a small one', () => {
    const why = 'No small disk can be mounted here: neither root nor user namespaces';
    assert.notEqual(process.env.PARLEY_SMALL_DISK, 'required', `required, and not tested: ${why}`);
    console.log(`NOT TESTED: a full disk. ${why}`);
  });
} else {
  const chains = sharedChains();
  test(
    'with its disk full and its database killed the market answers 503, and goes on by itself when there is space',
    limits,
    async () => {
      const stage = await startStage({ chains: await chains(), shell: disk });
      try {
        await swapOnAFullDisk(stage);
      } finally {
        await stage.close();
      }
    },
  );
}

async function swapOnAFullDisk(stage: Stage): Promise<void> {
  const { market } = await stage.startServer();
  const pair: Pair = [await newCustomer(stage, 'Ann'), await newCustomer(stage, 'Ben')];
  const home = insideOf(market.child.pid ?? 0, market.home);
  const deal = await agreed(stage, pair, 'SOL', 'ETH');
  await fund(stage, deal, 'initiator');
  const [{ assets }, maker] = pair;
  const wanted = {
    direction: 'sell_base',
    baseAssetId: assets.ETH.id,
    baseAmount: String(amounts.ETH),
    quoteAssetId: assets.SOL.id,
    ttlSeconds: 600,
  };
  const asked = () => probe(stage, maker, '/v1/rfqs', wanted);
  const free = await fill(home);
  try {
    await useUpLog(home);
    // It cannot start again either: its note of who it is finds no space.
    await killDatabase(home);
    await until('a request is refused', async () => {
      const { status, code, retryAfter } = await asked();
      assert.ok([201, 503].includes(status), `${status} ${code}`);
      return status === 503 && code === 'unavailable' && retryAfter === '5';
    });
  } finally {
    await free();
  }
  await until('a request is served', async () => {
    const { status, code } = await asked();
    if (status === 201) return true;
    // An error that lasts names its cause.
    throw new Error(`${status} ${code}; the market says: ${market.log().slice(-2_000)}`);
  });
  await endsRight(stage, deal, await finish(stage, deal), 'received');
}

/**
 * The log goes on in new files, for which there is no space: the database ends. The market may have
 * written the last of it: then there is no database to connect to.
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
