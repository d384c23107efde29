import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { forget, learn, newWatching, remember } from './watch.ts';

const secretOf = (at: number) => at.toString(16).padStart(64, '0');
const escrowOf = (at: number, of: number) =>
  ({ address: `${at}`, terms: { hashlock: hashlockOf(secretOf(of)) } }) as unknown as WatchedEscrow;

test('a secret is kept while any escrow of its hashlock is watched, and no longer', () => {
  const watch = newWatching('x');
  for (const watched of [escrowOf(1, 1), escrowOf(2, 1)])
    remember(watch, watched, () => ({ watched }));
  learn(watch, secretOf(1));
  forget(watch, '1');
  assert.equal(watch.secrets.get(hashlockOf(secretOf(1))), secretOf(1));
  forget(watch, '2');
  learn(watch, secretOf(1));
  const { known, byHashlock, secrets, owed } = watch;
  for (const left of [known, byHashlock, secrets, owed]) assert.equal(left.size, 0);
});
