// The hashlocks of every funding: events of the contract in the receipts of each block, read whole.
// A node is asked for no index of logs, which java-tron has only where it is turned on.

import { ParleyError } from '../../core/errors.ts';
import { type HashlockPage, type HashlockReader, heightOf, pageUpTo } from '../hashlocks.ts';
import type { Opened } from '../opened.ts';
import { type Block, blockAt, blocksOf, headBlock } from './node.ts';
import { bareAddress } from './plan.ts';
import { infosOf } from './receipts.ts';
import { fundedTopic } from './topics.ts';
import type { Watch } from './watch.ts';

/** Blocks of one page: five minutes of them. */
export const pageBlocks = 100;
/** Blocks asked for at once. */
const batch = 8;
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
  const before = (since - clockSlackSeconds) * 1_000;
  let low = 0;
  let high = (await headBlock(watch.http, 'head', signal)).number;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const block = await blockAt(watch.http, middle, signal);
    if (block === null) throw unavailable(watch, middle, 'does not show it');
    if (block.timestampMs <= before) low = middle;
    else high = middle - 1;
  }
  return String(low);
}

async function read(watch: Watch, after: number, signal: AbortSignal): Promise<HashlockPage> {
  const { number: head, timestampMs } = await headBlock(watch.http, 'head', signal);
  const shownUntil = Math.floor(timestampMs / 1_000);
  const to = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  let end = Math.min(after, head);
  while (end < to) {
    const from = end + 1;
    const blocks = await blocksOf(watch.http, from, Math.min(to, end + batch), signal);
    if (blocks.length === 0) throw unavailable(watch, from, 'gives none');
    const told = await Promise.all(blocks.map((block) => toldIn(watch, block, signal)));
    for (const [at, block] of blocks.entries()) {
      if (block.number !== from + at) throw unavailable(watch, from + at, 'gives another one');
      for (const hashlock of told[at] ?? []) found.add(hashlock);
      end = block.number;
    }
  }
  return { hashlocks: [...found], shownUntil, ...pageUpTo(end, head, marginBlocks) };
}

/** The hashlocks that were funded in one block. */
async function toldIn(watch: Watch, block: Block, signal: AbortSignal): Promise<string[]> {
  if (block.txs.length === 0) return [];
  const infos = await infosOf(watch, block, signal);
  // A node that has not got them yet, or gives those of another block, would hide fundings.
  const ids = new Set(block.txs.map(({ txid }) => txid));
  if (infos.length !== ids.size || infos.some(({ txid }) => !ids.has(txid))) {
    throw unavailable(watch, block.number, `gives ${infos.length} of ${ids.size} receipts`);
  }
  const contract = bareAddress(watch.deployment.contract).slice(2);
  const logs = infos.flatMap((info) => (info.succeeded ? info.logs : []));
  return logs.flatMap(({ address, topics, data }) => {
    const isOurs = address === contract && topics[0] === fundedTopic;
    const hashlock = data.slice(0, 64);
    return isOurs && hashlock.length === 64 ? [hashlock] : [];
  });
}

function unavailable({ chain }: Watch, block: number, why: string): ParleyError {
  const sentence = `the ${chain} node, asked for block ${block}, ${why}`;
  return new ParleyError('chain_unavailable', sentence, { chain, block });
}
