// The hashlocks of every funding: events of the contracts, a range of blocks at a time.

import { fundedTopic } from '../escrows/topics.ts';
import {
  type HashlockPage,
  type HashlockReader,
  heightOf,
  pageUpTo,
} from '../interface/history.ts';
import { wordsOf } from '../nodes/in-turn.ts';
import type { Opened } from '../nodes/opened.ts';
import { fromOneSource, oneSource } from '../nodes/sources.ts';
import { headBlock } from './node.ts';
import { eachRange, firstBlock, type Scanned } from './scan.ts';
import type { Watch } from './watch.ts';

export const pageBlocks = 10_000;
/** Read again: reorganisations, and machines of a provider that are behind one another. */
const marginBlocks = 64;

export function hashlocksOf(watch: Watch, opened: Opened): HashlockReader {
  const { rpc, logRange } = watch;
  // What one of them finds too large another may give.
  const nodes = Array.from({ length: rpc.sources }, (_, at): Node => {
    return { ...watch, rpc: oneSource(rpc, at), logRange: { ...logRange } };
  });
  return {
    begin: opened(async (since: number, signal) => String(await firstBlock(watch, since, signal))),
    next: opened((cursor: string, signal) => read(watch, nodes, heightOf(cursor), signal)),
  };
}

type Node = Scanned & Pick<Watch, 'contracts'>;

function read(
  { chain, rpc }: Watch,
  nodes: readonly Node[],
  after: number,
  signal: AbortSignal,
): Promise<HashlockPage> {
  return fromOneSource(
    { chain, sources: rpc.sources },
    (at) => readBy(nodes[at] as Node, after, signal),
    (cause) => `the ${chain} node does not give what is to be read: ${wordsOf(cause)}`,
    signal,
  );
}

async function readBy(node: Node, after: number, signal: AbortSignal): Promise<HashlockPage> {
  const { contracts } = node;
  // Of this very node: of blocks that it has not got it lists nothing, and does not say so.
  const { number: head, timestamp: shownUntil } = await headBlock(node.rpc, signal);
  const from = after === 0 ? 0 : after + 1;
  const to = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  // A head that went back is another machine of the provider's, or another node.
  let end = Math.min(after, head);
  try {
    const filters = [{ address: contracts, topics: [fundedTopic] }];
    await eachRange(node, filters, from, to, signal, (logs, rangeEnd) => {
      for (const { address, data } of logs) {
        const hashlock = /^0x([0-9a-f]{64})/i.exec(data)?.[1];
        if (!contracts.includes(address) || hashlock === undefined) continue;
        found.add(hashlock.toLowerCase());
      }
      end = rangeEnd;
    });
  } catch (error) {
    // What was read counts: some providers give little at a time.
    if (end <= after) throw error;
  }
  return { hashlocks: [...found], shownUntil, ...pageUpTo(end, head, marginBlocks) };
}
