// What a search found, to be read by people.

import type { Found } from './search.ts';
import type { State } from './state.ts';
import type { World } from './world.ts';

/** Of each slot. */
const names = ['long leg', 'short leg', 'former long', 'former short'];

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
    const where = slot === null ? '' : ` (${names[slot]})`;
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
  const off = [said('long', aheadLong), said('short', aheadShort)].filter((_, at) => {
    return [aheadLong, aheadShort][at] !== 0;
  });
  return off.length === 0 ? 'both clocks are right' : off.join(', ');
}
