import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remembered } from './remembered.ts';

test('each text is worked out once while it is among the newest, and a refusal every time', () => {
  const asked: string[] = [];
  const shout = remembered((text) => {
    asked.push(text);
    if (text === '') throw new Error('nothing to shout');
    return { loud: text.toUpperCase() };
  }, 2);
  assert.deepEqual(shout('a'), { loud: 'A' });
  assert.equal(shout('a'), shout('a'));
  shout('b');
  for (let times = 0; times < 2; times += 1) assert.throws(() => shout(''), /nothing to shout/);
  assert.deepEqual(asked, ['a', 'b', '', '']);
  shout('c');
  shout('b');
  assert.deepEqual(asked.slice(4), ['c'], 'the oldest makes room, and no other');
  shout('a');
  assert.deepEqual(asked.slice(5), ['a']);
});
