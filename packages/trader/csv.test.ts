// Cells of CSV as a spreadsheet reads them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvOf } from './csv.ts';

test('a cell that a spreadsheet could take for a formula is text, a number stays one, and quotes are doubled', () => {
  for (const [value, written] of [
    ['USDT', 'USDT'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1+1', "'-1+1"],
    ['-1.5', '-1.5'],
    ['@SUM(1)', "'@SUM(1)"],
    ['\t=1', "'\t=1"],
    ['  =1', "'  =1"],
    ['\uff1d1', "'\uff1d1"],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\r\nb', '"a\r\nb"'],
  ] as const) {
    assert.equal(csvOf([[value]]), written, JSON.stringify(value));
  }
});
