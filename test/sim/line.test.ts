// The line for the database of a simulated market goes on, whatever a process dies at.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../server/db/database.ts';
import { chanceOf } from './chance.ts';
import { createLine } from './line.ts';

/** A commit that was held back ends, by itself or as its process died, and others are served. */
async function serveBeside(seed: number): Promise<'went on' | 'died'> {
  const line = createLine({} as Database, chanceOf(seed));
  const dying = await line.take();
  const others = [line.take(), line.take(), line.take()];
  let end: 'went on' | 'died' | null = null;
  void dying.holdBack(1).then(() => {
    // One that died has ended its turn, and waits for nothing.
    if (end !== null) return;
    end = 'went on';
    dying.end();
  });
  let served = 0;
  for (const each of others) {
    void each.then((turn) => {
      served += 1;
      if (served === 2 && end === null) {
        end = 'died';
        dying.end();
      }
      turn.end();
    });
  }
  await Promise.all(others);
  (await line.take()).end();
  return end ?? assert.fail('it neither went on nor died');
}

test('a commit that was held back holds up nobody, its process dead or not', async () => {
  const ends = new Set<string>();
  for (let seed = 0; seed < 20; seed += 1) ends.add(await serveBeside(seed));
  assert.deepEqual([...ends].sort(), ['died', 'went on']);
});
