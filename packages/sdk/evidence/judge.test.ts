// Which answers count, and what follows of them, as a table: both sides of each boundary.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type EscrowFacts, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { Family } from '@parley/core/families.ts';
import { policies } from '@parley/core/testing.ts';
import { clockToleranceSeconds } from '../verify.ts';
import { type Answer, type Bounds, judge, mostBehindWall } from './judge.ts';

const wall = 1_800_000_000;
const { ethereum: policy } = policies;
const bounds: Bounds = {
  chain: 'evm-dev',
  nodes: 2,
  family: 'evm',
  policy,
  requiredConfirmations: 10,
  blockSeconds: 12,
};

const sighting = (confirmations: number): Sighting => {
  return { txid: 'one', confirmations, deep: confirmations >= 10 };
};
const funded = { ...nothingSeen, funded: sighting(10), balance: 1n, empty: false };
const shows = {
  none: nothingSeen,
  pooled: { ...nothingSeen, funded: sighting(0) },
  mined: { ...nothingSeen, funded: sighting(9), balance: 1n, empty: false },
  funded,
  claimMined: { ...funded, claimed: sighting(1), balance: 0n },
  claimed: { ...funded, claimed: sighting(10), balance: 0n },
  refunded: { ...funded, refunded: sighting(10), balance: 0n },
  emptied: { ...funded, balance: 0n },
  toppedUp: { ...funded, balance: funded.balance + 1n },
  tooLittle: { ...nothingSeen, balance: 1n, empty: false },
  onItsWay: { ...nothingSeen, empty: false },
} as const satisfies Record<string, EscrowFacts>;

type Given = {
  readonly shown?: keyof typeof shows;
  readonly height?: number;
  readonly clock?: number;
  readonly isRefused?: boolean;
};

const asked = (
  given: readonly Given[],
  how: { isPatient?: boolean; of?: Partial<Bounds> } = {},
) => {
  const answers = given.map(({ shown = 'funded', height = 100, clock = wall, ...more }, node) => {
    const heads = { height, hash: `${height}`, clock };
    const answer: Answer = { node, heads, facts: shows[shown], isRefused: false };
    return { ...answer, ...more };
  }) as [Answer, ...Answer[]];
  const { isPatient = false, of = {} } = how;
  return judge(answers, { ...bounds, ...of }, { wall, isPatient });
};

const told = (given: readonly Given[], how = {}) => {
  const { node, agreed, doubts } = asked(given, how);
  return [node, agreed, doubts.map(({ code }) => code).join()];
};

test('an answer is silence once its head is behind another one by more than the depth', () => {
  const stuck = (behind: number, seconds: number) => {
    return { shown: 'none', height: 100 - behind, clock: wall - seconds } as const;
  };
  assert.deepEqual(told([stuck(11, 601), {}]), [1, true, 'node_behind']);
  assert.deepEqual(told([stuck(10, 601), {}]), [1, false, 'nodes_disagree']);
  assert.deepEqual(told([stuck(11, 600), {}]), [1, false, 'nodes_disagree']);
});

test('an invented height makes nobody else old: its time is that of now for both', () => {
  const liar = { shown: 'claimed', height: 1_000_000 } as const;
  assert.deepEqual(told([liar, {}]), [1, false, 'nodes_disagree']);
  assert.deepEqual(told([liar, { clock: wall - 12 }, {}]), [1, false, 'nodes_disagree']);
});

test('no head is newer than now, and Bitcoin’s clock trails where nothing is wrong', () => {
  const future = { shown: 'claimed', height: 1_000_000, clock: wall + 86_400 } as const;
  const both = 'node_ahead,nodes_disagree';
  for (const old of [600, 601]) {
    assert.deepEqual(told([future, { clock: wall - old }]), [1, false, both], 'it silences nobody');
  }
  // If the difference is within the tolerance of clocks, only the time up to now counts.
  const invented = { ...future, clock: wall + clockToleranceSeconds };
  const drifting = { driftSeconds: 600, lateClaimSeconds: 600 };
  const wide = { policy: { ...policy, ...drifting } };
  const ahead = { ...future, clock: wall + 600 + clockToleranceSeconds };
  const late = { clock: wall - 600 };
  assert.deepEqual(told([ahead, late], { of: wide }), [1, false, 'nodes_disagree']);
  const { lateClaimSeconds: trails } = policies.bitcoin;
  const of = { family: 'bitcoin', policy: policies.bitcoin, blockSeconds: 600 } as const;
  assert.deepEqual(told([invented, { clock: wall - trails }], { of }), [
    1,
    false,
    'nodes_disagree',
  ]);
  const older = { clock: wall - trails - 1 };
  assert.deepEqual(told([invented, older], { of }), [0, true, 'node_behind']);
});

test('a head that is newer than now tells no time, and what it shows counts on', () => {
  const most = policy.driftSeconds + clockToleranceSeconds;
  const of = (...clocks: readonly number[]) => {
    const given = clocks.map((each) => ({ clock: wall + each }));
    const { agreed, earliest, latest, doubts } = asked(given);
    return [agreed, earliest - wall, latest - wall, doubts.map(({ code }) => code).join()];
  };
  assert.deepEqual(of(most, -12), [true, -12, most, '']);
  assert.deepEqual(of(most + 1, -12), [true, -12, -12, 'node_ahead']);
  assert.deepEqual(of(-12, 86_400, -24), [true, -24, -12, 'node_ahead']);
  // This device's clock may be the wrong one: no effect begins, and each due effect waits for all
  // nodes.
  assert.deepEqual(of(86_400), [false, 86_400, 86_400, 'node_ahead']);
  const all = [false, 3_600, 3_600, 'node_ahead,node_ahead'];
  assert.deepEqual(of(86_400, 3_600), all);
  const shown = [{ clock: wall + 3_600 }, { shown: 'claimed', clock: wall }] as const;
  assert.deepEqual(told(shown), [0, false, 'node_ahead,nodes_disagree']);
});

test('an answer is silence once its head is older than now by more than an outage', () => {
  const most = mostBehindWall(bounds);
  assert.equal(most, policy.normal.outageSeconds + policy.driftSeconds);
  assert.deepEqual(told([{ clock: wall - most }]), [0, true, '']);
  assert.deepEqual(told([{ clock: wall - most - 1 }]), [0, false, 'chain_stands']);
  // A value that waits for more confirmations has the longer outage.
  const high = { requiredConfirmations: policy.high.confirmations };
  const longer = policy.high.outageSeconds + policy.driftSeconds;
  assert.equal(mostBehindWall({ ...bounds, ...high }), longer);
  // Bitcoin's clock trails by hours where nothing is wrong.
  const bitcoin: Family = 'bitcoin';
  const trailing = policies.bitcoin.normal.outageSeconds + policies.bitcoin.lateClaimSeconds;
  assert.equal(mostBehindWall({ ...bounds, family: bitcoin, policy: policies.bitcoin }), trailing);
});

test('where no answer counts the least old one says what may be tried, and nothing ends', () => {
  const old = mostBehindWall(bounds) + 1;
  const { node, agreed, earliest } = asked([{ clock: wall - old - 9 }, { clock: wall - old }]);
  assert.deepEqual([node, agreed, earliest], [1, false, wall - old]);
});

test('while a node that is not old denies what is remembered nothing ends, alone or beside another', () => {
  const both = 'answer_refused,nodes_disagree';
  assert.deepEqual(told([{ isRefused: true }, { shown: 'claimed' }]), [0, false, both]);
  assert.deepEqual(told([{ isRefused: true }, {}]), [0, false, 'answer_refused']);
  assert.deepEqual(told([{ isRefused: true }]), [0, false, 'answer_refused']);
  const old = { isRefused: true, height: 50, clock: wall - 601 };
  assert.deepEqual(told([old, { shown: 'claimed' }]), [1, true, 'node_behind']);
});

test('the one of differing nodes that leaves the most to do is taken, and nothing ends', () => {
  const order = ['none', 'claimed', 'claimMined', 'mined', 'funded'] as const;
  for (const [at, less] of order.entries()) {
    for (const more of order.slice(at + 1)) {
      assert.deepEqual(told([{ shown: less }, { shown: more }]), [1, false, 'nodes_disagree']);
      assert.deepEqual(told([{ shown: more }, { shown: less }]), [0, false, 'nodes_disagree']);
    }
  }
  assert.deepEqual(told([{ shown: 'claimed' }, { shown: 'claimed' }]), [0, true, '']);
  assert.deepEqual(told([{ shown: 'claimed' }, { shown: 'refunded' }])[1], false);
  // A fact that waits for a block may be known to one node alone.
  assert.deepEqual(told([{ shown: 'pooled' }, { shown: 'none' }])[1], true);
});

test('the one of agreeing nodes that shows more money in the escrow is taken', () => {
  const pairs = [
    ['emptied', 'funded'],
    ['funded', 'toppedUp'],
    ['none', 'onItsWay'],
    ['onItsWay', 'tooLittle'],
  ] as const;
  for (const [less, more] of pairs) {
    assert.deepEqual(told([{ shown: less }, { shown: more }]), [1, true, '']);
    assert.deepEqual(told([{ shown: more }, { shown: less }]), [0, true, '']);
  }
});

test('a node that has not reached the block of a claim is waited for, and not for ever', () => {
  const given = [{ shown: 'claimMined' }, { height: 99 }] as const;
  assert.equal(asked(given, { isPatient: true }).node, 0);
  assert.equal(asked(given, { isPatient: false }).node, 1);
  // It has that block, and shows no claim in it.
  assert.equal(asked([{ shown: 'claimMined' }, {}], { isPatient: true }).node, 1);
});

test('a secret of any answer is known, of one that does not count too', () => {
  const secret = '77'.repeat(32);
  const heads = { height: 1, hash: '', clock: 0 };
  const old: Answer = { node: 0, heads, facts: { ...nothingSeen, secret }, isRefused: false };
  const well = { node: 1, heads: { ...heads, height: 100, clock: wall }, facts: funded };
  const judged = judge([old, { ...well, isRefused: false }], bounds, { wall, isPatient: false });
  assert.deepEqual([judged.facts.secret, judged.node, judged.agreed], [secret, 1, true]);
});

test('both ends of several clocks are known', () => {
  const { earliest, latest } = asked([{ clock: wall - 24 }, { clock: wall - 12 }]);
  assert.deepEqual([earliest, latest], [wall - 24, wall - 12]);
});

test('a doubt names a node by its place, and no address', () => {
  const { doubts } = asked([{}, { shown: 'none', height: 50, clock: wall - 601 }]);
  assert.deepEqual(doubts, [
    {
      code: 'node_behind',
      sentence: 'node 2 of evm-dev stands at block 50, 50 behind another one',
      node: 1,
    },
  ]);
  // One of two configured nodes answers.
  const [alone] = asked([{ isRefused: true }]).doubts;
  assert.match(alone?.sentence ?? '', /^node 1 of evm-dev denies/);
  const [only] = asked([{ isRefused: true }], { of: { nodes: 1 } }).doubts;
  assert.match(only?.sentence ?? '', /^the node of evm-dev denies/);
  const [early] = asked([{ clock: wall + 500 }]).doubts;
  const sentence = 'the newest block of node 1 of evm-dev is 500 s newer than now, more than 120 s';
  assert.equal(early?.sentence, `${sentence}: it lies, or this clock is behind`);
});
