// The needs of the Solana adapter of a node: every method, the program, and the transactions of a
// swap's days.

import type { SolanaMethod } from '@parley/chains/nodes/methods.ts';
import { type Rpc, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { solanaAddressBytes } from '@parley/chains/solana/address.ts';
import {
  accountsAt,
  blockHeight,
  blockhashAt,
  chainClock,
  firstBlock,
  genesisHash,
  isBlockhashValid,
  largestHoldings,
  latestBlockhash,
  recentPrices,
  rentFor,
  signaturesOf,
  simulate,
  slotAt,
  statusOf,
  transactionOf,
} from '@parley/chains/solana/node.ts';
import { clockSysvar, tokenProgram } from '@parley/chains/solana/programs.ts';
import { base64 } from '@scure/base';
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

/** The newest ones of an address. */
const range = { until: null, before: null, limit: 10 };
/** A slot may have no block: so many are tried. */
const slotsTried = 8;
/** Wrapped SOL: every cluster has it. */
const wrapped = 'So11111111111111111111111111111111111111112';
/** A signature of zeros, an account, no instruction: it is played, and fails for want of coins. */
const idle = base64.encode(
  Uint8Array.of(
    1,
    ...new Uint8Array(64),
    1,
    0,
    0,
    1,
    ...solanaAddressBytes(wrapped),
    ...new Uint8Array(32),
    0,
  ),
);

type Eyes = ReturnType<typeof eyesOn>;

function eyesOn(node: Node) {
  const source = node.source as Of<'solana'>;
  const { chain, rpcUrls, program } = source;
  const rpc = rpcClient({ chain, urls: rpcUrls, attemptTimeoutMs: node.callMs, rounds: 1 });
  const slot = once((signal) => slotAt(rpc, 'finalized', signal));
  const latest = once((signal) => latestBlockhash(rpc, 'confirmed', signal));
  const listed = once(async (signal) => {
    const own = await signaturesOf(rpc, program, range, signal);
    return own.length > 0 ? own : signaturesOf(rpc, tokenProgram, range, signal);
  });
  return { node, source, rpc, slot, latest, listed };
}

export function lookAtSolana(node: Node): Look {
  const eyes = eyesOn(node);
  const { rpc, source } = eyes;
  return {
    methods: methodsOf(eyes),
    properties: propertiesOf(eyes),
    load: {
      neededPerSecond: 10,
      asks: [
        (signal) => slotAt(rpc, 'finalized', signal),
        (signal) => accountsAt(rpc, [clockSysvar, source.program], 'confirmed', signal, 0),
        (signal) => signaturesOf(rpc, source.program, range, signal),
        (signal) => latestBlockhash(rpc, 'confirmed', signal),
      ],
    },
  };
}

function methodsOf(eyes: Eyes): Record<SolanaMethod, Probe> {
  return { ...ofSlots(eyes), ...ofTransactions(eyes), ...ofSending(eyes) };
}

/** Each is named once: `methodsOf` has all. */
type Some = Partial<Record<SolanaMethod, Probe>>;

function ofSlots({ rpc, slot, latest }: Eyes) {
  return {
    getGenesisHash: {
      without: 'the market does not start',
      ask: async (signal) => `cluster ${await genesisHash(rpc, signal)}`,
    },
    getSlot: {
      without: 'nothing is followed',
      ask: async (signal) => `finalized slot ${await slot(signal)}`,
    },
    getBlockHeight: {
      without: 'whether a transaction may still land is not known',
      ask: async (signal) => `block ${await blockHeight(rpc, 'finalized', signal)}`,
    },
    getLatestBlockhash: {
      without: 'no transaction is built',
      ask: async (signal) => `${(await latest(signal)).blockhash}`,
    },
    isBlockhashValid: {
      without: 'whether a transaction may still land is not known',
      ask: async (signal) => {
        const { blockhash } = await latest(signal);
        if (await isBlockhashValid(rpc, blockhash, 'confirmed', signal))
          return 'knows its own blockhash';
        return {
          says: 'it does not know the blockhash that it gave',
          verdict: 'weak',
          todo: 'its machines are apart: transactions may be refused',
        };
      },
    },
    getBlock: {
      without: 'nodes cannot be compared',
      ask: async (signal) => {
        const newest = await slot(signal);
        for (let at = newest; at > newest - slotsTried && at >= 0; at -= 1) {
          const hash = await blockhashAt(rpc, at, signal);
          if (hash !== null) return `of slot ${at}: ${hash}`;
        }
        return { says: `none of the ${slotsTried} slots up to ${newest}`, verdict: 'lacks' };
      },
    },
    getFirstAvailableBlock: {
      without: 'what is lost is not known',
      ask: async (signal) => `from slot ${(await firstBlock(rpc, signal)).slot} on`,
    },
    getBlockTime: {
      without: 'how far back a node remembers is not known',
      ask: async (signal) => {
        const time = await rpc.call(
          'getBlockTime',
          [await newestWithBlock({ rpc, slot }, signal)],
          signal,
        );
        return `second ${String(time)}`;
      },
    },
  } satisfies Some;
}

function ofTransactions({ rpc, source, listed }: Eyes) {
  const none = {
    says: 'no transaction of the program or of tokens to read',
    verdict: 'unseen',
  } as const;
  return {
    getMultipleAccounts: {
      without: 'no escrow can be read',
      ask: async (signal) => {
        const { slot: at, accounts } = await accountsAt(
          rpc,
          [clockSysvar, source.program],
          'confirmed',
          signal,
          0,
        );
        return `${accounts.length} accounts as of slot ${at}`;
      },
    },
    getSignaturesForAddress: {
      without: 'nothing is followed',
      ask: async (signal) => `${(await listed(signal)).length} transactions`,
    },
    getTransaction: {
      without: 'no secret of a claim is found',
      ask: async (signal) => {
        const [first] = await listed(signal);
        if (first === undefined) {
          await rpc
            .call('getTransaction', ['1'.repeat(64), { maxSupportedTransactionVersion: 0 }], signal)
            .catch(servedAll);
          return none;
        }
        const found = await transactionOf(rpc, first.txid, signal);
        if (found !== null) return `of slot ${first.slot}`;
        return { says: `it lists ${first.txid} and does not give it`, verdict: 'lacks' };
      },
    },
    getSignatureStatuses: {
      without: 'what became of a transaction is not seen',
      ask: async (signal) => {
        const [first] = await listed(signal);
        const found = await statusOf(rpc, first?.txid ?? '1'.repeat(64), signal);
        return first === undefined
          ? none
          : found === null
            ? { says: `it lists ${first.txid} and does not know it`, verdict: 'lacks' }
            : 'of a listed transaction';
      },
    },
  } satisfies Some;
}

function ofSending({ rpc, source }: Eyes) {
  return {
    getRecentPrioritizationFees: {
      without: 'no price of speed is known',
      ask: async (signal) => `${(await recentPrices(rpc, [source.program], signal)).length} slots`,
    },
    getMinimumBalanceForRentExemption: {
      without: 'no deposit is known',
      ask: async (signal) => `${await rentFor(rpc, 128, signal)} lamports for 128 bytes`,
    },
    getTokenLargestAccounts: {
      without: 'tokens wait to be listed: no holder is found to try one from',
      isSpare: true,
      ask: async (signal) => {
        const found = await largestHoldings(rpc, wrapped, signal);
        if (found !== null) return `${found.length} accounts`;
        return {
          says: 'it does not tell',
          verdict: 'weak',
          todo: 'tokens wait to be listed: no holder is found to try one from',
        };
      },
    },
    simulateTransaction: {
      without: 'no funding is tried beforehand',
      ask: async (signal) =>
        `played: ${JSON.stringify((await simulate(rpc, idle, signal))?.error ?? 'it works')}`,
    },
    sendTransaction: {
      without: 'nothing is sent',
      ask: (signal) =>
        refusesNonsense(rpc.call('sendTransaction', ['AA==', { encoding: 'base64' }], signal)),
    },
  } satisfies Some;
}

/** A refusal of what cannot be is an answer too; a missing method is none. */
function servedAll(error: unknown): void {
  const { code } = error as { readonly code?: unknown };
  if (code === -32_601) throw error;
}

async function newestWithBlock({ rpc, slot }: Pick<Eyes, 'rpc' | 'slot'>, signal: AbortSignal) {
  const newest = await slot(signal);
  for (let at = newest; at > newest - slotsTried && at >= 0; at -= 1) {
    if ((await blockhashAt(rpc, at, signal)) !== null) return at;
  }
  return newest;
}

function propertiesOf({ node, source, rpc, listed }: Eyes): Probes {
  const { policy } = policyOf(source);
  return {
    'clock of the chain': {
      without: 'nobody funds or reveals',
      ask: async (signal) => {
        const ahead = (await chainClock(rpc, signal)) - node.now();
        const most = source.mostDriftSeconds ?? policy.driftSeconds;
        const how = ahead > 0 ? 'ahead of' : 'behind';
        const says = `${Math.abs(ahead)} s ${how} ours, at most ${most} s either way`;
        if (Math.abs(ahead) <= most) return says;
        return { says, verdict: 'lacks', todo: 'nobody funds or reveals until it is back' };
      },
    },
    batches: batchesOf(rpc, 'getSlot'),
    'history of transactions': {
      without: 'an outcome that only old transactions tell stays unknown',
      ask: async (signal) => {
        // A validator without them knows a first block all the same.
        await listed(signal);
        return history(node, rpc, signal);
      },
    },
  };
}

async function history(node: Node, rpc: Rpc, signal: AbortSignal): Promise<Said> {
  const { slot, at } = await firstBlock(rpc, signal);
  if (slot === 0) return { says: 'from the first slot on', facts: { slot } };
  const age = node.now() - at;
  const says = `from slot ${slot} on, of ${days(age)} days ago`;
  if (age >= historySeconds) return { says, facts: { slot, age } };
  // The ledger that a validator keeps by itself is two days; providers answer older ones elsewhere.
  const todo = 'take one that keeps 31 days (a provider’s archive, --limit-ledger-size)';
  return { says, facts: { slot, age }, verdict: 'lacks', todo };
}
