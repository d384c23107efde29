// Every state of the contract's model keeps its promises, each rule of it is needed, and the bytes of
// the contract do what the model does.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Explored, explore } from './explore.ts';
import { type Action, contractOf, type Rule, rules, type State } from './lanes.ts';
import { differences, stepsOf } from './replay.ts';
import { modelOf, type Play, plays } from './scenes.ts';
import { act } from './verbs.ts';
import { worldOf } from './world.ts';

/** No play has as many states. */
const all = 100_000;
/** Each fault shows within so many states, and nearly each kind of step. */
const some = 500;

const explored = new Map<Play, Explored<State, Action>>();
function whole(play: Play): Explored<State, Action> {
  const found = explored.get(play) ?? explore(modelOf(play, contractOf(play.scene)), all);
  explored.set(play, found);
  return found;
}

const chosenOf = (play: Play) => {
  const contract = contractOf(play.scene);
  return stepsOf(contract, modelOf(play, contract), whole(play).nodes.slice(0, some));
};

for (const play of plays) {
  test(`every promise holds in every state: ${play.name}`, (t) => {
    const { nodes, steps, isWhole, fault } = whole(play);
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

const chosen = new Map(plays.map((play) => [play, chosenOf(play)]));

/** A TVM hands on gas by rules of its own, so batches differ there most. */
for (const [kind, played] of [
  ['prague', plays],
  ['tron', [plays[2]]],
] as const) {
  for (const play of played) {
    test(`the bytes do each kind of step as the model does, ${kind}: ${play.name}`, async (t) => {
      const world = await worldOf(contractOf(play.scene), kind);
      const { done, wrong } = await differences(world, chosen.get(play) ?? new Map());
      assert.deepEqual(wrong, []);
      t.diagnostic(`${done} steps`);
    });
  }
}

test('a rule that only the model or only the bytes break is a difference', () => {
  const missed = Object.keys(rules).filter((rule) =>
    plays.every((play) => {
      const contract = contractOf(play.scene);
      const broken = contractOf(play.scene, rule as Rule);
      const textOf = modelOf(play, contract).keyOf;
      return [...(chosen.get(play) ?? [])].every(([{ state }, actions]) =>
        actions.every((action) => {
          const one = act(contract, state, action);
          const other = act(broken, state, action);
          return one.refusal === other.refusal && textOf(one.state) === textOf(other.state);
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
  for (const play of plays) {
    states += whole(play).nodes.length;
    steps += whole(play).steps;
  }
  const told = `${states.toLocaleString('en')} states and ${steps.toLocaleString('en')} steps`;
  assert.ok(page.includes(told), told);
  const broken = `${Object.keys(rules).length} broken rules`;
  assert.ok(page.includes(broken), broken);
});
