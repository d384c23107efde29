// The comparisons of a swap without any chain: its times, and an outcome that nobody knows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import type { Rules } from '@parley/core/rules.ts';
import { rulesOf } from '@parley/core/rules.ts';
import { agreedAt, clocksAt, facts, policies, swapOf } from '@parley/core/testing.ts';
import { type EscrowRow, storedFacts } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';
import { rulesOfChain } from '../settle/preview.ts';
import { compareSwap, keyOf } from './compare.ts';

const chains = ['ethereum', 'bitcoin'] as const;
const [ethereum, bitcoin] = chains.map((chain) => ({
  chain,
  policy: policies[chain],
  contract: { address: null, version: chain },
  plan: () => ({ address: 'escrow' }),
})) as unknown as [ChainAdapter, ChainAdapter];
/** Leg `a` is on Ethereum and short. */
const rules = rulesOf({ a: rulesOfChain(ethereum), b: rulesOfChain(bitcoin) });
const state = swapOf({ addresses: false });

const about = ['depth_differs', 'deadlines_differ', 'facts_behind', 'outcome_unknown'];

function found(
  over: { rules: Rules | null; revealBy?: number; depth?: number; short?: ChainAdapter },
  shown: readonly [EscrowRow, EscrowFacts][] = [],
) {
  const { a, b } = state.legs;
  const { revealBy = state.deadlines.revealBy, depth = a.requiredConfirmations } = over;
  const swap = {
    id: 'swap',
    status: 'agreed',
    state: {
      ...state,
      deadlines: { ...state.deadlines, revealBy },
      legs: { a: { ...a, requiredConfirmations: depth }, b },
    },
    rules: over.rules,
    agreedAt,
    long: 'b',
    dueAt: state.deadlines.expiresAt + 1,
    done: false,
    chainClocks: { a: agreedAt, b: agreedAt },
    tokens: { a: null, b: null },
    lanes: { a: null, b: null },
    laneSignatures: { a: null, b: null },
  } as unknown as Swap;
  const findings = compareSwap({
    swap,
    rows: shown.map(([row]) => row),
    read: new Map(shown.map(([row, facts]) => [keyOf(row), facts])),
    adapters: new Map([over.short ?? ethereum, bitcoin].map((each) => [each.chain, each])),
    clocks: clocksAt(agreedAt),
  });
  return findings
    .filter(({ what }) => about.includes(what))
    .map(({ severity, what, says }) => ({ kind: `${severity} ${what}`, says }));
}

const kinds = (...given: Parameters<typeof found>) => found(...given).map(({ kind }) => kind);
const { revealBy } = state.deadlines;
const weekEarlier = revealBy - 7 * 86_400;
const { normal, high } = policies.ethereum;

test('a swap of the rules of today has their times to the second, and one of their depths', () => {
  const elsewhere = { ...rules, contract: { a: 'another', b: 'another' } };
  for (const own of [rules, elsewhere]) {
    assert.deepEqual(kinds({ rules: own }), []);
    assert.deepEqual(kinds({ rules: own, revealBy: revealBy + 1 }), ['danger deadlines_differ']);
    // Deeper than its amount wants today: the other depth, with its own times.
    const deeper = kinds({ rules: own, depth: high.confirmations });
    assert.deepEqual(deeper, ['danger deadlines_differ']);
    assert.deepEqual(kinds({ rules: own, depth: 1 }), ['danger depth_differs']);
  }
});

test('the times of either of two depths with as many confirmations are right', () => {
  const slower = { ...normal, settleSeconds: normal.settleSeconds + 600 };
  const policy = { ...policies.ethereum, normal: slower, high: normal };
  const short = { ...ethereum, policy };
  const own = rulesOf({ a: rulesOfChain(short), b: rulesOfChain(bitcoin) });
  assert.deepEqual(kinds({ rules: own, short }), []);
  const wrong = kinds({ rules: own, short, revealBy: revealBy + 1 });
  assert.deepEqual(wrong, ['danger deadlines_differ']);
});

test('a swap of other rules is measured by the order of its times alone, not by today', () => {
  const moved = { ...rules, policies: { ...rules.policies, b: '0'.repeat(16) } };
  for (const other of [{ ...rules, formula: 0 }, moved, null]) {
    assert.deepEqual(kinds({ rules: other, revealBy: revealBy + 1, depth: 7 }), []);
    const [wrong, ...others] = found({ rules: other, revealBy: weekEarlier });
    assert.deepEqual([wrong?.kind, others], ['danger deadlines_differ', []]);
    assert.match(wrong?.says ?? '', /^revealBy \(\d+\) is not after counterpartyFundBy \(\d+\)$/);
  }
});

test('an outcome that nobody knows is not seen, with the node that would tell', () => {
  const { hashlock, legs } = state;
  const { chain, timelock, amount } = legs.a;
  const to = { address: 'x', pubkey: null };
  const terms = {
    chain,
    hashlock,
    payout: to,
    refund: to,
    token: null,
    amount: `${amount}`,
    timelock,
  };
  const row = { chain, address: 'escrow', leg: 'a', terms, facts: storedFacts(nothingSeen) };
  const unknown = facts({ outcome: 'unknown' });
  const told = found({ rules }, [[row as unknown as EscrowRow, unknown]]);
  assert.deepEqual(
    told.map(({ kind }) => kind),
    ['differs facts_behind', 'unseen outcome_unknown'],
  );
  assert.match(told[0]?.says ?? '', /outcome unknown; stored is .*outcome known$/);
  assert.match(told[1]?.says ?? '', /leg a on ethereum is not known.*an archive.* would tell/);
  const known = { ...row, facts: storedFacts(unknown) } as unknown as EscrowRow;
  assert.deepEqual(kinds({ rules }, [[known, unknown]]), ['unseen outcome_unknown']);
});
