// What the nodes of a TRON network are compared by: an escrow's solid word, the newest solid block
// of the one that is least far, and the events of an escrow whose lane went on.

import type { WatchedEscrow } from '../adapter.ts';
import * as kit from '../kit/agreement.ts';
import { lookOfAll } from '../kit/never-funded.ts';
import { isInEvents } from './events.ts';
import type { Http } from './http.ts';
import { blockAt, headBlock } from './node.ts';
import * as read from './read.ts';
import { recordAt, wordAt } from './read.ts';
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

/** See read.ts. */
export const look = lookOfAll(read.look, { heads: compared, wasNever });

async function wasNever(
  asked: Watch,
  http: Http,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<boolean> {
  const watch = { ...asked, http };
  const { status } = await wordAt(watch, escrow, 'solid', signal);
  if (status !== 'ended' && status !== 'void') return false;
  return !(await isInEvents(watch, escrow, await headBlock(http, 'head', signal), signal));
}
