// Answers by nodes of each family that show another chain, another state of an escrow or another
// network, and how one refuses what it is asked to send.

import type { Family } from '@parley/core/families.ts';
import type { Alter, Asked, Driver } from './driver.ts';

type Lies = Pick<Driver, 'differ' | 'otherNetwork' | 'isSending' | 'refusal' | 'busy'>;
type Call = {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
};
// biome-ignore lint/suspicious/noExplicitAny: answers of three protocols
type Answer = { readonly id?: unknown; readonly result?: any };

/** Alters each answered call by itself, in a batch or alone. */
function rpcLie(alter: (call: Call, result: Answer['result']) => unknown): Alter {
  return ({ text }, answer) => {
    const calls = [JSON.parse(text) as Call | Call[]].flat();
    const lied = (one: Answer) => {
      const call = calls.find(({ id }) => id === one.id) ?? calls[0];
      if (call === undefined || one.result == null) return one;
      return { ...one, result: alter(call, one.result) };
    };
    return Array.isArray(answer) ? answer.map(lied) : lied(answer);
  };
}

const sends = (method: string) => (asked: Asked) => asked.text.includes(`"${method}"`);
const refusing = (code: number, message: string) => {
  return { body: { jsonrpc: '2.0', id: 1, error: { code, message } } };
};
/** The same text with its last digit changed. */
const other = (text: string) => text.replace(/.$/, (digit) => (digit === '1' ? '2' : '1'));

const evm: Lies = {
  differ: ({ terms }) => ({
    state: rpcLie(({ method, params }, result) =>
      method === 'eth_call' && JSON.stringify(params).includes(terms.hashlock)
        ? `0x${'0'.repeat(64)}`
        : result,
    ),
    chain: rpcLie(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && /^0x/.test(String(params?.[0]))
        ? { ...result, hash: other(result.hash) }
        : result,
    ),
  }),
  otherNetwork: rpcLie(({ method }, result) => (method === 'eth_chainId' ? '0x1' : result)),
  isSending: sends('eth_sendRawTransaction'),
  refusal: refusing(-32_000, 'insufficient funds for gas'),
  busy: [
    refusing(-32_000, '429 Too Many Requests: over rate limit'),
    refusing(-32_007, '50/second request limit reached - reduce calls per second'),
    refusing(-32_011, 'no backend is currently healthy to serve traffic'),
    { status: 429, body: refusing(-32_005, 'request rate limited').body },
  ],
};

const isBlock = ({ path }: Asked) => path === '/wallet/getblockbynum';
const isFirst = ({ text }: Asked) => JSON.parse(text).num === 0;

const tron: Lies = {
  differ: ({ terms }) => ({
    state: (asked, answer) =>
      asked.path === '/walletsolidity/triggerconstantcontract' &&
      asked.text.includes(terms.hashlock)
        ? { ...answer, constant_result: ['0'.repeat(64)] }
        : answer,
    chain: (asked, answer) =>
      isBlock(asked) && !isFirst(asked) ? { ...answer, blockID: other(answer.blockID) } : answer,
  }),
  otherNetwork: (asked, answer) =>
    isBlock(asked) && isFirst(asked) ? { ...answer, blockID: `${'0'.repeat(63)}7` } : answer,
  isSending: ({ path }) => path === '/wallet/broadcasthex',
  refusal: { body: { result: false, code: 'SIGERROR', message: 'no such permission' } },
  busy: [
    { body: { result: false, code: 'SERVER_BUSY', message: 'server busy' } },
    { body: { Error: 'class java.lang.IllegalAccessException : lack of computing resources' } },
    { status: 403, body: { Error: 'the query server is suspended for 5 s' } },
  ],
};

const otherHash = 'DyRkUpQxYG2VnP2SkMdQs5BTsVPeKCpSHLxzByc2Sxvj';

const solana: Lies = {
  differ: ({ address }) => ({
    state: rpcLie(({ method, params }, result) =>
      method === 'getMultipleAccounts' &&
      /finalized/.test(JSON.stringify(params)) &&
      JSON.stringify(params).includes(address)
        ? { ...result, value: [null, ...result.value.slice(1)] }
        : result,
    ),
    chain: rpcLie(({ method }, result) =>
      method === 'getBlock' ? { ...result, blockhash: otherHash } : result,
    ),
  }),
  otherNetwork: rpcLie(({ method }, result) => (method === 'getGenesisHash' ? otherHash : result)),
  isSending: sends('sendTransaction'),
  refusal: refusing(-32_002, 'Transaction simulation failed'),
  busy: [
    refusing(-32_002, 'Transaction simulation failed: Blockhash not found'),
    refusing(-32_005, 'Node is behind by 42 slots'),
    refusing(-32_429, 'max usage reached'),
  ],
};

const bitcoin: Lies = {
  differ: () => ({
    chain: rpcLie(({ method }, result) => (method === 'getblockhash' ? other(result) : result)),
  }),
  otherNetwork: rpcLie(({ method }, result) =>
    method === 'getblockchaininfo' ? { ...result, chain: 'main' } : result,
  ),
  isSending: sends('sendrawtransaction'),
  refusal: refusing(-26, 'min relay fee not met'),
  busy: [refusing(-28, 'Loading block index…'), { status: 429, body: {} }],
};

export const lies: Readonly<Record<Family, Lies>> = { bitcoin, evm, tron, solana };
