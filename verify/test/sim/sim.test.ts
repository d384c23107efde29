// The simulation on some seeds, those that once found something first; that a seed is a seed, that
// a loss is told, and that what a market is struck at is there.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bugCalled, crashed } from '../planted/bugs.ts';
import { runPlanted } from '../planted/finders.ts';

type Counted = {
  readonly broken: readonly { readonly where: string; readonly rules: readonly string[] }[];
  readonly met: Readonly<Record<string, number>>;
};

async function run(args: readonly string[], edits?: Parameters<typeof runPlanted>[1]) {
  const ran = await runPlanted(['verify/test/sim/run.ts', ...args, '--json'], edits ?? null);
  const last = ran.output.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('{'), `${ran.output}\n${ran.errors}`);
  return { ...ran, ...(JSON.parse(last) as Counted) };
}

/** The stories of a seed that was run twice. */
function mustTellTwice(seed: number, errors: string): void {
  const [story = '', again] = errors.match(new RegExp(`^seed ${seed}:\n(?: .*\n)*`, 'gm')) ?? [];
  assert.ok(story.length > 500);
  assert.equal(again, story, 'whatever runs before and beside it');
}

/**
 * Claims that gas keys relay, and a payee on Bitcoin that is away: a seed takes two seconds of the
 * processor, and the soak runs all that are known.
 */
const seeds = [18, 35, 18];

test('a party that follows the rules ends with its own, and a seed tells the same story again', async () => {
  const { code, broken, errors, met } = await run(['--seed', seeds.join(), '--story']);
  assert.deepEqual([code, broken], [0, []], errors);
  for (const kind of ['relays landed', 'keeper claims', 'signed claims sent'])
    assert.ok((met[kind] ?? 0) > 0, kind);
  mustTellTwice(18, errors);
});

test('a seed in which somebody loses is told; one whose process dies too, and the next is run', async () => {
  const begun = 'unheard = [];\n  const';
  const dies = `if (seed === 1_000_008) process.exit(9);\n  ${begun}`;
  const worker = { file: 'verify/test/sim/worker.ts', find: begun, put: dies };
  const edits = [...bugCalled('broadcast: no gates').edits, worker];
  const { code, broken, errors } = await run(['--seed', '1000008,7', '--workers', '1'], { edits });
  assert.equal(code, 1, errors);
  const [lost, ended] = broken;
  assert.equal(lost?.where, 'seed 7');
  assert.ok(lost.rules.includes('no claim with a wrong secret'), lost.rules.join());
  assert.deepEqual(ended, { where: 'seed 1000008', rules: [crashed.ended] });
});

test('the driver loses nothing by nodes that stand still and lie, and a seed tells its story', async () => {
  const driven = [23, 1, 3, 7, 8, 11, 13, 23];
  const args = ['--driver', '--workers', '1', '--seed', driven.join(), '--story'];
  const { code, broken, errors, met } = await run(args);
  assert.deepEqual([code, broken], [0, []], errors);
  for (const kind of ['doubt: nodes disagree', 'node stuck', 'process died']) {
    assert.ok((met[kind] ?? 0) > 0, kind);
  }
  mustTellTwice(23, errors);
});

test('the driver in Python loses nothing either, and a seed tells its story', async () => {
  const args = ['--python', '--workers', '1', '--seed', '3,7,11,3', '--story'];
  const { code, broken, errors, met } = await run(args);
  assert.deepEqual([code, broken], [0, []], errors);
  for (const kind of ['doubt: nodes disagree', 'process died']) {
    assert.ok((met[kind] ?? 0) > 0, kind);
  }
  mustTellTwice(3, errors);
});

test('every statement at which a market is struck is one that the server makes', () => {
  const root = new URL('../../../', import.meta.url);
  const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
  const sources = globSync('apps/{market,watchtower}/**/*.ts', { cwd: root }).map(read).join('');
  const struck = globSync('verify/test/sim/*.ts', { cwd: root }).flatMap((file) => [
    ...read(file).matchAll(/\bat: '([a-z_]+_[a-z_]+)'/g),
    ...read(file).matchAll(/^ {2}'([a-z]+_[a-z_]+)',$/gm),
  ]);
  const names = new Set(struck.map(([, name = '']) => name));
  assert.ok(names.size > 15, [...names].join(' '));
  assert.deepEqual(
    [...names].filter((name) => !sources.includes(`'${name}'`)),
    [],
  );
});
