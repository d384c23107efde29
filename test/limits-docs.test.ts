// docs/limits.md is what the source does: each row names, in a comment that its readers do not see,
// the declarations that make it true, file by file. Whoever changes one changes the row with it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { maxHeaderSize } from 'node:http';
import { test } from 'node:test';

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const rows = textOf('docs/limits.md')
  .split('\n')
  .filter((line) => /^\| (?!what \|)/.test(line));

/** A rule and no number, or a number of Node's. */
const withoutSource = /^\| (what freeing a nonce|what a relay may be made|headers of a request)/;

/** Whole words: what ends alike declares something else. */
function timesIn(text: string, declaration: string): number {
  const [, ...after] = text.split(declaration);
  const before = text.split(declaration).slice(0, after.length);
  return before.filter((each) => !/\w$/.test(each)).length;
}

test('every row of docs/limits.md is what the source declares, once', () => {
  assert.ok(rows.length > 150, `${rows.length} rows`);
  const wrong: string[] = [];
  for (const row of rows) {
    const [, comment = '{}'] = /<!-- (\{.*\}) --> \|$/.exec(row) ?? [];
    const sources = Object.entries(JSON.parse(comment) as Record<string, readonly string[]>);
    if (sources.length === 0 && !withoutSource.test(row)) wrong.push(`no source: ${row}`);
    for (const [file, declarations] of sources) {
      const text = textOf(file);
      const other = declarations.filter((each) => timesIn(text, each) !== 1);
      for (const each of other) wrong.push(`${file} has not "${each}", or more than once: ${row}`);
    }
  }
  assert.deepEqual(wrong, []);
  const headers = String(maxHeaderSize).replace(/\B(?=(\d{3})+$)/g, ' ');
  assert.ok(rows.some((row) => row.startsWith(`| headers of a request | ${headers} bytes`)));
  const names = rows.map((row) => row.split(' | ')[0]);
  assert.equal(new Set(names).size, names.length, 'a limit stands in one row');
});
