// Every bench, once and in miniature: none breaks unseen. Its bar is not asked for, since a ratio of
// few and short rounds on a busy machine says little.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { barWords, shownOf } from '@parley/bench/figures.ts';
import { elsewhere } from '@parley/bench/miniature.ts';
import { atLeast, type Row } from '@parley/bench/report.ts';
import { mustServeAll, startRow } from '@parley/bench/start.ts';
import { benchWebOn } from '@parley/bench/web.ts';
import { sharedWeb, type Web } from './support/web.ts';

const root = join(import.meta.dirname, '../..');
const limitMs = 400_000;
const opened = sharedWeb();
const began = performance.now();
const rows: Row[] = [];
let web: Web;
before(async () => {
  web = await opened();
});

test('every bench runs', async () => {
  const dev = ['--dev', web.market.ready.dev ?? ''];
  const args = ['scripts/launch.mjs', 'bench/run.ts', '--miniature', '--json', ...dev];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: root,
    timeout: limitMs,
  });
  const lines = stdout.trimEnd().split('\n');
  rows.push(...lines.map((line) => JSON.parse(line) as Row));
});

test('those of the app and of the start run on this market', async () => {
  rows.push(...(await benchWebOn(web, { rounds: 1 })));
  mustServeAll(web.market.ready);
  rows.push(startRow([(performance.now() - began) / 1_000]));
});

test('a bench that is left out of that run is in the test that is named for it', () => {
  for (const [name, file] of Object.entries(elsewhere)) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    assert.match(text, new RegExp(`from '@parley/bench/${name}.ts'`));
  }
});

test('docs/benchmarks.md has the bars of the benches', () => {
  const page = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8');
  const lines = page.split('\n');
  const [, unmeasured = ''] = /^Not measured in that run: (.*)$/m.exec(page) ?? [];
  const { shown, missing } = shownOf(rows);
  assert.deepEqual(
    missing.filter(({ bench }) => !(bench in elsewhere)),
    [],
    'each figure of the page has its row',
  );
  for (const each of shown.filter(({ says }) => !unmeasured.includes(says))) {
    const [, ...cells] =
      lines.find((line) => line.startsWith(`| ${each.says} |`))?.split(' | ') ?? [];
    assert.ok(cells.includes(barWords(each)), `${each.says}: ${barWords(each)} is not in it`);
  }
});

test('a row without a figure is a fault of its bench', () => {
  const row = (value: number, limit: number) => () =>
    atLeast('reads: x', { value, limit, unit: '', bar: 1 }, 'a peer');
  for (const [value, limit] of [
    [0, 1],
    [Number.NaN, 1],
    [Infinity, 1],
    [1, 0],
    [1, Number.NaN],
  ] as const) {
    assert.throws(row(value, limit), /is no figure/);
  }
  assert.ok(row(1, 1)().ok);
});
