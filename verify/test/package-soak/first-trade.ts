// The trade by hand of docs/cli.md, by the command as an outsider has it: the tarball in an empty
// folder, two people with a home each, and a market of `npm start`.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownMarket, type Stage } from '@parley/dev/demo/market.ts';

const run = promisify(execFile);
const limitMs = 300_000;

/** Seconds from the first command to both sides' `received`. `bin`: the command's file. */
export async function firstTrade(folder: string, bin: string): Promise<number> {
  const market = await ownMarket();
  try {
    return await firstTradeOn(market, folder, bin);
  } finally {
    await market.stop();
  }
}

/** The same on a market that runs, on the chains of a dev network. */
export async function firstTradeOn(
  market: Omit<Stage, 'stop'>,
  folder: string,
  bin: string,
): Promise<number> {
  const began = performance.now();
  const of = (name: string) => personOf(join(folder, name), bin);
  const alice = await of('alice');
  const bob = await of('bob');
  for (const each of [alice, bob]) {
    await each('init', '--dev', '--control', market.dev, '--market', market.url);
    await each('login', '--key-file', 'words', '--new');
    await each('faucet');
  }
  const asked = ['ask', 'sell', '0.01', 'bitcoin-regtest', 'evm-dev:USDV', '--price', '640'];
  const { rfq } = JSON.parse(await alice(...asked)) as { rfq: { id: string } };
  const { rfqs } = JSON.parse(await bob('book')) as { rfqs: { id: string }[] };
  assert.ok(rfqs.some(({ id }) => id === rfq.id));
  const named = ['--side', 'sell', '--amount', '0.01'];
  const pair = ['--base', 'bitcoin-regtest', '--quote', 'evm-dev:USDV'];
  const quoted = await bob('quote', rfq.id, '640', ...named, ...pair);
  const { thread } = JSON.parse(quoted) as { thread: { id: string } };
  for (const each of [alice, bob]) await each('accept', thread.id, '--price', '640');
  for (const said of await Promise.all([alice('settle'), bob('settle')])) {
    const last = JSON.parse(said.trim().split('\n').at(-1) ?? '') as { end?: string };
    assert.equal(last.end, 'received', said);
  }
  return Math.round((performance.now() - began) / 1_000);
}

/** Resolves to what the command answers; rejects with what it says where its status is not 0. */
async function personOf(home: string, bin: string) {
  await mkdir(home, { recursive: true });
  const { NODE_OPTIONS: _, XDG_CONFIG_HOME: __, XDG_DATA_HOME: ___, ...rest } = process.env;
  const options = { cwd: home, env: { ...rest, HOME: home }, timeout: limitMs };
  return async (...args: string[]) => {
    const command = [bin, ...args, '--json', '--yes'];
    return (await run(process.execPath, command, options)).stdout;
  };
}
