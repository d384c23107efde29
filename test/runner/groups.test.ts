// `npm test` loses no test file and runs none twice, says what each used, and runs by name.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { entryOf, groupsOf, long } from './groups.ts';
import { sumsOf } from './usage.ts';

const root = join(import.meta.dirname, '../..');
const all = globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules', '.parley'] }).sort();
// A reporter of its own: else its lines come as events to the runner above this one.
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

test('every file is in one group, with others of its room', () => {
  const groups = groupsOf(root, all);
  assert.deepEqual(groups.flat().sort(), all);
  // One that was renamed would lose its place without a word.
  assert.equal(groups[0]?.[0], long[0]);
  for (const file of long) assert.ok(all.includes(file), file);
  assert.ok(groups.length < all.length / 3, `${groups.length} processes for ${all.length} files`);
  for (const group of groups) {
    assert.equal(new Set(group.map((file) => file.split('/')[0])).size, 1);
    assert.ok(group.length <= 16);
  }
});

test('alone are the long, and those that change the environment or clock of their process', () => {
  const sharing = groupsOf(root, ['sdk/http.test.ts', 'sdk/keys.test.ts', 'sdk/verify.test.ts']);
  assert.equal(sharing.length, 1);
  for (const file of ['server/edge/app.test.ts', 'sdk/settle-families.test.ts']) {
    assert.deepEqual(groupsOf(root, ['sdk/http.test.ts', file]).length, 2, file);
  }
});

test('of a group each file is a suite with hooks of its own, and says what it used', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-groups-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = ['one.test.ts', 'two.test.ts'];
  for (const file of files) {
    const said = (what: string) => `${what}(() => console.log('said', '${file}', '${what}'));\n`;
    const imports = `import { after, before, test } from 'node:test';\n`;
    const work =
      'const end = process.cpuUsage().user + 1e5; while (process.cpuUsage().user < end);';
    const body = `test('one', () => { ${work} console.log('said', '${file}', 'test'); });\n`;
    await writeFile(join(folder, file), `${imports}${said('before')}${said('after')}${body}`);
  }
  const entry = await entryOf(folder, folder, files);
  const usage = join(folder, 'usage');
  const run = () =>
    spawnSync(process.execPath, [entry], {
      encoding: 'utf8',
      env: { ...env, PARLEY_TEST_USAGE: usage },
    });
  const ran = run();
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const said = [...ran.stdout.matchAll(/said (\w+)\.test\.ts (\w+)/g)].map((each) => each.slice(1));
  const each = ['before', 'test', 'after'];
  assert.deepEqual(said, [...each.map((what) => ['one', what]), ...each.map((w) => ['two', w])]);
  const sums = sumsOf(readFileSync(usage, 'utf8'));
  const used = sums.filter(({ what, seconds }) => files.includes(what) && seconds > 0.08);
  assert.equal(used.length, 2, JSON.stringify(sums));
  await writeFile(join(folder, 'two.test.ts'), 'throw new Error("not today")');
  assert.equal(run().status, 1);
});

test('npm test runs by name, and fails where no test has it', () => {
  const named = (name: string) =>
    spawnSync(process.execPath, ['test/runner/run.ts', 'core/amounts', '--name', name], {
      cwd: root,
      encoding: 'utf8',
      env,
    });
  const one = named('^units');
  assert.equal(one.status, 0, one.stderr);
  assert.match(one.stdout, /\n1 passed, 0 failed, 0 skipped\n/);
  const none = named('no such name');
  assert.equal(none.status, 1, none.stdout);
  assert.match(none.stderr, /no test has a name that fits/);
  const wrong = named('(');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--name is a regular expression, not "\("/);
});
