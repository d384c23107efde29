// Which driver a person runs: the SDK's, or another one that is held to the same rules.

import { type Outcome, type SettleInput, settle } from '@parley/sdk/settle.ts';
import { chanceOf } from '../chance.ts';
import type { Person, World } from './world.ts';

export type Driver = {
  readonly settle: (input: SettleInput) => Promise<Outcome>;
  /** Ends what an earlier seed has left. */
  readonly reset: () => void;
};

let other: Driver | null = null;

export function drivenBy(driver: Driver): void {
  other = driver;
}

export function resetDrivers(): void {
  other?.reset();
}

/** Far from every seed that is run, and from the draws of the other faults. */
const apart = 5e13;

/** In a third of the seeds both sides run the other driver, and else one of them. */
export function driverOf({ seed }: World, { party }: Person): Driver['settle'] {
  if (other === null) return settle;
  const sides = chanceOf(seed + apart).pick(['maker', 'taker', 'both'] as const);
  return sides === 'both' || sides === party ? other.settle : settle;
}
