// The cost of drawing a text: a character of it once, however often it stands there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn } from './drawn.ts';

test('a character is looked at once in a text, and so is each that it stands for', () => {
  const asked: string[] = [];
  const wanted = (_: string, character: string) => {
    asked.push(character);
    return true;
  };
  // A Cyrillic letter and a circled one.
  assert.equal(drawn('\u0430\u24d0'.repeat(1_000), wanted), 'aa'.repeat(1_000));
  assert.deepEqual(asked.toSorted(), [...new Set(asked)].toSorted());
});
