// How long a transaction counts as waiting.

import assert from 'node:assert/strict';
import test from 'node:test';
import { memoryStore } from '../stores/memory.ts';
import { keptNow } from '../stores/store.ts';
import { keptRecord, swapId } from '../testing/honest.ts';
import { contextOf } from './context.ts';
import { legOf } from './record.ts';
import { overdue, waitAnew } from './send.ts';

const leg = legOf(keptRecord('maker'), 'b');
const minute = 60_000;
const plain = { txid: 'ab'.repeat(32), raw: '00' };
const kept = (minutes: number) => ({ ...plain, keptAtMs: Date.now() - minutes * minute });

/** A side that was just started. */
function started() {
  const input = { swapId, replaceAfterMs: 20 * minute, store: memoryStore() };
  return contextOf(input as unknown as Parameters<typeof contextOf>[0]);
}

test('a wait counts from when the transaction was kept, through a restart', () => {
  for (const [which, isOverdue] of [
    [kept(21), true],
    [kept(19), false],
    [keptNow(kept(21)), false],
    // Without that moment, or with one of the future, from the start on.
    [plain, false],
    [kept(-60), false],
  ] as const) {
    assert.equal(overdue(started(), leg, which), isOverdue);
  }
});

test('a try that could not raise the fee is given the same time again', () => {
  const context = started();
  waitAnew(context, kept(21));
  assert.equal(overdue(context, leg, kept(21)), false);
});
