// Which seeds have neither signed refunds nor halts, whatever those come to: each is in seeds.json,
// or finds a bug of another part that docs/simulation.md names it for. Those that were named since
// have none of what came later either, which is drawn here: silent nodes, refused estimates.

import { type Chance, chanceOf } from './chance.ts';
import type { Drill } from './drills.ts';

const kept = new Set([
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 22, 23, 24, 26, 40, 44, 45, 48],
  ...[50, 66, 70, 74, 76, 92, 96, 227, 306, 311, 3033],
]);

const since = new Set([
  ...[17, 19, 31, 47, 51, 103, 119, 120, 121, 125, 127, 201],
  ...[1183, 1221, 2729, 2935, 5211, 7283, 20009, 60413],
]);

export const isKeptAsItWas = (seed: number): boolean => kept.has(seed);
const isNamedToo = (seed: number): boolean => kept.has(seed) || since.has(seed);

/** What decides whether a market has a trouble. */
export type Market = {
  readonly seed: number;
  readonly calm: boolean;
  readonly drill: Drill | null;
};

/**
 * The chance of a trouble that half of the markets without a drill have; null in all others.
 * `ownStream` keeps it apart from all else that is drawn from a seed.
 */
export function inHalf({ seed, calm, drill }: Market, ownStream: number): Chance | null {
  const chance = chanceOf(seed + ownStream);
  if (calm || drill !== null || isNamedToo(seed) || !chance.hits(0.5)) return null;
  return chance;
}
