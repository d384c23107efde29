import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { endedOf, keepEnded } from './ended.ts';

test('a swap whose end cannot be read is driven once more, and its file written anew', async (t) => {
  const ended = await mkdtemp(join(tmpdir(), 'parley-ended-'));
  t.after(() => rm(ended, { recursive: true }));
  const session = { places: { ended } } as Parameters<typeof endedOf>[0];
  for (const damage of ['', '{"end":"rec', '\0\0', '5']) {
    await writeFile(join(ended, 's.json'), damage);
    assert.equal(await endedOf(session, 's'), null, damage);
    await keepEnded(session, 's', { end: 'received' });
    assert.deepEqual(await endedOf(session, 's'), { end: 'received' });
  }
  await mkdir(join(ended, 'folder.json'));
  assert.equal(await endedOf(session, 'folder'), null);
});
