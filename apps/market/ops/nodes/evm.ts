// The needs of the EVM adapter of a node: every method, blocks by tags and by hash, state at depth,
// logs of a swap's days.

import {
  asked,
  atBlock,
  balanceAt,
  blockAt,
  chainIdOf,
  codeAt,
  gasPrice,
  headBlock,
  list,
  logsOf,
  object,
  receiptOf,
  storageAt,
  text,
  transactionCount,
  txOf,
} from '@parley/chains/evm/node.ts';
import { evmDeployment } from '@parley/chains/evm/plan.ts';
import { evmBlockSeconds } from '@parley/chains/evm/policy.ts';
import { mostRequests, ours } from '@parley/chains/evm/scan.ts';
import { lends, stranger } from '@parley/chains/evm/simulate.ts';
import type { EvmMethod } from '@parley/chains/nodes/methods.ts';
import { amountOf, quantity, RpcError, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import type { Of } from '../../settings/chains.ts';
import { policyOf } from '../../settings/policies.ts';
import {
  batchesOf,
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

/** Blocks looked through for a transaction to read: a quiet test network has empty ones. */
const mostEmpty = 30;
const domain: Hex = encodeFunctionData({ abi: escrowsAbi, functionName: 'domain' });
const noHash = `0x${'0'.repeat(64)}`;

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'evm'>;
  const { chain, rpcUrls, chainId } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs: node.callMs, rounds: 1 });
  const deployment = evmDeployment(chainId, source);
  const head = once((signal) => headBlock(rpc, signal));
  const sample = once(async (signal) => {
    const { number } = await head(signal);
    for (let back = 0; back < mostEmpty && back <= number; back += 1) {
      const block = await blockAt(rpc, number - back, true, signal);
      const [tx] = block?.txs ?? [];
      if (block && tx) return { block, tx };
    }
    return null;
  });
  return { node, source, rpc, deployment, head, sample, ...policyOf(source) };
}

export function lookAtEvm(node: Node): Look {
  const eyes = eyesOn(node);
  const { rpc, deployment, head } = eyes;
  return {
    methods: methodsOf(eyes),
    properties: propertiesOf(eyes),
    load: {
      neededPerSecond: 10,
      asks: [
        (signal) => headBlock(rpc, signal),
        async (signal) => blockAt(rpc, (await head(signal)).number, true, signal),
        async (signal) => {
          const { number } = await head(signal);
          return logsOf(
            rpc,
            { address: deployment.contract, topics: [ours] },
            number,
            number,
            signal,
          );
        },
        (signal) =>
          rpc.call('eth_call', [{ to: deployment.contract, data: domain }, 'latest'], signal),
      ],
    },
  };
}

function methodsOf(eyes: Eyes): Record<EvmMethod, Probe> {
  return { ...ofBlocks(eyes), ...ofState(eyes), ...ofSending(eyes) };
}

/** Each is named once: `methodsOf` has all. */
type Some = Partial<Record<EvmMethod, Probe>>;

function ofBlocks({ rpc, deployment, head, sample }: Eyes) {
  const { contract } = deployment;
  const notThere = `no transaction in the last ${mostEmpty} blocks to read`;
  return {
    eth_chainId: {
      without: 'nobody knows which chain this is',
      ask: async (signal) => {
        return `chain id ${await chainIdOf(rpc, signal)}`;
      },
    },
    eth_getBlockByNumber: {
      without: 'nothing is followed',
      ask: async (signal) => {
        const { number, timestamp } = await head(signal);
        const whole = await blockAt(rpc, number, true, signal);
        return `block ${number} of second ${timestamp}, whole with ${whole?.txs.length ?? 0} transactions`;
      },
    },
    eth_getTransactionByHash: {
      without: 'what became of a transaction is not seen',
      ask: async (signal) => {
        const found = await sample(signal);
        const tx = await txOf(rpc, found?.tx.hash ?? noHash, signal);
        if (found === null) return { says: notThere, verdict: 'unseen' };
        return tx === null
          ? { says: `it does not give ${found.tx.hash} of its own block`, verdict: 'lacks' }
          : `gives ${tx.hash}`;
      },
    },
    eth_getTransactionReceipt: {
      without: 'the fee and end of a transaction are not known',
      ask: async (signal) => {
        const found = await sample(signal);
        const receipt = await receiptOf(rpc, found?.tx.hash ?? noHash, signal);
        if (found === null) return { says: notThere, verdict: 'unseen' };
        return receipt?.blockHash === found.block.hash
          ? `with ${receipt.logs.length} logs`
          : { says: `no receipt in the block of ${found.tx.hash}`, verdict: 'lacks' };
      },
    },
    eth_getLogs: {
      without: 'no event of an escrow is found',
      ask: async (signal) => {
        const { number } = await head(signal);
        const from = Math.max(0, number - 9);
        const logs = await logsOf(rpc, { address: contract, topics: [ours] }, from, number, signal);
        return `${logs.length} of the escrow contract in blocks ${from} to ${number}`;
      },
    },
  } satisfies Some;
}

function ofState({ rpc, deployment, head }: Eyes) {
  const { contract } = deployment;
  return {
    eth_call: {
      without: 'no escrow can be read: its state is asked by the hash of a block (EIP-1898)',
      ask: async (signal) => {
        const at = atBlock(await head(signal));
        const read = (answer: unknown) => text(answer).length;
        await asked(rpc, 'eth_call', [{ to: contract, data: domain }, at], signal, read);
        return 'at a block that is named by its hash';
      },
    },
    eth_getBalance: {
      without: 'nobody knows whether a funder has the coins',
      ask: async (signal) =>
        `${await balanceAt(rpc, null, contract, await head(signal), signal)} wei, by a block’s hash`,
    },
    eth_getCode: {
      without: 'no contract is checked',
      ask: async (signal) =>
        `${(await codeAt(rpc, contract, 'latest', signal)).length / 2 - 1} bytes`,
    },
    eth_getStorageAt: {
      without: 'no proxy and no owner of a token is found: tokens wait to be listed',
      ask: async (signal) =>
        `a word: ${(await storageAt(rpc, contract, '0x0', signal)).slice(0, 18)}…`,
    },
    eth_getTransactionCount: {
      without: 'no transaction of a gas key or a wallet gets its number',
      ask: async (signal) => {
        const count = await transactionCount(rpc, stranger, signal);
        const all = await transactionCount(rpc, stranger, signal, 'pending');
        return `${count} in blocks, ${all} with those that wait`;
      },
    },
  } satisfies Some;
}

function ofSending({ rpc, deployment }: Eyes) {
  const { contract } = deployment;
  return {
    eth_gasPrice: {
      without: 'no cost is known',
      ask: async (signal) => `${await gasPrice(rpc, signal)} wei`,
    },
    eth_feeHistory: {
      without: 'gas keys know no price',
      ask: (signal) => {
        const read = (answer: unknown) => amountOf(list(object(answer).baseFeePerGas).at(-1));
        const params = ['0x5', 'latest', [50]];
        return asked(rpc, 'eth_feeHistory', params, signal, read).then(
          (base) => `the next base fee is ${base} wei`,
        );
      },
    },
    eth_estimateGas: {
      without: 'no funding and no claim is tried beforehand',
      ask: (signal) =>
        asked(rpc, 'eth_estimateGas', [{ from: stranger, to: stranger }], signal, (answer) => {
          return `${quantity(answer)} gas for a bare call`;
        }),
    },
    eth_createAccessList: {
      without: 'balances to lend in trials are looked for where compilers put them, not where read',
      isSpare: true,
      ask: (signal) =>
        asked(
          rpc,
          'eth_createAccessList',
          [{ from: stranger, to: contract, data: domain }, 'latest'],
          signal,
          (answer) => {
            return `${list(object(answer).accessList).length} accounts`;
          },
        ),
    },
    eth_sendRawTransaction: {
      without: 'nothing is sent',
      ask: (signal) => refusesNonsense(rpc.call('eth_sendRawTransaction', ['0x'], signal)),
    },
  } satisfies Some;
}

function propertiesOf(eyes: Eyes): Probes {
  return { ...headsOf(eyes), ...abilitiesOf(eyes) };
}

function headsOf({ rpc, head, depthTag }: Eyes): Probes {
  return {
    'pending block': {
      without: 'a claim or refund is seen with its block, and not before',
      isSpare: true,
      ask: async (signal) => {
        const pending = await blockAt(rpc, 'pending', true, signal);
        if (pending !== null) return `${pending.txs.length} transactions wait`;
        return { says: 'it has none', verdict: 'weak', todo: 'claims are seen with their block' };
      },
    },
    'final block': {
      without: 'a block counts as final 4096 behind the head',
      isSpare: true,
      ask: async (signal) => {
        const [final, { number }] = await Promise.all([
          blockAt(rpc, 'finalized', false, signal),
          head(signal),
        ]);
        if (final === null)
          return {
            says: 'it names none',
            verdict: 'weak',
            todo: 'a block counts as final 4096 behind the head',
          };
        return `${number - final.number} blocks behind the head`;
      },
    },
    ...(depthTag === null
      ? {}
      : {
          [`${depthTag} block`]: {
            without: 'amounts of high value never come to their depth',
            ask: async (signal: AbortSignal): Promise<Said | string> => {
              const [tagged, { number }] = await Promise.all([
                blockAt(rpc, depthTag, false, signal),
                head(signal),
              ]);
              if (tagged !== null) return `${number - tagged.number} blocks behind the head`;
              return {
                says: `it names no ${depthTag} block`,
                verdict: 'lacks',
                todo: 'amounts of high value never come to their depth with it',
              };
            },
          },
        }),
  };
}

function abilitiesOf(eyes: Eyes): Probes {
  const { rpc, node, deployment, head, policy } = eyes;
  const deepest = policy.high.confirmations;
  return {
    'state at depth': {
      without: 'depth is judged by the blocks of logs alone',
      isSpare: true,
      ask: async (signal) => {
        const at = Math.max(0, (await head(signal)).number - deepest + 1);
        await balanceAt(rpc, null, deployment.contract, at, signal);
        await asked(
          rpc,
          'eth_call',
          [{ to: deployment.contract, data: domain }, atBlock(at)],
          signal,
          text,
        );
        return `of block ${at}, ${deepest} deep; no archive is needed`;
      },
    },
    'code and balances lent to a call': {
      without: 'trials of a funding and of a claim see less, and tokens wait to be listed',
      isSpare: true,
      ask: async (signal) => {
        if (await lends(rpc, signal)) return 'state overrides of eth_call';
        return {
          says: 'it ignores or refuses state overrides',
          verdict: 'weak',
          todo: 'trials of a funding see less, and tokens wait to be listed',
        };
      },
    },
    batches: batchesOf(rpc, 'eth_chainId'),
    'logs: blocks in one question': {
      without: 'a look back over a swap’s days takes too many questions',
      mostMs: 6 * node.callMs,
      ask: (signal) => logRange(eyes, signal),
    },
    'history of logs': {
      without: 'an escrow of a swap that lasts its longest is not found again after a restart',
      ask: (signal) => logHistory(eyes, signal),
    },
  };
}

/** The range that the adapter begins with (packages/chains/evm/watch.ts), and those it comes down to. */
const ranges = [10_000, 5_000, 2_000, 1_000, 500, 100, 10, 1];

async function logRange(
  { rpc, source, deployment, head }: Eyes,
  signal: AbortSignal,
): Promise<Said> {
  const { number } = await head(signal);
  const needed = Math.ceil(historySeconds / evmBlockSeconds(source.chainId) / mostRequests);
  const filter = { address: deployment.contract, topics: [ours] };
  let words = '';
  for (const range of ranges) {
    try {
      await logsOf(rpc, filter, Math.max(0, number - range + 1), number, signal);
      const facts = { range, needed };
      const cut = range === ranges[0] ? '' : ` (of more it says: ${words})`;
      const says = `${range}; at least ${needed} are needed for 31 days in ${mostRequests} questions${cut}`;
      if (range >= needed) return { says, facts };
      return {
        says,
        facts,
        verdict: 'lacks',
        todo: 'take a plan or a node that gives logs of more blocks at once',
      };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      words = error.message;
    }
  }
  return { says: `not even one block: ${words}`, verdict: 'lacks' };
}

async function logHistory({ rpc, deployment, head }: Eyes, signal: AbortSignal): Promise<Said> {
  const { number, timestamp } = await head(signal);
  const near = await blockAt(rpc, Math.max(0, number - 1_000), false, signal);
  const span = Math.max(1, number - (near?.number ?? number));
  const blockSeconds = (timestamp - (near?.timestamp ?? timestamp)) / span || 1;
  const wanted = Math.max(0, number - Math.ceil(historySeconds / blockSeconds));
  const old = await blockAt(rpc, wanted, false, signal);
  const filter = { address: deployment.contract, topics: [ours] };
  await logsOf(rpc, filter, wanted, wanted, signal);
  if (old === null) return { says: `it has no block ${wanted}, of 31 days ago`, verdict: 'lacks' };
  const age = timestamp - old.timestamp;
  const all = wanted === 0 ? ', the chain’s first' : '';
  const says = `block ${wanted}, of ${days(age)} days ago${all}, and its logs`;
  // The pace of the last blocks was not that of those before.
  const isYoung = wanted > 0 && age < historySeconds / 2;
  return { says, facts: { age }, ...(isYoung && { verdict: 'unseen' }) };
}
