// Nodes before real ones, each of which lacks something, and what a look at it is to say.

import { type Lie, nodeOf, type TestNode } from '@parley/chains/testing/nodes.ts';
import type { Lie as TronLie } from '@parley/chains/tron/testing/nodes.ts';
import type { Rpc } from '@parley/dev/devnet/rpc.ts';

const refused = (message: string) => ({ error: { code: -32_601, message } });
/** The calls that a node of an EVM chain does not serve, and the report then. */
export const lacking: readonly [string, Lie, lacks: readonly string[], weak: readonly string[]][] =
  [
    [
      'is of another chain',
      ({ method }, forward) => (method === 'eth_chainId' ? { result: '0x7' } : forward()),
      ['chain and contract'],
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

const receipts = [
  'wallet/gettransactioninfobyblocknum',
  'wallet/gettransactioninfobyid',
  'walletsolidity/gettransactioninfobyid',
];
type TronBlock = { readonly block_header: { readonly raw_data: { readonly number?: number } } };

/** The behaviour of a java-tron that was built or set up otherwise (tried on a 4.8.1). */
export const lackingTron: readonly (readonly [
  what: string,
  isServed: boolean,
  lie: TronLie,
  lacks: readonly string[],
  weak: readonly string[],
  unseen: readonly string[],
])[] = [
  [
    'keeps no receipts',
    true,
    ({ path }, forward) =>
      receipts.includes(path) ? { body: path.endsWith('num') ? [] : {} } : forward(),
    [...receipts, 'history of receipts'],
    [],
    [],
  ],
  [
    'runs no constant calls, which it says after it looked for the contract',
    false,
    async ({ path, body }, forward) => {
      const isCall = path.endsWith('/triggerconstantcontract');
      if (!isCall || body.contract_address !== undefined) return forward();
      return { body: saysNo('this node does not support constant') };
    },
    ['wallet/triggerconstantcontract', 'walletsolidity/triggerconstantcontract'],
    ['chain and contract', 'views in one call'],
    [],
  ],
  [
    'has transactions in its first block alone, which no node knows by their ids',
    true,
    async ({ path }, forward) => {
      const said = await forward();
      if (path !== 'wallet/getblockbylimitnext') return said;
      const { block = [] } = said.body as { block?: readonly TronBlock[] };
      const first = { txID: 'ab'.repeat(32), raw_data_hex: '00' };
      const emptied = block.map((each) => {
        const isFirst = each.block_header.raw_data.number === undefined;
        return { ...each, transactions: isFirst ? [first] : [] };
      });
      return { body: { block: emptied } };
    },
    [],
    [],
    [...receipts, 'wallet/gettransactionbyid', 'history of receipts'],
  ],
];

const ofHistory = ['getBlock', 'getBlockTime', 'getSignaturesForAddress'];
const ofListed = ['getTransaction', 'getSignatureStatuses', 'history of transactions'];

/** A validator without --enable-rpc-transaction-history (tried on a 4.1.2). */
export const withoutHistory: { readonly lie: Lie; readonly lacks: readonly string[] } = {
  lie: ({ method }, forward) => {
    if (!ofHistory.includes(method)) return forward();
    const message = 'Transaction history is not available from this node';
    return { error: { code: -32_011, message } };
  },
  lacks: [...ofHistory, ...ofListed],
};

const saysNo = (words: string) => ({
  result: { code: 'CONTRACT_VALIDATE_ERROR', message: Buffer.from(words).toString('hex') },
});

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
