// What nodes say of fees where one of them has stopped taking in blocks, hangs or lies: what waits
// is made to pay more all the same, and no more than blocks take.

import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import { feesBy, type Present, reachBlocks } from './gas-fees.ts';
import { startAnvil } from './testing/anvil.ts';
import { claimOf, signal, strangerOn } from './testing/gas.ts';
import { fund, newLeg } from './testing/swap.ts';

const gwei = 10n ** 9n;
const at = (base: bigint, height = 100) => {
  const present: Present = { kind: 'market', base, tip: 1n };
  return { present, height };
};
const legacy = (price: bigint, height = 100) => {
  const present: Present = { kind: 'legacy', price };
  return { present, height };
};

for (const [what, said, bases, height] of [
  ['one node', [at(5n)], [5n], 100],
  ['of two the dearer, then the other', [at(5n, 90), at(9n)], [9n, 5n], 100],
  ['of three the second', [at(5n), at(10n ** 30n), at(6n)], [6n, 5n], 100],
  ['the second, too, where one has stopped', [at(1n, 9), at(7n), at(6n)], [6n, 1n], 100],
  ['of three the second best block', [at(5n, 2 ** 50), at(5n), at(5n)], [5n, 5n], 100],
  ['two so far apart tell no block', [at(5n), at(5n, 101 + reachBlocks)], [5n, 5n], null],
  ['two within reach do', [at(5n), at(5n, 100 + reachBlocks)], [5n, 5n], 100 + reachBlocks],
  ['three far apart', [at(1n, 1), at(1n, 1_000), at(1n, 2_000)], [1n, 1n], null],
  ['one that leaves the base fee out', [legacy(10n ** 30n), at(5n)], [5n], 100],
] as const) {
  test(`fees by what nodes say: ${what}`, () => {
    const fees = feesBy(said);
    assert.deepEqual(
      fees.presents.map((each) => (each.kind === 'market' ? each.base : null)),
      bases,
    );
    assert.equal(fees.height, height);
  });
}

const chain = await startAnvil();
after(() => chain.stop());
const liars: TestNode[] = [];
afterEach(async () => {
  await chain.client.setAutomine(true);
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei });
  await chain.client.mine({ blocks: 1 });
  await Promise.all(liars.splice(0).map((each) => each.stop()));
});
const lying = async (lie: Lie): Promise<string> => {
  const node = await lyingNode(chain.rpcUrl, lie);
  liars.push(node);
  return node.url;
};

/** Answers of the best block as they were when `stop` was called. */
function stalling() {
  const said = new Map<string, unknown>();
  let hasStopped = false;
  const lie: Lie = async ({ method, params }, forward) => {
    if (!/^eth_(getBlockByNumber|feeHistory)$/.test(method)) return forward();
    const name = `${method} ${JSON.stringify(params)}`;
    if (hasStopped && said.has(name)) return { result: said.get(name) };
    const answer = await forward();
    if ('result' in answer) said.set(name, answer.result);
    return answer;
  };
  const stop = () => {
    hasStopped = true;
  };
  return { lie, stop };
}

test('a node that has stopped and is asked first keeps nothing from following the fees', async () => {
  const { lie, stop } = stalling();
  const rpcUrls = [await lying(lie), chain.rpcUrl];
  const stranger = await strangerOn(chain, {}, { rpcUrls });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const { raw, height = null } = await stranger.sign(claimOf(leg));
  stop();
  const outbid = () => stranger.account.outbid?.({ raw, height, refused: false }, signal());
  assert.equal(await outbid(), null);
  await chain.client.mine({ blocks: 3 });
  assert.equal(await outbid(), 'passed over');
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 50n * gwei });
  await chain.client.mine({ blocks: 1 });
  assert.equal(await outbid(), 'price');
  const next = await stranger.sign(claimOf(leg), { above: { raw, offer: 0n } });
  assert.ok(next.offer > 50n * gwei, `${next.offer}`);
  assert.equal(next.height, (height ?? 0) + 4);
});

test('a best block that cannot be is not what blocks are counted from', async () => {
  const stranger = await strangerOn(chain);
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.setAutomine(false);
  const { raw } = await stranger.sign(claimOf(leg));
  const outbid = (height: number) =>
    stranger.account.outbid?.({ raw, height, refused: false }, signal());
  assert.equal(await outbid(2 ** 53 - 1), 'passed over');
  const best = Number(await chain.client.getBlockNumber());
  assert.equal(await outbid(best + reachBlocks), null, 'a node that is behind');
});

test('beside one that names fees beyond all bounds it is signed at those of the other', async () => {
  const dear = `0x${(10n ** 24n).toString(16)}`;
  const liar = await lying(async ({ method }, forward) => {
    const answer = await forward();
    if (!('result' in answer)) return answer;
    const result = answer.result as Record<string, unknown>;
    if (method === 'eth_getBlockByNumber') {
      return { result: { ...result, number: '0x1fffffffffffff', baseFeePerGas: dear } };
    }
    if (method !== 'eth_feeHistory') return answer;
    return { result: { ...result, baseFeePerGas: [dear], reward: [[dear]] } };
  });
  const cheap = await lying(async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_feeHistory' || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), baseFeePerGas: ['0x1'], reward: [['0x0']] } };
  });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  for (const other of [liar, cheap]) {
    for (const rpcUrls of [
      [other, chain.rpcUrl],
      [chain.rpcUrl, other],
    ]) {
      const stranger = await strangerOn(chain, {}, { rpcUrls });
      const { offer, mostCost } = await stranger.sign(claimOf(leg), { mostCost: 10n ** 16n });
      assert.ok(offer > gwei / 2n && mostCost <= 10n ** 16n, `${offer}, ${mostCost}`);
    }
  }
});

test('a node that hangs over fees costs a signature less than half a second of its time', async () => {
  const hangs = (method: string) => /^eth_(getBlockByNumber|feeHistory)$/.test(method);
  let isOpen = false;
  const silent = await lying(({ method }, forward) =>
    isOpen && hangs(method) ? undefined : forward(),
  );
  const stranger = await strangerOn(chain, {}, { rpcUrls: [chain.rpcUrl, silent] });
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await stranger.sign(claimOf(leg));
  isOpen = true;
  const slot = await stranger.slot();
  const begun = performance.now();
  await stranger.account.sign(claimOf(leg), slot, AbortSignal.timeout(4_000));
  const tookMs = performance.now() - begun;
  assert.ok(tookMs < 2_500, `${tookMs} ms`);
});
