import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { swapStatuses } from '../../core/status.ts';
import { search } from './search.ts';
import { storyOf } from './story.ts';
import { usual } from './world.ts';

let states = 0;
let transitions = 0;
const statuses = new Set<string>();

for (const world of usual) {
  const promise = world.question === 'loss' ? 'loses nothing' : 'settles always';
  test(`${promise}: ${world.name}`, () => {
    const found = search(world);
    assert.equal(found.fault, null, storyOf(world, found));
    states += found.states;
    transitions += found.transitions;
    for (const status of found.statuses) statuses.add(status);
  });
}

test('every status of a swap was reached, and docs/verification.md has the counts', () => {
  assert.deepEqual([...statuses].sort(), [...swapStatuses].sort());
  const text = readFileSync(new URL('../../docs/verification.md', import.meta.url), 'utf8');
  const counts = `${usual.length} worlds, ${states} states, ${transitions} transitions`;
  assert.ok(text.includes(`\`npm test\`: ${counts}`), `it should say: ${counts}`);
});
