import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Failure, inPart, type Width } from './widths.ts';

class No extends Error {}
class Silence extends Error {}

const kindOf = (error: unknown): Failure => {
  if (error instanceof No) return 'refusal';
  return error instanceof Silence ? 'silence' : 'other';
};
const never = new AbortController().signal;

/** A node that answers about so many, and else fails so; the sizes of its questions. */
function nodeOf(most: number, fails: () => Error) {
  const told = { most, asked: [] as number[] };
  const ask = async (count: number) => {
    told.asked.push(count);
    if (count > told.most) throw fails();
    return 'yes';
  };
  return { told, ask };
}

const wide = (over: Partial<Width> = {}): Width => ({ now: 1_000, taken: 0, most: 1_000, ...over });
const askAll = async (width: Width, left: number, ask: (count: number) => Promise<string>) => {
  for (let at = 0; at < left; ) at += (await inPart(width, left - at, ask, kindOf, never)).count;
};

test('a refused width is halved until it is answered, and grows again slowly', async () => {
  const { told, ask } = nodeOf(300, () => new No());
  const width = wide();
  assert.deepEqual(await inPart(width, 900, ask, kindOf, never), { count: 225, answer: 'yes' });
  assert.deepEqual(told.asked, [900, 450, 225]);
  told.most = 1_000;
  told.asked.splice(0);
  await askAll(width, 225 * 15 + 450, ask);
  assert.deepEqual(told.asked, [...Array.from({ length: 15 }, () => 225), 450]);
});

test('a silence is one of the width where one alone is answered: then much less is asked', async () => {
  const { told, ask } = nodeOf(300, () => new Silence());
  const width = wide();
  await askAll(width, 801, ask);
  assert.deepEqual(told.asked, [801, 1, ...Array.from({ length: 8 }, () => 100)]);
  told.asked.splice(0);
  // 200 and then 400 are tried, and 200 is what worked.
  await askAll(width, 56 * 100 + 16 * 200 + 1 + 400, ask);
  const grown = [
    ...Array.from({ length: 56 }, () => 100),
    ...Array.from({ length: 16 }, () => 200),
  ];
  assert.deepEqual(told.asked, [...grown, 400, 1, 200, 200]);
});

test('where one alone is not answered either, it is the node: nothing is learnt of the width', async () => {
  for (const Failing of [Silence, No]) {
    const { told, ask } = nodeOf(0, () => new Failing());
    const width = wide();
    await assert.rejects(inPart(width, 1, ask, kindOf, never), Failing);
    assert.deepEqual([told.asked, width.now], [[1], 1_000]);
  }
  const { told, ask } = nodeOf(0, () => new Silence());
  const width = wide();
  await assert.rejects(inPart(width, 900, ask, kindOf, never), Silence);
  told.most = 1_000;
  await inPart(width, 900, ask, kindOf, never);
  assert.deepEqual(told.asked, [900, 1, 900]);
});

test('a silence that took all the time is remembered, a question that was given up is not', async () => {
  for (const [reason, next] of [
    [new DOMException('late', 'TimeoutError'), 1],
    [new DOMException('given up', 'AbortError'), 900],
  ] as const) {
    const { told, ask } = nodeOf(300, () => new Silence());
    const width = wide();
    await assert.rejects(inPart(width, 900, ask, kindOf, AbortSignal.abort(reason)), Silence);
    told.most = 1_000;
    await inPart(width, 900, ask, kindOf, never);
    assert.deepEqual(told.asked, [900, next]);
  }
});
