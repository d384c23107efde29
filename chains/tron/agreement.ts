// What the nodes of a TRON network are compared by: solid words and the lowest solid block.

import type { WatchedEscrow } from '../interface/reading.ts';
import * as kit from '../kit/agreement.ts';
import type { Http } from './http.ts';
import { blockAt, headBlock } from './node.ts';
import { recordAt } from './read.ts';
import type { Watch } from './watch.ts';

const compared: kit.Compared<Watch, Http> = {
  nodesOf: ({ http }) => http,
  headOf: async (one, signal) => (await headBlock(one, 'solid', signal)).number,
  heights: (lowest) => [lowest],
  hashAt: async (one, height, signal) => (await blockAt(one, height, signal))?.hash ?? null,
  mustMeet: false,
  unit: 'height',
  fundingBy: async (watch, http, escrow, signal) => {
    const record = await recordAt({ ...watch, http }, escrow, 'solid', signal);
    const { status, changedAt, covered } = record;
    if (status === 'never') return 'no funding';
    return `${status} at ${changedAt}${covered ? '' : ', without its tokens'}`;
  },
};

export function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Http[]> {
  return kit.mustAgreeOnHeads(watch, compared, signal);
}

export function mustAgree(watch: Watch, escrow: WatchedEscrow, signal: AbortSignal): Promise<void> {
  return kit.mustAgree(watch, compared, escrow, signal);
}
