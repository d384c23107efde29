import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagAt, type Reads, wordAt } from './reads.ts';

const answering = (answer: string | null) => ({ view: async () => answer }) as unknown as Reads;
const word = (end: string) => `0x${end.padStart(64, '0')}`;

test('a word has 32 bytes at least, and what follows them is not read', async () => {
  for (const none of [null, '0x', word('7').slice(0, -2)]) {
    assert.equal(await wordAt(answering(none), '0x', ''), null);
  }
  assert.equal(await wordAt(answering(`${word('7')}ff`), '0x', ''), 7n);
});

test('a flag is true or false, and any other word is neither', async () => {
  const flags = [
    [word('0'), false],
    [word('1'), true],
    [word('2'), null],
    [null, null],
  ] as const;
  for (const [answer, flag] of flags) {
    assert.equal(await flagAt(answering(answer), '0x', 'paused()'), flag);
  }
});
