// What a search found, to be read by people.

import type { Found } from './search.ts';
import { type State, slots } from './state.ts';
import type { World } from './world.ts';

const names = {
  long: 'long leg',
  short: 'short leg',
  oldLong: 'former long',
  oldShort: 'former short',
};

/** The way to a fault, a line a move; nothing is said of ticks in which nothing happened. */
export function storyOf(world: World, { fault }: Found): string {
  if (fault === null) return `${world.name}: no fault`;
  const { initiatorFundBy, counterpartyFundBy, revealBy } = world.deadlines;
  const lines = [
    `${world.name}: ${fault.what}`,
    `  initiatorFundBy ${initiatorFundBy}, counterpartyFundBy ${counterpartyFundBy}, ` +
      `revealBy ${revealBy}, T_short ${world.timelocks.short}, T_long ${world.timelocks.long}`,
  ];
  let clocks = 'both clocks are right';
  for (const { what, slot, state } of fault.path) {
    const now = clocksOf(state);
    const where = slot === null ? '' : ` (${names[slots[slot]]})`;
    if (what !== 'a tick') lines.push(`  at ${state.wall}: ${what}${where}`);
    else if (now !== clocks) lines.push(`  at ${state.wall}: ${now}`);
    clocks = now;
  }
  const last = fault.path.at(-1)?.state.wall ?? 0;
  return [...lines, `  at ${last}: the end`].join('\n');
}

function clocksOf({ aheadLong, aheadShort }: State): string {
  const said = (leg: string, ahead: number) =>
    `the ${leg} chain's clock is ${Math.abs(ahead)} ${ahead > 0 ? 'ahead' : 'behind'}`;
  const off = [
    ...(aheadLong === 0 ? [] : [said('long', aheadLong)]),
    ...(aheadShort === 0 ? [] : [said('short', aheadShort)]),
  ];
  return off.length === 0 ? 'both clocks are right' : off.join(', ');
}

/** A line of counts. */
export function countsOf(world: World, { states, transitions, fault }: Found): string {
  const end = fault === null ? 'no fault' : 'FAULT';
  return `${world.name}: ${states} states, ${transitions} transitions, ${end}`;
}
