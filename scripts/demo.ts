// `npm run demo`: two fresh accounts trade on a market between all four families of chains, and
// take their money back where nobody claims. Exit status 0 only when every swap ended as it should
// and every balance moved by exactly what was agreed, less network fees.

import { devnetClient } from '../devnet/client.ts';
import { Misused, parsed, understood, wholeNumber } from './command.ts';
import { brandOf } from './demo/brand.ts';
import { add, type Doings, feesOf, type Holding, holdingOf } from './demo/ledger.ts';
import { ownMarket, runningMarket, type Stage } from './demo/market.ts';
import { leave, newPerson, type Person } from './demo/people.ts';
import { coinNames, namesOf, type Place, placeOf } from './demo/place.ts';
import { type Ending, type Plan, plansOf } from './demo/plans.ts';
import { labelOf, type Report, reportTo } from './demo/report.ts';
import {
  assetsOf,
  bothRefund,
  type Ended,
  movedBy,
  noShow,
  type Scene,
  settled,
} from './demo/trades.ts';

/** All pairs take less, or the demo has failed; the short one takes under a minute by itself. */
const usualMinutes = '4';

const usage = `usage: npm run demo [-- --all] [--url URL] [--dev URL] [--json] [--minutes N]
  --all       every ordered pair of the four families, and a refund on each chain
  --url URL   a running market; without it the demo starts one and stops it again
  --dev URL   control address of that market's dev network; default: from its ready.json
  --json      one JSON line a swap, and a last line with totals
  It ends with 1 after ${usualMinutes} minutes (or --minutes N), whatever it does by then.`;

/** A person's requests a minute are limited, and so are the cores. */
const mostSwapsAtOnce = 5;
/** Beyond the last timelock, so that every chain's clock is past it. */
const marginSeconds = 120;

type Asked = {
  readonly url: string | undefined;
  readonly dev: string | undefined;
  readonly all: boolean;
  readonly json: boolean;
  readonly minutes: number;
};

function understand(args: string[]): Asked | null {
  const { values } = parsed({
    args,
    options: {
      url: { type: 'string' },
      dev: { type: 'string' },
      all: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      minutes: { type: 'string', default: usualMinutes },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  for (const name of ['url', 'dev'] as const) {
    const given = values[name];
    if (given !== undefined && !/^https?:\/\/./.test(given)) {
      throw new Misused(`--${name} is an http address, not "${given}"`);
    }
  }
  const { url, dev, all, json } = values;
  const minutes = wholeNumber('--minutes', values.minutes, { most: 600 });
  return { url, dev, all, json, minutes };
}

async function main(values: Asked): Promise<number> {
  const report = reportTo(values.json, (line) => process.stdout.write(`${line}\n`));
  const startedMs = performance.now();
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const signal = AbortSignal.any([
    interrupted.signal,
    AbortSignal.timeout(values.minutes * 60_000),
  ]);
  report.say(values.url === undefined ? 'starting a market' : `market ${values.url}`);
  const stage =
    values.url === undefined
      ? await ownMarket(signal)
      : await runningMarket(values.url, values.dev);
  try {
    return await play(stage, report, { all: values.all, signal, startedMs });
  } finally {
    await stage.stop();
  }
}

async function play(
  stage: Stage,
  report: Report,
  { all, signal, startedMs }: { all: boolean; signal: AbortSignal; startedMs: number },
): Promise<number> {
  const dev = devnetClient(stage.dev);
  const status = await dev.status();
  const place = placeOf(status);
  report.say(`chains: ${namesOf(status)}`);
  // The dev network's clock is the machine's and an offset, which only /time changes.
  const clock = { offsetSeconds: status.clockOffsetSeconds };
  const now = () => Math.floor(Date.now() / 1000) + clock.offsetSeconds;
  const market = { url: stage.url, brand: await brandOf(stage.url), dev, now };
  const [alice, bob] = await Promise.all([
    newPerson('Alice', 'evm', place, market),
    newPerson('Bob', 'bitcoin', place, market),
  ]);
  report.say('two fresh accounts: Alice signed in with her EVM wallet, Bob with his Bitcoin one');
  const before = await holdings([alice, bob], place);
  const doings = new Map(
    [alice, bob].map(({ name }): [string, Doings] => [
      name,
      { sent: new Map(), escrows: new Map() },
    ]),
  );
  const assets = await assetsOf(alice, place);
  const playing: Scene = { place, assets, now, report, signal, doings };
  const plans = plansOf(all, place, alice, bob);
  const move = async (until: number) => {
    const seconds = until + marginSeconds - now();
    report.say(`moving every clock by ${(seconds / 3_600).toFixed(1)} hours, past the timelocks`);
    clock.offsetSeconds = (await dev.time(seconds)).clockOffsetSeconds;
  };
  const played = await playAll(playing, plans, move);
  for (const { plan, durationMs, txids, problems } of played) {
    const status =
      problems.length > 0 ? 'failed' : plan.ends === 'settled' ? 'settled' : 'refunded';
    report.swap({ pair: plan.pair, scenario: plan.ends, status, durationMs, txids });
  }
  const differences = await differencesOf([alice, bob], place, { plans, before, doings });
  const problems = [
    ...played.flatMap(({ plan, problems: own }) =>
      own.map((each) => `${labelOf(plan.pair, plan.ends)}: ${each}`),
    ),
    ...differences,
  ];
  await Promise.all([leave(alice), leave(bob)]);
  const shareOf = (settles: boolean) => {
    const meant = played.filter(({ plan }) => (plan.ends === 'settled') === settles);
    return { done: meant.filter((each) => each.problems.length === 0).length, of: meant.length };
  };
  report.totals({
    ok: problems.length === 0,
    all,
    settled: shareOf(true),
    refunded: shareOf(false),
    swaps: played.length,
    asExpected: played.filter((each) => each.problems.length === 0).length,
    refundedOn: [...new Set(played.flatMap(({ refundedOn }) => refundedOn))].sort(),
    balancesExact: differences.length === 0,
    durationMs: Math.round(performance.now() - startedMs),
    problems,
  });
  return problems.length === 0 ? 0 : 1;
}

/** A few at a time; then the clocks move, once, and those that are stuck end. */
async function playAll(
  stage: Scene,
  plans: readonly Plan[],
  move: (until: number) => Promise<void>,
): Promise<Ended[]> {
  const of = (ends: Ending) => plans.filter((plan) => plan.ends === ends);
  const [done, stuck] = await Promise.all([
    fewAtOnce(of('settled').map((plan) => () => settled(stage, plan))),
    Promise.all([
      ...of('no show').map((plan) => noShow(stage, plan)),
      ...of('both refund').map((plan) => bothRefund(stage, plan)),
    ]),
  ]);
  if (stuck.length > 0) await move(Math.max(...stuck.map(({ refundableAt }) => refundableAt)));
  const late = await Promise.all(stuck.map((each) => each.finish()));
  return [...done, ...late];
}

async function fewAtOnce<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < works.length; at = next++) {
      results[at] = await (works[at] as () => Promise<T>)();
    }
  };
  await Promise.all(Array.from({ length: mostSwapsAtOnce }, worker));
  return results;
}

/** One after the other: a Bitcoin node scans its coins for one caller at a time. */
async function holdings(people: readonly Person[], place: Place): Promise<Map<string, Holding>> {
  const all = new Map<string, Holding>();
  for (const person of people) all.set(person.name, await holdingOf(person, place));
  return all;
}

async function differencesOf(
  people: readonly Person[],
  place: Place,
  known: {
    plans: readonly Plan[];
    before: ReadonlyMap<string, Holding>;
    doings: ReadonlyMap<string, Doings>;
  },
): Promise<string[]> {
  const after = await holdings(people, place);
  const differences: string[] = [];
  for (const person of people) {
    const had = known.before.get(person.name);
    const has = after.get(person.name);
    const did = known.doings.get(person.name);
    if (had === undefined || has === undefined || did === undefined) {
      throw new Error('no balance was read');
    }
    const fees = await feesOf(person, place, did);
    const due = add(had, movedBy(known.plans, person));
    for (const what of coinNames) {
      const expected = due[what] - fees[what];
      if (has[what] === expected) continue;
      differences.push(`${person.name} holds ${has[what]} ${what}, should hold ${expected}`);
    }
  }
  return differences;
}

process.exitCode = await main(understood({ usage, understand })).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 1;
});
