// What a run comes to in which somebody loses, or a process dies: the seed is told and counted, and
// the seeds behind it are run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bugCalled } from '../planted/bugs.ts';
import { runPlanted } from '../planted/finders.ts';

const inWorker = (find: string, put: string) => ({ file: 'test/sim/worker.ts', find, put });
const begun = '  current = seed;\n';

test('a seed that somebody loses in is told and counted; one whose process dies too', async () => {
  const dies = inWorker(begun, `${begun}  if (seed === 1_000_008) process.exit(9);\n`);
  const edits = [...bugCalled('broadcast: no gates').edits, dies];
  const args = ['test/sim/run.ts', '--seed', '1000008,7,1000009', '--workers', '1'];
  const { code, output, errors } = await runPlanted(args, { edits });
  assert.equal(code, 1, errors);
  assert.match(output, /^sim: 3 of 3 seeds in \d+ s, BROKEN in 7, 1000008; ends: /m);
  assert.match(errors, /^seed 1000008:\n {3}a seed comes to its end: its process ended with 9$/m);
  assert.match(errors, /^seed 7:\n {3}no claim with a wrong secret: .+\n(?: .*\n)* .*BROKEN/m);
});

test('where no seed can be begun none is broken: it is an error', async () => {
  const own = 'const { beginIds } =';
  const edits = [inWorker(own, `process.exit(7);\n${own}`)];
  const { code, output, errors } = await runPlanted(['test/sim/run.ts', '--seed', '7'], { edits });
  assert.deepEqual([code, output], [1, '']);
  assert.match(errors, /seed 7 was not begun: its process ended with 7/);
});
