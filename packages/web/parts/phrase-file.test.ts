// The phrase comes back from its file, whatever an editor did to it, and from no other one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../texts/testing.ts';
import { mostPhraseBytes, phraseFile, phraseIn } from './phrase-file.ts';

const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const file = phraseFile({ words: phrase.split(' '), market: 'Parley', day: '2026-11-30' });

test('a saved phrase is found in its file, and in none without one', () => {
  assert.equal(phraseIn(file), phrase);
  for (const same of [file.replaceAll('\r\n', '\n'), `\ufeff${file.toUpperCase()}`, phrase]) {
    assert.equal(phraseIn(same), phrase);
  }
  for (const none of ['', file.replace('sausage', 'worth'), '{"swaps":[]}', 'legal '.repeat(12)]) {
    assert.equal(phraseIn(none), null, none);
  }
  assert.equal(phraseIn(`${' \n'.repeat(mostPhraseBytes)}${phrase}`), null);
});
