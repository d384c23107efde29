// The cost of a market on which nothing happens: statements a second, as PostgreSQL counts them,
// and processor time of the server and its PostgreSQL. Its four dev chains run in another process.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import { createLog } from '@parley/market/ports/log.ts';
import type { ChainSettings } from '@parley/market/settings/chains.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { startMarket } from '@parley/market/start/boot.ts';
import pg from 'pg';
import { bars } from './bars.ts';
import { flagsOfStart, startChild } from './children.ts';
import { isMiniature, usually } from './miniature.ts';
import { atMost, type Effort, inRounds, median, type Row } from './report.ts';
import { readyLine } from './start.ts';
import { ticksOf, ticksPerSecond } from './ticks.ts';

const launcher = fileURLToPath(new URL('../scripts/launch.mjs', import.meta.url));
const quiet = { info: () => {}, warn: () => {}, error: () => {} };
/** The work that a start brings along has ended by then. */
const settleMs = usually(20_000, 1);
/** Rare passes come too. */
const leastSeconds = usually(30, 2);

type Idle = { readonly statements: number; readonly processor: number };

export async function benchIdle({ rounds, seconds }: Effort, dev: string): Promise<Row[]> {
  const window = Math.max(leastSeconds, seconds);
  const dir = await mkdtemp(join(tmpdir(), 'parley-idle-'));
  const chains = startChild<typeof import('./idle-chains.ts')>('idle-chains.ts');
  try {
    const served = await chains.ask('start', dir, dev);
    const { url, pid, stop } = await countingPostgres(dir);
    try {
      const market = await marketOn(dir, url, served);
      try {
        await sleep(settleMs);
        const pids = [market.pid, pid];
        return rowsOf(await inRounds(rounds, () => measured(url, pids, window)), window);
      } finally {
        await market.stop();
      }
    } finally {
      await stop();
    }
  } finally {
    await chains.ask('end');
    await chains.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function rowsOf(all: readonly Idle[], window: number): Row[] {
  const rows = [
    [
      'statements',
      'statements of an idle market on four dev chains',
      'statements/s',
      bars.idle.statementsPerSecond,
    ],
    [
      'processor',
      'processor time of the server and its PostgreSQL meanwhile',
      '% of a core',
      bars.idle.processorPercent,
    ],
  ] as const;
  return rows.map(([key, row, unit, limit]) => {
    const value = median(all.map((each) => each[key]));
    return atMost(`idle: ${row}`, { value, unit, limit, bar: 1 }, `limit; ${window} s`);
  });
}

/** A PostgreSQL that counts every statement; it has to be started with the module for it. */
async function countingPostgres(dir: string) {
  const first = await startPostgres({ dir, log: quiet });
  await query(first.url, `alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await first.stop();
  const { url, stop } = await startPostgres({ dir, log: quiet });
  await query(url, 'create extension pg_stat_statements');
  const pid = Number(
    readFileSync(join(dir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0],
  );
  return { url, pid, stop };
}

async function query<R>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as R[];
  } finally {
    await client.end();
  }
}

async function marketOn(
  home: string,
  url: string,
  { chains, assets }: { readonly chains: readonly ChainSettings[]; readonly assets: object[] },
): Promise<{ readonly pid: number; stop(): Promise<unknown> }> {
  const keyed = chains.filter(({ family }) => family !== 'bitcoin');
  const keeper = await Promise.all(
    keyed.map(async ({ chain }) => {
      const keyFile = join(home, `${chain}.key`);
      await writeFile(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
      return { chain, keyFile, dailyCap: '1000000000', lowBalance: '0' };
    }),
  );
  const env = {
    ...process.env,
    PARLEY_HOME: home,
    PORT: '0',
    DATABASE_URL: url,
    PARLEY_CHAINS: JSON.stringify(chains),
    PARLEY_ASSETS: JSON.stringify(assets),
    PARLEY_KEEPER: JSON.stringify(keeper),
    // As `npm start` has it on dev chains.
    PARLEY_FOLLOW_INTERVAL_MS: '300',
    PARLEY_LOG_LEVEL: 'warn',
  };
  if (isMiniature) {
    const market = await startMarket(readSettings(env), createLog('warn'));
    return { pid: process.pid, stop: market.stop };
  }
  const args = [...flagsOfStart(), launcher, 'apps/market/main.ts', '--json'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await readyLine(child, ended);
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { pid: child.pid ?? 0, stop };
}

async function measured(url: string, pids: readonly number[], seconds: number): Promise<Idle> {
  const before = ticksOf(pids);
  await query(url, 'select pg_stat_statements_reset()');
  const began = performance.now();
  await sleep(seconds * 1_000);
  const took = (performance.now() - began) / 1_000;
  const rows = await query<{ query: string; calls: string }>(
    url,
    `select query, sum(calls) as calls from pg_stat_statements
      where query not like '%pg_stat_statements%' group by query order by calls desc`,
  );
  const statements = rows.reduce((sum, { calls }) => sum + Number(calls), 0) / took;
  return { statements, processor: ((ticksOf(pids) - before) / ticksPerSecond / took) * 100 };
}
