// What a run of seeds met, in counts by kind, and what it should have met: where a kind is missing,
// nothing brings it about any more, and that nobody lost says less than it seems to.

import { allDrills, notComeOf } from './drills.ts';

export type Counts = ReadonlyMap<string, number>;

/** Parts of the last line; a kind is of the first that fits. */
const groups = {
  ends: /^end /,
  attacks: /^(attack|plan) /,
  'gas keys': /^(keeper|relays) /,
  besides: /^(swaps|calm seeds|drill |seeds with |left open|checked )/,
  faults: /./,
} as const;
type Group = keyof typeof groups;
const names = Object.keys(groups) as Group[];

export type Tally = Readonly<Record<Group, Readonly<Record<string, number>>>>;

export function tallyOf(counts: Counts): Tally {
  const groupOf = (kind: string) => names.find((name) => groups[name].test(kind));
  const sorted = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  const of = (name: Group) => sorted.filter(([kind]) => groupOf(kind) === name);
  return Object.fromEntries(names.map((name) => [name, Object.fromEntries(of(name))])) as Tally;
}

export function lineOf(counts: Counts): string {
  const tally = tallyOf(counts);
  const said = (name: Group) =>
    Object.entries(tally[name]).map(([kind, times]) => `${times} ${kind}`);
  return names.map((name) => `${name}: ${said(name).join(', ') || 'none'}`).join('; ');
}

/** From so many seeds on anything is wanted at all. */
export const fairSeeds = 100;
/** From so many on each drill is wanted, and that its moment comes. */
const drillSeeds = 1_000;
/** Of the seeds of a drill. */
const mostNotCome = 0.1;

const common: readonly string[] = [
  ...['answer lost', 'request again later', 'request twice at once', 'events at once'],
  ...['block late', 'blocks in a burst', 'chain stands still (spells)', 'reorganisation'],
  ...['claim taken back', 'transaction dropped', 'funding paid twice', 'fees rise (spells)'],
  ...['commit late', 'connection lost', 'crash', 'node down', 'node down (spells)', 'node slow'],
  ...['node slow (spells)', 'node lagging (spells)', 'node lying (spells)', 'sources disagree'],
  ...['second source lagging (spells)', 'keeper claims', 'keeper refunds'],
  ...['relays asked', 'relays landed', 'relays promised', 'relays refused'],
];

const rare: readonly string[] = [
  ...['acceptance late', 'broadcast unanswered', 'overtaken', 'transaction replaced'],
  ...['attack claim', 'attack fund', 'attack refund', 'attack move address', 'attack nonsense'],
  ...['attack on builders', 'attack on relays', 'attack past the gates'],
  ...['attack behind the clock', 'attack reused hashlock'],
  ...['attack with an odd witness', 'attack with a strange payer'],
  ...['keeper bumps', 'keeper parties vanished', 'keeper transactions lost'],
  ...['seeds with two servers', 'seeds with gas keys', 'calm seeds'],
];

/** Kinds that so many seeds should have met and did not. */
export function missedIn(met: Counts, seeds: number): string[] {
  const times = (kind: string) => met.get(kind) ?? 0;
  const isMissed = (kind: string) => times(kind) === 0;
  if (seeds < fairSeeds) return [];
  if (seeds < drillSeeds) return common.filter(isMissed);
  const drills = allDrills.flatMap((drill) => {
    const [name, notCome] = [`drill ${drill.name}`, notComeOf(drill)];
    if (isMissed(name)) return [name];
    return times(notCome) > mostNotCome * times(name) ? [notCome] : [];
  });
  return [...[...common, ...rare].filter(isMissed), ...drills];
}
