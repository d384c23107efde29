// What becomes of an acceptance that this browser keeps, by what the market says of its thread.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParleyClient } from '../../sdk/client.ts';
import { ParleyApiError } from '../../sdk/errors.ts';
import { isoTime } from '../../sdk/people.ts';
import type { VerifiedSwap } from '../../sdk/trade.ts';
import { cameOf } from './deals.ts';

const acceptedAt = 1_800_000_000;
const day = 86_400;
const entry = { threadId: 'of', acceptedAt, expected: { party: 'maker' } as VerifiedSwap };
const open = {
  ...{ status: 'open', swapId: null, proposedBy: 'maker' },
  ...{ makerAccepted: true, takerAccepted: false },
  acceptanceExpiresAt: isoTime(acceptedAt + day),
  rfq: { expiresAt: isoTime(acceptedAt + 7 * day) },
};

async function after(seconds: number, said: object | number) {
  const answer = async () => {
    if (typeof said === 'object') return said;
    throw new ParleyApiError({ status: said, code: 'no_answer', message: 'no thread' });
  };
  const client = { thread: answer } as unknown as ParleyClient;
  const { swapId, isOver } = await cameOf(client, entry, acceptedAt + seconds);
  return isOver ? 'over' : (swapId ?? 'waits');
}

test('an acceptance is kept as long as the market has it, and given up half an hour after', async () => {
  const rows: readonly [number, object | number, string][] = [
    [10, { ...open, swapId: 'one' }, 'one'],
    [day, { ...open, swapId: 'one' }, 'one'],
    // PARLEY_ACCEPT_TTL may be a day.
    [1_801, open, 'waits'],
    [day - 1, open, 'waits'],
    [day, open, 'over'],
    [1_800, { ...open, makerAccepted: false }, 'waits'],
    [1_801, { ...open, makerAccepted: false }, 'over'],
    [1_801, { ...open, status: 'closed' }, 'over'],
    [1_800, 404, 'waits'],
    [1_801, 404, 'over'],
    // A market that is away says nothing of it.
    [day, 0, 'waits'],
    [day, 503, 'waits'],
  ];
  for (const [seconds, said, came] of rows) {
    assert.equal(await after(seconds, said), came, `${seconds} s: ${JSON.stringify(said)}`);
  }
});
