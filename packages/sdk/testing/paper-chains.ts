// Tests only: two chains on paper in one process, with the escrow contract's rules, and time that
// moves when the customer reads its clock. Signatures, calldata and everything of the SDK are
// real; each chain has one node, which may fall silent, lose its pool, or want higher fees.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import {
  claimCall,
  type DecodedCall,
  decodeCall,
  type EvmDeployment,
  evmDeployment,
  evmEscrow,
  fundCalls,
  laneConsent,
  laneText,
  refundCall,
} from '@parley/chains/evm/plan.ts';
import type { EvmCall, Material } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, sighting } from '@parley/core/facts.ts';
import { opens } from '@parley/core/hashlock.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { policies } from '@parley/core/testing.ts';
import { keccak256, parseTransaction, type TransactionSerializedEIP1559 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainSource } from '../chains.ts';
import { inPlaceOf, type Kept, versionsOf } from '../stores/store.ts';
import { mostFeePerGasOf, nonceOf } from '../wallets/evm.ts';
import type { EvmSending, EvmWallet, TxOutcome } from '../wallets/wallet.ts';

type Sent = {
  readonly txid: string;
  readonly raw: string;
  readonly from: string;
  readonly nonce: number;
  readonly fee: bigint;
  readonly call: DecodedCall;
  readonly value: bigint;
  readonly gas: bigint;
};
type Mined = Sent & { readonly height: number; readonly ok: boolean };

export type PaperChain = {
  readonly key: string;
  readonly chainId: number;
  /** By the customer's own node. */
  readonly source: ChainSource;
  /** By the node of everybody else, which is always well. */
  readonly others: ChainSource;
  /** The state of the customer's node: it answers, refuses at once, or says nothing. */
  node: 'well' | 'gone' | 'silent';
  /** Asking a node that does not answer takes time. */
  onUnanswered: () => Promise<void>;
  /** Wei a unit of gas below which no block takes a transaction. */
  leastFee: bigint;
  readonly pool: Map<string, Sent>;
  readonly mined: Mined[];
  height: number;
  /** Unix seconds. */
  clock: number;
  /** The error of a tried payout. */
  refusesPayout: Error | null;
  /** The cost of a claim; with less it fails, and tells its secret all the same. */
  claimGas: bigint;
  /** The node's answer instead of an estimate, by the question. */
  refusesEstimates: ((asked: string) => Error) | null;
  /** Hears all that the customer's node is told. */
  onHeard: (text: string) => void;
};

type Chain = Omit<PaperChain, 'source' | 'others'>;
type Asked = <T>(signal: AbortSignal, answer: () => T) => Promise<T>;

const depth = { ...policies.ethereum.normal, confirmations: 2 };
const policy: ChainPolicy = { ...policies.ethereum, normal: depth, high: depth };
/** The floor of the long leg's chain. */
const longFloorSeconds = 28_800;

/** The short one and the long one, at this time. */
export function paperChains(clock: number): { readonly a: PaperChain; readonly b: PaperChain } {
  const of = (key: string, chainId: number, floorSeconds: number) =>
    paperChain({ key, chainId, policy: { ...policy, floorSeconds }, clock });
  return { a: of('evm-dev', 31_337, 14_400), b: of('evm-dev-2', 31_338, longFloorSeconds) };
}

function paperChain(given: {
  readonly key: string;
  readonly chainId: number;
  readonly policy: ChainPolicy;
  readonly clock: number;
}): PaperChain {
  const { key, chainId, clock } = given;
  const facts = { family: 'evm', chain: key, chainId, deployment: evmDeployment(chainId) } as const;
  const view = { ...facts, policy: given.policy };
  const chain: Omit<PaperChain, 'source' | 'others'> = {
    key,
    chainId,
    clock,
    node: 'well',
    leastFee: 1n,
    height: 1,
    pool: new Map(),
    mined: [],
    refusesPayout: null,
    onUnanswered: async () => {},
    claimGas: 40_000n,
    refusesEstimates: null,
    onHeard: () => {},
  };
  const asked: Asked = async (signal, answer) => {
    await answering(chain, signal);
    return answer();
  };
  const source = { view, adapter: adapterOf(chain, given.policy, asked) };
  const others = { view, adapter: adapterOf(chain, given.policy, async (_, answer) => answer()) };
  return Object.assign(chain, { source, others });
}

/** Throws what a silent node makes of a question. */
async function answering(chain: Chain, signal: AbortSignal): Promise<void> {
  if (chain.node === 'well') return;
  await chain.onUnanswered();
  if (chain.node === 'gone') {
    throw new ParleyError('chain_unavailable', `the node of ${chain.key} is gone`, {});
  }
  // A signal's own timer keeps no process.
  const held = setInterval(() => {}, 1_000);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  clearInterval(held);
  throw new ParleyError('chain_timeout', `the node of ${chain.key} is silent`, {});
}

/** Each step asks for the escrows of a few terms again. */
function planning(deployment: EvmDeployment): ChainAdapter['plan'] {
  const known = new Map<string, ReturnType<ChainAdapter['plan']>>();
  return (terms) => {
    const text = JSON.stringify(terms, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
    const escrow = known.get(text) ?? evmEscrow(terms, deployment);
    known.set(text, escrow);
    return escrow;
  };
}

function adapterOf(chain: Chain, policy: ChainPolicy, asked: Asked): ChainAdapter {
  const { key, chainId } = chain;
  const deployment = evmDeployment(chainId);
  const built = (terms: EscrowTerms, txs: EvmCall[], from?: string): Material => ({
    chain: key,
    family: 'evm',
    sign: 'evm-tx',
    chainId,
    txs,
    ...(from === undefined ? {} : { from }),
    escrow: evmEscrow(terms, deployment).address,
  });
  const adapter: Partial<ChainAdapter> = {
    chain: key,
    family: 'evm',
    policy,
    lanes: {
      contracts: [deployment.contract],
      open: [deployment.contract],
      contractFor: () => deployment.contract,
      consent: (terms) => laneText(terms, deployment),
      mustOpen: (terms, signature) => void laneConsent(terms, deployment, signature),
      read: async () => [],
    },
    plan: planning(deployment),
    watch: () => {},
    unwatch: () => {},
    look: (escrows, signal) =>
      asked(signal, () => ({
        heads: headsOf(chain),
        facts: escrows.map((each) => factsOf(chain, each)),
      })),
    heads: (signal) => asked(signal, () => headsOf(chain)),
    blockHash: (height, signal) =>
      asked(signal, () => (height > chain.height ? null : hashAt(chain, height))),
    readEscrow: (escrow, signal) => asked(signal, () => factsOf(chain, escrow)),
    preflight: (_, about, signal) =>
      asked(signal, () => {
        if (about !== 'funding' && chain.refusesPayout !== null) throw chain.refusesPayout;
      }),
    buildFund: ({ escrow: { terms }, ...how }, signal) =>
      asked(signal, () =>
        built(terms, fundCalls(terms, deployment, 0n, how), terms.refund.address),
      ),
    buildClaim: ({ escrow: { terms } }, secret, signal) =>
      asked(signal, () => built(terms, [claimCall(terms, deployment, secret)])),
    buildRefund: ({ escrow: { terms } }, signal) =>
      asked(signal, () => built(terms, [refundCall(terms, deployment)])),
    spendGas: (spend, _, signal) =>
      asked(signal, () => {
        const text = JSON.stringify(spend, (_key, part: unknown) =>
          typeof part === 'bigint' ? part.toString() : part,
        );
        chain.onHeard(text);
        if (chain.refusesEstimates !== null) throw chain.refusesEstimates(text);
        return spend.verb === 'claim' ? chain.claimGas : 40_000n;
      }),
    readSigned: async (signed) => {
      const raw = signed as `0x${string}`;
      return { txid: keccak256(raw), raw, touches: [] };
    },
    broadcast: ({ raw, txid }, signal) =>
      asked(signal, () => {
        submit(chain, raw);
        return txid;
      }),
  };
  return adapter as ChainAdapter;
}

const headsOf = (chain: Chain) => {
  const { height, clock } = chain;
  return { height, hash: hashAt(chain, height), clock };
};

/** Other transactions up to there are another block. */
function hashAt({ mined }: Chain, height: number): string {
  const before = mined.filter((each) => each.height <= height);
  return `${height} ${before.map(({ txid }) => txid).join()}`;
}

/** A balance that no fee floor of a test reaches. */
const rich = 10n ** 15n;
const senders = new Map<string, string>();

function submit(chain: Chain, raw: string): void {
  const sent = parseTransaction(raw as TransactionSerializedEIP1559);
  const { nonce = 0, to, data, value = 0n, gas = 0n } = sent;
  const call = decodeCall(to ?? '', data ?? '0x', evmDeployment(chain.chainId));
  const from = senders.get(raw);
  if (call === null || from === undefined) throw new Error('no transaction of these chains');
  const tx = { txid: keccak256(raw as `0x${string}`), raw, from, nonce, call, value, gas };
  if (chain.mined.some(({ txid }) => txid === tx.txid)) return;
  const fee = mostFeePerGasOf({ raw });
  const place = `${from} ${nonce}`;
  const rival = chain.pool.get(place);
  const isLow = nonce < usedBy(chain, from) || (rival !== undefined && rival.fee > fee);
  if (isLow) throw new ParleyError('refused_by_node', 'nonce too low, or underpriced', {});
  chain.pool.set(place, { ...tx, fee });
}

function usedBy({ mined }: Chain, address: string): number {
  return mined.filter(({ from }) => from === address).length;
}

/** One block at this time. */
export function mine(chain: PaperChain, clock: number): void {
  chain.height += 1;
  chain.clock = clock;
  const waiting = [...chain.pool.entries()].sort(([, one], [, other]) => one.nonce - other.nonce);
  for (const [place, tx] of waiting) {
    if (tx.fee < chain.leastFee || tx.nonce !== usedBy(chain, tx.from)) continue;
    chain.pool.delete(place);
    chain.mined.push({ ...tx, height: chain.height, ok: takes(chain, tx) });
  }
}

/** The rules of the contract. */
function takes(chain: Chain, { call, value, from, gas }: Sent): boolean {
  const { verb, of, secret, escrow } = call;
  const { terms } = of;
  const before = chain.mined.filter(({ ok, call: other }) => ok && other.escrow === escrow);
  if (verb === 'fund') {
    const isOwn = terms.refund.toLowerCase() === from.toLowerCase();
    // Allowances of tokens are not on this paper.
    const isPaid = value === (isNative(terms) ? terms.amount : 0n);
    return before.length === 0 && isPaid && isOwn;
  }
  if (before.length !== 1) return false;
  if (verb === 'refund') return chain.clock >= terms.timelock;
  const isOpen = chain.clock < terms.timelock && gas >= chain.claimGas;
  return isOpen && secret !== null && opens(secret, terms.hashlock.slice(2));
}

const isNative = ({ token }: DecodedCall['of']['terms']) => BigInt(token) === 0n;

function factsOf(chain: Chain, { address, terms, requiredConfirmations }: WatchedEscrow) {
  const about = ({ call }: Sent) => call.escrow === address;
  const mined = chain.mined.filter(about);
  const waiting = [...chain.pool.values()].filter(about);
  const depth = { confirmations: requiredConfirmations, settleSeconds: 0, outageSeconds: 0 };
  const shown = (verb: DecodedCall['verb']) => {
    const done = mined.find(({ ok, call }) => ok && call.verb === verb);
    if (done !== undefined) return sighting(done.txid, chain.height - done.height + 1, depth);
    const first = waiting.find(({ call }) => call.verb === verb);
    return first === undefined ? null : sighting(first.txid, 0, depth);
  };
  const secrets = [...mined, ...waiting].map(({ call }) => call.secret);
  const isSpent = mined.some(({ ok, call }) => ok && call.verb !== 'fund');
  const isHeld = mined.some(({ ok, call }) => ok && call.verb === 'fund') && !isSpent;
  const facts: EscrowFacts = {
    funded: shown('fund'),
    claimed: shown('claim'),
    refunded: shown('refund'),
    secret: secrets.find((each) => each !== null && opens(each, terms.hashlock)) ?? null,
    balance: isHeld ? terms.amount : 0n,
    empty: !isHeld,
  };
  return facts;
}

/** The wallet of the customer, asking its node, or of another party. */
export function walletOn(
  chain: PaperChain,
  privateKey: `0x${string}`,
  asks: 'source' | 'others' = 'source',
): EvmWallet {
  const account = privateKeyToAccount(privateKey);
  const { address } = account;
  const sign = async (call: EvmSending, nonce: number, fee: bigint): Promise<Kept> => {
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee };
    const { to, data } = call as { to: `0x${string}`; data: `0x${string}` };
    const value = BigInt(call.value);
    const gas = call.gas ?? 100_000n;
    const sending = { type: 'eip1559', to, data, value, gas, nonce } as const;
    const raw = await account.signTransaction({ ...sending, ...fees, chainId: chain.chainId });
    senders.set(raw, address);
    return { raw, txid: keccak256(raw) };
  };
  const answered = async (signal: AbortSignal) => {
    await chain[asks].adapter.heads(signal);
  };
  const outcome = async (kept: Kept, signal: AbortSignal): Promise<TxOutcome> => {
    await answered(signal);
    const used = usedBy(chain, address);
    const nonce = nonceOf(kept);
    if (used <= nonce) return { state: 'waiting', next: used === nonce, gap: false };
    const versions = versionsOf(kept);
    const found = chain.mined.find(({ txid }) => versions.includes(txid));
    return { state: found === undefined ? 'lost' : found.ok ? 'succeeded' : 'reverted' };
  };
  return {
    family: 'evm',
    address,
    sign: async (_, call, signal, taken = new Set()) => {
      await answered(signal);
      let nonce = usedBy(chain, address);
      while (taken.has(nonce) || chain.pool.has(`${address} ${nonce}`)) nonce += 1;
      return sign(call, nonce, asks === 'source' ? chain.leastFee : rich);
    },
    raise: async (kept, _, signal) => {
      await answered(signal);
      const sent = parseTransaction(kept.raw as TransactionSerializedEIP1559);
      const { to, data, value = 0n, gas = 0n } = sent;
      const fee = (mostFeePerGasOf(kept) * 9n) / 8n + 1n;
      const call = { to: to ?? '', data: data ?? '0x', value: value.toString(), gas };
      const most = fee < chain.leastFee ? chain.leastFee : fee;
      return inPlaceOf(kept, await sign(call, nonceOf(kept), most));
    },
    outcome,
    isNonceDeep: async (kept) => usedBy(chain, address) > nonceOf(kept),
    forget: () => {},
  };
}
