// A Solana cluster behind the interface that every chain keeps.

import { ed25519 } from '@noble/curves/ed25519.js';
import { base64 } from '@scure/base';
import { ParleyError } from '../../core/errors.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { About, ChainAdapter, Owed, ReadTransaction, WatchedEscrow } from '../adapter.ts';
import type { PowerRules } from '../inspection.ts';
import type { Signed } from '../material.ts';
import { offersTo } from '../offers.ts';
import { opening } from '../opened.ts';
import { type Rpc, type RpcOptions, rpcClient } from '../rpc.ts';
import { eachSource } from '../sources.ts';
import { watching } from '../watching.ts';
import { parseSolanaAddress, solanaAddressBytes, solanaAddressOf } from './address.ts';
import { mustAgree } from './agreement.ts';
import { send } from './broadcast.ts';
import { builders } from './builders.ts';
import { solanaContract } from './contract.ts';
import { claimShortage, purseShortage, warningsOf } from './fees.ts';
import { changes } from './follow.ts';
import { hashlocksOf } from './hashlocks.ts';
import { mostHunts } from './hunt.ts';
import { solanaFault } from './identity.ts';
import { inspect } from './inspect.ts';
import { lanes } from './lanes.ts';
import { mostLate } from './late.ts';
import { launchesOf } from './launches.ts';
import { type ReadMessage, readTransaction, refuse } from './message.ts';
import { accountsAt, isOnChain } from './node.ts';
import { type SolanaDeployment, solanaDeployment, solanaEscrow } from './plan.ts';
import { preflight } from './preflight.ts';
import { leastAmount } from './prices.ts';
import { look } from './read.ts';
import { forget, fundedIn, type Logger, remember, touchesIn, type Watch } from './watch.ts';

const usualHistoryWaitMs = 500;

export type SolanaAdapterOptions = {
  /** The chain's name, such as `solana`. */
  readonly chain: string;
  /** See EvmAdapterOptions: the first that answers is used, and those that answer must agree. */
  readonly rpcUrls: readonly string[];
  readonly policy: ChainPolicy;
  /** See SolanaChainSettings. */
  readonly mostDriftSeconds: number;
  readonly genesisHash: string | null;
  /** Unix seconds of wall time, to measure the chain's clock by. */
  readonly now: () => number;
  /** Default: the program as contracts/solana/deployment.json pins it. */
  readonly deployment?: SolanaDeployment;
  /** How long a read of an escrow waits for its history; the account is told all the same. */
  readonly historyWaitMs?: number;
  readonly rpc?: Pick<RpcOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: Logger;
};

export type SolanaAdapter = ChainAdapter & {
  readonly family: 'solana';
  /** Its nodes, for whoever else has something to ask of them. */
  readonly node: Rpc;
  /** See ChainAdapter: never left out here, because of the clock. */
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  /** Checks that the nodes are of this cluster and the program is the pinned one, for good. */
  open(signal: AbortSignal): Promise<void>;
};

export function solanaAdapter(options: SolanaAdapterOptions): SolanaAdapter {
  const { chain, policy } = options;
  const watch = newWatch(options);
  const offers = offersTo({ chain, sources: watch.rpc.sources, rounds: options.rpc?.rounds });
  const { open, opened } = opening((signal) => checkNode(watch, options.genesisHash, signal));
  return {
    chain,
    family: 'solana',
    policy,
    contract: solanaContract(watch.deployment),
    node: watch.rpc,
    open,
    parseAddress: parseSolanaAddress,
    plan: (terms) => solanaEscrow(terms, watch.deployment),
    ...watching(
      {
        keep: (escrow) => remember(watch, escrow),
        drop: (address) => forget(watch, address),
        owe: (address) => watch.owed.add(address),
      },
      {
        changes: opened((signal) => changes(watch, signal)),
        look: opened((escrows, signal) => look(watch, escrows, signal)),
      },
    ).methods,
    mustAgree: opened((escrow: WatchedEscrow, signal) => mustAgree(watch, escrow, signal)),
    preflight: opened((terms: EscrowTerms, about: About, signal) =>
      preflight(watch, terms, about, signal),
    ),
    warnings: opened((terms: EscrowTerms, signal) => warningsOf(watch, terms, signal)),
    claimShortage: opened((terms: EscrowTerms, payer: string, signal) =>
      claimShortage(watch, terms, payer, signal),
    ),
    purseShortage: opened((owed: Owed, payer: string, signal) =>
      purseShortage(watch, owed, payer, signal),
    ),
    ...builders(watch, opened),
    readSigned: (signed, signal) => readSigned(watch, signed, signal),
    broadcast: opened((transaction: ReadTransaction, signal) =>
      send(watch, offers, transaction, signal),
    ),
    // The id is a signature over all other bytes.
    isKnown: opened(({ txid }: ReadTransaction, signal) => isOnChain(watch.rpc, txid, signal)),
    inspect: opened((token: string, rules: PowerRules, signal) =>
      inspect(watch, token, rules, signal),
    ),
    checkAmount: opened((token: string | null, amount: bigint, signal) =>
      checkAmount(watch, token, amount, signal),
    ),
    launches: launchesOf(watch, opened),
    hashlocks: hashlocksOf(watch, opened),
    close: async () => {
      watch.closed.abort();
      offers.close();
    },
  };
}

function newWatch(options: SolanaAdapterOptions): Watch {
  const { chain, rpcUrls, deployment = solanaDeployment } = options;
  return {
    chain,
    rpc: rpcClient({ chain, urls: rpcUrls, ...options.rpc }),
    deployment,
    mostDriftSeconds: options.mostDriftSeconds,
    now: options.now,
    log: options.log ?? (() => {}),
    known: new Map(),
    byHashlock: new Map(),
    secrets: new Map(),
    owed: new Set(),
    shallow: new Map(),
    cursor: null,
    isFollowing: false,
    recent: new Map(),
    missing: new Map(),
    asking: new Set(),
    behindSince: null,
    historyWaitMs: options.historyWaitMs ?? usualHistoryWaitMs,
    late: lanes(mostLate),
    lateAsked: new Map(),
    hunts: lanes(mostHunts),
    closed: new AbortController(),
    unread: new Set(),
    leftOut: false,
    reportedAllAt: Number.NEGATIVE_INFINITY,
    headSlot: 0,
    said: new Set(),
  };
}

async function checkNode(watch: Watch, genesis: string | null, signal: AbortSignal): Promise<void> {
  const { chain, deployment } = watch;
  const wanted = { genesisHash: genesis, program: deployment.program };
  const answers = await eachSource(watch, watch.rpc, (one) => solanaFault(one, wanted, signal));
  const fault = answers.map(({ answer }) => answer).find((each) => each !== null);
  if (fault === undefined) return;
  throw new ParleyError('chain_unavailable', `${chain}: a node ${fault}`, { chain });
}

async function readSigned(
  watch: Watch,
  signed: Signed,
  signal: AbortSignal,
): Promise<ReadTransaction> {
  if (typeof signed !== 'string') {
    throw refuse('it is a PSBT; a Solana transaction is given in base64');
  }
  const read = readTransaction(signed);
  const { signatures, keys, message, signers } = read;
  for (let at = 0; at < signers; at++) {
    const key = keys[at];
    const signature = signatures[at];
    if (key === undefined || signature === undefined) throw refuse('it names too few signers');
    if (!isSigned(signature, message, key)) throw refuse(`the signature of ${key} is not valid`);
  }
  const all = await allKeys(watch, read, signal);
  const touches = touchesIn(watch, read, all);
  const pays = fundedIn(watch, read, all);
  const [payer = ''] = keys;
  return { txid: read.txid, raw: base64.encode(base64.decode(signed)), touches, payer, pays };
}

function isSigned(signature: Uint8Array, message: Uint8Array, key: string): boolean {
  try {
    return ed25519.verify(signature, message, solanaAddressBytes(key), { zip215: false });
  } catch {
    return false;
  }
}

/** A lookup table's addresses begin here. */
const tableHead = 56;

/** The accounts it names; those of lookup tables are asked for only where our program is called. */
async function allKeys(
  { rpc, deployment }: Watch,
  { keys, lookups }: ReadMessage,
  signal: AbortSignal,
): Promise<string[]> {
  if (lookups.length === 0 || !keys.includes(deployment.program)) return [...keys];
  const tables = lookups.map(({ table }) => table);
  const { accounts } = await accountsAt(rpc, tables, 'confirmed', signal);
  const at = (table: number, index: number) => {
    const from = tableHead + 32 * index;
    const bytes = accounts[table]?.data.subarray(from, from + 32);
    return bytes?.length === 32 ? solanaAddressOf(bytes) : '';
  };
  const writable = lookups.flatMap((each, table) => each.writable.map((index) => at(table, index)));
  const rest = lookups.flatMap((each, table) => each.readonly.map((index) => at(table, index)));
  return [...keys, ...writable, ...rest];
}

async function checkAmount(
  watch: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = watch;
  // What a token is worth is not known here.
  const { least, claim } =
    token === null ? await leastAmount(watch, signal) : { least: 1n, claim: 0n };
  if (amount < least) {
    throw new ParleyError(
      'amount_too_small',
      `${amount} on ${chain} is less than ${least}, the least that an empty wallet can receive and ` +
        `whose claim, ${claim} now, costs no more than a quarter of it`,
      { chain, amount, least },
    );
  }
  if (amount >= 2n ** 64n) {
    throw new ParleyError('bad_amount', `${amount} on ${chain} is more than 2^64-1`, {
      chain,
      amount,
    });
  }
}
