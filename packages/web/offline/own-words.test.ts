// A market describes itself by data alone: a kept page runs no script of its choice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from './own-words.ts';

test('words of the market are taken as data, and nothing of a script beside them', () => {
  const words = { productName: 'Sort </script>', chains: [{ nodes: ['https://a.example'] }] };
  const script = `self.marketConfig=${JSON.stringify(words)};\n`;
  assert.equal(wordsOf(script), script);
  for (const more of [
    `${script}fetch('https://thief.example');`,
    `steal();${script}`,
    'self.marketConfig={"a":1};steal();self.marketConfig={"a":1};\n',
    'self.marketConfig={"a":steal()};\n',
    'self.marketConfig={get a(){return 1}};\n',
    'self.marketConfig=steal();\n',
    '',
  ]) {
    assert.throws(() => wordsOf(more), SyntaxError, more);
  }
});
