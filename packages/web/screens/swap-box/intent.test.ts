// A press that waits for a sign-in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { forget, longestMs, posted, pressed, takesUp } from './intent.ts';

test('an order keeps its key until it is there, and another order has another', () => {
  const key = pressed('one', 0, { waits: false, by: null });
  assert.equal(pressed('one', 5, { waits: true, by: null }), key);
  assert.notEqual(pressed('other', 6, { waits: false, by: null }), key);
  const again = pressed('one', 7, { waits: false, by: null });
  forget();
  assert.notEqual(pressed('one', 8, { waits: false, by: null }), again);
});

test('a press goes on once after the sign-in, for the same order, and not after too long', () => {
  pressed('one', 0, { waits: true, by: null });
  assert.equal(takesUp('other', 1, 'me'), false);
  assert.equal(takesUp('one', longestMs - 1, 'me'), true);
  assert.equal(takesUp('one', longestMs - 1, 'me'), false, 'once');
  pressed('one', 0, { waits: true, by: null });
  assert.equal(takesUp('one', longestMs, 'me'), false);
  pressed('one', 0, { waits: false, by: null });
  assert.equal(takesUp('one', 1, 'me'), false, 'nobody was sent to sign in');
  forget();
  assert.equal(takesUp('one', 1, 'me'), false);
});

test('a press of one account is none of another that signs in to the same tab', () => {
  pressed('one', 0, { waits: true, by: 'me' });
  assert.equal(takesUp('one', 1, 'other'), false);
  pressed('one', 0, { waits: true, by: 'me' });
  assert.equal(takesUp('one', 1, 'me'), true);
});

test('a refused order is asked for anew, and one without an answer under the same key', async () => {
  const press = () => pressed('one', 0, { waits: false, by: 'me' });
  const failing = (status: number) => {
    const error = new ParleyApiError({ status, code: 'said', message: 'no' });
    return assert.rejects(
      posted(() => Promise.reject(error)),
      error,
    );
  };
  const key = press();
  await failing(0);
  await failing(429);
  assert.equal(press(), key);
  await failing(409);
  const next = press();
  assert.notEqual(next, key);
  assert.equal(await posted(async () => 'made'), 'made');
  assert.notEqual(press(), next);
});
