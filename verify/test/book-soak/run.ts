// `npm run soak -- book`: books of the SDK and of the Python package beside each other, each a
// program of its own, on a market that people fill and empty. The market is killed and started
// again, sockets are cut, held up and kept away for longer than the feed can resume, and programs
// are stopped for a while. Whenever it rests each book is what `GET /v1/rfqs` lists; between rests
// a live one shows nothing that has long left, and lacks nothing that is long there.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { freePort } from '@parley/host/free-port.ts';
import { parleyClient } from '@parley/sdk/client.ts';
import { type Chance, chanceOf } from '../sim/chance.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { type Ending, newHome, type RunningMarket, startMarketProcess } from '../support/market.ts';
import { findPython, installWheel } from '../support/python.ts';
import { crowdOf, type Ids, join as joinMarket, type Person } from './crowd.ts';
import { observe, restOf, type Watched } from './oracle.ts';
import { startWatcher } from './watcher.ts';

const usage = `usage: npm run soak -- book [--minutes N] [--seed N]
  --minutes  how long it goes on, default 60
  --seed     what happens; times differ from run to run
Exit status: 0 each book was right, 1 one was not.`;

const { minutes, seed } = understood({
  usage,
  understand: (args) => {
    const text = { type: 'string' } as const;
    const options = { minutes: text, seed: text, help: { type: 'boolean' } } as const;
    const { values } = parsed({ args, options });
    if (values.help) return null;
    return {
      minutes: wholeNumber('--minutes', values.minutes ?? '60', { least: 1, most: 10_000 }),
      seed: wholeNumber('--seed', values.seed ?? String(randomInt(2 ** 31)), { most: 2 ** 32 - 1 }),
    };
  },
});

const phaseMs = 20_000;
/** Entries: the market answers `reset` after 2 000 public ones (docs/feed.md). */
const tooMuchMissed = 2_600;
const mostAbsenceMs = 120_000;
const mostStarts = 3;
const people = 10;
const lanes = 4;
/** The feed's budget is the account's: the programs begin anew often. */
const settings = { PARLEY_RATE_LIMIT: '1000000', PARLEY_LOG_LEVEL: 'error', PARLEY_KEEPER: 'off' };

const chance: Chance = chanceOf(seed);
const undo: (() => Promise<unknown>)[] = [];
const end: Ending = { after: (step) => undo.unshift(step) };
/** `missed`: absences beyond what the feed resumes; a slow machine has shorter ones too. */
const faults = { cuts: 0, held: 0, stopped: 0, kills: 0, absences: 0, missed: 0 };
const began = performance.now();
const minutesSince = () => (performance.now() - began) / 60_000;

async function idsOf(baseUrl: string): Promise<Ids> {
  const { assets } = await parleyClient({ baseUrl }).keyless.assets({ limit: 100 });
  const idOf = (symbol: string, family: string, isNative: boolean) => {
    const found = assets.find(
      (each) =>
        each.chain.startsWith(family) &&
        (each.address === null) === isNative &&
        (symbol === '' || each.symbol === symbol),
    );
    return found?.id ?? assert.fail(`the market has no ${family} ${symbol}`);
  };
  return {
    btc: idOf('BTC', 'bitcoin', true),
    eth: idOf('ETH', 'evm', true),
    usd: idOf('', 'evm', false),
  };
}

async function watchersOf(port: number, ids: Ids, accounts: readonly Person[]) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-book-'));
  end.after(() => rm(dir, { recursive: true, force: true }));
  const found = findPython() ?? assert.fail('no Python 3.11 or later with venv is here');
  const { python } = await installWheel(found, dir);
  const pair = [[ids.usd, ids.btc]] as const;
  const programs = [
    ['SDK', [process.execPath, join(import.meta.dirname, 'watch.ts')], undefined],
    ['Python', [python, join(import.meta.dirname, 'watch.py')], undefined],
    ['SDK, one pair', [process.execPath, join(import.meta.dirname, 'watch.ts')], pair],
    ['Python, one pair', [python, join(import.meta.dirname, 'watch.py')], pair],
  ] as const;
  const all: Watched[] = [];
  for (const [at, [name, command, pairs]] of programs.entries()) {
    const account = accounts[at] as Person;
    const proxy = await faultProxy(port);
    end.after(() => proxy.close());
    const watcher = startWatcher(name, command, {
      URL: `http://127.0.0.1:${proxy.port}`,
      KEY: account.key,
      PAIRS: pairs && JSON.stringify(pairs),
    });
    end.after(() => watcher.stop());
    all.push({
      account,
      proxy,
      watcher,
      pairs,
      freeSince: performance.now(),
      troubles: 0,
      liveSince: null,
    });
  }
  return all;
}

/** Ends when the watcher goes on, and it has until then to notice. */
async function disturb(each: Watched): Promise<void> {
  const { proxy, watcher } = each;
  each.freeSince = Number.POSITIVE_INFINITY;
  each.troubles += 1;
  const dice = chance.int(1, 10);
  if (dice <= 5) {
    faults.cuts += 1;
    proxy.cut();
  } else if (dice <= 7) {
    faults.held += 1;
    proxy.hold();
    await sleep(chance.int(500, 30_000));
    proxy.heal();
  } else {
    faults.stopped += 1;
    watcher.child.kill('SIGSTOP');
    await sleep(chance.int(500, 15_000));
    watcher.child.kill('SIGCONT');
  }
  each.troubles -= 1;
  // Another one may hold it up still.
  if (each.troubles === 0) each.freeSince = performance.now();
}

async function trouble(over: () => boolean, watched: readonly Watched[]): Promise<void> {
  while (!over()) {
    await sleep(chance.int(300, 3_000));
    await disturb(chance.pick(watched));
  }
}

/** A machine that does ten things may take longer than a start is waited for. */
async function startedAgain(home: string, env: Record<string, string>): Promise<RunningMarket> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startMarketProcess(end, home, env);
    } catch (error) {
      if (tries === mostStarts) throw error;
      console.log(`the market did not start, once more: ${String(error).slice(0, 300)}`);
    }
  }
}

async function main(): Promise<string> {
  const home = await newHome(end);
  const port = await freePort();
  const env = { ...settings, PORT: String(port) };
  let market: RunningMarket = await startMarketProcess(end, home, env);
  const { url } = market.ready;
  const ids = await idsOf(url);
  const joinAll = (count: number) =>
    Promise.all(Array.from({ length: count }, () => joinMarket(url)));
  const [crowd, accounts, [neutral]] = [await joinAll(people), await joinAll(4), await joinAll(1)];
  // One of each language asks too: its own RFQs never show.
  const askers = [...crowd, ...accounts.slice(0, 2)];
  const { lane, counts, codes } = crowdOf(askers, accounts, ids, chance.fork());
  const watched = await watchersOf(port, ids, accounts);
  const observing = observe(neutral as Person, watched);
  let rests = 0;
  for (let phase = 0; minutesSince() < minutes; phase += 1) {
    const isAbsence = phase % 6 === 3;
    const entries = () => counts.posted + counts.cancelled;
    const from = entries();
    let until = performance.now() + (isAbsence ? mostAbsenceMs : phaseMs);
    const over = () => performance.now() > until || (isAbsence && entries() - from > tooMuchMissed);
    const work: Promise<unknown>[] = [];
    for (let each = 0; each < lanes; each += 1) work.push(lane(over, () => isAbsence));
    if (isAbsence) {
      faults.absences += 1;
      for (const each of watched.slice(0, 2)) each.proxy.fail();
    } else {
      work.push(trouble(over, watched), trouble(over, watched));
      if (chance.hits(0.6)) {
        await sleep(chance.int(0, phaseMs / 2));
        faults.kills += 1;
        await market.kill();
        market = await startedAgain(home, env);
        // Where that took long, as on a busy machine.
        until = Math.max(until, performance.now() + phaseMs / 2);
      }
    }
    await Promise.all(work);
    if (isAbsence && entries() - from > tooMuchMissed) faults.missed += 1;
    for (const each of watched) {
      each.proxy.heal();
      each.freeSince = performance.now();
    }
    const size = await restOf(watched);
    rests += 1;
    observing.check();
    const at = `${minutesSince().toFixed(1)} min`;
    console.log(
      `${at}: ${size} RFQs, the same ${rests} times`,
      JSON.stringify({ ...counts, ...faults }),
    );
  }
  await observing.stop();
  const said = Object.fromEntries(codes);
  console.log(
    JSON.stringify({ refusals: said, changes: watched.map((each) => each.watcher.changes()) }),
  );
  return `${rests} rests, each book as the market lists it; ${observing.summary()}`;
}

console.log(`seed ${seed}, ${minutes} minutes`);
try {
  console.log(`book: ${await main()}`);
} catch (error) {
  console.error(error);
  console.log(`book: FAILED after ${minutesSince().toFixed(1)} minutes, seed ${seed}`);
  process.exitCode = 1;
} finally {
  for (const step of undo) await step();
}
process.exit();
