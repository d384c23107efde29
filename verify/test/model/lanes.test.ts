// Every state of the contract's model keeps its promises, each rule of it is needed, and the bytes of
// the contract do what the model does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { explore } from './explore.ts';
import { contractOf, type Rule, rules } from './lanes.ts';
import { differences, stepsOf } from './replay.ts';
import { modelOf, plays } from './scenes.ts';
import { act } from './verbs.ts';
import { worldOf } from './world.ts';

/** No play has as many states. */
const all = 100_000;
/** Each fault shows within so many states, and nearly each kind of step. */
const some = 500;

const tried = plays.map((play) => {
  const contract = contractOf(play.scene);
  const model = modelOf(play, contract);
  const explored = explore(model, all);
  const steps = stepsOf(contract, model, explored.nodes.slice(0, some));
  return { play, contract, explored, steps };
});

// Before the first test: the runner follows each promise of one, and a VM makes many.
const compared: { name: string; done: number; wrong: readonly string[] }[] = [];
for (const { play, contract, steps } of tried) {
  // A TVM hands on gas by rules of its own, so batches differ there most.
  for (const kind of play.hasMany ? (['prague', 'tron'] as const) : (['prague'] as const)) {
    const found = await differences(await worldOf(contract, kind), steps);
    compared.push({ name: `${kind}: ${play.name}`, ...found });
  }
}

for (const { play, explored } of tried) {
  test(`every promise holds in every state: ${play.name}`, (t) => {
    const { nodes, steps, isWhole, fault } = explored;
    assert.equal(fault, null, JSON.stringify(fault));
    assert.ok(isWhole, `more than ${all} states`);
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

for (const { name, done, wrong } of compared) {
  test(`the bytes do each kind of step as the model does, ${name}`, (t) => {
    assert.deepEqual(wrong, []);
    assert.ok(done > 100, `${done} steps`);
    t.diagnostic(`${done} steps`);
  });
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

test('docs/audit.md has the figures of the model', () => {
  const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  let states = 0;
  let steps = 0;
  for (const { explored } of tried) {
    states += explored.nodes.length;
    steps += explored.steps;
  }
  const told = `${states.toLocaleString('en')} states and ${steps.toLocaleString('en')} steps`;
  assert.ok(page.includes(told), told);
  const broken = `${Object.keys(rules).length} broken rules`;
  assert.ok(page.includes(broken), broken);
});
