import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { swapStatuses } from '../../core/status.ts';
import { search } from './search.ts';
import { storyOf } from './story.ts';
import { worldOf } from './world.ts';
import { usualLosses, usualSettlements } from './worlds.ts';

let states = 0;
let transitions = 0;
const statuses = new Set<string>();

for (const options of [...usualLosses, ...usualSettlements]) {
  const world = worldOf(options);
  const promise = options.question === 'loss' ? 'loses nothing' : 'settles always';
  test(`${promise}: ${world.name}, terms of ${options.scale}`, () => {
    const found = search(world);
    assert.equal(found.fault, null, storyOf(world, found));
    states += found.states;
    transitions += found.transitions;
    for (const status of found.statuses.keys()) statuses.add(status);
  });
}

test('every status of a swap was reached, so that none was left out unseen', () => {
  assert.deepEqual([...statuses].sort(), [...swapStatuses].sort());
});

test('docs/verification.md has the counts of these searches', () => {
  const text = readFileSync(new URL('../../docs/verification.md', import.meta.url), 'utf8');
  const worlds = usualLosses.length + usualSettlements.length;
  const counts = `${worlds} worlds, ${states} states, ${transitions} transitions`;
  assert.ok(text.includes(`\`npm test\`: ${counts}`), `it should say: ${counts}`);
});
