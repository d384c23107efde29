// An EVM chain behind the interface that every chain keeps. One for each chain id.

import { ParleyError } from '../../core/errors.ts';
import { opens } from '../../core/hashlock.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type {
  About,
  BuildInput,
  ChainAdapter,
  Owed,
  ReadTransaction,
  Spend,
  SpendInput,
  Touch,
  WatchedEscrow,
} from '../adapter.ts';
import { addName, newNames } from '../calldata.ts';
import { begun, gathering } from '../gathering.ts';
import type { PowerRules } from '../inspection.ts';
import type { EvmCall, EvmMaterial, Signed } from '../material.ts';
import { offersTo } from '../offers.ts';
import { type Opened, opening } from '../opened.ts';
import { type Rpc, type RpcOptions, rpcClient } from '../rpc.ts';
import { eachSource } from '../sources.ts';
import { watching } from '../watching.ts';
import { parseEvmAddress } from './address.ts';
import { mustAgree, mustAgreeOnHeads } from './agreement.ts';
import { broadcast } from './broadcast.ts';
import { evmContract } from './contract.ts';
import { claimShortage, purseShortage, warningsOf } from './fees.ts';
import { changes } from './follow.ts';
import { hashlocksOf } from './hashlocks.ts';
import { contractFault } from './identity.ts';
import { inspect } from './inspect.ts';
import { lanesOf } from './lanes.ts';
import { launchesOf } from './launches.ts';
import { allowanceOf, chainIdOf, gasPrice, txOf } from './node.ts';
import {
  callsIn,
  claimCall,
  type EvmDeployment,
  evmDeployment,
  evmEscrow,
  fundCalls,
  fundedIn,
  refundCall,
} from './plan.ts';
import type { DepthTag } from './policy.ts';
import { preflight } from './preflight.ts';
import { readRaw } from './raw.ts';
import { look } from './read.ts';
import { spendGas } from './spend-gas.ts';
import { stateAt } from './state.ts';
import { forget, type Logger, remember, type Watch } from './watch.ts';

export type EvmAdapterOptions = {
  /** The chain's name, such as `ethereum`. */
  readonly chain: string;
  readonly chainId: number;
  /**
   * One or more nodes of the same chain; the first that answers is used, and those that answer
   * must agree before anyone funds or reveals.
   */
  readonly rpcUrls: readonly string[];
  readonly policy: ChainPolicy;
  /** Default: where contracts/escrows/deployment.json pins it. */
  readonly contract?: string;
  /** See EvmChainSettings.depthTag. Default null. */
  readonly depthTag?: DepthTag | null;
  /** Most blocks in one request for logs; it is lowered where a provider allows fewer. */
  readonly maxLogRange?: number;
  /** Gas of one claim, for what is too small to be worth claiming. Default 50 000. */
  readonly claimGas?: bigint;
  readonly rpc?: Pick<RpcOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: Logger;
};

export type EvmAdapter = ChainAdapter & {
  readonly family: 'evm';
  readonly chainId: number;
  /** See ChainAdapter: never left out here. With one node it always agrees. */
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  /** For proofs by contract wallets of this chain (proof.ts). */
  readonly node: Rpc;
  /** Checks that the node is of this chain and shows the contract. */
  open(signal: AbortSignal): Promise<void>;
};

const defaultLogRange = 10_000;
const defaultClaimGas = 50_000n;

export function evmAdapter(options: EvmAdapterOptions): EvmAdapter {
  const { chain, chainId, policy } = options;
  const { contract = evmDeployment(chainId).contract } = options;
  const deployment: EvmDeployment = { chainId, contract };
  const rpc = rpcClient({ chain, urls: options.rpcUrls, ...options.rpc });
  const watch = newWatch(options, rpc, deployment);
  const offers = offersTo({ chain, sources: rpc.sources, rounds: options.rpc?.rounds });
  const { open, opened } = opening((signal) => checkNode(watch, chainId, signal));
  return {
    chain,
    family: 'evm',
    chainId,
    policy,
    contract: evmContract(deployment),
    node: rpc,
    open,
    parseAddress: parseEvmAddress,
    plan: (terms) => evmEscrow(terms, deployment),
    lanes: { contract, read: opened(lanesOf(rpc, deployment)) },
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
    spendGas: opened((spend: Spend, payer: string, signal) =>
      spendGas(watch, spend, payer, signal),
    ),
    ...builders(watch, chainId, opened),
    readSigned: (signed) => readSigned(watch, chainId, signed),
    broadcast: opened((transaction: ReadTransaction, signal) =>
      broadcast(watch, offers, transaction, signal),
    ),
    // The id is a hash over all bytes, the signature included.
    isKnown: opened(async ({ txid }: ReadTransaction, signal) => {
      return (await txOf(rpc, txid, signal)) !== null;
    }),
    inspect: opened((token: string, rules: PowerRules, signal) =>
      inspect(watch, token, rules, signal),
    ),
    checkAmount: opened((token: string | null, amount: bigint, signal) =>
      checkAmount(watch, token, amount, options.claimGas ?? defaultClaimGas, signal),
    ),
    launches: launchesOf(watch, policy.normal.confirmations, opened),
    hashlocks: hashlocksOf(watch, opened),
    close: async () => offers.close(),
  };
}

function newWatch(options: EvmAdapterOptions, rpc: Rpc, deployment: EvmDeployment): Watch {
  const { policy, maxLogRange = defaultLogRange } = options;
  const { normal, high } = policy;
  const names = newNames();
  addName(names, deployment.contract);
  return {
    chain: options.chain,
    chainId: options.chainId,
    rpc,
    deployment,
    depthTag: options.depthTag ?? null,
    tagFrom: high.confirmations > normal.confirmations ? high.confirmations : 0,
    log: options.log ?? (() => {}),
    logRange: { now: maxLogRange, taken: 0, most: maxLogRange },
    known: new Map(),
    byHashlock: new Map(),
    names,
    secrets: new Map(),
    owed: new Set(),
    shallow: new Map(),
    unfinal: new Map(),
    waiting: new Map(),
    tried: { head: '', works: new Map() },
    slots: new Map(),
    blocks: [],
    followedFrom: 0,
    hours: new Map(),
    said: new Set(),
  };
}

async function checkNode(watch: Watch, chainId: number, signal: AbortSignal): Promise<void> {
  const { chain, deployment } = watch;
  const wrong = (sentence: string, facts: Record<string, string | number>) =>
    new ParleyError('chain_unavailable', `${chain}: ${sentence}`, { chain, ...facts });
  const ids = await eachSource(watch, watch.rpc, (one) => chainIdOf(one, signal));
  for (const { answer: id } of ids) {
    if (id === chainId) continue;
    throw wrong(`the node is of chain id ${id}, not ${chainId} as configured`, { id, chainId });
  }
  const fault = await contractFault(watch.rpc, deployment, signal);
  if (fault !== null) throw wrong(fault, { contract: deployment.contract });
}

function builders(
  watch: Watch,
  chainId: number,
  opened: Opened,
): Pick<ChainAdapter, 'buildFund' | 'buildClaim' | 'buildRefund'> {
  const { chain, rpc, deployment } = watch;
  const material = (escrow: string, txs: readonly EvmCall[], from?: string): EvmMaterial => ({
    chain,
    family: 'evm',
    sign: 'evm-tx',
    chainId,
    ...(from === undefined ? {} : { from }),
    txs,
    escrow,
  });
  const mustHold = async (terms: EscrowTerms, address: string, signal: AbortSignal) => {
    const { state } = await stateAt(rpc, deployment, terms, 'latest', signal);
    if (state === 'open') return;
    const why = state === 'never' || state === 'void' ? 'never funded' : state;
    const sentence = `the escrow ${address} on ${chain} holds nothing: ${why}`;
    throw new ParleyError('nothing_there', sentence, { escrow: address, state });
  };
  return {
    buildFund: opened(async ({ escrow: { terms } }: BuildInput, signal) => {
      const { address } = evmEscrow(terms, deployment);
      const from = parseEvmAddress(terms.refund.address);
      await mustAgreeOnHeads(watch, signal);
      const { token } = terms;
      const together = gathering(rpc, signal);
      const shown = stateAt(together, deployment, terms, 'latest', signal);
      const allowing = begun(
        token === null
          ? Promise.resolve(0n)
          : allowanceOf(together, token, from, deployment.contract, signal),
      );
      const { state } = await shown;
      if (state !== 'never' && state !== 'void') {
        throw new ParleyError('already_funded', `the escrow ${address} was funded before`, {
          escrow: address,
        });
      }
      return material(address, fundCalls(terms, deployment, await allowing), from);
    }),
    buildClaim: opened(async ({ escrow, isPublic }: SpendInput, secret: string, signal) => {
      const { terms } = escrow;
      const { address } = evmEscrow(terms, deployment);
      if (!opens(secret, terms.hashlock)) {
        throw new ParleyError('wrong_secret', `sha256(secret) is not ${terms.hashlock}`, {});
      }
      // A public secret can no longer be kept: only haste helps then.
      const isKept = !isPublic && !watch.secrets.has(terms.hashlock);
      if (isKept) await mustAgree(watch, escrow, signal);
      await mustHold(terms, address, signal);
      return material(address, [claimCall(terms, deployment, secret)]);
    }),
    buildRefund: opened(async ({ escrow: { terms } }: SpendInput, signal) => {
      const { address } = evmEscrow(terms, deployment);
      await mustHold(terms, address, signal);
      return material(address, [refundCall(terms, deployment)]);
    }),
  };
}

async function readSigned(watch: Watch, chainId: number, signed: Signed): Promise<ReadTransaction> {
  const raw = await readRaw(signed);
  if (raw.chainId !== chainId) {
    throw new ParleyError(
      'bad_transaction',
      `the transaction was signed for chain id ${raw.chainId}; ${watch.chain} is ${chainId}`,
      { signedFor: raw.chainId, chainId },
    );
  }
  const wanted = (hashlock: string) => watch.byHashlock.has(hashlock);
  const touches: Touch[] = callsIn(raw.data, watch.deployment, wanted)
    .filter(({ escrow }) => watch.known.has(escrow))
    .map(({ verb, escrow, secret }) => ({ verb, escrow, secret }));
  const pays = fundedIn(raw.data, watch.deployment);
  return { txid: raw.txid, raw: raw.raw, touches, payer: raw.from, pays };
}

async function checkAmount(
  { rpc, chain }: Watch,
  token: string | null,
  amount: bigint,
  claimGas: bigint,
  signal: AbortSignal,
): Promise<void> {
  // What a token is worth in gas is not known here.
  const least = token === null ? claimGas * (await gasPrice(rpc, signal)) : 0n;
  if (amount > least) return;
  throw new ParleyError(
    'amount_too_small',
    `${amount} on ${chain} is not more than the ${least} that claiming it costs in gas now`,
    { chain, amount, least },
  );
}
