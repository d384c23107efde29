// The loss that hangs on missing coins, and the steps that go on without this page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gasUrgency, leftWith } from './situation.ts';
import { type Given, seen } from './testing/views.ts';

test('once the secret is out a missing coin may cost the swap, and before that it costs nothing', () => {
  const urgency = (state: Given['state']) => gasUrgency(seen(state ? { state } : {}).swap);
  assert.deepEqual(
    (['funding', 'waiting_to_fund', 'funded', 'revealing', 'claiming', 'refunding'] as const).map(
      urgency,
    ),
    ['fund', 'fund', 'reveal', 'reveal', 'collect', 'refund'],
  );
});

test("the market's work for an absent person is told by family, and no longer than it matters", () => {
  const usd = { gives: 'USDX', usd: 'final', btc: 'final', state: 'funded' } as const;
  const table: readonly (readonly [string, Given, readonly string[]])[] = [
    [
      'Bitcoin is given, and signed refunds are there',
      { btc: 'final', isRefundLeft: true },
      ['refunds'],
    ],
    ['Bitcoin is given, and none is signed', { btc: 'final' }, []],
    ['a dollar is given', usd, ['refund']],
    [
      'the other side begins, and signed claims are there',
      { ...usd, role: 'counterparty', isClaimLeft: true },
      ['refund', 'claims'],
    ],
    [
      'this side has given up what it was owed',
      { ...usd, role: 'counterparty', isClaimLeft: true, isGivenUp: true, state: 'giving_up' },
      ['refund'],
    ],
    ['it was collected', { ...usd, usd: 'claimed' }, []],
    ['it is back', { ...usd, usd: 'refunded' }, []],
    ['the other side begins, and pays on EVM', { btc: 'final', role: 'counterparty' }, ['claim']],
    ['it is over', { ...usd, phase: 'ended' }, []],
  ];
  for (const [what, given, left] of table) {
    assert.deepEqual(
      leftWith(seen(given).swap, () => true),
      left,
      what,
    );
  }
  assert.deepEqual(
    leftWith(seen(usd).swap, () => false),
    [],
    'a market without gas does nothing',
  );
});
