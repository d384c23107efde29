// The blocks of a second: escrows keep the second of their last change. Slots are 3 s apart.

import { type Block, blockAt, secondOf } from './node.ts';
import type { Watch } from './watch.ts';

const slotSeconds = 3;
/** Guesses by the slots; then the rest is halved. */
const mostGuesses = 8;
const mostAlike = 256;

export async function blocksAt(
  watch: Watch,
  second: number,
  head: Block,
  signal: AbortSignal,
): Promise<number[]> {
  const [oldest] = watch.blocks;
  const alike = watch.blocks.filter((each) => secondOf(each) === second);
  // Before the oldest that is remembered there may be more of its second.
  const known = alike[0] === oldest ? [] : alike;
  const numbers = known.slice(0, mostAlike).map(({ number }) => number);
  const last = known.at(-1);
  if (last !== undefined && last !== watch.blocks.at(-1)) return numbers;
  let block =
    last === undefined
      ? await firstFrom(watch, second, head, signal)
      : await blockAt(watch.http, last.number + 1, signal);
  while (block !== null && secondOf(block) === second && numbers.length < mostAlike) {
    numbers.push(block.number);
    block = await blockAt(watch.http, block.number + 1, signal);
  }
  return numbers;
}

export async function firstFrom(
  watch: Pick<Watch, 'http'>,
  second: number,
  head: Block,
  signal: AbortSignal,
): Promise<Block | null> {
  if (secondOf(head) < second) return null;
  let high = head;
  let low: Pick<Block, 'number' | 'timestampMs'> | null = null;
  for (let guesses = 0; high.number - (low?.number ?? -1) > 1; guesses += 1) {
    const number = guess(low, high, { second, byHalves: guesses >= mostGuesses });
    const block = await blockAt(watch.http, number, signal);
    if (block === null) return null;
    if (secondOf(block) >= second) high = block;
    else low = block;
  }
  return high;
}

function guess(
  low: Pick<Block, 'number' | 'timestampMs'> | null,
  high: Block,
  { second, byHalves }: { readonly second: number; readonly byHalves: boolean },
): number {
  const [least, most] = [(low?.number ?? -1) + 1, high.number - 1];
  if (byHalves) return Math.floor((least + most) / 2);
  const slots = (seconds: number) => Math.max(1, Math.ceil(seconds / slotSeconds));
  // No more blocks than slots: from above this is at it or before, from below at it or behind.
  const at =
    low === null
      ? high.number - slots(secondOf(high) - second)
      : low.number + slots(second - secondOf(low));
  return Math.min(most, Math.max(least, at));
}
