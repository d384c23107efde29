// The needs of the Bitcoin adapter of a Core node: every method, and the blocks of a swap's days.

import { coreBackend } from '@parley/chains/bitcoin/core-backend.ts';
import { bitcoinNetworkOf } from '@parley/chains/bitcoin/networks.ts';
import { coreRpc, RpcRefusal } from '@parley/chains/bitcoin/rpc.ts';
import type { CoreMethod } from '@parley/chains/nodes/methods.ts';
import { worldOfBitcoin } from '@parley/core/worlds.ts';
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

type Block = { readonly hash: string; readonly height: number; readonly tx: readonly string[] };
type Info = {
  readonly chain: string;
  readonly blocks: number;
  readonly headers: number;
  readonly bestblockhash: string;
  readonly pruned: boolean;
  readonly pruneheight?: number;
};

const noTxid = '0'.repeat(64);

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'bitcoin'>;
  const { rpcUrl: url = '' } = source;
  const limits = { timeMs: node.callMs };
  const rpc = coreRpc({ url, limits });
  const network = bitcoinNetworkOf(worldOfBitcoin(source.network));
  const backend = coreBackend({ url, limits, network, now: node.now });
  const info = once((signal) => rpc.call<Info>('getblockchaininfo', [], signal));
  const newest = once(async (signal) => {
    const { bestblockhash } = await info(signal);
    return rpc.call<Block>('getblock', [bestblockhash, 1], signal);
  });
  return { node, source, rpc, backend, info, newest };
}

export function lookAtCore(node: Node): Look {
  const eyes = eyesOn(node);
  const { rpc, backend } = eyes;
  const interest = {
    outpoints: () => [],
    unmined: [],
    addresses: () => [],
    isNewInterest: false,
    about: null,
  };
  return {
    methods: methodsOf(eyes),
    properties: propertiesOf(eyes),
    load: {
      neededPerSecond: 5,
      asks: [
        (signal) => backend.tip(signal),
        (signal) => backend.mempool(interest, signal),
        (signal) => rpc.call('estimatesmartfee', [3], signal),
      ],
    },
  };
}

/** The answer of a method to a question that is right, in words. */
type Words<T> = (answer: T) => Said | string;

function methodsOf({ source, rpc, info, newest }: Eyes): Record<CoreMethod, Probe> {
  const is = <T>(
    method: CoreMethod,
    without: string,
    paramsOf: (signal: AbortSignal) => Promise<readonly unknown[]> | readonly unknown[],
    words: Words<T>,
  ): Probe => ({
    without,
    ask: async (signal) => words(await rpc.call<T>(method, await paramsOf(signal), signal)),
  });
  const tip = async (signal: AbortSignal) => [(await info(signal)).bestblockhash] as const;
  const coinbase = async (signal: AbortSignal) => (await newest(signal)).tx[0] ?? noTxid;
  return {
    getblockchaininfo: {
      without: 'nothing is known of the chain',
      ask: async (signal) => {
        const { chain, blocks, headers } = await info(signal);
        return `chain ${chain}, block ${blocks} of ${headers}`;
      },
    },
    getblockcount: is<number>(
      'getblockcount',
      'no past is found',
      () => [],
      (count) => `${count} blocks`,
    ),
    getbestblockhash: is<string>(
      'getbestblockhash',
      'the mempool is not read',
      () => [],
      () => 'the best block',
    ),
    getblockhash: is<string>(
      'getblockhash',
      'no block is followed',
      () => [0],
      (hash) => `block 0 is ${hash}`,
    ),
    getblockheader: is<{ time: number }>(
      'getblockheader',
      'no past is found',
      tip,
      ({ time }) => `of second ${time}`,
    ),
    getblock: is<string>(
      'getblock',
      'nothing is followed',
      async (signal) => [...(await tip(signal)), 0],
      (raw) => `the best block, ${raw.length / 2} bytes`,
    ),
    getrawtransaction: is<string>(
      'getrawtransaction',
      'the bytes that an escrow’s payments were made with are not had',
      async (signal) => [await coinbase(signal), false, ...(await tip(signal))],
      (raw) => `by its block, ${raw.length / 2} bytes`,
    ),
    gettxout: is<{ confirmations: number } | null>(
      'gettxout',
      'no transaction is found without a txindex',
      async (signal) => [await coinbase(signal), 0, false],
      (output) => (output === null ? 'no such output' : `an output, ${output.confirmations} deep`),
    ),
    gettxspendingprevout: is<readonly object[]>(
      'gettxspendingprevout',
      'spends are missed where the mempool is long: Core 24 has it, and Knots',
      async (signal) => [[{ txid: await coinbase(signal), vout: 0 }]],
      (spends) => `${spends.length} answered`,
    ),
    getrawmempool: is<readonly string[]>(
      'getrawmempool',
      'payments are seen with their block only',
      () => [],
      ({ length }) => `${length} transactions wait`,
    ),
    getmempoolinfo: is<{ maxmempool: number; mempoolminfee: number }>(
      'getmempoolinfo',
      'the least fee is not known',
      () => [],
      ({ maxmempool, mempoolminfee }) =>
        `room for ${Math.round(maxmempool / 1e6)} MB, least fee ${Math.round(mempoolminfee * 1e8) / 1_000} sat/vB`,
    ),
    getmempoolentry: {
      without: 'no replacement is priced',
      ask: async (signal) => {
        const [txid = noTxid] = await rpc.call<string[]>('getrawmempool', [], signal);
        try {
          await rpc.call('getmempoolentry', [txid], signal);
          return 'of a transaction that waits';
        } catch (error) {
          // RPC_INVALID_ADDRESS_OR_KEY, of one that waits no more.
          if (error instanceof RpcRefusal && error.code === -5) return 'served; nothing waits now';
          throw error;
        }
      },
    },
    estimatesmartfee: is<{ feerate?: number; errors?: readonly string[] }>(
      'estimatesmartfee',
      'fees are guessed',
      () => [3],
      ({ feerate, errors = [] }) => {
        if (feerate !== undefined)
          return `${Math.round(feerate * 1e8) / 1_000} sat/vB for 3 blocks`;
        const says = `no estimate: ${errors.join(', ')}`;
        if (source.network !== 'mainnet') return says;
        return {
          says,
          verdict: 'weak',
          todo: 'let it run for some days: fees are guessed until then',
        };
      },
    ),
    sendrawtransaction: {
      without: 'nothing is sent',
      ask: (signal) => refusesNonsense(rpc.call('sendrawtransaction', ['00'], signal)),
    },
  };
}

function propertiesOf({ node, rpc, backend, info }: Eyes): Probes {
  return {
    synced: {
      without: 'it is behind',
      ask: async (signal) => {
        const { height } = await backend.tip(signal);
        const { headers } = await info(signal);
        return `at block ${height} of ${headers} headers`;
      },
    },
    version: {
      without: 'its version is not known; what it must have was tried all the same',
      isSpare: true,
      ask: async (signal) => {
        // Not asked by the adapter: a number for people.
        const ask = rpc.call as (
          method: string,
          params: readonly unknown[],
          signal: AbortSignal,
        ) => Promise<unknown>;
        const { subversion } = (await ask('getnetworkinfo', [], signal)) as { subversion: string };
        return subversion;
      },
    },
    'history of blocks': {
      without: 'an escrow of a swap that lasts its longest is not found again after a restart',
      mostMs: 12 * node.callMs,
      ask: (signal) => historyOf({ node, rpc, backend, info }, signal),
    },
    txindex: {
      without: 'nothing: it is not needed',
      isSpare: true,
      ask: async (signal) => {
        const genesisChild = await rpc.call<string>('getblockhash', [1], signal).catch(() => null);
        if (genesisChild === null) return { says: 'no block 1 to try it with', verdict: 'unseen' };
        const { tx } = await rpc
          .call<Block>('getblock', [genesisChild, 1], signal)
          .catch((error: unknown) => {
            if (error instanceof RpcRefusal) return { tx: [] };
            throw error;
          });
        const has = await rpc.call('getrawtransaction', [tx[0] ?? noTxid], signal).then(
          () => true,
          () => false,
        );
        return `${has ? 'there is one' : 'there is none'}; none is needed`;
      },
    },
    batches: {
      without: 'nothing is followed: the mempool is read in batches',
      ask: async (signal) => {
        const asked = { method: 'getblockcount', params: [] } as const;
        const answers = await rpc.batch([asked, asked, asked], signal);
        return `${answers.length} questions in one exchange`;
      },
    },
  };
}

async function historyOf(
  { node, rpc, backend, info }: Pick<Eyes, 'node' | 'rpc' | 'backend' | 'info'>,
  signal: AbortSignal,
): Promise<Said> {
  const { blocks, pruned, pruneheight = 0 } = await info(signal);
  const first =
    backend.past.kind === 'by_block'
      ? await backend.past.firstHeight(node.now() - historySeconds, signal)
      : 0;
  const facts = { pruned, pruneheight, wanted: first };
  const kept = pruned ? `pruned below block ${pruneheight}` : 'not pruned';
  const hash = await rpc.call<string>('getblockhash', [first], signal);
  const { time } = await rpc.call<{ time: number }>('getblockheader', [hash], signal);
  const age = days(node.now() - time);
  try {
    await backend.block(hash, signal);
    return { says: `${kept}; it gives block ${first}, ${age} days old, of ${blocks}`, facts };
  } catch (error) {
    const says = `${kept}: it does not give block ${first}, ${age} days old (${(error as Error).message})`;
    const todo = 'keep at least 31 days: about 4 500 blocks, prune=10000 (MB) or more on mainnet';
    return { says, facts, verdict: 'lacks', todo };
  }
}
