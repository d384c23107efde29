// Launches that a factory tells of: its events in the receipts of solid blocks, each block read
// whole. A node is asked for no index of logs, which java-tron has only where it is turned on.

import { hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '../../core/errors.ts';
import {
  type LaunchEvent,
  type LaunchPage,
  type LaunchPosition,
  type LaunchReader,
  type LaunchSource,
  launchEvent,
} from '../launches.ts';
import type { Opened } from '../opened.ts';
import { tronAddressOf } from './address.ts';
import { type Block, blockAt, blocksOf, codeAt, headBlock } from './node.ts';
import { bareAddress } from './plan.ts';
import { infosOf } from './receipts.ts';
import type { Watch } from './watch.ts';

/** Blocks of one page: five minutes of them. */
const pageBlocks = 100;
/** Blocks, or contracts, asked for at once. */
const batch = 8;
/** Blocks that are read again when the last one is gone, and again as many until one is known. */
const rewindBlocks = 100;

export function launchesOf(watch: Watch, opened: Opened): LaunchReader {
  return {
    read: opened(
      (source: LaunchSource, after: LaunchPosition | null, mostSeconds: number, signal) =>
        read(watch, source, after, mostSeconds, signal),
    ),
    existing: opened((tokens: readonly string[], signal) => existing(watch, tokens, signal)),
  };
}

async function read(
  watch: Watch,
  source: LaunchSource,
  after: LaunchPosition | null,
  mostSeconds: number,
  signal: AbortSignal,
): Promise<LaunchPage> {
  if (!('factory' in source)) throw new Error(`${watch.chain}: a launchpad needs a factory`);
  const solid = await headBlock(watch.http, 'solid', signal);
  if (after === null) return nothing(solid, true);
  const since = solid.timestampMs - mostSeconds * 1_000;
  if (solid.number <= after.height) {
    // By a little another machine of the provider's; by much a node that lied, now or then.
    if (solid.number > after.height - rewindBlocks) {
      return { ...none, position: after, isWhole: true };
    }
    watch.log('launches_ahead_of_chain', { chain: watch.chain, at: after.height });
    return nothing(await oldestBlock(watch, 0, solid, since, signal), false);
  }
  const last = await blockThere(watch, after.height, signal);
  if (last.id !== after.hash) {
    const back = Math.max(0, after.height - rewindBlocks);
    watch.log('launches_reorganised', { chain: watch.chain, at: after.height });
    return nothing(await blockThere(watch, back, signal), false);
  }
  if (last.timestampMs < since) {
    const oldest = await oldestBlock(watch, last.number, solid, since, signal);
    watch.log('launches_too_old', {
      chain: watch.chain,
      launchpad: source.launchpad ?? source.factory,
      from: last.number,
      to: oldest.number,
    });
    if (oldest.number > last.number) return nothing(oldest, false);
  }
  return readBlocks(watch, source, last, solid.number, signal);
}

const none = { tokens: [], skipped: 0 } as const;

function nothing({ number, id }: Block, isWhole: boolean): LaunchPage {
  return { ...none, position: { height: number, hash: id }, isWhole };
}

async function blockThere(watch: Watch, at: number, signal: AbortSignal): Promise<Block> {
  const block = await blockAt(watch.http, at, signal);
  if (block?.number === at) return block;
  throw unavailable(watch, at, 'does not show it, though it is solid');
}

function unavailable({ chain }: Watch, block: number, why: string): ParleyError {
  const sentence = `the ${chain} node, asked for block ${block}, ${why}`;
  return new ParleyError('chain_unavailable', sentence, { chain, block });
}

/** The first block from there on that is not older, or the last one. */
async function oldestBlock(
  watch: Watch,
  from: number,
  to: Block,
  since: number,
  signal: AbortSignal,
): Promise<Block> {
  let low = from;
  let high = to.number;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { timestampMs } = await blockThere(watch, middle, signal);
    if (timestampMs < since) low = middle + 1;
    else high = middle;
  }
  return blockThere(watch, low, signal);
}

/** The blocks behind `last`, each the child of the one before: as many as a page has. */
async function readBlocks(
  watch: Watch,
  source: { readonly factory: string; readonly event: string; readonly token: string },
  last: Block,
  solid: number,
  signal: AbortSignal,
): Promise<LaunchPage> {
  const event = launchEvent(source);
  const factory = bareAddress(source.factory).slice(2);
  const to = Math.min(solid, last.number + pageBlocks);
  const found: (string | null)[] = [];
  let tip = last;
  while (tip.number < to) {
    const until = Math.min(to, tip.number + batch);
    const blocks = await blocksOf(watch.http, tip.number + 1, until, signal);
    if (blocks.length === 0) throw unavailable(watch, tip.number + 1, 'gives none');
    const told = await Promise.all(
      blocks.map((block) => toldIn(watch, event, factory, block, signal)),
    );
    for (const [at, block] of blocks.entries()) {
      if (block.number !== tip.number + 1 || block.parentId !== tip.id) {
        throw unavailable(watch, tip.number + 1, 'gives one that does not follow the last');
      }
      found.push(...(told[at] ?? []));
      tip = block;
    }
  }
  const tokens = found.filter((each) => each !== null);
  const skipped = found.length - tokens.length;
  const position = { height: tip.number, hash: tip.id };
  return { tokens: [...new Set(tokens)], skipped, position, isWhole: tip.number === solid };
}

/** The tokens of the events in one block, null for each that names none. */
async function toldIn(
  watch: Watch,
  event: LaunchEvent,
  factory: string,
  block: Block,
  signal: AbortSignal,
): Promise<(string | null)[]> {
  if (block.txs.length === 0) return [];
  const infos = await infosOf(watch, block, signal);
  // A node that has not got them yet, or gives those of another block, would hide launches.
  const ids = new Set(block.txs.map(({ txid }) => txid));
  if (infos.length !== ids.size || infos.some(({ txid }) => !ids.has(txid))) {
    throw unavailable(watch, block.number, `gives ${infos.length} of ${ids.size} receipts`);
  }
  const logs = infos.flatMap((info) => (info.succeeded ? info.logs : []));
  return logs
    .filter(({ address, topics }) => address === factory && topics[0] === event.topic)
    .map(({ topics, data }) => {
      const token = event.tokenIn(topics, data);
      return token === null ? null : tronAddressOf(hexToBytes(token));
    });
}

async function existing(
  { http }: Watch,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; from < tokens.length; from += batch) {
    const some = tokens.slice(from, from + batch);
    const codes = await Promise.all(some.map((each) => codeAt(http, each, signal)));
    found.push(...some.filter((_, at) => codes[at] !== null));
  }
  return found;
}
