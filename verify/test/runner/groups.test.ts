// `npm test` loses no test file and runs none twice.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  entryOf,
  groupsOf,
  mostTogether,
  roomOf,
  seconds,
  secondsOfEach,
  together,
} from './groups.ts';
import { idleOver, secondsOfTimes } from './usage.ts';

const root = join(import.meta.dirname, '../../..');
const all = globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules', '.parley'] }).sort();
// A reporter of its own: else its lines come as events to the runner above this one.
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-groups-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('every file is in one group, with others of its room; alone are the long and the unlike', async (t) => {
  const groups = groupsOf(root, all);
  assert.deepEqual(groups.flat().sort(), all);
  // One that was renamed would lose its place without a word.
  const firsts = groups.map(([first = '']) => first);
  assert.deepEqual(
    Object.keys(seconds).filter((file) => !firsts.includes(file)),
    [],
  );
  const rooms = new Set(all.map(roomOf));
  assert.deepEqual(
    Object.keys(secondsOfEach).filter((room) => !rooms.has(room)),
    [],
  );
  for (const names of together) {
    const [one = '', ...others] = names;
    const group = groups.find((each) => each.includes(one)) ?? [];
    assert.deepEqual(group.toSorted(), [one, ...others].toSorted());
  }
  assert.ok(groups.length < all.length / 8, `${groups.length} processes for ${all.length} files`);
  for (const group of groups) {
    assert.equal(new Set(group.map(roomOf)).size, 1);
    assert.ok(group.length <= mostTogether);
  }
  const folder = await temporary(t);
  await mkdir(join(folder, 'packages/sdk'), { recursive: true });
  const files = ['a', 'b', 'c', 'd', 'e'].map((name) => `packages/sdk/${name}.test.ts`);
  for (const file of files) await writeFile(join(folder, file), '');
  await writeFile(join(folder, 'packages/sdk/b.test.ts'), `process.env.${'ONE'} = "1";`);
  const [clock, reset] = ['enable', 'reset'].map((verb) => `mock.timers.${verb}());`);
  await writeFile(join(folder, 'packages/sdk/c.test.ts'), `before(() => ${clock}`);
  const text = `before(() => ${clock}\ntest.afterEach(() => ${reset}`;
  await writeFile(join(folder, 'packages/sdk/d.test.ts'), text);
  const stopped = `t.${'mock'}.timers.enable({ apis: ['setTimeout'] });`;
  await writeFile(join(folder, 'packages/sdk/e.test.ts'), stopped);
  assert.deepEqual(groupsOf(folder, files), [
    ['packages/sdk/d.test.ts', 'packages/sdk/a.test.ts'],
    ['packages/sdk/e.test.ts'],
    ['packages/sdk/c.test.ts'],
    ['packages/sdk/b.test.ts'],
  ]);
});

test('no suite waits while it is declared: its tests would be nobody’s (watching.ts)', () => {
  const isWaiting = (file: string) =>
    /\bdescribe\((?:[^=]|=(?!>))*?, async /.test(readFileSync(join(root, file), 'utf8'));
  assert.deepEqual(all.filter(isWaiting), []);
});

test('no limit of time begins while a file is loaded: others of its process run before it', () => {
  const isBegun = (file: string) =>
    /^(?:export )?const \w+ = AbortSignal\.timeout\(/m.test(readFileSync(join(root, file), 'utf8'));
  assert.deepEqual(all.filter(isBegun), []);
});

test('the idle part of the cores is told from each sample to the next', () => {
  const samples = [
    { idle: 1_000, whole: 4_000 },
    { idle: 1_300, whole: 5_000 },
    { idle: 1_300, whole: 5_500 },
  ];
  assert.deepEqual(idleOver(samples), [30, 0]);
});

test('the time of a part is its own and that of its children', () => {
  const said = execFileSync('sh', ['-c', 'times'], { encoding: 'utf8' });
  assert.match(said, /\dm[\d.]+s/);
  assert.equal(secondsOfTimes('0m0.25s 0m0.25s\n1m2.000s 0m3.50s\n'), 66);
});

test('each file of a group is a suite with hooks of its own; one that throws, or leaves an error to nobody, fails it', async (t) => {
  const folder = await temporary(t);
  const files = ['one.test.ts', 'two.test.ts'];
  for (const file of files) {
    const said = ['before', 'test', 'after'].map(
      (what) => `${what}(${what === 'test' ? "'one', " : ''}() => console.log('${file} ${what}'));`,
    );
    const text = `import { after, before, test } from 'node:test';\n${said.join('\n')}\n`;
    await writeFile(join(folder, file), text);
  }
  const entry = await entryOf(folder, folder, files);
  const more = { PARLEY_TEST_USAGE: join(folder, 'usage') };
  const run = () =>
    execFileSync(process.execPath, [entry], { encoding: 'utf8', env: { ...env, ...more } });
  const said = [...run().matchAll(/(\w+\.test\.ts) (before|test|after)$/gm)];
  for (const file of files) {
    const own = said.filter(([, name]) => name === file).map(([, , what]) => what);
    assert.deepEqual(own, ['before', 'test', 'after'], file);
  }
  for (const text of [
    'throw new Error("not today")',
    `import { test } from 'node:test';\ntest('one', () => void Promise.reject(new Error('late')));`,
  ]) {
    await writeFile(join(folder, 'two.test.ts'), text);
    assert.throws(run);
  }
});
