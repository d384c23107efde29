// The offer of a gas key for a unit of gas, by EIP-1559: a base fee and a tip.

import { larger, smaller } from '@parley/core/amounts.ts';
import type { Hex } from 'viem';
import { encodeFunctionData, parseTransaction } from 'viem/utils';
import type { Outbid } from '../gas/account.ts';
import { amountOf, fewMiB, type Rpc } from '../nodes/rpc.ts';
import { oneSource, saidInTime } from '../nodes/sources.ts';
import type { EvmGasPolicy } from './gas-policy.ts';
import { asked, headBlock, list, object, text, wordOf } from './node.ts';

/** Wei a unit of gas. */
export type Present = { readonly base: bigint; readonly tip: bigint };
export type Offer = { readonly maxFee: bigint; readonly tip: bigint };

export const priceOf = ({ base, tip }: Present): bigint => base + tip;

/** One eighth more, rounded up: nodes want a tenth (geth) to an eighth of both fields. */
export function replacing(fee: bigint): bigint {
  return (fee * 9n + 7n) / 8n;
}

export function offerIn(raw: string): Offer {
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(raw as Hex);
  return { maxFee: maxFeePerGas, tip: maxPriorityFeePerGas };
}

/** Blocks that come without something that offers enough: its tip may be what is too low. */
const passedOver = 3;
/** Nodes want an eighth more of the tip each time: this leaves room for eleven replacements. */
const forcedTips = 4n;

/** `blocks`: that came since it was signed; null: not known. */
export function outbidAt(
  present: Present,
  offered: Offer,
  { blocks, refused }: { readonly blocks: number | null; readonly refused: boolean },
  { mostTip }: Pick<EvmGasPolicy, 'mostTip'>,
): Outbid | null {
  if (priceOf(present) > offered.maxFee) return 'price';
  if (!refused && blocks !== null && blocks < passedOver) return null;
  return replacing(offered.tip) <= mostTip ? 'passed over' : null;
}

/** Twice the base fee, or less where less is affordable. null: no node would take it. */
export function offerAt(
  present: Present,
  above: Offer | null,
  affordable: bigint,
  { mostTip }: Pick<EvmGasPolicy, 'mostTip'>,
): Offer | null {
  const floor = above === null ? 0n : replacing(above.maxFee);
  const tipFloor = above === null ? 0n : replacing(above.tip);
  const tip = larger(present.tip, tipFloor);
  const least = larger(present.base + present.base / 4n + tip, floor);
  if (affordable < least || tipFloor > forcedTips * mostTip) return null;
  const wanted = larger(least, 2n * present.base + tip);
  return { maxFee: smaller(wanted, affordable), tip };
}

/** Signature, fees, nonce and what else there is besides the calldata, rounded up. */
const bytesAround = 160;
/** No field of a transaction bounds it, and Ethereum's fee may rise before the block. */
const l1Margin = 2n;

const oracleAbi = [
  {
    type: 'function',
    name: 'getL1FeeUpperBound',
    stateMutability: 'view',
    inputs: [{ name: 'unsignedTxSize', type: 'uint256' }],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const;

/** The oracle hears the number of bytes, not the bytes: they may hold a secret. */
export async function l1FeeOf(
  rpc: Rpc,
  { l1FeeOracle }: EvmGasPolicy,
  data: string,
  signal: AbortSignal,
): Promise<bigint> {
  if (l1FeeOracle === null) return 0n;
  const size = BigInt((data.length - 2) / 2 + bytesAround);
  const call = {
    to: l1FeeOracle,
    data: encodeFunctionData({ abi: oracleAbi, functionName: 'getL1FeeUpperBound', args: [size] }),
  };
  const fee = await asked(rpc, 'eth_call', [call, 'latest'], signal, (answer) =>
    wordOf(text(answer)),
  );
  return l1Margin * fee;
}

/** Once one has answered the others have so long: a node that hangs holds up no signature. */
const othersMs = 400;
/** Blocks that nodes which follow their chain are apart at most. */
export const reachBlocks = 64;

export type Fees = {
  /** The one to go by first; then those to go by where it is more than may be paid. */
  readonly presents: readonly [Present, ...Present[]];
  /** That of the best block; null where nodes are too far apart to tell. */
  readonly height: number | null;
};

type Said = { readonly present: Present; readonly height: number };

/** The dearest; the second of three or more, so that one alone does not decide. */
export async function presentFees(
  rpc: Rpc,
  policy: EvmGasPolicy,
  signal: AbortSignal,
): Promise<Fees> {
  return feesBy(await byEach(rpc, (one, until) => feesOf(one, policy, until), signal));
}

export function feesBy(said: readonly Said[]): Fees {
  const skipped = said.length > 2 ? 1 : 0;
  const heights = said.map(({ height }) => height).sort((a, b) => b - a);
  const height = heights[skipped] as number;
  const near = heights.filter((each) => Math.abs(each - height) <= reachBlocks);
  const isSure = said.length === 1 || near.length > 1;
  const dearest = dearestFirst(said);
  const presents = dearest.slice(dearest.length > 2 ? 1 : 0) as unknown as Fees['presents'];
  return { presents, height: isSure ? height : null };
}

export function dearestFirst(said: readonly Pick<Said, 'present'>[]): readonly Present[] {
  const presents = said.map(({ present }) => present);
  return presents.sort((a, b) => (priceOf(a) > priceOf(b) ? -1 : 1));
}

/** The answers of those that answer in time; without any, what the plain call says or throws. */
export async function byEach<T>(
  rpc: Rpc,
  ask: (one: Rpc, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  waitMs = othersMs,
): Promise<readonly T[]> {
  if (rpc.sources < 2) return [await ask(rpc, signal)];
  const askOne = (at: number, until: AbortSignal) => ask(oneSource(rpc, at), until);
  const said = await saidInTime(rpc.sources, askOne, waitMs, signal);
  return said.length > 0 ? said : [await ask(rpc, signal)];
}

const historyBlocks = 20;
/** In each block half of its gas paid no more than this. */
const percentile = 50;

export async function feesOf(
  rpc: Rpc,
  { leastTip, mostTip }: EvmGasPolicy,
  signal: AbortSignal,
): Promise<Said> {
  const { number: height } = await headBlock(rpc, signal);
  const params = [`0x${historyBlocks.toString(16)}`, 'latest', [percentile]];
  const read = (answer: unknown) => {
    const history = object(answer);
    // The last one is of the block to come.
    const next = list(history.baseFeePerGas).at(-1);
    const rewards = history.reward == null ? [] : list(history.reward);
    return { base: amountOf(next), tips: rewards.map((each) => amountOf(list(each)[0])) };
  };
  const { base, tips } = await asked(rpc, 'eth_feeHistory', params, signal, read, fewMiB);
  // The middle block: one builder's own transactions move it little.
  const middle = tips.sort((a, b) => (a < b ? -1 : 1))[Math.floor(tips.length / 2)] ?? 0n;
  return { height, present: { base, tip: smaller(larger(middle, leastTip), mostTip) } };
}
