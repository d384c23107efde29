// The model of docs/griefing.md: what a side that walks away takes from the other one, and how much
// each measure lowers it. Prints the tables of that page (npm run -s node -- scripts/griefing.ts).

import { pathToFileURL } from 'node:url';
import { bitcoinPolicies } from '../chains/bitcoin/policy.ts';
import { evmChains } from '../chains/evm/policy.ts';
import { solanaChains } from '../chains/solana/policy.ts';
import { tronChains } from '../chains/tron/policy.ts';
import { type Schedule, schedule } from '../core/deadlines.ts';
import type { ChainPolicy } from '../core/policy.ts';
import { rfqPlaces } from '../server/market/rfqs.ts';
import { placesOf } from '../server/market/unfunded.ts';

const yearSeconds = 365.25 * 86_400;
/** A year: of locked coins, and of the price between both assets. */
const [rate, volatility] = [0.05, 0.6];
/** PARLEY_UNFUNDED_SWAPS. */
const freePlaces = 5;
/** PARLEY_LIVE_RFQS. */
const freeRfqs = 20;
/** What a maker sees first. */
const inSnapshot = 100;

const { ethereum, base, arbitrum } = evmChains;
const policies = {
  bitcoin: bitcoinPolicies.mainnet,
  ethereum: ethereum.policy,
  base: base.policy,
  arbitrum: arbitrum.policy,
  tron: tronChains.tron.policy,
  solana: solanaChains.solana.policy,
} as const;
type Chain = keyof typeof policies;

/** Dollars of one transaction, at calm fees. */
const feeDollars: Readonly<Record<Chain, number>> = {
  ...{ bitcoin: 1.5, ethereum: 0.5, base: 0.02, arbitrum: 0.02, tron: 2, solana: 0.01 },
};

/** Long leg first. */
const pairs: readonly (readonly [Chain, Chain])[] = [
  ['bitcoin', 'ethereum'],
  ['bitcoin', 'base'],
  ['bitcoin', 'tron'],
  ['bitcoin', 'solana'],
  ['solana', 'ethereum'],
  ['tron', 'ethereum'],
  ['arbitrum', 'base'],
];

const timesOf = (long: ChainPolicy, short: ChainPolicy): Schedule =>
  schedule({ policy: short, depth: short.normal }, { policy: long, depth: long.normal });

const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** Of the normal distribution from `x` on, by Simpson's rule. */
function tail(x: number): number {
  const [end, steps] = [x + 12, 2_000];
  const step = (end - x) / steps;
  let sum = density(x) + density(end);
  for (let k = 1; k < steps; k += 1) sum += density(x + k * step) * (k % 2 === 0 ? 2 : 4);
  return (sum * step) / 3;
}

/**
 * Share of the amount that the right to go through with a trade until then is worth. The price must
 * move by `spread` before it is worth anything (Bachelier: over hours as good as Black-Scholes).
 */
export function optionOf(seconds: number, spread = 0): number {
  const deviation = volatility * Math.sqrt(seconds / yearSeconds);
  const away = spread / deviation;
  return deviation * (density(away) - away * tail(away));
}

export const carryOf = (seconds: number): number => (rate * seconds) / yearSeconds;

const bps = (share: number) => (share * 10_000).toFixed(1);
const hours = (seconds: number) => (seconds / 3_600).toFixed(1);
const dollars = (amount: number) => `$${amount.toFixed(amount < 100 ? 2 : 0)}`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** What each side may do for nothing, and what the other one has locked meanwhile. */
function windows(): string {
  const rows = pairs.map(([long, short]) => {
    const times = timesOf(policies[long], policies[short]);
    const option = (seconds: number) => `${hours(seconds)} h: ${bps(optionOf(seconds))}`;
    const lock = (seconds: number) => `${hours(seconds)} h: ${bps(carryOf(seconds))}`;
    return [
      `${long}, ${short}`,
      option(times.initiatorFundBy),
      option(times.counterpartyFundBy),
      option(times.revealBy),
      lock(times.longTimelock),
      lock(times.shortTimelock),
    ];
  });
  const head =
    'long, short|initiator funds|counterparty funds|initiator reveals|long locked|short locked';
  return table(head.split('|'), rows);
}

/** Of bitcoin and ethereum: what the initiator loses where the counterparty walks away. */
function measures(): string {
  const [long, short] = [policies.bitcoin, policies.ethereum];
  const quick = <Policy extends ChainPolicy>(policy: Policy) => ({ ...policy, reactSeconds: 300 });
  const now = timesOf(long, short);
  const row = (what: string, times: Schedule, spread = 0) => {
    const [option, carry] = [
      optionOf(times.counterpartyFundBy, spread),
      carryOf(times.longTimelock),
    ];
    return [what, bps(option), bps(carry), bps(option + carry)];
  };
  const rows = [
    row('as it is', now),
    row('no floor of 24 h for the long leg', timesOf({ ...long, floorSeconds: 14_400 }, short)),
    row('5 minutes to react, not 30', timesOf(quick(long), quick(short))),
    ...[0.0025, 0.005, 0.01].map((spread) => row(`spread of ${bps(spread)} bps`, now, spread)),
  ];
  return table(['measure', 'option', 'carry', 'together'], rows);
}

/** Both sides of a trade with oneself count, and it takes four transactions. */
const countDollars = (one: Chain, other: Chain) => feeDollars[one] + feeDollars[other];

/** Accounts that fill a snapshot which wants so many settled swaps of each, and what they cost. */
function crowding(): string {
  const rows = [0, 1, 5, 20, 98].map((settled) => {
    const orders = rfqPlaces(settled, freeRfqs);
    const accounts = Math.ceil(inSnapshot / orders);
    const pays = (fee: number) => dollars(accounts * settled * fee);
    return [
      `${settled}`,
      `${orders}`,
      `${accounts}`,
      pays(countDollars('bitcoin', 'ethereum')),
      pays(countDollars('arbitrum', 'base')),
    ];
  });
  const head =
    'settled, each|live RFQs, each|accounts for 100|bought on bitcoin, ethereum|bought on arbitrum, base';
  return table(head.split('|'), rows);
}

/** What an account costs that an RFQ with `minSettled` takes, and what it is good for. */
function bought(): string {
  const { counterpartyFundBy } = timesOf(policies.bitcoin, policies.ethereum);
  const gain = optionOf(counterpartyFundBy);
  const rows = [0, 4, 20, 50, 200].map((settled) => {
    const places = placesOf({ settled, abandoned: 0 }, freePlaces);
    const pays = (fee: number) => {
      const cost = (settled * fee) / places;
      return `${dollars(cost)}; ${dollars(cost / gain)}`;
    };
    return [
      `${settled}`,
      `${places}`,
      pays(countDollars('bitcoin', 'ethereum')),
      pays(countDollars('arbitrum', 'base')),
    ];
  });
  const head = 'settled|places|bought on bitcoin, ethereum|bought on arbitrum, base';
  return table(head.split('|'), rows);
}

/** An amount in steps: what is at stake at once, and what the fees of all steps come to. */
function steps(): string {
  const { counterpartyFundBy, longTimelock } = timesOf(policies.bitcoin, policies.ethereum);
  const lost = optionOf(counterpartyFundBy) + carryOf(longTimelock);
  const swapFees = 2 * (feeDollars.bitcoin + feeDollars.ethereum);
  const refunds = 2 * feeDollars.bitcoin;
  const amount = 10_000;
  const rows = [1, 2, 5, 10].map((count) => [
    `${count}`,
    dollars((amount / count) * lost + refunds),
    dollars(count * swapFees),
    bps((count * swapFees) / amount),
  ]);
  return table(['steps', 'lost to a walk-away', 'fees of all', 'in bps'], rows);
}

/** Before the agreement: for how long a price can be taken. */
function standing(): string {
  const rows = [30, 600, 3_600, 86_400].map((seconds) => [`${seconds} s`, bps(optionOf(seconds))]);
  return table(['a price stands for', 'option'], rows);
}

export const griefingTables = () => ({
  standing: standing(),
  windows: windows(),
  measures: measures(),
  steps: steps(),
  bought: bought(),
  crowding: crowding(),
});

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(Object.values(griefingTables()).join('\n\n'));
}
