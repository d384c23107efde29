// The needs of the TRON adapter of a java-tron: every path of its HTTP API, solid blocks, constant
// calls, and the receipts of a swap's days.

import type { TronPath, TronRpcMethod } from '@parley/chains/nodes/methods.ts';
import { tronHex } from '@parley/chains/tron/address.ts';
import {
  type Body,
  type Http,
  httpClient,
  jsonRpcBody,
  jsonRpcPath,
  plainWords,
  TronRefusal,
} from '@parley/chains/tron/http.ts';
import {
  accountOf,
  type Block,
  blockAt,
  blocksOf,
  codeAt,
  headBlock,
  infoOf,
  infosAt,
  knows,
  pricesOf,
  rawDataOf,
  resourcesOf,
  room,
  sendHex,
  storageAt,
  tryCall,
  type View,
} from '@parley/chains/tron/node.ts';
import { bareAddress } from '@parley/chains/tron/plan.ts';
import { momentOf, solidBlock, sunOf } from '@parley/chains/tron/views.ts';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { encodeFunctionData } from 'viem/utils';
import type { Of } from '../../settings/chains.ts';
import {
  days,
  historySeconds,
  type Look,
  type Node,
  once,
  type Probe,
  type Probes,
  refusesNonsense,
  type Said,
} from './probes.ts';

/** A few blocks of a busy chain do: thirty would be megabytes. java-tron gives 100 at once. */
const looksBack = [4, 30, 100] as const;
const blockSeconds = 3;
/** Code that ends at once: it makes a contract of none. */
const nothing = '60006000f3';
const domain = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' }).slice(2);
const noTxid = '0'.repeat(64);

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'tron'>;
  const { chain, sources, contract } = source;
  const http = httpClient({ chain, sources, attemptTimeoutMs: node.callMs, rounds: 1 });
  const head = once((signal) => headBlock(http, 'head', signal));
  const solid = once((signal) => headBlock(http, 'solid', signal));
  const newest = (of: typeof head) =>
    once(async (signal) => {
      const { number } = await of(signal);
      return sampleOf(http, 'newest', [number - looksBack[2] + 1, number], signal);
    });
  const samples = { head: newest(head), solid: newest(solid) };
  return { node, source, http, head, solid, samples, contract };
}

/**
 * A transaction of the newest or oldest of some blocks that have any. Never of block 0: no node
 * knows those by their ids, nor has receipts of them.
 */
async function sampleOf(
  http: Http,
  which: 'newest' | 'oldest',
  [first, last]: readonly [number, number],
  signal: AbortSignal,
) {
  const from = Math.max(1, first);
  for (const blocks of looksBack) {
    const range =
      which === 'newest'
        ? ([Math.max(from, last - blocks + 1), last] as const)
        : ([from, Math.min(last, from + blocks - 1)] as const);
    if (range[0] > range[1]) return null;
    const all = (await blocksOf(http, ...range, signal)).filter(({ txs }) => txs.length > 0);
    const block = which === 'newest' ? all.at(-1) : all[0];
    const [tx] = block?.txs ?? [];
    if (block && tx) return { block, tx };
  }
  return null;
}

export function lookAtTron(node: Node): Look {
  const eyes = eyesOn(node);
  const { http, head, contract } = eyes;
  return {
    methods: { ...pathsOf(eyes), ...rpcMethodsOf(eyes) },
    properties: propertiesOf(eyes),
    load: {
      neededPerSecond: 10,
      asks: [
        (signal) => headBlock(http, 'head', signal),
        async (signal) => infosAt(http, (await head(signal)).number, signal),
        (signal) => headBlock(http, 'solid', signal),
        (signal) => accountOf(http, contract, signal),
      ],
    },
  };
}

function pathsOf(eyes: Eyes): Record<Exclude<TronPath, 'jsonrpc'>, Probe> {
  const { http, head, solid, samples, contract } = eyes;
  const notThere = `no transaction in the last ${looksBack[2]} blocks to read`;
  const ofSample = (
    without: string,
    ask: (txid: string, signal: AbortSignal) => Promise<unknown>,
    view: View = 'head',
  ): Probe => ({
    without,
    ask: async (signal) => {
      const found = await samples[view](signal);
      const answer = await ask(found?.tx.txid ?? noTxid, signal);
      if (found === null) return { says: notThere, verdict: 'unseen' };
      if (answer !== null) return `of ${found.tx.txid} in block ${found.block.number}`;
      return {
        says: `it does not give that of ${found.tx.txid}, of its own block`,
        verdict: 'lacks',
        todo: keepReceipts,
      };
    },
  });
  const constant = (view: View, without: string): Probe => ({
    without,
    ask: async (signal) => {
      const call = { from: contract, to: contract, data: domain, value: 0n };
      try {
        const { energy } = await tryCall(http, view, call, signal);
        return `a constant call of ${energy} energy`;
      } catch (error) {
        // java-tron looks for the contract first, and only then whether it may run one.
        if (!(error instanceof TronRefusal) || !/not exist|No contract/i.test(error.message))
          throw error;
        return constantOfNone(http, view, contract, signal);
      }
    },
  });
  return {
    'wallet/getnowblock': {
      without: 'nothing is followed',
      ask: async (signal) => {
        const { number, txs } = await head(signal);
        return `block ${number} with ${txs.length} transactions`;
      },
    },
    'walletsolidity/getnowblock': {
      without: 'nothing comes to its depth: give its port as solidityUrl (java-tron: 8091)',
      ask: async (signal) => {
        const { number } = await solid(signal);
        return `solid block ${number}, ${(await head(signal)).number - number} behind the head`;
      },
    },
    'wallet/getblockbynum': {
      without: 'nodes cannot be compared',
      ask: async (signal) => `block 0 is ${(await blockAt(http, 0, signal))?.hash ?? 'none'}`,
    },
    'wallet/getblockbylimitnext': {
      without: 'nothing is followed',
      ask: async (signal) => {
        const { number } = await head(signal);
        return `${(await blocksOf(http, Math.max(0, number - 7), number, signal)).length} blocks in one answer`;
      },
    },
    'wallet/gettransactioninfobyblocknum': {
      without: 'no transaction that failed is seen, nor its secret',
      ask: async (signal) => {
        const found = await samples.head(signal);
        const number = found?.block.number ?? (await head(signal)).number;
        const receipts = await infosAt(http, number, signal);
        if (found === null) return { says: notThere, verdict: 'unseen' };
        return receiptsOf(found.block, receipts.length);
      },
    },
    'wallet/gettransactioninfobyid': ofSample('no end of a transaction is known', (txid, signal) =>
      infoOf(http, txid, 'head', signal),
    ),
    'walletsolidity/gettransactioninfobyid': ofSample(
      'the depth of a transaction is not known',
      (txid, signal) => infoOf(http, txid, 'solid', signal),
      'solid',
    ),
    'wallet/gettransactionbyid': ofSample('the contract’s creation is not proven', (txid, signal) =>
      rawDataOf(http, txid, signal),
    ),
    'wallet/gettransactionfrompending': {
      without: 'a transaction that waits is not known, and is sent again',
      isSpare: true,
      ask: async (signal) => {
        const path = 'wallet/gettransactionfrompending';
        await http.call(path, { value: noTxid }, signal);
        const isKnown = await knows(http, noTxid, signal);
        return `served; ${isKnown ? 'it knows what cannot be' : 'nothing of that id waits'}`;
      },
    },
    'wallet/triggerconstantcontract': constant(
      'head',
      'no escrow can be read (vm.supportConstant)',
    ),
    'walletsolidity/triggerconstantcontract': constant(
      'solid',
      'nothing comes to its depth (vm.supportConstant)',
    ),
    'wallet/getaccount': {
      without: 'nobody knows whether a funder has the coins',
      ask: async (signal) => `${(await accountOf(http, contract, signal))?.balance ?? 0n} sun`,
    },
    'wallet/getaccountresource': {
      without: 'what a transaction costs its sender is not known',
      ask: async (signal) => `${(await resourcesOf(http, contract, signal)).energy} energy`,
    },
    'wallet/getchainparameters': {
      without: 'no cost is known',
      ask: async (signal) => {
        const { energySun, byteSun } = await pricesOf(http, signal);
        return `${energySun} sun for energy, ${byteSun} for a byte`;
      },
    },
    'wallet/getcontractinfo': {
      without: 'no contract is checked',
      ask: async (signal) => `${(await codeAt(http, contract, signal))?.length ?? 0} bytes of code`,
    },
    'wallet/broadcasthex': {
      without: 'nothing is sent',
      ask: (signal) => refusesNonsense(sendHex(http, '00', signal)),
    },
  };
}

/** For tokens that are to be listed, and for what became of an escrow whose lane went on. */
function rpcMethodsOf({ http, head, contract }: Eyes): Record<`jsonrpc ${TronRpcMethod}`, Probe> {
  const todo =
    'node.jsonrpc.httpFullNodeEnable, and jsonRpcUrl where it has a port of its own (8545)';
  const ask = async (method: TronRpcMethod, params: Body[''], signal: AbortSignal) => {
    const answer = (await http.call(jsonRpcPath, jsonRpcBody(method, params), signal)) as {
      readonly result?: unknown;
      readonly error?: { readonly message?: string };
    };
    if (answer.result === undefined)
      throw new TronRefusal('', answer.error?.message ?? 'no result');
    return answer.result;
  };
  return {
    'jsonrpc eth_getStorageAt': {
      without: `no token is listed by request (${todo})`,
      isSpare: true,
      ask: async (signal) => {
        const address = bareAddress(contract).slice(2);
        const word = await storageAt(http, address, '0'.repeat(64), signal);
        return `a word: ${word.slice(0, 16)}…`;
      },
    },
    'jsonrpc eth_getLogs': {
      without: `an outcome that only old events tell stays unknown (${todo})`,
      isSpare: true,
      ask: async (signal) => {
        const { number } = await head(signal);
        const range = {
          fromBlock: `0x${Math.max(0, number - 4_999).toString(16)}`,
          toBlock: `0x${number.toString(16)}`,
        };
        const logs = await ask(
          'eth_getLogs',
          [{ address: bareAddress(contract), topics: [], ...range }],
          signal,
        );
        return `${(logs as unknown[]).length} of the contract in 5 000 blocks`;
      },
    },
  };
}

function propertiesOf(eyes: Eyes): Probes {
  const { node, source, http, head } = eyes;
  return {
    'views in one call': {
      without: 'each view is a call of its own: five times as many',
      isSpare: true,
      ask: async (signal) => {
        const moment = momentOf(http);
        await Promise.all([sunOf(moment, source.contract, signal), solidBlock(moment, signal)]);
        if (moment.isTogether && moment.seen('head') !== null)
          return 'a constant call without a contract';
        return {
          says: 'it runs no code of ours',
          verdict: 'weak',
          todo: 'each view is a call of its own: five times as many',
        };
      },
    },
    'history of receipts': {
      without: 'an escrow of a swap that lasts its longest is not found again after a restart',
      mostMs: 3 * node.callMs,
      ask: (signal) => history({ http, head }, signal),
    },
  };
}

async function history(
  { http, head }: Pick<Eyes, 'http' | 'head'>,
  signal: AbortSignal,
): Promise<Said> {
  const { number, timestampMs } = await head(signal);
  const wanted = Math.max(1, number - historySeconds / blockSeconds);
  const old = await blockAt(http, Math.min(wanted, number), signal);
  if (old === null) {
    return {
      says: `it has no block ${wanted}, of 31 days ago: a lite node`,
      verdict: 'lacks',
      todo: 'take a full node',
    };
  }
  const found = await sampleOf(http, 'oldest', [old.number, number], signal);
  if (found === null) {
    const to = Math.min(old.number + looksBack[2] - 1, number);
    return { says: `no transaction in blocks ${old.number} to ${to} to read`, verdict: 'unseen' };
  }
  const { block } = found;
  const age = (timestampMs - block.timestampMs) / 1_000;
  const of = receiptsOf(block, (await infosAt(http, block.number, signal)).length);
  return { ...of, says: `${of.says}, ${days(age)} days old`, facts: { age } };
}

const keepReceipts = 'keep receipts (storage.transHistory.switch = on)';

/** One for each transaction, of a node that hides none. */
function receiptsOf({ number, txs }: Block, receipts: number): Said {
  const says = `${receipts} receipts of the ${txs.length} transactions of block ${number}`;
  return receipts >= txs.length ? { says } : { says, verdict: 'lacks', todo: keepReceipts };
}

/** A constant call that needs no contract, where there is none yet. */
async function constantOfNone(
  http: Http,
  view: View,
  from: string,
  signal: AbortSignal,
): Promise<Said | string> {
  const body = { owner_address: tronHex(from), data: nothing, call_value: 0 };
  const answer = await http.call(`${room(view)}/triggerconstantcontract`, body, signal);
  const { result } = answer as { readonly result?: { result?: unknown; message?: unknown } };
  if (result?.result === true) return 'served; there is no contract to call yet';
  const words = plainWords(result?.message);
  if (/constant/i.test(words)) throw new TronRefusal('', words);
  return { says: `there is no contract to call yet (${words})`, verdict: 'unseen' };
}
