// What a run of so many seeds must have met: where one of these is missing, nothing brings it about
// any more, and that nobody lost says less than it seems to.

import { allDrills, notComeOf } from './drills.ts';
import type { Counts, Tally } from './tally.ts';

/** From so many seeds on anything is wanted at all. */
export const fairSeeds = 100;

const common: readonly string[] = [
  ...['answer lost', 'request again later', 'request twice at once', 'events at once'],
  ...['block late', 'blocks in a burst', 'chain stands still (spells)', 'reorganisation'],
  ...['claim taken back', 'transaction dropped', 'funding paid twice', 'fees rise (spells)'],
  ...['commit late', 'connection lost', 'crash', 'node down', 'node down (spells)', 'node slow'],
  ...['node silent after the reveal', 'node refuses estimates (spells)', 'estimate refused'],
  ...['node slow (spells)', 'node lagging (spells)', 'node lying (spells)', 'sources disagree'],
  'second source lagging (spells)',
  ...['keeper claims', 'keeper refunds'],
  ...['relays asked', 'relays landed', 'relays promised', 'relays refused'],
];

/** Of signed refunds and of operators. */
const rarer: readonly string[] = [
  ...['stored', 'refused', 'begun', 'landed', 'left by who vanished', 'halts'],
];

const rare: readonly string[] = [
  ...['acceptance late', 'broadcast unanswered', 'overtaken', 'transaction replaced'],
  ...['attack claim', 'attack fund', 'attack refund', 'attack move address', 'attack nonsense'],
  ...['attack on builders', 'attack on relays', 'attack past the gates', 'attack with a ladder'],
  ...[
    'attack behind the clock',
    'attack reused hashlock',
    'attack with an odd witness',
    'attack with a strange payer',
  ],
  ...['keeper bumps', 'keeper parties vanished', 'keeper transactions lost', 'halts lifted'],
  ...['seeds with two servers', 'seeds with gas keys', 'seeds with signed refunds', 'calm seeds'],
];

/** From so many seeds on each drill is wanted, and that its moment comes. */
const drillSeeds = 1_000;
/** Of the seeds of a drill. */
const mostNotCome = 0.1;

/** By the number of seeds that meet them all. */
const wanted: readonly (readonly [number, readonly string[]])[] = [
  [fairSeeds, common],
  [200, rarer],
  [drillSeeds, rare],
];

function missedDrills(rest: Counts): string[] {
  return allDrills.flatMap((drill) => {
    const [name, notCome] = [`drill ${drill.name}`, notComeOf(drill)];
    const times = rest[name] ?? 0;
    if (times === 0) return [name];
    return (rest[notCome] ?? 0) > mostNotCome * times ? [notCome] : [];
  });
}

/** Kinds that so many seeds should have met and did not. */
export function missedIn(tally: Omit<Tally, 'swaps' | 'ends'>, seeds: number): string[] {
  const { faults, attacks, keeper, ladders, halts, rest } = tally;
  const met = { ...faults, ...attacks, ...keeper, ...ladders, ...halts, ...rest };
  const kinds = wanted
    .filter(([least]) => seeds >= least)
    .flatMap(([, all]) => all.filter((each) => (met[each] ?? 0) === 0));
  return seeds >= drillSeeds ? [...kinds, ...missedDrills(rest)] : kinds;
}
