import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asTyped } from './typed.ts';

test('full width is read as the letters that it shows, and what is not drawn as nothing', () => {
  for (const [typed, seen] of [
    ['１２３４５６', '123456'],
    ['０．０１　ＢＴＣ', '0.01 BTC'],
    ['０。５', '0.5'],
    ['\u200b1\u200d2\u2060\ufeff', '12'],
    ['\u200e0.5\u200f\u061c', '0.5'],
    ['\u2066bc1q\u2069\u00ad', 'bc1q'],
    ['1\u00a0500', '1\u00a0500'],
    // It turns the digits around: another number is seen.
    ['\u202e123', '\u202e123'],
    ['½ ² ①', '½ ² ①'],
    ['é 東京 🗼', 'é 東京 🗼'],
  ] as const) {
    assert.equal(asTyped(typed), seen);
  }
});
