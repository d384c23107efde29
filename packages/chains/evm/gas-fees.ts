// The offer of a gas key for a unit of gas. Without a base fee there is one price, not two fields.

import { larger } from '@parley/core/amounts.ts';
import { encodeFunctionData, parseTransaction } from 'viem/utils';
import type { Outbid } from '../gas/account.ts';
import { amountOf, fewMiB, quantity, type Rpc } from '../nodes/rpc.ts';
import { oneSource, saidInTime } from '../nodes/sources.ts';
import type { EvmGasPolicy } from './gas-policy.ts';
import { asked, gasPrice, list, object, text, wordOf } from './node.ts';

export type Present =
  | { readonly kind: 'market'; readonly base: bigint; readonly tip: bigint }
  | { readonly kind: 'legacy'; readonly price: bigint };

/** Wei a unit of gas; both are the price on a chain without a base fee. */
export type Offer = {
  readonly kind: Present['kind'];
  readonly maxFee: bigint;
  readonly tip: bigint;
};

export function priceOf(present: Present): bigint {
  return present.kind === 'market' ? present.base + present.tip : present.price;
}

/** One eighth more, rounded up: nodes want a tenth (geth) to an eighth of both fields. */
export function replacing(fee: bigint): bigint {
  return (fee * 9n + 7n) / 8n;
}

export function offerIn(raw: string): Pick<Offer, 'maxFee' | 'tip'> {
  const {
    gasPrice: price,
    maxFeePerGas,
    maxPriorityFeePerGas,
  } = parseTransaction(raw as never) as {
    readonly [field: string]: bigint | undefined;
  };
  return { maxFee: maxFeePerGas ?? price ?? 0n, tip: maxPriorityFeePerGas ?? price ?? 0n };
}

/** Blocks that come without something that offers enough: its tip may be what is too low. */
const passedOver = 3;
/** Nodes want an eighth more of the tip each time: this leaves room for eleven replacements. */
const forcedTips = 4n;
/** Times the present price, where all that is offered is paid (no base fee). */
const forcedPrices = 2n;

/** `blocks`: that came since it was signed; null: not known. */
export function outbidAt(
  present: Present,
  offered: Pick<Offer, 'maxFee' | 'tip'>,
  { blocks, refused }: { readonly blocks: number | null; readonly refused: boolean },
  { mostTip }: Pick<EvmGasPolicy, 'mostTip'>,
): Outbid | null {
  if (priceOf(present) > offered.maxFee) return 'price';
  if (!refused && blocks !== null && blocks < passedOver) return null;
  const hasRoom =
    present.kind === 'market'
      ? replacing(offered.tip) <= mostTip
      : replacing(offered.maxFee) <= forcedPrices * present.price;
  return hasRoom ? 'passed over' : null;
}

/** Twice the base fee, or less where less is affordable. null: no node would take it. */
export function offerAt(
  present: Present,
  above: Pick<Offer, 'maxFee' | 'tip'> | null,
  affordable: bigint,
  { mostTip }: Pick<EvmGasPolicy, 'mostTip'>,
): Offer | null {
  const { kind } = present;
  const floor = above === null ? 0n : replacing(above.maxFee);
  const tipFloor = above === null ? 0n : replacing(above.tip);
  if (kind === 'legacy') {
    const least = larger(present.price, larger(floor, tipFloor));
    if (affordable < least || least > forcedPrices * present.price) return null;
    const wanted = larger(least, (present.price * 5n) / 4n);
    const maxFee = wanted < affordable ? wanted : affordable;
    return { kind, maxFee, tip: maxFee };
  }
  const tip = larger(present.tip, tipFloor);
  const least = larger(present.base + present.base / 4n + tip, floor);
  if (affordable < least || tipFloor > forcedTips * mostTip) return null;
  const wanted = larger(least, 2n * present.base + tip);
  return { kind, maxFee: wanted < affordable ? wanted : affordable, tip };
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
  // A chain has a base fee or it has none.
  const market = said.filter(({ present }) => present.kind === 'market');
  const counted = (market.length > 0 ? market : said).map(({ present }) => present);
  return counted.sort((a, b) => (priceOf(a) > priceOf(b) ? -1 : 1));
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
/** All of one price is paid: a node is believed up to twice the fee of 99.9 % of times. */
const believedPrices = 2n;

export async function feesOf(
  rpc: Rpc,
  { leastTip, mostTip, hasBaseFee, reserveFeePerGas }: EvmGasPolicy,
  signal: AbortSignal,
): Promise<Said> {
  const latest = ['latest', false] as const;
  const readHead = (answer: unknown) => {
    const { number, baseFeePerGas } = object(answer);
    const hasBase = baseFeePerGas !== undefined;
    if (hasBaseFee && !hasBase) throw new Error('its block names no base fee');
    return { height: quantity(number), hasBase };
  };
  const head = await asked(rpc, 'eth_getBlockByNumber', latest, signal, readHead, fewMiB);
  const { height, hasBase } = head;
  if (!hasBase) {
    const price = await gasPrice(rpc, signal);
    const most = believedPrices * reserveFeePerGas;
    return { height, present: { kind: 'legacy', price: price < most ? price : most } };
  }
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
  const tip = middle < leastTip ? leastTip : middle > mostTip ? mostTip : middle;
  return { height, present: { kind: 'market', base, tip } };
}
