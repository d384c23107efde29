// The hashlocks of every funding: events of the factory, a range of blocks at a time.

import { type HashlockPage, type HashlockReader, heightOf, pageUpTo } from '../hashlocks.ts';
import type { Opened } from '../opened.ts';
import { headBlock } from './node.ts';
import { eachRange, firstBlock } from './scan.ts';
import { fundedTopic } from './topics.ts';
import type { Watch } from './watch.ts';

/** Blocks of one page: in as many requests as the provider wants. */
export const pageBlocks = 10_000;
/** Read again: reorganisations, and machines of a provider that are behind one another. */
const marginBlocks = 64;

export function hashlocksOf(watch: Watch, opened: Opened): HashlockReader {
  return {
    begin: opened(async (since: number, signal) => String(await firstBlock(watch, since, signal))),
    next: opened((cursor: string, signal) => read(watch, heightOf(cursor), signal)),
  };
}

async function read(watch: Watch, after: number, signal: AbortSignal): Promise<HashlockPage> {
  const { factory } = watch.deployment;
  const { number: head, timestamp: shownUntil } = await headBlock(watch.rpc, signal);
  // The first block is not below itself.
  const from = after === 0 ? 0 : after + 1;
  const to = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  // A head that went back a little is another machine of the provider's.
  let end = Math.min(after, head);
  try {
    const filters = [{ address: factory, topics: [fundedTopic] }];
    await eachRange(watch, filters, from, to, signal, (logs, rangeEnd) => {
      for (const { address, topics } of logs) {
        const hashlock = /^0x([0-9a-f]{64})$/i.exec(topics[2] ?? '')?.[1];
        if (address === factory && hashlock !== undefined) found.add(hashlock.toLowerCase());
      }
      end = rangeEnd;
    });
  } catch (error) {
    // What was read counts: a provider that gives little at a time would never be read otherwise.
    if (end <= after) throw error;
  }
  return { hashlocks: [...found], shownUntil, ...pageUpTo(end, head, marginBlocks) };
}
