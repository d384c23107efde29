import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coins, escaped, html, span, symbolShown } from './words.ts';

test('no value becomes markup, in an element or in an attribute', () => {
  const hostile = `<img src=x onerror="alert('1')">&`;
  const shown = html`<b title="${hostile}">${[hostile, html`<i>${hostile}</i>`, null, 7]}</b>`;
  const safe = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;';
  assert.equal(shown.markup, `<b title="${safe}">${safe}<i>${safe}</i>7</b>`);
});

test('a word of somebody else turns no direction and begins no line', () => {
  assert.equal(escaped('US\u202eDC\u2066\u200f\n\u0000x'), 'US DC x');
  assert.equal(symbolShown('TWELVELETTER'), 'TWELVELETTER');
  assert.equal(symbolShown('THIRTEENLETTR'), 'THIRTEENLETT…');
});

test('whole coins are cut and never rounded up, and say that they were cut', () => {
  const cases: [bigint, number, string][] = [
    [0n, 18, '0'],
    [1n, 8, '0.00000001'],
    [10n ** 18n, 18, '1'],
    [1_999_999n, 6, '1.9999…'],
    [1_999_900n, 6, '1.9999'],
    [123_456_789n, 18, '0.0000000001234…'],
    [12_345_000_000n, 6, '12\u202f345'],
    [-1_500_000n, 6, '−1.5'],
    [7n, 0, '7'],
  ];
  for (const [units, decimals, shown] of cases) assert.equal(coins(units, decimals), shown);
});

test('a time has its two largest units, cut', () => {
  const cases: [number, string][] = [
    [-1, '0 s'],
    [59.9, '59 s'],
    [60, '1 min'],
    [599, '9 min 59 s'],
    [600, '10 min'],
    [3_599, '59 min'],
    [3_600, '1 h'],
    [86_399, '23 h 59 min'],
    [90_000, '1 d 1 h'],
  ];
  for (const [seconds, shown] of cases) assert.equal(span(seconds), shown);
});
