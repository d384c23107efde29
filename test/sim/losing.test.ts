// What a run comes to in which somebody loses, or a process dies: the seed is told, counted and
// kept, and the seeds behind it are run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Copied, copyOfTree, edit } from '../support/planted.ts';
import type { Kept } from './kept.ts';
import { mutations } from './mutations.ts';

let copy: Copied;
before(() => {
  copy = copyOfTree();
});
after(() => copy.remove());

type Ran = { readonly code: number; readonly output: string; readonly errors: string };

function run(...args: readonly string[]): Promise<Ran> {
  const all = ['test/sim/run.ts', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { cwd: copy.tree }, (error, output, errors) => {
      resolve({ code: Number(error?.code ?? 0), output, errors });
    });
  });
}

const worker = edit('test/sim/worker.ts');
const begun = '  current = seed;\n';

test('a seed that somebody loses in is told, counted and kept; one whose process dies too', async () => {
  const kept = join(copy.tree, 'test/sim/seeds.json');
  writeFileSync(kept, '[]\n');
  const restore = copy.plant([
    ...(mutations['broadcast: no gates'] ?? []),
    worker(begun, `${begun}  if (seed === 1_000_008) process.exit(9);\n`),
  ]);
  const { code, output, errors } = await run('--seed', '1000008,7,1000009', '--workers', '1');
  restore();
  assert.equal(code, 1, errors);
  assert.match(output, /^sim: 3 of 3 seeds in \d+ s, BROKEN in 7, 1000008; \d+ swaps \(/m);
  assert.match(errors, /^seed 1000008:\n {3}a seed comes to its end: its process ended with 9$/m);
  assert.match(errors, /^seed 7:\n {3}no claim with a wrong secret: .+\n(?: .*\n)* .*BROKEN/m);
  const found = JSON.parse(readFileSync(kept, 'utf8')) as Kept[];
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
  const restore = copy.plant([worker(own, `process.exit(7);\n${own}`)]);
  const { code, output, errors } = await run('--seed', '7', '--no-keep');
  restore();
  assert.equal(code, 1);
  assert.equal(output, '');
  assert.match(errors, /seed 7 was not begun: its process ended with 7/);
});
