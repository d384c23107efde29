// `npm run demo`: two fresh accounts trade on a market between all four families of chains, and
// take their money back where nobody claims, or at once where they give a swap up. Exit status 0
// only when every swap ended as it should and every balance moved by exactly what was agreed, less
// network fees.

import { families } from '@parley/core/families.ts';
import { Misused, parsed, understood, wholeNumber } from '@parley/host/command.ts';
import { inParallel } from '@parley/host/in-parallel.ts';
import { feesOf, type Holding, holdingOf, noDoings } from './demo/ledger.ts';
import { brandOf, ownMarket, runningMarket, type Stage } from './demo/market.ts';
import { leave, newPerson, type Person } from './demo/people.ts';
import { coinNames, namesOf, type Place, placeOf, plansOf, settles } from './demo/place.ts';
import { assetsOf, type Ended, type Plan, play, type Scene } from './demo/trades.ts';
import { devnetClient } from './devnet/client.ts';

/** All pairs take less, or the demo has failed; the short one takes under a minute by itself. */
const usualMinutes = '4';

const usage = `usage: npm run demo [-- --all] [--url URL] [--dev URL] [--json] [--minutes N]
  --all       every ordered pair of the four families, a refund on each chain, early ones too
  --url URL   a running market; without it the demo starts one and stops it again
  --dev URL   control address of that market's dev network; default: from its ready.json
  --json      one JSON line a swap, and a last line with totals
  It ends with 1 after ${usualMinutes} minutes (or --minutes N), whatever it does by then.`;

/** A person's requests a minute are limited, and so are the cores. */
const mostSwapsAtOnce = 5;
/** Beyond the last timelock, so that every chain's clock is past it. */
const marginSeconds = 120;

function understand(args: string[]) {
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
  return { ...values, minutes: wholeNumber('--minutes', values.minutes, { most: 600 }) };
}

type Asked = NonNullable<ReturnType<typeof understand>>;

const startedMs = performance.now();
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const print = (line: string) => process.stdout.write(`${line}\n`);
/** A timeline for people, where no program reads. */
const tell = (text: string) =>
  print(`${seconds(performance.now() - startedMs).padStart(7)}  ${text}`);
const labelOf = ({ pair, ends }: Plan) => (ends === 'settled' ? pair : `${pair} ${ends}`);

async function main({ url, dev, minutes, all, json }: Asked): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(minutes * 60_000)]);
  const say = json ? () => undefined : tell;
  say(url === undefined ? 'starting a market' : `market ${url}`);
  const stage = await (url === undefined ? ownMarket(signal) : runningMarket(url, dev));
  try {
    const totals = await playOn(stage, { all, json, say, signal });
    if (json) print(JSON.stringify(totals));
    for (const problem of totals.problems) say(`PROBLEM  ${problem}`);
    say(verdictOf(totals));
    return totals.ok ? 0 : 1;
  } finally {
    await stage.stop();
  }
}

type How = {
  readonly all: boolean;
  readonly json: boolean;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
};

async function playOn(stage: Stage, { all, json, say, signal }: How) {
  const dev = devnetClient(stage.dev);
  const status = await dev.status();
  const place = placeOf(status);
  say(`chains: ${namesOf(status)}`);
  // The dev network's clock is the machine's and an offset, which only /time changes.
  const clock = { offsetSeconds: status.clockOffsetSeconds };
  const now = () => Math.floor(Date.now() / 1000) + clock.offsetSeconds;
  const market = { url: stage.url, brand: await brandOf(stage.url), dev, now };
  const [alice, bob] = await Promise.all([
    newPerson('Alice', 'evm', place, market),
    newPerson('Bob', 'bitcoin', place, market),
  ]);
  say('two fresh accounts: Alice signed in with her EVM wallet, Bob with his Bitcoin one');
  const before = [await holdingOf(alice, place), await holdingOf(bob, place)] as const;
  const plans = plansOf(all, place, alice, bob);
  const late = whenAllWait(plans.filter(({ isLate }) => isLate).length, async (until) => {
    const move = until + marginSeconds - now();
    say(`moving every clock by ${(move / 3_600).toFixed(1)} hours, past the timelocks`);
    clock.offsetSeconds = (await dev.time(move)).clockOffsetSeconds;
  });
  const doings = new Map([alice, bob].map((person) => [person, noDoings()]));
  const scene: Scene = {
    place,
    now,
    signal,
    doings,
    untilPast: late.wait,
    assets: await assetsOf(alice, place),
    say: (plan, who, what, txid) => {
      say(`${labelOf(plan).padEnd(30)} ${who.padEnd(6)} ${what}`);
      if (txid) say(`${' '.repeat(38)}${txid}`);
    },
  };
  const played = await playAll(scene, plans, late.begin);
  for (const { plan, durationMs, txids, problems, savedSeconds } of played) {
    const ended = settles(plan) ? 'settled' : 'refunded';
    const line = { pair: plan.pair, scenario: plan.ends, durationMs, savedSeconds, txids };
    const swap = { ...line, status: problems.length > 0 ? 'failed' : ended };
    if (json) print(JSON.stringify(swap));
    say(`${labelOf(plan).padEnd(30)} ended ${swap.status} in ${seconds(durationMs)}`);
  }
  const differences = [
    ...(await differencesOf(alice, scene, plans, before[0])),
    ...(await differencesOf(bob, scene, plans, before[1])),
  ];
  await Promise.all([leave(alice), leave(bob)]);
  return totalsOf(all, played, differences);
}

/** A barrier: once all of these wait, and `begin` was called, the clocks move. */
function whenAllWait(count: number, move: (until: number) => Promise<void>) {
  const begun = Promise.withResolvers<void>();
  const moved = Promise.withResolvers<void>();
  moved.promise.catch(() => undefined);
  const waiting: number[] = [];
  const wait = (until: number) => {
    waiting.push(until);
    if (waiting.length === count) {
      const moving = begun.promise.then(() => move(Math.max(...waiting)));
      moving.then(moved.resolve, moved.reject);
    }
    return moved.promise;
  };
  return { wait, begin: begun.resolve };
}

/** Those in time a few at once; then the clocks move, once, and those that are stuck end. */
async function playAll(scene: Scene, plans: readonly Plan[], begin: () => void): Promise<Ended[]> {
  const inTime = plans.filter(({ isLate }) => !isLate);
  const playing = inParallel(inTime, mostSwapsAtOnce, (plan) => play(scene, plan));
  const stuck = plans.filter(({ isLate }) => isLate).map((plan) => play(scene, plan));
  const [done, late] = await Promise.all([
    playing.then((all) => {
      begin();
      return all;
    }),
    Promise.all(stuck),
  ]);
  return [...done, ...late];
}

/** The person's present balance, against the earlier one, the agreed amounts, and the fees paid to
 * networks. */
async function differencesOf(
  person: Person,
  { place, doings }: Pick<Scene, 'place' | 'doings'>,
  plans: readonly Plan[],
  before: Holding,
): Promise<string[]> {
  const due = { ...before };
  for (const plan of plans.filter(settles)) {
    const { taker, takerGives, makerGives } = plan;
    const [gives, gets] = taker === person ? [takerGives, makerGives] : [makerGives, takerGives];
    due[gives.coin] -= gives.amount;
    due[gets.coin] += gets.amount;
  }
  const fees = await feesOf(person, place, doings.get(person) ?? noDoings());
  for (const family of families) due[nativeOf(place, family)] -= fees[family];
  const has = await holdingOf(person, place);
  return coinNames
    .filter((name) => has[name] !== due[name])
    .map((name) => `${person.name} holds ${has[name]} ${name}, should hold ${due[name]}`);
}

function nativeOf({ coins }: Place, family: string) {
  const found = coinNames.find((name) => coins[name].family === family && !coins[name].token);
  if (found === undefined) throw new Error(`no coin of ${family}`);
  return found;
}

function totalsOf(all: boolean, played: readonly Ended[], differences: readonly string[]) {
  const isWell = ({ problems }: Ended) => problems.length === 0;
  const share = (isSettled: boolean) => {
    const meant = played.filter(({ plan }) => settles(plan) === isSettled);
    return { done: meant.filter(isWell).length, of: meant.length };
  };
  const problems = [
    ...played.flatMap((each) => each.problems.map((what) => `${labelOf(each.plan)}: ${what}`)),
    ...differences,
  ];
  return {
    ok: problems.length === 0,
    /** Every ordered pair of the families was played. */
    all,
    settled: share(true),
    refunded: share(false),
    swaps: played.length,
    asExpected: played.filter(isWell).length,
    /** Chains on which money was taken back. */
    refundedOn: [...new Set(played.flatMap(({ refundedOn }) => refundedOn))].sort(),
    balancesExact: differences.length === 0,
    durationMs: Math.round(performance.now() - startedMs),
    problems,
  };
}

function verdictOf(totals: ReturnType<typeof totalsOf>): string {
  const { ok, all, settled, refunded, refundedOn, balancesExact, durationMs } = totals;
  return `${ok ? 'OK' : 'FAILED'}: ${[
    `${settled.done} of ${settled.of} ${all ? 'ordered pairs of families' : 'pairs'} settled`,
    `${refunded.done} of ${refunded.of} refunded (on ${refundedOn.join(', ')})`,
    balancesExact ? 'every balance is exact' : 'balances differ',
    seconds(durationMs),
  ].join(', ')}`;
}

process.exitCode = await main(understood({ usage, understand })).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 1;
});
