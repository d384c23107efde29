// The history keeps news alone, at most 200, and never a secret.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import { historiesOf, mostHistory, plainText, withNews } from './drive.ts';
import { memoryKept } from './keeping.ts';
import type { Happened } from './types.ts';

const row = (more: Partial<Happened> = {}): Happened => ({
  at: 1,
  state: 'funding',
  step: 'waiting',
  leg: 'a',
  text: 'waits',
  txid: null,
  ...more,
});
const fault = (error: unknown) => {
  throw error;
};

test("a new run's repetition is no news", () => {
  const rows = [
    row({ step: 'state', leg: null, text: 'preparing -> funding' }),
    row({ step: 'funded', txid: 'aa' }),
    row({ text: 'one' }),
  ];
  for (const [news, isNews] of [
    [row({ at: 9, text: 'one' }), false],
    [row({ at: 9, text: 'two' }), true],
    [row({ at: 9, text: 'one', leg: 'b' }), true],
    [row({ at: 9, step: 'funded', txid: 'aa' }), false],
    [row({ at: 9, step: 'funded', txid: 'bb' }), true],
    [row({ at: 9, step: 'state', leg: null, text: 'waiting_to_fund -> funding' }), false],
    [row({ at: 9, step: 'state', leg: null, state: 'funded', text: 'to funded' }), true],
  ] as const) {
    assert.deepEqual(withNews(rows, news), isNews ? [...rows, news] : rows, news.text);
  }
});

test('the newest 200 stay, in a page and beyond it', async () => {
  const kept = memoryKept();
  const { of, add, written } = historiesOf(kept, fault);
  const all = Array.from({ length: mostHistory + 5 }, (_, at) => row({ at, text: `at ${at}` }));
  for (const each of all) add('one', each);
  add('other', row());
  await written();
  assert.deepEqual(await of('one'), all.slice(5));
  assert.deepEqual(await historiesOf(kept, fault).of('one'), all.slice(5));
  assert.deepEqual(await of('other'), [row()]);
  assert.deepEqual(await of('none'), []);
});

test('no secret is told: neither by itself nor inside a transaction', () => {
  const secret = '5e'.repeat(32);
  const hashlocks = [hashlockOf(secret), null];
  for (const [text, told] of [
    [`reveals ${secret} now`, 'reveals … now'],
    [`reveals 0x${secret.toUpperCase()}`, 'reveals …'],
    [`raw 02${secret}ac`, 'raw …'],
    [`in tx ${'ab'.repeat(32)}`, `in tx ${'ab'.repeat(32)}`],
    [`of hashlock ${hashlockOf(secret)}`, `of hashlock ${hashlockOf(secret)}`],
    ['x '.repeat(400), 'x '.repeat(250)],
    ['funded', 'funded'],
  ] as const) {
    assert.equal(plainText(text, hashlocks), told);
  }
});
