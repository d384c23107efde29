// The registry of planted bugs keeps up with the tree and with what finds them. Whether they are
// found is seen by `npm run soak -- planted`.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { rows } from '../sim/crashes/rows.ts';
import { allBugs, crashed, type Kind, mustFit, root } from './bugs.ts';
import { lookedOf, runPlanted } from './finders.ts';
import { hasTests } from './python.ts';

const bugs = allBugs();

test('every planted bug fits the sources as they stand, and changes them', () => {
  const wrong = bugs.flatMap((bug) => {
    try {
      mustFit(bug);
      return bug.edits.length > 0 ? [] : [`${bug.name}: no edits`];
    } catch (error) {
      return [`${bug.name}: ${(error as Error).message}`];
    }
  });
  assert.deepEqual(wrong, []);
  const names = bugs.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, 'two have one name');
});

test('every planted bug is looked for by what there is', () => {
  const rowNames = rows.map(({ name }) => name);
  const files = globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules'] });
  const isThere: Readonly<Record<Kind, (what: string) => boolean>> = {
    test: (what) => files.includes(what),
    crashes: (what) => what !== '' && rowNames.some((name) => name.includes(what)),
    sim: (what) => /^[1-9]\d*$/.test(what),
    driver: (what) => /^[1-9]\d*$/.test(what),
    forge: (what) => what === '',
    solana: (what) => what === '',
    python: hasTests,
    'python-driver': (what) => /^[1-9]\d*$/.test(what),
  };
  for (const { name, by } of bugs) {
    assert.ok(by.length > 0, `nothing finds ${name}`);
    for (const { kind, what } of by) assert.ok(isThere[kind](what), `${name}: no ${kind} ${what}`);
  }
});

/** Modules and folders in which nothing is planted, and why. */
function nowhere(): Map<string, string> {
  const text = readFileSync(join(import.meta.dirname, 'nowhere.txt'), 'utf8');
  const files = text.split(/^# /m).flatMap((part) => {
    const [why = '', ...lines] = part.split('\n');
    return lines.filter((line) => line !== '').map((line) => [line, why] as const);
  });
  assert.equal(new Set(files.map(([file]) => file)).size, files.length, 'one reason each');
  return new Map(files);
}

test('every module that a swap passes through has a bug planted in it, or a reason why not', () => {
  const planted = new Set(bugs.flatMap(({ edits }) => edits.map(({ file }) => file)));
  const reasons = nowhere();
  const folders = globSync(
    [
      'packages/core',
      'apps/market/*/',
      'apps/market/edge/idempotency',
      'apps/watchtower',
      'apps/watchtower/db',
    ],
    {
      cwd: root,
    },
  ).map((each) => `${join(each, '.')}/`);
  const modules = folders
    .filter((folder) => !reasons.has(folder))
    .flatMap((folder) => globSync(`${folder}*.ts`, { cwd: root }))
    .filter((file) => !file.endsWith('.test.ts'))
    .concat(globSync('python/src/parley/_settle/*.py', { cwd: root }));
  assert.deepEqual(
    modules.filter((file) => !planted.has(file) && !reasons.has(file)),
    [],
    'nothing is planted in these, and nobody says why',
  );
  assert.deepEqual(
    [...reasons.keys()].filter(
      (each) => planted.has(each) || ![...folders, ...modules].includes(each),
    ),
    [],
    'something is planted in these, or they are there no more',
  );
});

test('a bug is in what a program loads alone, once, and one that does not fit is an error', async () => {
  const file = 'packages/core/hashlock.ts';
  const find = 'return hashlockOf(secret) === hashlock;';
  const script = `import { opens } from '${root}/${file}'; console.log(opens('11', '22'))`;
  const args = ['--input-type=module', '--eval', script];
  const edit = { file, find, put: 'return true;' };
  assert.equal((await runPlanted(args, { edits: [edit] })).output, 'true\n');
  assert.equal((await runPlanted(args, null)).output, 'false\n');
  for (const [wrong, put] of [
    ['hashlock', ''],
    ['not in it', ''],
    [find, find],
  ] as const) {
    assert.throws(() => mustFit({ edits: [{ file, find: wrong, put }] }), /once|nothing/);
  }
});

test('a process that only threw or ended is no finding, whatever else broke', () => {
  const { ended, threw } = crashed;
  const looked = (...broken: readonly { where: string; rules: readonly string[] }[]) =>
    lookedOf({ code: 1, output: `told\n${JSON.stringify({ broken })}\n`, errors: '' });
  assert.equal(looked(), 'well');
  const only = { where: 'seed 8', rules: [ended, threw] };
  assert.deepEqual(looked(only), { crashed: `seed 8: ${ended}; seed 8: ${threw}` });
  const broken = { where: 'seed 7', rules: [threw, 'never with neither'] };
  assert.deepEqual(looked(only, broken), { rule: 'seed 7: never with neither' });
  assert.ok('crashed' in (lookedOf({ code: 1, output: 'no', errors: '' }) as object));
});
