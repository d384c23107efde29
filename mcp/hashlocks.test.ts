import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeOf } from '../sdk/errors.ts';
import { openHashlocks } from './hashlocks.ts';

test('a hashlock is of the thread that took it first, in every process, and of no other', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-mcp-hashlocks-'));
  t.after(() => rm(folder, { recursive: true }));
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)];
  const used = (error: unknown) => codeOf(error) === 'hashlock_used';
  await openHashlocks(folder).check(one, 'a');
  await openHashlocks(folder).take(one, 'a');
  const other = openHashlocks(folder);
  await other.take(one, 'a');
  await assert.rejects(other.check(one, 'b'), used);
  await assert.rejects(other.take(one, 'b'), used);
  const both = await Promise.allSettled(['a', 'b'].map((id) => other.take(two, id)));
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});
