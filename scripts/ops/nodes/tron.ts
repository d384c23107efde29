// What the TRON adapter needs of a java-tron: every path of its HTTP API, solid blocks, constant
// calls, and the receipts of a swap's days.

import { encodeFunctionData } from 'viem/utils';
import type { TronPath, TronRpcMethod } from '../../../chains/nodes/methods.ts';
import {
  type Body,
  httpClient,
  jsonRpcBody,
  jsonRpcPath,
  TronRefusal,
} from '../../../chains/tron/http.ts';
import {
  accountOf,
  blockAt,
  blocksOf,
  chainIdOf,
  codeAt,
  headBlock,
  infoOf,
  infosAt,
  knows,
  pricesOf,
  rawDataOf,
  resourcesOf,
  secondOf,
  sendHex,
  storageAt,
  tryCall,
  type View,
} from '../../../chains/tron/node.ts';
import { bareAddress } from '../../../chains/tron/plan.ts';
import { momentOf, solidBlock, sunOf } from '../../../chains/tron/views.ts';
import { escrowsAbi } from '../../../contracts/escrows/artifacts/abi.ts';
import { tronIdentity } from '../../../server/ports/node-identity.ts';
import type { Of } from '../../../server/settings/chains.ts';
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

const mostEmpty = 30;
const blockSeconds = 3;
const domain = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' }).slice(2);
const noTxid = '0'.repeat(64);

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'tron'>;
  const { chain, sources, contract } = source;
  const http = httpClient({ chain, sources, attemptTimeoutMs: node.callMs, rounds: 1 });
  const head = once((signal) => headBlock(http, 'head', signal));
  const sample = once(async (signal) => {
    const { number } = await head(signal);
    const recent = await blocksOf(http, Math.max(0, number - mostEmpty), number, signal);
    const block = recent.findLast(({ txs }) => txs.length > 0);
    const [tx] = block?.txs ?? [];
    return block && tx ? { block, tx } : null;
  });
  return { node, source, http, head, sample, contract };
}

export function lookAtTron(node: Node): Look {
  const eyes = eyesOn(node);
  const { http, head, contract } = eyes;
  return {
    methods: { ...pathsOf(eyes), ...rpcMethodsOf(eyes) },
    properties: propertiesOf(eyes),
    heads: async (signal) => {
      const block = await headBlock(http, 'head', signal);
      return { height: block.number, hash: block.hash, clock: secondOf(block) };
    },
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
  const { http, head, sample, contract } = eyes;
  const notThere = `no transaction in the last ${mostEmpty} blocks to read`;
  const ofSample = (
    without: string,
    ask: (txid: string, signal: AbortSignal) => Promise<unknown>,
  ): Probe => ({
    without,
    ask: async (signal) => {
      const found = await sample(signal);
      const answer = await ask(found?.tx.txid ?? noTxid, signal);
      if (found === null) return { says: notThere, verdict: 'unseen' };
      if (answer !== null) return `of ${found.tx.txid} in block ${found.block.number}`;
      return {
        says: `it does not give that of ${found.tx.txid}, of its own block`,
        verdict: 'lacks',
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
        // Of a contract that is not there yet. vm.supportConstant off is another sentence.
        if (!(error instanceof TronRefusal) || !/not exist|No contract/i.test(error.message))
          throw error;
        return 'served; there is no contract to call yet';
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
        const { number } = await headBlock(http, 'solid', signal);
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
        const number = (await sample(signal))?.block.number ?? (await head(signal)).number;
        return `${(await infosAt(http, number, signal)).length} receipts of block ${number}`;
      },
    },
    'wallet/gettransactioninfobyid': ofSample('no end of a transaction is known', (txid, signal) =>
      infoOf(http, txid, 'head', signal),
    ),
    'walletsolidity/gettransactioninfobyid': {
      ...ofSample('the depth of a transaction is not known', (txid, signal) =>
        infoOf(http, txid, 'solid', signal),
      ),
      ask: async (signal) => {
        const found = await sample(signal);
        const info = await infoOf(http, found?.tx.txid ?? noTxid, 'solid', signal);
        return info === null
          ? 'served; the newest transaction is not solid yet'
          : 'of a solid transaction';
      },
    },
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
    network: {
      without: 'the market does not start',
      ask: async (signal) => {
        const id = await chainIdOf(http, signal);
        if (id === source.chainId) return `chain id ${id}, of its first block`;
        const says = `its chain id is ${id}, not ${source.chainId}`;
        return { says, verdict: 'lacks', todo: 'nothing of this node may be believed' };
      },
    },
    contract: {
      without: 'the market does not start',
      ask: async (signal) => {
        if (!node.isServed) {
          return {
            says: 'no contract is named: add the chain to PARLEY_CHAINS and look again',
            verdict: 'unseen',
          };
        }
        const fault = await tronIdentity(source).fault(0, signal);
        if (fault === null)
          return `the escrow contract is at ${source.contract}, with its creation`;
        return {
          says: `it ${fault}`,
          verdict: 'lacks',
          todo: 'correct PARLEY_CHAINS, or take a node that keeps all transactions',
        };
      },
    },
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
  const receipts = await infosAt(http, old.number, signal);
  const age = (timestampMs - old.timestampMs) / 1_000;
  const says = `block ${old.number}, ${days(age)} days old, ${old.txs.length} transactions and ${receipts.length} receipts`;
  if (receipts.length >= old.txs.length) return { says, facts: { age } };
  return { says, verdict: 'lacks', todo: 'keep receipts (storage.transHistory.switch = on)' };
}
