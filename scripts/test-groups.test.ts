// Grouping loses no test file and runs none twice.

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { entryOf, groupsOf } from './test-groups.ts';

const root = join(import.meta.dirname, '..');
const all = globSync('{core,server,sdk,chains,scripts}/**/*.test.ts', { cwd: root }).sort();

test('every file is in one group, and only files of one folder share a process', () => {
  const groups = groupsOf(root, all);
  assert.deepEqual(groups.flatMap(({ files }) => files).sort(), all);
  assert.ok(groups.length < all.length - 50, `${groups.length} processes for ${all.length} files`);
  for (const { files } of groups) {
    assert.equal(new Set(files.map((file) => file.slice(0, file.lastIndexOf('/')))).size, 1);
    assert.ok(files.length <= 6);
  }
});

test('a file that changes its process’s environment or clock is alone', () => {
  const [group] = groupsOf(root, ['server/edge/app.test.ts', 'server/edge/auth.test.ts']);
  assert.deepEqual(group?.files, ['server/edge/app.test.ts']);
});

test('a long file is alone, and in some folders one that starts something before all its tests', () => {
  const files = ['sdk/agree.test.ts', 'sdk/http.test.ts', 'sdk/keys.test.ts', 'sdk/verify.test.ts'];
  const together = (long?: readonly string[]) =>
    groupsOf(root, files, long).map((group) => group.files.length);
  assert.deepEqual(together(), [3, 1]);
  assert.deepEqual(together(['sdk/http.test.ts']), [2, 1, 1]);
});

test('those that belong together share a process, long or not', () => {
  const files = ['test/faults-bitcoin.test.ts', 'test/docs.test.ts', 'test/faults-forks.test.ts'];
  const groups = groupsOf(root, files, files);
  assert.deepEqual(
    groups.map((group) => group.files),
    [[files[0], files[2]], [files[1]]],
  );
});

test('what runs for a group imports each of its files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-groups-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = ['core/hashlock.test.ts', 'core/gates.test.ts'];
  const entry = await entryOf(root, folder, { name: 'two', files });
  const text = await readFile(entry, 'utf8');
  for (const file of files) assert.ok(text.includes(`/${file}"`), text);
  assert.equal(
    await entryOf(root, folder, { name: 'one', files: files.slice(1) }),
    join(root, 'core/gates.test.ts'),
  );
});
