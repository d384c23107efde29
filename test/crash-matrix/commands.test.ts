// The commands that crash and plant, as programs: nothing that was not understood ends well.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

function said(program: string, ...args: readonly string[]) {
  const file = join(import.meta.dirname, program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

test('where nothing has that name, each says what there is, and nothing is run', () => {
  for (const [program, args, there] of [
    ['run.ts', ['--row', 'nosuch'], /there are:\n {2}.*\n[\s\S]*broadcast: claim, revealing/],
    ['../planted/run.ts', ['nosuch'], /no bug is called/],
  ] as const) {
    const { status, stdout, stderr } = said(program, ...args);
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr.split('\n')[0] ?? '', /"nosuch"/);
    assert.match(stderr, there);
    assert.match(stderr, /^usage: npm /m);
  }
});

test('--help plants nothing and is 0; what is not understood is 2', () => {
  const help = said('../planted/run.ts', '--help');
  assert.deepEqual([help.status, help.stderr], [0, '']);
  assert.match(help.stdout, /^usage: npm /);
  for (const [args, named] of [
    [['--quickly'], /--quickly/],
    [['keeper', 'once'], /"once"/],
  ] as const) {
    const { status, stdout, stderr } = said('../planted/run.ts', ...args);
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr.split('\n')[0] ?? '', named);
  }
});
