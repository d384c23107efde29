// Grouping loses no test file and runs none twice.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { entryOf, groupsOf } from './test-groups.ts';

const root = join(import.meta.dirname, '..');
const all = globSync('{core,server,sdk,chains,scripts}/**/*.test.ts', { cwd: root }).sort();

test('every file is in one group, and only files of one folder share a process', () => {
  const groups = groupsOf(root, all);
  assert.deepEqual(groups.flatMap(({ files }) => files).sort(), all);
  assert.ok(groups.length < all.length / 2, `${groups.length} processes for ${all.length} files`);
  for (const { files } of groups) {
    assert.equal(new Set(files.map((file) => file.slice(0, file.lastIndexOf('/')))).size, 1);
    assert.ok(files.length <= 8);
  }
});

test('a file that changes its process’s environment or clock, or counts modules, is alone', () => {
  for (const file of ['server/edge/app.test.ts', 'server/edge/open-budgets.test.ts']) {
    const [group] = groupsOf(root, [file, 'server/edge/auth.test.ts']);
    assert.deepEqual(group?.files, [file]);
  }
});

test('a long file is alone, and in some folders one that starts something counts twice', () => {
  const files = ['sdk/agree.test.ts', 'sdk/http.test.ts', 'sdk/keys.test.ts', 'sdk/verify.test.ts'];
  const starts = ['sdk/by-hand.test.ts', 'sdk/readme.test.ts', 'sdk/webhooks.test.ts'];
  const more = [...starts, 'sdk/feed.test.ts'];
  const together = (of: readonly string[], long?: readonly string[]) =>
    groupsOf(root, of, long).map((group) => group.files.length);
  assert.deepEqual(together(files), [4]);
  assert.deepEqual(together([...files, ...more]), [6, 2]);
  assert.deepEqual(together(files, ['sdk/http.test.ts']), [3, 1]);
});

test('those that belong together share a process, long or not', () => {
  const files = ['test/faults-bitcoin.test.ts', 'test/docs.test.ts', 'test/faults-forks.test.ts'];
  const groups = groupsOf(root, files, files);
  assert.deepEqual(
    groups.map((group) => group.files),
    [[files[0], files[2]], [files[1]]],
  );
});

test('what runs for a group has a suite of each of its files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-groups-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = ['one.test.ts', 'two.test.ts'];
  for (const file of files) {
    const said = (what: string) => `${what}(() => console.log('said', '${file}', '${what}'));\n`;
    const hooks = `${said('before')}${said('after')}`;
    const imports = `import { after, before, test } from 'node:test';\n`;
    const text = `${imports}${hooks}test('one', () => console.log('said', '${file}', 'test'));\n`;
    await writeFile(join(folder, file), text);
  }
  const entry = await entryOf(folder, folder, { name: 'two', files });
  // A reporter of its own: else the lines come as events to a runner above this one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const ran = spawnSync(process.execPath, [entry], { encoding: 'utf8', env });
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const said = [...ran.stdout.matchAll(/said (\w+)\.test\.ts (\w+)/g)].map((all) => all.slice(1));
  const each = ['before', 'test', 'after'];
  assert.deepEqual(said, [...each.map((what) => ['one', what]), ...each.map((w) => ['two', w])]);
  await writeFile(join(folder, 'two.test.ts'), 'throw new Error("not today")');
  assert.equal(spawnSync(process.execPath, [entry], { env }).status, 1);
  const one = await entryOf(root, folder, { name: 'one', files: ['core/gates.test.ts'] });
  assert.equal(one, join(root, 'core/gates.test.ts'));
});
