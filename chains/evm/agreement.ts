// What the nodes of an EVM chain are compared by.

import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { blockAt, headBlock } from './node.ts';
import { deepestBlock, deepState, stateAt } from './read.ts';
import type { Watch } from './watch.ts';

/** Blocks below the lowest head at which sources are compared: the last ones may still change. */
const agreementDepth = 6;

const compared: kit.Compared<Watch, Rpc> = {
  nodesOf: ({ rpc }) => rpc,
  headOf: async (one, signal) => (await headBlock(one, signal)).number,
  heights: (lowest) => [Math.max(0, lowest - agreementDepth)],
  hashAt: async (one, height, signal) => (await blockAt(one, height, false, signal))?.hash ?? null,
  mustMeet: false,
  unit: 'height',
  fundingBy,
};

export function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Rpc[]> {
  return kit.mustAgreeOnHeads(watch, compared, signal);
}

export function mustAgree(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<void> {
  return kit.mustAgree(watch, compared, escrow, signal);
}

async function fundingBy(
  asked: Watch,
  rpc: Rpc,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<string> {
  const watch = { ...asked, rpc };
  const head = await headBlock(rpc, signal);
  const deepest = await deepestBlock(watch, escrow, head, signal);
  // Without state that old, what it shows now must do.
  const state =
    (await deepState(watch, escrow, deepest, signal)) ??
    (await stateAt(watch, escrow, head.number, signal));
  const { state: shown, changedAt, covered } = state;
  if (shown === 'never' || shown === 'void') return 'no funding';
  return `${shown} at ${changedAt}${covered ? '' : ', without its tokens'}`;
}
