// Levels on their way: those of a pair one after the other, each answered once and never sent
// twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuoteError } from '../errors.ts';
import { createLevels } from './levels.ts';

const pair = { baseAssetId: 'b', quoteAssetId: 'q' };
const turned = { baseAssetId: 'Q', quoteAssetId: 'b' };
const answer = { type: 'levels', ...turned, published: 0, endsAt: null, seq: 1 } as const;
const refusal = { type: 'error', error: 'no', code: 'asset_closed', ...pair } as const;

function harness() {
  const sent: object[] = [];
  const ends: string[] = [];
  const state = { isLive: true };
  const levels = createLevels((frame) => state.isLive && sent.push(frame) > 0);
  const publish = (which = pair) => {
    const at = ends.push('') - 1;
    levels.publish({ ...which, levels: [] }).then(
      () => (ends[at] = 'published'),
      (error: unknown) => {
        assert.ok(error instanceof QuoteError, String(error));
        ends[at] = error.fault === 'refused' ? `refused:${error.code}` : error.fault;
      },
    );
  };
  const ended = async () => {
    await new Promise(setImmediate);
    return ends.join(' ');
  };
  return { levels, sent, state, publish, ended };
}

test('those of a pair, either way round, wait for the answer before; of many only the last is sent', async () => {
  const { levels, sent, publish, ended } = harness();
  for (const each of [pair, turned, pair]) publish(each);
  publish({ baseAssetId: 'b', quoteAssetId: 'other' });
  assert.deepEqual(
    sent.map((each) => (each as { levels: typeof pair }).levels.quoteAssetId),
    ['q', 'other'],
  );
  assert.ok(levels.take(refusal));
  assert.equal(sent.length, 3);
  assert.ok(levels.take(answer));
  assert.equal(levels.take(answer), false);
  assert.equal(levels.take({ type: 'error', error: 'of a quote', rfqId: 'r' }), false);
  assert.equal(await ended(), 'refused:asset_closed superseded published ');
  levels.end();
});

test('without a connection nothing is sent; one that is lost leaves in doubt what was', async () => {
  const { levels, state, sent, publish, ended } = harness();
  publish();
  publish();
  levels.lost();
  state.isLive = false;
  publish();
  state.isLive = true;
  assert.equal(sent.length, 1);
  publish();
  levels.end();
  publish();
  assert.equal(await ended(), 'unknown stale stale closed closed');
});

test('a message that nobody answers is in doubt after 15 s, and the next has its turn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { sent, publish, ended } = harness();
  publish();
  publish();
  t.mock.timers.tick(14_999);
  assert.equal(sent.length, 1);
  t.mock.timers.tick(1);
  assert.equal(sent.length, 2);
  assert.equal(await ended(), 'unknown ');
});
