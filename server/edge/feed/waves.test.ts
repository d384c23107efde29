import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeInWaves, partingMs } from './peer.ts';

/** So many sockets; what happened to them and the clock, in order. */
function sockets(count: number, closesAtOnce: boolean) {
  const log: string[] = [];
  const open = new Set<{ peer: { end(code: number): void; drop(): void } }>();
  for (let at = 0; at < count; at += 1) {
    const each = {
      peer: {
        end: (code: number) => {
          log.push(`${code}`);
          if (closesAtOnce) open.delete(each);
        },
        drop: () => void log.push('dropped'),
      },
    };
    open.add(each);
  }
  const pause = async (ms: number) => void log.push(`${ms} ms`);
  return { open, log, pause };
}

test('sockets are ended with 1012 in twenty waves, a tenth of a second apart', async () => {
  for (const [count, each] of [
    [60, 3],
    [2_000, 100],
  ] as const) {
    const { open, log, pause } = sockets(count, true);
    await closeInWaves(open, pause);
    const wave = Array.from({ length: each }, () => '1012');
    const expected = Array.from({ length: 20 }, (_, at) =>
      at === 0 ? wave : ['100 ms', ...wave],
    ).flat();
    assert.deepEqual(log, expected);
  }
});

test('a few are ended one after the other, none in no time', async () => {
  const few = sockets(2, true);
  await closeInWaves(few.open, few.pause);
  assert.deepEqual(few.log, ['1012', '100 ms', '1012']);
  const none = sockets(0, true);
  await closeInWaves(none.open, none.pause);
  assert.deepEqual(none.log, []);
});

test('who has not closed a second later is dropped', async () => {
  const { open, log, pause } = sockets(1, false);
  await closeInWaves(open, pause);
  assert.deepEqual([log.at(0), log.at(-1)], ['1012', 'dropped']);
  const waited = log.filter((each) => each === '10 ms').length * 10;
  assert.deepEqual([waited, partingMs], [1_000, 1_000]);
});
