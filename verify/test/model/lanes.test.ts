// Every state of the contract's model keeps its promises, each rule of it is needed, and the bytes of
// the contract do what the model does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runs } from '../support/runs.ts';
import { explore } from './explore.ts';
import { contractOf, type Rule, rules } from './lanes.ts';
import { differences, stepsOf } from './replay.ts';
import { modelOf, plays } from './scenes.ts';
import { act } from './verbs.ts';
import { worldOf } from './world.ts';

/** Each play has fewer states, and the soak walks them all. */
const all = 80_000;
const usual = all / 20;
const most = runs(usual);
/** Each fault shows within so many states, and nearly each kind of step. */
const some = 500;

const tried = plays.map((play) => {
  const contract = contractOf(play.scene);
  const model = modelOf(play, contract);
  const explored = explore(model, most);
  const steps = stepsOf(contract, model, explored.nodes.slice(0, some));
  return { play, contract, explored, steps };
});

for (const { play, explored } of tried) {
  test(`every promise holds in every state: ${play.name}`, (t) => {
    const { nodes, steps, isWhole, fault } = explored;
    assert.equal(fault, null, JSON.stringify(fault));
    assert.ok(isWhole || most < all, `more than ${all} states`);
    t.diagnostic(`${nodes.length} states, ${steps} steps`);
  });
}

test('the checker finds each rule of the contract that is broken', () => {
  const missed = Object.keys(rules).filter((rule) =>
    plays.every((play) => {
      const broken = contractOf(play.scene, rule as Rule);
      return explore(modelOf(play, broken), some).fault === null;
    }),
  );
  assert.deepEqual(missed, []);
});

for (const { play, contract, steps } of tried) {
  // A TVM hands on gas by rules of its own, so batches differ there most.
  for (const kind of play.hasMany ? (['prague', 'tron'] as const) : (['prague'] as const)) {
    test(`the bytes do each kind of step as the model does, ${kind}: ${play.name}`, async (t) => {
      const { done, wrong } = await differences(await worldOf(contract, kind), steps);
      assert.deepEqual(wrong, []);
      assert.ok(done > 100, `${done} steps`);
      t.diagnostic(`${done} steps`);
    });
  }
}

test('a rule that only the model or only the bytes break is a difference', () => {
  const missed = Object.keys(rules).filter((rule) =>
    tried.every(({ play, contract, steps }) => {
      const broken = contractOf(play.scene, rule as Rule);
      return [...steps].every(([{ state }, actions]) =>
        actions.every((action) => {
          const one = act(contract, state, action);
          const other = act(broken, state, action);
          return JSON.stringify(one) === JSON.stringify(other);
        }),
      );
    }),
  );
  assert.deepEqual(missed, []);
});

test('docs/audit.md has the figures of the model, which a whole walk counts', () => {
  const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  const broken = `${Object.keys(rules).length} broken rules`;
  assert.ok(page.includes(broken), broken);
  const states = tried.reduce((sum, { explored }) => sum + explored.nodes.length, 0);
  const steps = tried.reduce((sum, { explored }) => sum + explored.steps, 0);
  const told = `${states.toLocaleString('en')} states and ${steps.toLocaleString('en')} steps`;
  assert.equal(
    page.includes(told),
    tried.every(({ explored }) => explored.isWhole),
    told,
  );
  assert.ok(page.includes(`${usual.toLocaleString('en')} states of each play`));
});
