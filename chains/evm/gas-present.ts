// What blocks take now for gas, by every node: one alone may have stopped, or lie.

import { amountOf, fewMiB, quantity, type Rpc } from '../nodes/rpc.ts';
import { oneSource, saidInTime } from '../nodes/sources.ts';
import type { Present } from './gas-fees.ts';
import { priceOf } from './gas-fees.ts';
import type { EvmGasPolicy } from './gas-policy.ts';
import { asked, gasPrice, list, object } from './node.ts';

/** Once one has answered the others have so long: a node that hangs holds up no signature. */
const othersMs = 400;
/** Blocks that nodes which follow their chain are apart at most. */
export const reachBlocks = 64;

export type Fees = {
  /** The one to go by first; then those to go by where it is more than may be paid. */
  readonly presents: readonly [Present, ...Present[]];
  /** Of the best block; null where nodes are too far apart to tell. */
  readonly height: number | null;
};

type Said = { readonly present: Present; readonly height: number };

/** The dearest; of three or more the second, so that one alone does not decide. */
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
  // A chain has a base fee or it has none.
  const market = said.filter(({ present }) => present.kind === 'market');
  const counted = (market.length > 0 ? market : said).map(({ present }) => present);
  const dearest = counted.sort((a, b) => (priceOf(a) > priceOf(b) ? -1 : 1));
  const presents = dearest.slice(dearest.length > 2 ? 1 : 0) as unknown as Fees['presents'];
  return { presents, height: isSure ? height : null };
}

async function byEach<T>(
  rpc: Rpc,
  ask: (one: Rpc, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  if (rpc.sources < 2) return [await ask(rpc, signal)];
  const askOne = (at: number, until: AbortSignal) => ask(oneSource(rpc, at), until);
  const said = await saidInTime(rpc.sources, askOne, othersMs, signal);
  return said.length > 0 ? said : [await ask(rpc, signal)];
}

const historyBlocks = 20;
/** Of each block: half of its gas paid no more than this. */
const percentile = 50;
/** All of one price is paid: a node is believed up to twice the fee of 99.9 % of times. */
const believedPrices = 2n;

async function feesOf(
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
    const [price, most] = [await gasPrice(rpc, signal), believedPrices * reserveFeePerGas];
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
