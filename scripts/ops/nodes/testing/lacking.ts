// Nodes before real ones, each of which lacks something, and what a look at it is to say.

import { type Lie, nodeOf, type TestNode } from '../../../../chains/testing/nodes.ts';
import type { Rpc } from '../../../../devnet/rpc.ts';

const refused = (message: string) => ({ error: { code: -32_601, message } });
/** What a node of an EVM chain does not do, and what is then said of it. */
export const lacking: readonly [string, Lie, lacks: readonly string[], weak: readonly string[]][] =
  [
    [
      'is of another chain',
      ({ method }, forward) => (method === 'eth_chainId' ? { result: '0x7' } : forward()),
      ['head and clock'],
      [],
    ],
    [
      'has no receipts',
      ({ method }, forward) =>
        method === 'eth_getTransactionReceipt' ? refused('the method is not available') : forward(),
      ['eth_getTransactionReceipt'],
      [],
    ],
    [
      'gives logs of few blocks at once',
      ({ method, params }, forward) => {
        const [{ fromBlock, toBlock } = { fromBlock: 0, toBlock: 0 }] = params as {
          fromBlock: string;
          toBlock: string;
        }[];
        const isLong = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) > 9;
        return isLong ? refused('ranges over 10 blocks are not supported') : forward();
      },
      ['logs: blocks in one question'],
      [],
    ],
    [
      'lends nothing to a call, and keeps no old state',
      ({ method, params }, forward) => {
        const isOld = method === 'eth_call' && /^0x/.test(String(params[1]));
        const isLent = method === 'eth_call' && params.length > 2;
        return isOld || isLent ? refused('state is not available') : forward();
      },
      [],
      ['state at depth', 'code and balances lent to a call'],
    ],
  ];

type Call = { readonly id: number; readonly method: string; readonly params: unknown[] };

/** A Core node that has thrown its first block away. */
export async function prunedNode(rpc: Rpc): Promise<TestNode> {
  const first = await rpc<string>('getblockhash', [0]);
  const answerOf = async ({ id, method, params }: Call) => {
    if (method === 'getblock' && params[0] === first) {
      return { id, error: { code: -1, message: 'Block not available (pruned data)' } };
    }
    return { id, result: await rpc<unknown>(method, params), error: null };
  };
  return nodeOf(async (text) => {
    const asked = JSON.parse(text);
    const answer = Array.isArray(asked) ? Promise.all(asked.map(answerOf)) : answerOf(asked);
    return answer.then(
      (all) => ({ text: JSON.stringify(all) }),
      ({ message, code }) => ({ text: JSON.stringify({ id: asked.id, error: { code, message } }) }),
    );
  });
}
