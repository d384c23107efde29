import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeOf } from '@parley/sdk/errors.ts';
import { openHashlocks } from './hashlocks.ts';

test('a hashlock is of the thread that took it first, in every process, and of no other', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-mcp-hashlocks-'));
  t.after(() => rm(folder, { recursive: true }));
  const one = '1'.repeat(64);
  const two = '2'.repeat(64);
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

test('a folder that is full takes no other hashlock, and knows those that it has', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-mcp-hashlocks-'));
  t.after(() => rm(folder, { recursive: true }));
  const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [
    string,
    string,
    string,
  ];
  const { check, take } = openHashlocks(folder, 2);
  await take(one, 'a');
  await check(two, 'b');
  await take(two, 'b');
  for (const full of [check, take]) {
    await assert.rejects(full(three, 'c'), {
      code: 'too_many_hashlocks',
      facts: { kept: 2, most: 2 },
    });
  }
  await take(one, 'a');
});
