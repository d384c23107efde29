// A driven swap is tried again, less and less often, until it ends or a person is needed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { drive } from './drive.ts';
import { SettleError, VerificationError } from './errors.ts';
import type { SettleInput } from './settle.ts';
import { paperScene } from './testing/paper-scene.ts';

/** Fails with these, one a run, and is ready after them. */
async function driven(errors: readonly unknown[], stop = new AbortController()) {
  const { input } = await paperScene('maker');
  const pauses: number[] = [];
  const troubles: string[] = [];
  let runs = 0;
  const ready = (): SettleInput => {
    runs += 1;
    if (runs <= errors.length) throw errors[runs - 1];
    return { ...input, pollMs: 0 };
  };
  const result = drive({
    ready,
    signal: stop.signal,
    pause: async (ms) => {
      if (ms > 0) pauses.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    onTrouble: ({ verdict }) => troubles.push(verdict),
  });
  return { result, pauses, troubles, runs: () => runs };
}

const busy = new ParleyError('chain_unavailable', 'no node');

test('it is run again after what passes, with pauses up to a minute, until it has ended', async () => {
  const { result, pauses, troubles } = await driven(new Array(8).fill(busy));
  const ended = await result;
  assert.equal(ended.is === 'ended' && ended.outcome.end, 'received');
  const doubled = [2_000, 4_000, 8_000, 16_000, 32_000];
  assert.deepEqual(pauses, [...doubled, 60_000, 60_000, 60_000]);
  assert.deepEqual(troubles, new Array(8).fill('again'));
});

for (const [error, verdict] of [
  [new SettleError('no_wallet', 'no wallet'), 'person'],
  [new VerificationError('legs.a.amount', '1', '2'), 'over'],
] as const) {
  test(`it stops at an error that is for a person: ${verdict}`, async () => {
    const { result, pauses, troubles, runs } = await driven([busy, error]);
    assert.deepEqual(await result, { is: 'stopped', error, verdict });
    assert.deepEqual([pauses, troubles, runs()], [[2_000], ['again', verdict], 2]);
  });
}

test('a signal ends it with its reason, in a run and between two', async () => {
  const stop = new AbortController();
  const { result, troubles } = await driven(new Array(100).fill(busy), stop);
  stop.abort(new Error('enough'));
  await assert.rejects(result, /enough/);
  assert.ok(troubles.length < 100);
  const before = AbortSignal.abort(new Error('before'));
  await assert.rejects(drive({ ready: () => assert.fail(), signal: before }), /before/);
});
