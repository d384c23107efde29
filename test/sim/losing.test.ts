// What a run comes to in which somebody loses, or a process dies: the seed is told, counted and
// kept, and the seeds behind it are run.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bugCalled } from '../planted/bugs.ts';
import { runPlanted } from '../planted/finders.ts';
import type { Kept } from './kept.ts';

const inWorker = (find: string, put: string) => ({ file: 'test/sim/worker.ts', find, put });
const begun = '  current = seed;\n';

test('a seed that somebody loses in is told, counted and kept; one whose process dies too', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-losing-'));
  t.after(() => rm(folder, { recursive: true }));
  const kept = join(folder, 'seeds.json');
  await writeFile(kept, '[]\n');
  const dies = inWorker(begun, `${begun}  if (seed === 1_000_008) process.exit(9);\n`);
  const edits = [...bugCalled('broadcast: no gates').edits, dies];
  const args = ['--seed', '1000008,7,1000009', '--workers', '1', '--kept', kept];
  const { code, output, errors } = await runPlanted(['test/sim/run.ts', ...args], { edits });
  assert.equal(code, 1, errors);
  assert.match(output, /^sim: 3 of 3 seeds in \d+ s, BROKEN in 7, 1000008; ends: /m);
  assert.match(errors, /^seed 1000008:\n {3}a seed comes to its end: its process ended with 9$/m);
  assert.match(errors, /^seed 7:\n {3}no claim with a wrong secret: .+\n(?: .*\n)* .*BROKEN/m);
  const found = JSON.parse(await readFile(kept, 'utf8')) as Kept[];
  assert.deepEqual(
    found.map(({ seed, why }) => [seed, why.split(':')[0]]),
    [
      [7, 'no claim with a wrong secret'],
      [1_000_008, 'a seed comes to its end'],
    ],
  );
});

test('where no seed can be begun none is broken: it is an error', async () => {
  const own = 'const { beginIds } =';
  const edits = [inWorker(own, `process.exit(7);\n${own}`)];
  const args = ['test/sim/run.ts', '--seed', '7', '--no-keep'];
  const { code, output, errors } = await runPlanted(args, { edits });
  assert.deepEqual([code, output], [1, '']);
  assert.match(errors, /seed 7 was not begun: its process ended with 7/);
});
