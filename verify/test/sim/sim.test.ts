// The simulation on some seeds, those that once found something first; that a seed is a seed, that
// a loss is told, and that what a market is struck at is there.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bugCalled, crashed } from '../planted/bugs.ts';
import { plantedBy, runPlanted } from '../planted/finders.ts';
import { type Done, runCrew, type World } from './crew.ts';

/** The seeds, one after the other in one process. */
async function run(world: World, seeds: readonly number[], env?: NodeJS.ProcessEnv) {
  const all: Done[] = [];
  await runCrew(seeds, { world, workers: 1, env }, (done) => all.push(done));
  const broken = all
    .filter(({ violations }) => violations.length > 0)
    .map(({ seed, violations }) => ({ seed, rules: violations.map(({ rule }) => rule) }));
  return { all, broken };
}

type Ran = Awaited<ReturnType<typeof run>>;

function mustMeet({ all }: Ran, kinds: readonly string[]): void {
  const met = new Set(all.flatMap(({ counts }) => counts.map(([kind]) => kind)));
  assert.deepEqual(
    kinds.filter((kind) => !met.has(kind)),
    [],
  );
}

/** The stories of a seed that was run twice. */
function mustTellTwice({ all }: Ran, twice: number): void {
  const [story, again] = all.filter(({ seed }) => seed === twice).map((each) => each.story);
  assert.ok(String(story).length > 500);
  assert.deepEqual(again, story, 'whatever runs before it');
}

/**
 * Claims that gas keys relay, and a payee on Bitcoin that is away: a seed takes two seconds of the
 * processor, and the soak runs all that are known.
 */
const seeds = [95, 87, 95];

test('a party that follows the rules ends with its own, and a seed tells the same story again', async () => {
  const ran = await run('markets', seeds);
  assert.deepEqual(ran.broken, []);
  mustMeet(ran, ['relays landed', 'keeper claims', 'signed claims sent']);
  mustTellTwice(ran, 95);
});

test('a seed in which somebody loses is told', async () => {
  const args = ['verify/test/sim/run.ts', '--seed', '7', '--workers', '1', '--json'];
  const { code, output, errors } = await runPlanted(args, bugCalled('broadcast: no gates'));
  assert.equal(code, 1, errors);
  assert.match(errors, /^seed 7:\n {3}no claim with a wrong secret: /m);
  assert.match(output, /"broken":\[\{"where":"seed 7","rules":\["no claim with a wrong secret"/);
});

const kinds = ['doubt: nodes disagree', 'process died'];

test('the driver loses nothing by nodes that stand still and lie, and a seed tells its story; one whose process dies is told', async () => {
  const dying = 1_000_008;
  const find = 'unheard = [];\n  const';
  const put = `if (seed === ${dying}) process.exit(9);\n  ${find}`;
  const env = plantedBy([{ file: 'verify/test/sim/driver/worker.ts', find, put }]);
  const ran = await run('driver', [23, 1, 3, 7, 8, dying, 11, 13, 23], env);
  assert.deepEqual(ran.broken, [{ seed: dying, rules: [crashed.ended] }]);
  mustMeet(ran, [...kinds, 'node stuck']);
  mustTellTwice(ran, 23);
});

test('the driver in Python loses nothing either, and a seed tells its story', async () => {
  const ran = await run('python', [3, 7, 11, 3]);
  assert.deepEqual(ran.broken, []);
  mustMeet(ran, kinds);
  mustTellTwice(ran, 3);
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
