// The picture and the text of the states are those of the machine: as settlements go through them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { drawStates, pictureFile, readStates } from '../testing/states.ts';

const { places, arrows } = readStates();

test('the picture is drawn from the text, and the README explains each state', () => {
  assert.equal(readFileSync(pictureFile, 'utf8'), drawStates());
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  assert.ok(readme.includes('](states.svg)'));
  for (const state of places.keys()) assert.ok(readme.includes(`| \`${state}\` |`), state);
  const named = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  assert.deepEqual([...named].sort(), [...places.keys()].sort());
});

const ways: Record<string, (scene: PaperScene) => void> = {
  'is paid': () => {},
  'is left alone': (scene) => {
    scene.theirsAt = Infinity;
    scene.stepSeconds = 600;
  },
  'finds no block for its funding': (scene) => {
    scene.stepSeconds = 600;
    scene.onStep = () => {
      if (scene.chains[scene.gives].pool.size > 0) scene.chains[scene.gives].leastFee = 10n ** 16n;
    };
  },
};
for (const party of ['maker', 'taker'] as const) {
  for (const [what, happens] of Object.entries(ways)) {
    test(`the ${party} that ${what} goes by the arrows, and each event says where it is`, async () => {
      const scene = await paperScene(party);
      happens(scene);
      const outcome = await run(scene, {}, () => scene.wall > scene.timelock('b') + 86_400);
      const went = scene.told.filter(({ step }) => step === 'state').map(({ text }) => text);
      const known = arrows.flatMap(({ from, to, both }) => [
        `${from} -> ${to}`,
        ...(both ? [`${to} -> ${from}`] : []),
      ]);
      assert.ok(went.length > 1);
      for (const each of went) assert.ok(known.includes(each), each);
      assert.ok(scene.told.every(({ state }) => places.has(state)));
      if (outcome !== null) assert.equal(scene.told.at(-1)?.state, 'settled');
    });
  }
}
