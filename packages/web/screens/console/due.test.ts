// The tasks of a maker come in the order of what it costs to miss them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '@parley/core/next.ts';
import type { Swap, Thread } from '@parley/sdk/types.ts';
import { dueSwaps, negotiationsOf } from './due.ts';

const nowMs = Date.parse('2026-11-27T12:00:00.000Z');
const iso = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
const thread = (id: string, more: Partial<Thread> & { ends?: number; expires?: number } = {}) => {
  const { ends, expires = 600, ...fields } = more;
  return {
    id,
    status: 'open',
    swapId: null,
    makerAccepted: false,
    takerAccepted: false,
    proposedBy: 'maker',
    updatedAt: iso(-10),
    rfq: { expiresAt: iso(expires) },
    acceptanceExpiresAt: ends === undefined ? null : iso(ends),
    ...fields,
  } as unknown as Thread;
};

test('acceptances that wait for mine come first, the nearest end before; then moves, the newest before', () => {
  const all = [
    thread('mine'),
    thread('old counter', { proposedBy: 'taker', updatedAt: iso(-60) }),
    thread('they may accept', { makerAccepted: true, ends: 100 }),
    thread('counter', { proposedBy: 'taker' }),
    thread('later', { takerAccepted: true, ends: 300 }),
    thread('soon', { takerAccepted: true, ends: 20, updatedAt: iso(-20) }),
    thread('lapsed', { takerAccepted: true, ends: -1, updatedAt: iso(-90) }),
    thread('agreed', { swapId: 's' }),
    thread('closed', { status: 'closed' }),
    thread('expired', { expires: 0 }),
  ];
  assert.deepEqual(
    negotiationsOf(all, nowMs).map((each) => `${each.thread.id}: ${each.standing.is}`),
    [
      'soon: waits_for_me',
      'later: waits_for_me',
      'counter: their_price',
      'old counter: their_price',
      'they may accept: waits_for_them',
      'mine: my_price',
      'lapsed: my_price',
    ],
  );
});

const step = (by: Step['by'], action: Step['action'], before: number | null): Step => {
  return { by, action, leg: 'a', before, why: 'because' };
};
const swap = (id: string, next: Step[], role: Swap['role'] = 'initiator') =>
  ({ id, next, role }) as Swap;

test('swaps that are mine to do come first, each by its nearest deadline; where nothing is left none', () => {
  const all = [
    swap('over', []),
    swap('waits', [step('initiator', 'wait', 500), step('counterparty', 'fund', 400)]),
    swap('no hurry', [step('initiator', 'refund', null)]),
    swap('two', [step('initiator', 'claim', 900), step('initiator', 'refund', 300)]),
    swap('theirs', [step('initiator', 'fund', 100)], 'counterparty'),
    swap('rests', [step('initiator', 'wait', null)]),
  ];
  assert.deepEqual(
    dueSwaps(all).map((each) => [each.swap.id, each.isMine, each.step.action, each.step.before]),
    [
      ['two', true, 'refund', 300],
      ['no hurry', true, 'refund', null],
      ['theirs', false, 'fund', 100],
      ['waits', false, 'fund', 400],
      ['rests', false, 'wait', null],
    ],
  );
});
