// What a gas key offers for a unit of gas. Without a base fee there is one price, not two fields.

import { encodeFunctionData, parseTransaction } from 'viem/utils';
import { larger } from '../../core/amounts.ts';
import type { Outbid } from '../gas/account.ts';
import type { Rpc } from '../nodes/rpc.ts';
import type { EvmGasPolicy } from './gas-policy.ts';
import { asked, text, wordOf } from './node.ts';

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
export const forcedTips = 4n;
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
/** Nothing in a transaction bounds it, and Ethereum's fee may rise before the block. */
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
