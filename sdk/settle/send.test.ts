// How long a transaction counts as waiting.

import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryStore } from '../stores/memory.ts';
import { keptNow } from '../stores/store.ts';
import { keptRecord, swapId } from '../testing/honest.ts';
import { type Context, contextOf } from './context.ts';
import { legOf } from './record.ts';
import { overdue, waitAnew } from './send.ts';

const leg = legOf(keptRecord('maker'), 'b');
const minute = 60_000;

/** A side that was just started. */
function started(): Context {
  const input = { swapId, replaceAfterMs: 20 * minute, store: memoryStore() };
  return contextOf(input as unknown as Parameters<typeof contextOf>[0]);
}

test('a wait counts from when the transaction was kept, through a restart', () => {
  const kept = { txid: 'ab'.repeat(32), raw: '00', keptAtMs: Date.now() - 21 * minute };
  assert.equal(overdue(started(), leg, kept), true);
  const younger = { ...kept, keptAtMs: Date.now() - 19 * minute };
  assert.equal(overdue(started(), leg, younger), false);
  assert.equal(overdue(started(), leg, keptNow(kept)), false);
});

test('a record without that moment, or one from the future, waits from the start on', () => {
  const kept = { txid: 'ab'.repeat(32), raw: '00' };
  assert.equal(overdue(started(), leg, kept), false);
  const ahead = { ...kept, keptAtMs: Date.now() + 60 * minute };
  assert.equal(overdue(started(), leg, ahead), false);
});

test('a try that could not raise the fee is given the same time again', () => {
  const context = started();
  const kept = { txid: 'ab'.repeat(32), raw: '00', keptAtMs: Date.now() - 21 * minute };
  waitAnew(context, kept);
  assert.equal(overdue(context, leg, kept), false);
});
