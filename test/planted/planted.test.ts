// The registry of planted bugs keeps up with the tree and with what finds them. Whether they are
// found is seen by `npm run soak -- planted`.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrations } from '../crash-matrix/migrations.ts';
import { rows } from '../crash-matrix/rows.ts';
import { worldOf } from '../model/world.ts';
import { usualLosses, usualSettlements } from '../model/worlds.ts';
import { allBugs, type Kind, mustFit, parseBugs, root } from './bugs.ts';
import { crashes, lookedOf, runPlanted } from './finders.ts';

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

test('what is in the sources twice, or not at all, or is not changed, does not fit', () => {
  const file = 'core/hashlock.ts';
  const only = 'export function opens(';
  mustFit({ edits: [{ file, find: only, put: 'function opens(' }] });
  for (const [find, put] of [
    ['hashlock', ''],
    ['not in it', ''],
    [only, only],
  ] as const) {
    assert.throws(() => mustFit({ edits: [{ file, find, put }] }), /not exactly once|nothing/);
  }
});

test('every planted bug is looked for by what there is', () => {
  const worlds = [...usualLosses, ...usualSettlements].map((each) => worldOf(each).name);
  const rowNames = [...rows, migrations].map(({ name }) => name);
  const files = globSync('**/*.test.ts', { cwd: root, exclude: ['node_modules'] });
  const isThere: Readonly<Record<Kind, (what: string) => boolean>> = {
    test: (what) => files.includes(what),
    model: (what) => worlds.includes(what),
    crashes: (what) => what !== '' && rowNames.some((name) => name.includes(what)),
    sim: (what) => /^[1-9]\d*$/.test(what),
    forge: (what) => what === '',
    solana: (what) => what === '',
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
    ['core', 'server/*/', 'server/edge/idempotency', 'watchtower', 'watchtower/db'],
    {
      cwd: root,
    },
  ).map((each) => `${join(each, '.')}/`);
  const modules = folders
    .filter((folder) => !reasons.has(folder))
    .flatMap((folder) => globSync(`${folder}*.ts`, { cwd: root }))
    .filter((file) => !file.endsWith('.test.ts'));
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

test('what stands before the first bug is meant of all that say nothing else', () => {
  const text =
    'by forge\nin one.sol\n\n# first\n-a\n- b\n+c\n\n# second\nby sim 3\nin two.ts\n-d\nin one.ts\n-e\n-\n';
  assert.deepEqual(parseBugs(text), [
    {
      name: 'first',
      by: [{ kind: 'forge', what: '' }],
      edits: [{ file: 'one.sol', find: 'a\n b', put: 'c' }],
    },
    {
      name: 'second',
      by: [{ kind: 'sim', what: '3' }],
      edits: [
        { file: 'two.ts', find: 'd', put: '' },
        { file: 'one.ts', find: 'e\n', put: '' },
      ],
    },
  ]);
  for (const wrong of ['# one\nby chance', '# one\n-a', 'hello']) {
    assert.throws(() => parseBugs(wrong));
  }
});

test('a program is run with the bug in what it loads, and the tree stays as it is', async () => {
  const edit = {
    file: 'core/hashlock.ts',
    find: 'return hashlockOf(secret) === hashlock;',
    put: 'return true;',
  };
  const script = `import { opens } from '${root}/core/hashlock.ts'; console.log(opens('11', '22'))`;
  const args = ['--input-type=module', '--eval', script];
  assert.equal((await runPlanted(args, { edits: [edit] })).output, 'true\n');
  assert.equal((await runPlanted(args, null)).output, 'false\n');
  const stale = { ...edit, find: 'not in it' };
  assert.notEqual((await runPlanted(args, { edits: [stale] })).code, 0);
});

test('what only threw or ended a process is no finding, whatever else broke', () => {
  const [ended = '', threw = ''] = crashes;
  const looked = (...broken: readonly { where: string; rules: readonly string[] }[]) =>
    lookedOf({ code: 1, output: `told\n${JSON.stringify({ broken })}\n`, errors: '' });
  assert.equal(looked(), 'well');
  const crashed = { where: 'seed 8', rules: [ended, threw] };
  assert.deepEqual(looked(crashed), { crashed: `seed 8: ${ended}; seed 8: ${threw}` });
  const rules = [threw, 'never with neither'];
  assert.deepEqual(looked(crashed, { where: 'seed 7', rules }), {
    rule: 'seed 7: never with neither',
  });
  assert.ok('crashed' in (lookedOf({ code: 1, output: 'no', errors: '' }) as object));
  const said = ['crew.ts', 'worker.ts', 'simulate.ts'].map((file) =>
    readFileSync(join(root, 'test/sim', file), 'utf8'),
  );
  for (const rule of crashes)
    assert.ok(
      said.some((source) => source.includes(`'${rule}'`)),
      rule,
    );
});

test('a command that is not understood says what there is, runs nothing and ends with 2', async () => {
  for (const [program, args, said] of [
    ['crash-matrix', ['--row', 'nosuch'], /^no row has "nosuch"[\s\S]*broadcast: claim, revealing/],
    ['planted', ['nosuch'], /^no bug is called like "nosuch"/],
    ['planted', ['keeper', 'once'], /^one pattern, and not "once" too/],
    ['planted', ['--by', 'chance'], /^nothing called "chance"/],
    ['model', ['--world', 'flat'], /^no world is called "flat"/],
  ] as const) {
    const ran = await runPlanted([`test/${program}/run.ts`, ...args], null);
    assert.deepEqual([ran.code, ran.output], [2, ''], ran.errors);
    assert.match(ran.errors, said);
    assert.match(ran.errors, /^usage: npm /m);
  }
});
