// A side that follows the rules never ends with neither leg, in any order of messages, restarts and
// reorganisations; each rule is needed; and two such sides get their coins back at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explore } from './explore.ts';
import { modelOf, type Rule, rules, type Sides, type State } from './release.ts';

const all = 10_000;
const sides: readonly Sides['honest'][] = [
  ['initiator'],
  ['counterparty'],
  ['initiator', 'counterparty'],
];

const ways = [true, 'p2tr'] as const satisfies Sides['consents'][];
for (const [honest, consents] of sides.flatMap((each) => ways.map((way) => [each, way] as const))) {
  const how = consents === 'p2tr' ? ', the long leg of Taproot' : '';
  test(`no order lets a rule-follower end with neither: ${honest.join(' and ')}${how}`, (t) => {
    const model = modelOf({ consents, honest, broken: null });
    const { nodes, steps, isWhole, fault } = explore(model, all);
    assert.equal(fault, null, JSON.stringify(fault));
    assert.ok(isWhole, `more than ${all} states`);
    const ends = nodes.map(({ state: { legs } }) => `${legs.a.deep} ${legs.b.deep}`);
    assert.ok(ends.includes('claimed claimed') && ends.includes('refunded refunded'));
    t.diagnostic(`${nodes.length} states, ${steps} steps`);
  });
}

test('the checker finds each rule of a side that is broken', () => {
  const missed = Object.keys(rules).filter((broken) =>
    sides.every((honest) => {
      const { fault } = explore(modelOf({ consents: true, honest, broken: broken as Rule }), all);
      return fault === null;
    }),
  );
  assert.deepEqual(missed, []);
});

/** Whether both legs can be back at depth before the clock goes on. */
function comesBack(state: State): boolean {
  const model = modelOf({ consents: 'p2tr', honest: ['initiator', 'counterparty'], broken: null });
  const { nodes } = explore(
    {
      ...model,
      first: state,
      actions: (each) => model.actions(each).filter(({ does }) => does !== 'wait'),
    },
    all,
  );
  return nodes.some(({ state: { legs } }) =>
    [legs.a, legs.b].every(({ top, deep }) => top === 'refunded' && deep === 'refunded'),
  );
}

test('two sides that give up have both legs back before any timelock', () => {
  const model = modelOf({ consents: 'p2tr', honest: ['initiator', 'counterparty'], broken: null });
  const given = explore(model, all)
    .nodes.map(({ state }) => state)
    .filter(
      ({ legs, disks }) =>
        legs.a.deep === 'open' && legs.b.deep === 'open' && disks.initiator.givenUp,
    )
    .filter(({ isShown, disks }) => !isShown && !disks.initiator.revealing);
  assert.ok(given.length > 10);
  assert.deepEqual(
    given.filter((state) => !comesBack(state)),
    [],
  );
});
