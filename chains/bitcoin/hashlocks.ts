// The hashlocks that spends show: an escrow's script, and with it its hashlock, comes to light when
// its output is spent. Until then a payment says nothing of it.

import { ParleyError } from '../../core/errors.ts';
import { type HashlockPage, type HashlockReader, heightOf, pageUpTo } from '../hashlocks.ts';
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

export function hashlocksOf(chain: string, backend: BitcoinBackend): HashlockReader {
  return {
    begin: async (since, signal) => {
      const { past } = backend;
      const first =
        past.kind === 'by_block'
          ? await past.firstHeight(since, signal)
          : await firstHeight(chain, backend, since, signal);
      return String(Math.max(0, first - 1));
    },
    next: (cursor, signal) => read(chain, backend, heightOf(cursor), signal),
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
  const hash = await backend.blockHash(height, signal);
  if (hash !== null) {
    const block = parseBlock(await backend.block(hash, signal));
    if (block.hash === hash) return block;
  }
  const sentence = `the ${chain} node does not show block ${height}, which is below its head`;
  throw new ParleyError('chain_unavailable', sentence, { chain, block: height });
}

async function read(
  chain: string,
  backend: BitcoinBackend,
  after: number,
  signal: AbortSignal,
): Promise<HashlockPage> {
  const { height: head } = await backend.tip(signal);
  const to = Math.min(head, after + pageBlocks);
  const found = new Set<string>();
  for (let height = after + 1; height <= to; height += 1) {
    const { transactions } = await blockAt(chain, backend, height, signal);
    for (const { inputs } of transactions) {
      for (const { witness } of inputs) {
        const script = witness.at(-1);
        const hashlock = script === undefined ? null : readEscrowScript(script)?.hashlock;
        if (hashlock != null) found.add(hashlock);
      }
    }
  }
  return {
    hashlocks: [...found],
    ...pageUpTo(Math.max(to, Math.min(after, head)), head, marginBlocks),
  };
}
