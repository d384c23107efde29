// Which sides of a swap are told of missing coins, and what hangs on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../engine/types.ts';
import { gasUrgency, leftWith, sidesAhead } from './ahead.ts';
import { type Given, seen } from './testing/views.ts';

const gas = (leg: 'a' | 'b' | null): Problem => ({
  kind: 'gas',
  leg,
  code: 'claim_unpayable',
  sentence: 'has 0 wei',
});
const relay = { txid: null, refused: null };

test('a side is looked at until it has sent what it has to, unless a problem tells of it', () => {
  const table: readonly (readonly [string, Given, readonly string[]])[] = [
    ['before it pays', {}, ['gives', 'gets']],
    ['it has paid', { btc: 'mined' }, ['gets']],
    ['it was brought back', { isRestored: true }, ['gets']],
    ['the addresses are not there', { state: 'preparing' }, []],
    ['it collects', { state: 'claiming', btc: 'final', usd: 'claimPooled' }, []],
    ['the other side took its own back', { btc: 'final', usd: 'refundMined' }, []],
    ['it took its own back', { state: 'refunding', btc: 'refundMined', usd: 'final' }, []],
    ['the market collects', { state: 'claiming', btc: 'final', usd: 'final', relay }, []],
    ['a problem tells of collecting', { problems: [gas('a')] }, ['gives']],
    ['a problem tells of paying', { problems: [gas(null)] }, ['gets']],
    ['it is over', { phase: 'ended' }, []],
  ];
  for (const [what, given, sides] of table) {
    const found = sidesAhead(seen(given).swap);
    assert.deepEqual(
      found.map(({ side }) => side),
      sides,
      what,
    );
  }
  const [own] = sidesAhead(seen().swap);
  assert.deepEqual([own?.chain, own?.amount], ['bitcoin-regtest', 1_000_000n]);
});

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
