// Logs in ranges that suit the provider: one that it refuses is halved, and grows again slowly.

import { ParleyError } from '../../core/errors.ts';
import { claimedTopic, fundedTopic, refundedTopic } from '../escrows/topics.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { firstHeight } from '../kit/heights.ts';
import { RpcError } from '../nodes/rpc.ts';
import { blockAt, headBlock, type Log, type LogFilter, logsOf, refused } from './node.ts';
import { deploymentOf, idOfEscrow } from './plan.ts';
import { type Known, noteLog, type Watch } from './watch.ts';

/** Requests for logs in one call: at 10 000 blocks each, a month of half-second blocks. */
const mostRequests = 600;
/** Ranges taken before a larger one is tried: refusals depend on what is in the blocks, too. */
const growAfter = 16;
/** Blocks looked at again behind what was scanned: reorganisations that nobody followed. */
const reorgMargin = 64;
/** A chain's clock may be behind ours when a swap is agreed. */
const mostHours = 1_000;
const clockSlackSeconds = 3_600;

/** First topics of the contract's events. */
export const ours = [fundedTopic, claimedTopic, refundedTopic];

export type Scanned = Pick<Watch, 'chain' | 'rpc' | 'logRange'>;

export function logsAbout(
  watch: Pick<Watch, 'deployment'>,
  { address, terms }: WatchedEscrow,
): LogFilter {
  const { contract } = deploymentOf(watch, terms);
  return { address: contract, topics: [ours, idOfEscrow(address)] };
}

/** Calls `take` with the logs of each range, in order; a range is taken whole or not at all. */
export async function eachRange(
  watch: Scanned,
  filters: readonly LogFilter[],
  from: number,
  to: number,
  signal: AbortSignal,
  take: (logs: readonly Log[], end: number) => void,
): Promise<void> {
  const range = watch.logRange;
  let start = from;
  for (let requests = 0; start <= to; requests += 1) {
    if (requests === mostRequests) throw tooLong(watch, from, to);
    const end = Math.min(to, start + range.now - 1);
    try {
      const found = await Promise.all(
        filters.map((filter) => logsOf(watch.rpc, filter, start, end, signal)),
      );
      take(found.flat(), end);
      start = end + 1;
      range.taken += 1;
      if (range.taken % growAfter === 0) range.now = Math.min(range.most, range.now * 2);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (end === start) throw refused(watch.rpc, 'eth_getLogs', error);
      range.now = Math.max(1, Math.floor((end - start + 1) / 2));
      range.taken = 0;
    }
  }
}

function tooLong(watch: Scanned, from: number, to: number): ParleyError {
  return new ParleyError(
    'chain_timeout',
    `the logs of blocks ${from} to ${to} of ${watch.chain} take more than ${mostRequests} ` +
      'requests; the next call goes on from there',
    { chain: watch.chain, from, to },
  );
}

export async function scanEscrow(
  watch: Watch,
  known: Known,
  to: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { requiredConfirmations, since } = known.watched;
  const from =
    known.scannedTo === null
      ? await firstBlock(watch, since, signal)
      : Math.max(0, scannedTo(watch, known) - reorgMargin - requiredConfirmations);
  const filters = [logsAbout(watch, known.watched)];
  const fresh = new Set<string>();
  await eachRange(watch, filters, from, to, signal, (logs, end) => {
    for (const log of logs) if (noteLog(watch, log) !== null) fresh.add(log.txid);
    known.scannedTo = Math.max(known.scannedTo ?? 0, end);
  });
  return fresh;
}

/** How far this escrow's logs are known, the followed blocks included. */
function scannedTo(watch: Watch, known: Known): number {
  const tip = watch.blocks.at(-1)?.number ?? -1;
  const own = known.scannedTo ?? -1;
  return own >= watch.followedFrom - 1 ? Math.max(own, tip) : own;
}

/** A block from before `since` (Unix seconds), an hour's slack included. */
export async function firstBlock(
  watch: Watch,
  since: number,
  signal: AbortSignal,
): Promise<number> {
  const hour = Math.floor((since - clockSlackSeconds) / 3_600);
  const before = watch.hours.get(hour);
  if (before !== undefined) return before;
  const { number: head } = await headBlock(watch.rpc, signal);
  const isLater = async (height: number) => {
    const block = await blockAt(watch.rpc, height, false, signal);
    return block === null || block.timestamp > hour * 3_600;
  };
  const first = (await firstHeight(1, head + 1, isLater)) - 1;
  // Hours that swaps began in: most are asked for once.
  if (watch.hours.size >= mostHours) watch.hours.clear();
  watch.hours.set(hour, first);
  return first;
}
