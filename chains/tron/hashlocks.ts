// The hashlocks of every funding: events of the contracts in the receipts of each block.

import { ParleyError } from '../../core/errors.ts';
import {
  type HashlockPage,
  type HashlockReader,
  heightOf,
  pageUpTo,
} from '../interface/history.ts';
import { firstHeight } from '../kit/heights.ts';
import type { Opened } from '../nodes/opened.ts';
import { blockAt, headBlock, secondOf } from './node.ts';
import { eachBlock } from './receipts.ts';
import { fundedTopic } from './topics.ts';
import type { Watch } from './watch.ts';

/** Blocks of one page: five minutes of them. */
export const pageBlocks = 100;
/** Read again: more than are ever taken back (19 of 27 witnesses build on a solid one). */
const marginBlocks = 27;
/** A block's time is its witness's slot; what a swap's agreement was stamped with is ours. */
const clockSlackSeconds = 3_600;

export function hashlocksOf(watch: Watch, opened: Opened): HashlockReader {
  return {
    begin: opened((since: number, signal) => begin(watch, since, signal)),
    next: opened((cursor: string, signal) => read(watch, heightOf(cursor), signal)),
  };
}

async function begin(watch: Watch, since: number, signal: AbortSignal): Promise<string> {
  const { chain, http } = watch;
  const { number: head } = await headBlock(http, 'head', signal);
  const isLater = async (height: number) => {
    const block = await blockAt(http, height, signal);
    if (block !== null) return secondOf(block) > since - clockSlackSeconds;
    const sentence = `the ${chain} node does not show block ${height}, which is below its head`;
    throw new ParleyError('chain_unavailable', sentence, { chain, block: height });
  };
  return String((await firstHeight(1, head + 1, isLater)) - 1);
}

async function read(watch: Watch, after: number, signal: AbortSignal): Promise<HashlockPage> {
  const newest = await headBlock(watch.http, 'head', signal);
  const { number: head } = newest;
  const end = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  await eachBlock(watch, { number: after, hash: null }, end, signal, (logs) => {
    for (const { address, topics, data } of logs) {
      if (!watch.contracts.has(address) || topics[0] !== fundedTopic || data.length < 64) continue;
      found.add(data.slice(0, 64));
    }
  });
  return {
    hashlocks: [...found],
    shownUntil: secondOf(newest),
    ...pageUpTo(end, head, marginBlocks),
  };
}
