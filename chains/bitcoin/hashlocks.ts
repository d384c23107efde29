// The hashlocks that spends show: until its output is spent, a payment says nothing of its script.

import { ParleyError } from '../../core/errors.ts';
import type { Hashlock } from '../../core/hashlock.ts';
import {
  type HashlockPage,
  type HashlockReader,
  heightOf,
  pageUpTo,
} from '../interface/history.ts';
import type { BitcoinBackend } from './backend.ts';
import { readEscrowScript } from './escrow-script.ts';
import { type Block, parseBlock } from './raw-transaction.ts';

/** Blocks of one page, each read whole. */
export const pageBlocks = 20;
/** Read again: deeper than any reorganisation that money waits for. */
const marginBlocks = 6;
/** Block times may be off by two hours against real time (consensus: MAX_FUTURE_BLOCK_TIME). */
const clockSkewSeconds = 7_200;
/** One of so many in a row is from before a moment when their median is (BIP 113). */
const medianOf = 11;
const firstStep = 12;
/** Blocks stamped from a moment on that show all before it: one miner may stamp 2 h ahead. */
export const stampedBlocks = 2;

/** The content of a block, by its hash: the newest ones are looked at again and again. */
type Shown = { readonly time: number; readonly hashlocks: readonly Hashlock[] };
const mostKept = 2 * marginBlocks;

export function hashlocksOf(chain: string, backend: BitcoinBackend): HashlockReader {
  const kept = new Map<string, Shown>();
  return {
    begin: async (since, signal) => {
      const { past } = backend;
      const first =
        past.kind === 'by_block'
          ? await past.firstHeight(since, signal)
          : await firstHeight(chain, backend, since, signal);
      return String(Math.max(0, first - 1));
    },
    next: (cursor, signal) => read({ chain, backend, kept }, heightOf(cursor), signal),
  };
}

/** By the blocks' own times, in steps that double. */
async function firstHeight(
  chain: string,
  backend: BitcoinBackend,
  since: number,
  signal: AbortSignal,
): Promise<number> {
  const { height: top } = await backend.tip(signal);
  for (let back = firstStep; back < top; back *= 2) {
    const { time } = await blockAt(chain, backend, top - back, signal);
    if (time < since - 2 * clockSkewSeconds) return Math.max(0, top - back - medianOf);
  }
  return 0;
}

async function blockAt(
  chain: string,
  backend: BitcoinBackend,
  height: number,
  signal: AbortSignal,
): Promise<Block> {
  return blockOf(chain, backend, height, await backend.blockHash(height, signal), signal);
}

async function blockOf(
  chain: string,
  backend: BitcoinBackend,
  height: number,
  hash: string | null,
  signal: AbortSignal,
): Promise<Block> {
  if (hash !== null) {
    const block = parseBlock(await backend.block(hash, signal));
    if (block.hash === hash) return block;
  }
  const sentence = `the ${chain} node does not show block ${height}, which is below its head`;
  throw new ParleyError('chain_unavailable', sentence, { chain, block: height });
}

type Source = {
  readonly chain: string;
  readonly backend: BitcoinBackend;
  readonly kept: Map<string, Shown>;
};

async function read(source: Source, after: number, signal: AbortSignal): Promise<HashlockPage> {
  const { height: head } = await source.backend.tip(signal);
  const to = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  const times: number[] = [];
  for (let height = after + 1; height <= to; height += 1) {
    const { time, hashlocks } = await shownIn(source, height, signal);
    times.push(time);
    for (const each of hashlocks) found.add(each);
  }
  // A page of too few says nothing: the next one has the newest blocks again.
  const shownUntil = times.toSorted((a, b) => b - a)[stampedBlocks - 1] ?? 0;
  return {
    hashlocks: [...found],
    shownUntil,
    ...pageUpTo(Math.max(to, Math.min(after, head)), head, marginBlocks),
  };
}

async function shownIn({ chain, backend, kept }: Source, height: number, signal: AbortSignal) {
  const hash = await backend.blockHash(height, signal);
  const known = hash === null ? undefined : kept.get(hash);
  if (known !== undefined) return known;
  const block = await blockOf(chain, backend, height, hash, signal);
  const spent = block.transactions.flatMap(({ inputs }) =>
    inputs.flatMap(({ witness }) => {
      const script = witness.at(-1);
      const hashlock = script === undefined ? null : readEscrowScript(script)?.hashlock;
      return hashlock == null ? [] : [hashlock];
    }),
  );
  const shown: Shown = { time: block.time, hashlocks: spent };
  kept.set(block.hash, shown);
  const [oldest] = kept.keys();
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  return shown;
}
