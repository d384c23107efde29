// What became of a transaction of a gas key where the nodes of its chain do not say the same: what
// is deep is never looked at again, so no node says so alone.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Hex } from 'viem';
import { rpcClient } from '../nodes/rpc.ts';
import { type Lie, lyingNode, type TestNode } from '../testing/nodes.ts';
import { fateOf } from './gas-fate.ts';
import { reachBlocks } from './gas-fees.ts';
import { startAnvil } from './testing/anvil.ts';
import { signal, strangerOn } from './testing/gas.ts';

const chain = await startAnvil();
before(async () => {
  await chain.client.mine({ blocks: 2 * reachBlocks });
});
after(() => chain.stop());
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((each) => each.stop()));
});
const lying = async (lie: Lie): Promise<string> => {
  const node = await lyingNode(chain.rpcUrl, lie);
  nodes.push(node);
  return node.url;
};

/** Knows nothing of what the key has sent. `head`: the block at which it stands. */
const without =
  (head: number | null): Lie =>
  async ({ method, params }, forward) => {
    if (/^eth_getTransaction(Receipt|ByHash)$/.test(method)) return { result: null };
    if (method === 'eth_getTransactionCount') return { result: '0x0' };
    const answer = await forward();
    const isOfHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
    if (!isOfHead || head === null || !('result' in answer)) return answer;
    return { result: { ...(answer.result as object), number: `0x${head.toString(16)}` } };
  };

test('one node alone says of nothing that it is deep, unless the other has stopped far below', async () => {
  const { account, send } = await strangerOn(chain);
  const { txid, nonce } = await send({ verb: 'void' });
  await chain.client.mine({ blocks: 4 });
  const receipt = await chain.client.getTransactionReceipt({ hash: txid as Hex });
  const block = Number(receipt.blockNumber);
  const depths = { confirmations: 3, tag: null };
  const fateBy = (urls: readonly string[], of: { isPast?: boolean } = {}) => {
    const rpc = rpcClient({ chain: 'evm-dev', urls, rounds: 1 });
    return fateOf(rpc, account.address, depths, { txid, nonce, ...of }, signal());
  };
  const { rpcUrl } = chain;
  const other = await lying(without(null));
  const [near, far] = [
    await lying(without(block - reachBlocks)),
    await lying(without(block - reachBlocks - 1)),
  ];
  assert.equal(await fateBy([rpcUrl]), 'deep');
  assert.equal(await fateBy([rpcUrl, rpcUrl]), 'deep');
  assert.equal(await fateBy([rpcUrl, other, rpcUrl]), 'deep', 'two of three');
  assert.equal(await fateBy([rpcUrl, other]), 'mined');
  assert.equal(await fateBy([rpcUrl, other, other]), 'mined');
  assert.equal(await fateBy([rpcUrl, near]), 'mined');
  assert.equal(await fateBy([rpcUrl, far]), 'deep');
  assert.equal(
    await fateBy([rpcUrl, other], { isPast: true }),
    'deep',
    'used up by what came later',
  );
});
