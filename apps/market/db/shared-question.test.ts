import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedQuestion } from './shared-question.ts';

type Asked = { keys: readonly string[]; answer: () => void; fail: (error: Error) => void };

/** A question whose answers the test gives: each key's is itself, but for "missing". */
function held() {
  const asked: Asked[] = [];
  const read = sharedQuestion<string>(
    (keys) =>
      new Promise((resolve, reject) => {
        const known = keys.filter((key) => key !== 'missing');
        const answer = () => resolve(new Map(known.map((key) => [key, key])));
        asked.push({ keys, answer, fail: reject });
      }),
  );
  return { asked, read };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a shared question', () => {
  it('holds each key of a turn once, and answers each read by its key', async () => {
    const { asked, read } = held();
    const reads = Promise.all(['a', 'b', 'a', 'missing'].map(read));
    await turn();
    assert.deepEqual(
      asked.map(({ keys }) => keys),
      [['a', 'b', 'missing']],
    );
    asked[0]!.answer();
    assert.deepEqual(await reads, ['a', 'b', 'a', null]);
  });

  it('is never joined once it is sent, so a read sees what was committed before it', async () => {
    const { asked, read } = held();
    const first = read('a');
    await turn();
    const second = read('a');
    await turn();
    assert.equal(asked.length, 2);
    for (const each of asked) each.answer();
    assert.deepEqual(await Promise.all([first, second]), ['a', 'a']);
  });

  it('waits while three are under way, then asks for all that gathered, 128 at most', async () => {
    const { asked, read } = held();
    const reads: Promise<unknown>[] = [];
    for (let each = 0; each < 3; each += 1) {
      reads.push(read(`first ${each}`));
      await turn();
    }
    for (let each = 0; each < 200; each += 1) reads.push(read(`later ${each}`));
    await turn();
    assert.equal(asked.length, 3);
    asked[1]!.answer();
    await turn();
    assert.deepEqual(
      asked.map(({ keys }) => keys.length),
      [1, 1, 1, 128],
    );
    asked[0]!.answer();
    await turn();
    assert.equal(asked[4]!.keys.length, 72);
    for (const each of asked) each.answer();
    await Promise.all(reads);
  });

  it('fails those that share it and no others', async () => {
    const { asked, read } = held();
    const first = read('a');
    await turn();
    const second = read('b');
    await turn();
    asked[0]!.fail(new Error('the connection was lost'));
    await assert.rejects(first, /connection was lost/);
    asked[1]!.answer();
    assert.equal(await second, 'b');
  });

  it('refuses reads past 10 000 that wait', async () => {
    const { asked, read } = held();
    const reads = Array.from({ length: 10_000 }, (_, at) => read(`${at}`));
    await assert.rejects(read('one more'), { code: 'overloaded' });
    for (let at = 0; at < 79; at += 1) {
      await turn();
      asked[at]!.answer();
    }
    await Promise.all(reads);
  });
});
