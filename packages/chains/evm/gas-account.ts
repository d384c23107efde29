// An operator's gas key on an EVM chain. No field of a transaction bounds an OP chain's L1 fee.

import { larger } from '@parley/core/amounts.ts';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, parseTransaction } from 'viem/utils';
import { contractsOf } from '../escrows/plan.ts';
import type { GasAccount, GasSlot, GasWork } from '../gas/account.ts';
import type { GasKey } from '../gas/keys.ts';
import { type GasParts, gasAccountOf } from '../gas/kit.ts';
import { aboveLimit, areThese, asFarAsTried, presentMultiple, touchesOf } from '../gas/work.ts';
import type { Opened } from '../nodes/opened.ts';
import { oneSource } from '../nodes/sources.ts';
import type { EvmAdapter } from './adapter.ts';
import { sameAddress } from './address.ts';
import {
  l1FeeOf,
  type Offer,
  offerAt,
  offerIn,
  outbidAt,
  presentFees,
  priceOf,
  reachBlocks,
} from './gas-fees.ts';
import { costBy, countByAll, type Expected, outcomeOf, pendingCounts } from './gas-outcome.ts';
import { dearestGas, type EvmGasPolicy, forkUntil, gasOnChain } from './gas-policy.ts';
import { callOf, gasOf, isFundedBySignature } from './gas-work.ts';
import { balanceAt } from './node.ts';
import { calledBy, callsIn, type EvmDeployment, evmEscrow } from './plan.ts';
import type { DepthTag } from './policy.ts';

export type EvmGasOptions = {
  readonly key: GasKey;
  readonly adapter: EvmAdapter;
  readonly policy: EvmGasPolicy;
  readonly depthTag?: DepthTag | null;
};

type Sent = Parameters<NonNullable<GasAccount['outbid']>>[0];

type Account = {
  readonly options: EvmGasOptions;
  readonly deployment: EvmDeployment;
  readonly signer: ReturnType<typeof privateKeyToAccount>;
};

export function createEvmGasAccount(options: EvmGasOptions): GasAccount {
  return gasAccountOf(options, 'evm', () => partsOf(options));
}

function partsOf(options: EvmGasOptions): GasParts<GasWork> {
  const { adapter, depthTag = null, key } = options;
  const { deployment, node, policy } = adapter;
  const secret: Hex = `0x${Buffer.from(key.bytes()).toString('hex')}`;
  const signer = privateKeyToAccount(secret);
  const account: Account = { options, deployment, signer };
  const { address } = signer;
  const depths = { confirmations: policy.high.confirmations, tag: depthTag };
  return {
    address,
    escrowOf: (terms) => evmEscrow(terms, deployment),
    able: (work) => work,
    balance: (signal) => balanceAt(node, null, address, 'latest', signal),
    reserve: (work, signal) => reserve(account, work, signal),
    quote: async (work, signal) => (await weighed(account, work, null, signal)).mostCost,
    sign: (work, slot, signal) => sign(account, work, slot, signal),
    outcome: (sent, signal) => outcomeOf(node, address, depths, sent, signal),
    costAt: (at, txid, signal) => costBy(oneSource(node, at), txid, signal),
    nonces: (opened) => noncesOf(account, opened),
  };
}

function noncesOf({ options, signer: { address } }: Account, opened: Opened): Partial<GasAccount> {
  const { adapter, policy } = options;
  const { node } = adapter;
  const count = opened((expected: Expected, signal: AbortSignal) =>
    countByAll(node, address, expected, signal),
  );
  return {
    minedNonce: (signal, { most = Number.POSITIVE_INFINITY, ...asked } = {}) =>
      count({ most, ...asked }, signal),
    pendingNonce: (signal, { most = Number.POSITIVE_INFINITY, ...asked } = {}) =>
      count({ most, ...asked, at: 'pending' }, signal),
    pendingNonces: opened((signal) => pendingCounts(node, address, signal)),
    outbid: opened(async ({ raw, height, refused }: Sent, signal) => {
      const { presents, height: now } = await presentFees(node, policy, signal);
      const blocks = blocksSince(height, now);
      return outbidAt(presents[0], offerIn(raw), { blocks, refused }, policy);
    }),
  };
}

/** Null: not known, as where what was noted is far above all that there is. */
function blocksSince(height: number | null, now: number | null): number | null {
  if (height === null || now === null || height > now + reachBlocks) return null;
  return now - height;
}

async function weighed(account: Account, work: GasWork, above: Offer | null, signal: AbortSignal) {
  const { options, deployment, signer } = account;
  const { adapter, policy } = options;
  const call = callOf(work, signer.address, deployment);
  const [{ presents, height }, l1Fee] = await Promise.all([
    presentFees(adapter.node, policy, signal),
    l1FeeOf(adapter.node, policy, call.data, signal),
  ]);
  const wishes = presents.map((each) => {
    const wishable = 2n * (priceOf(each) + (above?.maxFee ?? 0n));
    return offerAt(each, above, wishable, policy);
  });
  const gas = await gasOf(await trialOf(account, wishes, signal), work, signal);
  const price = wishes[0]?.maxFee ?? priceOf(presents[0]);
  return { presents, height, call, l1Fee, gas, mostCost: gas * price + l1Fee };
}

async function sign(account: Account, work: GasWork, slot: GasSlot, signal: AbortSignal) {
  const { options, signer } = account;
  const { chain, chainId } = options.adapter;
  const { nonce } = slot;
  if (nonce === null || !Number.isSafeInteger(nonce)) throw new Error(`${chain}: no nonce to take`);
  const above = slot.above === null ? null : offerIn(slot.above.raw);
  const weighing = weighed(account, work, above, signal);
  const { presents, height, call, l1Fee, gas, mostCost } = await weighing;
  const affordable = slot.mostCost > l1Fee ? (slot.mostCost - l1Fee) / gas : 0n;
  const offers = presents.map((each) => offerAt(each, above, affordable, options.policy));
  const offer = offers.find((each) => each !== null);
  if (offer === undefined) throw aboveLimit(chain, 'wei', mostCost, slot.mostCost);
  const common = { chainId, nonce, gas, to: call.to as Hex, data: call.data as Hex, value: 0n };
  const raw = await signer.signTransaction({
    ...common,
    type: 'eip1559',
    maxFeePerGas: offer.maxFee,
    maxPriorityFeePerGas: offer.tip,
  });
  mustBeOwn(account, work, raw);
  return {
    txid: keccak256(raw),
    raw,
    nonce,
    offer: offer.maxFee,
    mostCost: gas * offer.maxFee + l1Fee,
    diesAt: null,
    ...(height !== null && { height }),
  };
}

async function trialOf(account: Account, offers: readonly (Offer | null)[], signal: AbortSignal) {
  const { options, deployment, signer } = account;
  const { adapter, policy } = options;
  const { mostGas } = policy;
  const from = signer.address;
  const has = await balanceAt(adapter.node, null, from, 'latest', signal);
  const shown = offers.find((each) => each !== null && has >= mostGas * each.maxFee) ?? null;
  return { rpc: adapter.node, deployment, from, mostGas, offer: shown };
}

const voidGas = 30_000n;
/** A transaction that waits longer behind its timelock is weighed again when it is sent. */
const sentWithinSeconds = 86_400;

async function usualGas({ options }: Account, work: GasWork, signal: AbortSignal): Promise<bigint> {
  if (work.verb === 'void') return voidGas;
  const { chainId, node } = options.adapter;
  const fork = await forkUntil(node, chainId, work.terms.timelock + sentWithinSeconds, signal);
  return gasOnChain(chainId, dearestGas(fork, kindOf(work)));
}

type Moving = Exclude<GasWork, { readonly verb: 'void' }>;

function kindOf(work: Moving): Parameters<typeof dearestGas>[1] {
  if (work.verb === 'fund') return 'authorized';
  return work.terms.token === null ? 'native' : 'token';
}

async function reserve(account: Account, work: GasWork, signal: AbortSignal): Promise<bigint> {
  const { options, deployment, signer } = account;
  const { adapter, policy } = options;
  const { presents } = await presentFees(adapter.node, policy, signal);
  const price = presentMultiple * priceOf(presents[0]);
  const fee = larger(price, policy.reserveFeePerGas);
  const { data } = callOf(work, signer.address, deployment);
  const l1Fee = presentMultiple * (await l1FeeOf(adapter.node, policy, data, signal));
  const usual = await usualGas(account, work, signal);
  const trying = trialOf(account, [], signal).then((trial) => gasOf(trial, work, signal));
  return larger(await asFarAsTried(trying), usual) * fee + l1Fee;
}

// The last check, by the signed bytes alone: a call of ours or nothing at all, never with a value.
function mustBeOwn({ deployment, signer }: Account, work: GasWork, raw: Hex): void {
  const { to, data = '0x', value = 0n } = parseTransaction(raw);
  if (value === 0n && isOwn({ deployment, signer }, work, { to: to ?? '', data })) return;
  throw new Error('a gas key signs only calls of an escrow, without a value');
}

function isOwn(
  { deployment, signer }: Pick<Account, 'deployment' | 'signer'>,
  work: GasWork,
  { to, data }: { readonly to: string; readonly data: Hex },
): boolean {
  const call = callOf(work, signer.address, deployment);
  if (!sameAddress(to, call.to) || data.toLowerCase() !== call.data.toLowerCase()) return false;
  if (work.verb === 'void') return sameAddress(to, signer.address) && data === '0x';
  const touches = touchesOf(work, (terms) => evmEscrow(terms, deployment));
  const areOurs = areThese(callsIn(data, calledBy(to, deployment)), touches);
  if (!areOurs || !contractsOf(deployment).some((each) => sameAddress(to, each))) return false;
  // The amount that `fund` itself takes in is its sender's: the key has none to give.
  return work.verb !== 'fund' || isFundedBySignature(data);
}
