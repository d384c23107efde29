// `npm run demo`: two fresh accounts trade on a market, both ways and with ether, and then take
// their money back twice. Exit status 0 only when every swap ended as it should and every balance
// moved by exactly what was agreed, less network fees.

import { parseArgs } from 'node:util';
import { devnetClient } from '../devnet/client.ts';
import { brandOf } from './demo/brand.ts';
import { add, feesOf, type Holding, holdingOf } from './demo/ledger.ts';
import { ownMarket, runningMarket, type Stage } from './demo/market.ts';
import { leave, newPerson, type Person, type Place, placeOf } from './demo/people.ts';
import { labelOf, type Report, reportTo } from './demo/report.ts';
import {
  assetsOf,
  bothRefund,
  type Ended,
  movedBy,
  noShow,
  type Plan,
  type Scene,
  settled,
} from './demo/trades.ts';

const usage = `usage: npm run demo [-- --url URL] [--dev URL] [--json]
  --url URL   a running market; without it the demo starts one and stops it again
  --dev URL   control address of that market's dev network; default: from its ready.json
  --json      one JSON line a swap, and a last line with totals`;

/** The whole demo is to take under a minute; a machine under load gets more. */
const limitMs = 240_000;
/** Beyond the last timelock, so that every chain's clock is past it. */
const marginSeconds = 120;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      dev: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const report = reportTo(values.json, (line) => process.stdout.write(`${line}\n`));
  const startedMs = performance.now();
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(limitMs)]);
  report.say(values.url === undefined ? 'starting a market' : `market ${values.url}`);
  const stage =
    values.url === undefined
      ? await ownMarket(signal)
      : await runningMarket(values.url, values.dev);
  try {
    return await play(stage, report, signal, startedMs);
  } finally {
    await stage.stop();
  }
}

async function play(
  stage: Stage,
  report: Report,
  signal: AbortSignal,
  startedMs: number,
): Promise<number> {
  const dev = devnetClient(stage.dev);
  const status = await dev.status();
  const place = placeOf(status);
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
  const sent = new Map([alice, bob].map(({ name }) => [name, new Set<string>()]));
  const assets = await assetsOf(alice, place);
  const playing: Scene = { place, assets, now, report, signal, sent };
  const plans = plansOf(alice, bob, place.evm.dollar.symbol);
  const move = async (until: number) => {
    const seconds = until + marginSeconds - now();
    report.say(`moving every clock by ${(seconds / 3_600).toFixed(1)} hours, past the timelocks`);
    clock.offsetSeconds = (await dev.time(seconds)).clockOffsetSeconds;
  };
  const all = await playAll(playing, plans, move);
  for (const { plan, durationMs, txids, problems } of all) {
    const status =
      problems.length > 0 ? 'failed' : plan.ends === 'settled' ? 'settled' : 'refunded';
    report.swap({ pair: plan.pair, scenario: plan.ends, status, durationMs, txids });
  }
  const differences = await differencesOf([alice, bob], place, { plans, before, sent });
  const problems = [
    ...all.flatMap(({ plan, problems: own }) =>
      own.map((each) => `${labelOf(plan.pair, plan.ends)}: ${each}`),
    ),
    ...differences,
  ];
  await Promise.all([leave(alice), leave(bob)]);
  report.totals({
    ok: problems.length === 0,
    swaps: all.length,
    asExpected: all.filter((each) => each.problems.length === 0).length,
    balancesExact: differences.length === 0,
    durationMs: Math.round(performance.now() - startedMs),
    problems,
  });
  return problems.length === 0 ? 0 : 1;
}

function plansOf(alice: Person, bob: Person, dollar: string): Plan[] {
  const sats = (amount: bigint) => ({ what: 'sats', amount }) as const;
  const dollars = (amount: bigint) => ({ what: 'dollars', amount: amount * 1_000_000n }) as const;
  const wei = (amount: bigint) => ({ what: 'wei', amount }) as const;
  const plan = (
    pair: string,
    ends: Plan['ends'],
    [taker, takerGives]: [Person, Plan['takerGives']],
    [maker, makerGives]: [Person, Plan['makerGives']],
  ): Plan => ({ pair, ends, taker, maker, takerGives, makerGives });
  const ether = 10n ** 18n;
  return [
    plan(`BTC/${dollar}`, 'settled', [alice, sats(1_000_000n)], [bob, dollars(640n)]),
    plan(`${dollar}/BTC`, 'settled', [alice, dollars(320n)], [bob, sats(500_000n)]),
    plan('ETH/BTC', 'settled', [bob, wei(ether / 2n)], [alice, sats(2_000_000n)]),
    plan(`BTC/${dollar}`, 'no show', [alice, sats(700_000n)], [bob, dollars(450n)]),
    plan(`BTC/${dollar}`, 'both refund', [bob, sats(900_000n)], [alice, dollars(580n)]),
  ];
}

/** All at once, as far as they are independent; then the clocks move, once, and the stuck end. */
async function playAll(
  stage: Scene,
  plans: readonly Plan[],
  move: (until: number) => Promise<void>,
): Promise<Ended[]> {
  const of = (ends: Plan['ends']) => plans.filter((plan) => plan.ends === ends);
  const [done, stuck] = await Promise.all([
    Promise.all(of('settled').map((plan) => settled(stage, plan))),
    Promise.all([
      ...of('no show').map((plan) => noShow(stage, plan)),
      ...of('both refund').map((plan) => bothRefund(stage, plan)),
    ]),
  ]);
  await move(Math.max(...stuck.map(({ refundableAt }) => refundableAt)));
  const late = await Promise.all(stuck.map((each) => each.finish()));
  return [...done, ...late];
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
    sent: ReadonlyMap<string, ReadonlySet<string>>;
  },
): Promise<string[]> {
  const after = await holdings(people, place);
  const differences: string[] = [];
  for (const person of people) {
    const had = known.before.get(person.name);
    const has = after.get(person.name);
    if (had === undefined || has === undefined) throw new Error('no balance was read');
    const fees = await feesOf(person, place, known.sent.get(person.name) ?? new Set());
    const due = add(had, movedBy(known.plans, person));
    for (const what of ['sats', 'wei', 'dollars'] as const) {
      const expected = due[what] - fees[what];
      if (has[what] === expected) continue;
      differences.push(`${person.name} holds ${has[what]} ${what}, should hold ${expected}`);
    }
  }
  return differences;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 1;
});
