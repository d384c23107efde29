// The model searched further than `npm test` has time for: `npm run soak -- model`. Counts, a line
// for each world, the story of every fault, and a last line with the sums.

import { realRules } from './rules.ts';
import { search } from './search.ts';
import { countsOf, storyOf } from './story.ts';
import { worldOf } from './world.ts';
import { deepLosses, deepSettlements, usualLosses, usualSettlements } from './worlds.ts';

const worlds = [...usualLosses, ...usualSettlements, ...deepLosses, ...deepSettlements];
let states = 0;
let transitions = 0;
let faults = 0;
for (const options of worlds) {
  const world = worldOf(realRules, options);
  const began = performance.now();
  const found = search(world);
  states += found.states;
  transitions += found.transitions;
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`${countsOf(world, found)} (${seconds} s)`);
  if (found.fault === null) continue;
  faults += 1;
  console.log(storyOf(world, found));
}
const sums = `${worlds.length} worlds, ${states} states, ${transitions} transitions`;
console.log(`model: ${sums}, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
