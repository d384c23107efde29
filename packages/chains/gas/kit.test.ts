// The cost of a transaction by its nodes: the highest counts, and silence holds up nobody.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paidByAll } from './kit.ts';

const signal = () => AbortSignal.timeout(60_000);
const never = (until: AbortSignal) =>
  new Promise<never>((_, reject) => {
    until.addEventListener('abort', () => reject(until.reason), { once: true });
  });

type Node = bigint | null | 'fails' | 'hangs';

async function ask(nodes: readonly Node[]) {
  const asked = async (at: number, until: AbortSignal) => {
    const says = nodes[at] ?? null;
    if (says === 'hangs') return never(until);
    if (says === 'fails') throw new Error('of a test');
    return says;
  };
  return paidByAll(nodes.length, asked, signal());
}

for (const [what, nodes, wanted] of [
  ['one alone', [5n], { cost: 5n, said: 1 }],
  ['the highest of several', [5n, 9n, 0n], { cost: 9n, said: 3 }],
  ['that of who answers', ['fails', 5n, null, 'hangs'], { cost: 5n, said: 1 }],
  ['none where nobody knows', [null, 'fails'], null],
] as const satisfies readonly (readonly [string, readonly Node[], unknown])[]) {
  test(`the cost: ${what}`, async () => {
    assert.deepEqual(await ask(nodes), wanted);
  });
}

test('a caller without more time gets that as an error, and not that nobody knows', async () => {
  const soon = AbortSignal.timeout(20);
  await assert.rejects(paidByAll(1, (_, until) => never(until), soon));
});
