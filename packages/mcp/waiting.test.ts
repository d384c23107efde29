// A call that waits ends: when it is over, when its time is up, and when its client takes it back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Call, noWait, waited } from './waiting.ts';

/** A clock that only pauses move. */
function world(signal = noWait.signal) {
  const told: string[] = [];
  let at = 0;
  const progress = async (seconds: number, of: number, words: string) => {
    told.push(`${seconds}/${of} ${words}`);
  };
  return {
    told,
    at: () => at,
    call: (hears: boolean): Call => ({ signal, progress: hears ? progress : null }),
    timer: {
      seconds: () => at,
      pause: async (ms: number) => {
        at += ms / 1_000;
      },
    },
  };
}

test('a wait lasts 300 seconds at most with progress and 45 without, whatever is asked for', async () => {
  for (const [hears, seconds, lasts] of [
    [true, 900, 300],
    [true, 7, 7],
    [false, 900, 45],
    [false, 7, 7],
  ] as const) {
    const { call, timer, at } = world();
    let looks = 0;
    const look = async () => {
      looks += 1;
      return looks;
    };
    const of = { call: call(hears), timer, seconds, everyMs: 2_000, look, words: () => 'waits' };
    const seen = await waited({ ...of, isOver: () => false });
    assert.deepEqual([at(), seen], [lasts, looks]);
  }
});

test('progress is told when words change, and every ten seconds while they do not', async () => {
  const { call, timer, told } = world();
  let looks = 0;
  const look = async () => {
    looks += 1;
    return looks < 3 ? 'none' : 'one quote';
  };
  await waited({
    call: call(true),
    timer,
    seconds: 20,
    everyMs: 2_000,
    look,
    isOver: (_, passed) => passed >= 16,
    words: (seen) => seen,
  });
  assert.deepEqual(told, ['0/20 none', '4/20 one quote', '14/20 one quote']);
});

test('a call that is taken back looks no more', async () => {
  const stop = new AbortController();
  const { call, timer } = world(stop.signal);
  let looks = 0;
  const look = async () => {
    looks += 1;
    if (looks === 2) stop.abort(new Error('taken back'));
  };
  const of = { call: call(true), timer, seconds: 60, everyMs: 1_000, look, words: () => '' };
  await assert.rejects(waited({ ...of, isOver: () => false }), /taken back/);
  assert.equal(looks, 2);
});
