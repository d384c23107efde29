// `npm run soak -- trade`: `parley trade` on a market with a maker, killed at random moments and run
// again until it ends: trades without a name, then a file of them. Each must be one swap.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownMarket } from '@parley/dev/demo/market.ts';
import { newLog, startMaker } from '../support/maker.ts';

const main = join(import.meta.dirname, '../../../packages/cli/main.ts');
const trades = 12;
const rows = 12;
/** So often one is killed, at most so late; the run after that may end. */
const killsEach = 5;
const mostKillMs = 9_000;
const mostRuns = 20;

type Said = { readonly code: number | null; readonly out: string; readonly err: string };

const work = await mkdtemp(join(tmpdir(), 'parley-trade-soak-'));
const market = await ownMarket();
const taken = join(work, 'taker');
await mkdir(taken);
let kills = 0;

/** `killMs`: when it is killed; else it ends by itself. */
function parley(args: readonly string[], killMs: number | null = null): Promise<Said> {
  const { XDG_CONFIG_HOME: _, XDG_DATA_HOME: __, ...rest } = process.env;
  const env = { ...rest, HOME: taken };
  const child = spawn(process.execPath, [main, ...args], { cwd: taken, env });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk;
  });
  const timer = killMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      if (code === null) kills += 1;
      resolve({ code, ...said });
    });
  });
}

async function done(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await parley(args);
  assert.equal(code, 0, `parley ${args.join(' ')}: ${err}`);
  return out;
}

async function swaps(): Promise<number> {
  const all = JSON.parse(await done('swaps', '--json')) as { swaps: { is: string }[] };
  assert.ok(all.swaps.every(({ is }) => is === 'received'));
  return all.swaps.length;
}

/** Run again, and killed again, until it ends. */
async function untilDone(...args: readonly string[]): Promise<void> {
  for (let run = 1; run <= mostRuns; run += 1) {
    const { code, err } = await parley(args, run > killsEach ? null : Math.random() * mostKillMs);
    if (code === 0) return;
    // A price may have ended between two runs: nothing was agreed then.
    if (code !== null && code !== 10) assert.fail(`it ended with ${code}: ${err}`);
  }
  assert.fail(`it did not end in ${mostRuns} runs`);
}

const log = newLog();
const folder = ['--folder', join(work, 'maker')];
const at = ['--url', market.url, '--dev', market.dev];
const maker = startMaker(['dev', ...at, ...folder], log, {});
try {
  await maker.heard(({ event }) => event === 'levels');
  await done('init', '--dev', '--market', market.url, '--control', market.dev);
  await done('login', '--key-file', join(taken, 'words'), '--new');
  await done('faucet');
  const sale = (amount: string) =>
    `trade sell ${amount} btc for usdv@evm-dev --at-least 1 --json`.split(' ');
  for (let number = 1; number <= trades; number += 1) {
    await untilDone(...sale(`0.00${(number % 9) + 1}`));
    assert.equal(await swaps(), number, 'a trade is one swap');
  }
  const line = (number: number) => `row-${number},sell,0.001,btc,usdv@evm-dev,1`;
  const all = Array.from({ length: rows }, (_, number) => line(number));
  const file = join(work, 'trades.csv');
  await writeFile(file, `id,side,amount,base,quote,at_least\n${all.join('\n')}\n`);
  await untilDone('trade', '--from-file', file, '--json');
  await done('trade', '--from-file', file);
  assert.equal(await swaps(), trades + rows, 'a row is one swap');
  console.log(`trade: ${trades} trades and ${rows} rows under ${kills} kills, each one swap`);
} finally {
  await maker.stop();
  await market.stop();
  await rm(work, { recursive: true, force: true });
}
