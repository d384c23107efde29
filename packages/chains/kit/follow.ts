// Following blocks by number, each the child of the last; the effect of blocks that the chain took
// back is undone.

import { ParleyError } from '@parley/core/errors.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { Watching } from './watch.ts';

export type Seen = { readonly number: number; readonly hash: string };

type Followed<Past extends Seen> = Pick<Watching, 'chain' | 'log' | 'known' | 'owed'> & {
  readonly blocks: Past[];
  /** Read so far by another process, or before all its blocks were taken back; null: not known. */
  readTo: number | null;
};

export type Steps<Watch, Block extends Seen, Past extends Seen> = {
  /** Read whole after a start, where nobody tells of more that is unread. */
  readonly fullBlocks: number;
  /** Read whole at most, which bounds the work after a long silence. */
  readonly mostBlocks: number;
  /** Blocks below the head that a node's other machines may not have yet. */
  readonly recentBlocks: number;
  /** Another node is asked first from now on. */
  passOver(watch: Watch, signal: AbortSignal): Promise<void>;
  blockAt(watch: Watch, number: number, signal: AbortSignal): Promise<Block | null>;
  /** The past of a block from which no transaction was read. */
  past(block: Block): Past;
  /** Everything from this block on is read. */
  begun?(watch: Watch, from: number): void;
  takenBack?(watch: Watch, block: Past): void;
  /** Far behind: comes to block `to` without reading each, or begins anew. */
  skip(
    watch: Watch,
    range: { readonly to: number; readonly head: Block },
    signal: AbortSignal,
  ): Promise<void>;
  /** Takes a few blocks by `push`; false when they do not fit together: tried again later. */
  take(
    watch: Watch,
    range: { readonly from: number; readonly to: number; readonly head: Block },
    signal: AbortSignal,
  ): Promise<boolean>;
};

const batch = 8;
/** Blocks looked at again behind what was read: reorganisations that nobody followed. */
export const reorgMargin = 64;
/** Blocks remembered to walk back over; a deeper reorganisation reports every escrow. */
const rememberedBlocks = 512;

/** One caller at a time. The findings before a failure are kept for the next call. */
export async function follow<Past extends Seen, Watch extends Followed<Past>, Block extends Seen>(
  watch: Watch,
  steps: Steps<Watch, Block, Past>,
  head: Block,
  signal: AbortSignal,
): Promise<void> {
  const { blocks } = watch;
  if (blocks.length === 0) await begin(watch, steps, head, signal);
  await unwind(watch, steps, head, signal);
  const tip = blocks.at(-1);
  if (tip === undefined) return;
  const above = wholeAbove(watch, steps, head.number);
  if (above > tip.number) await steps.skip(watch, { to: above, head }, signal);
  let from = (blocks.at(-1)?.number ?? head.number) + 1;
  while (from <= head.number) {
    const to = Math.min(head.number, from + batch - 1);
    if (!(await steps.take(watch, { from, to, head }, signal))) {
      const next = (blocks.at(-1)?.number ?? from - 1) + 1;
      return mustBeRecent(watch, steps, { number: next, head }, signal);
    }
    from = to + 1;
  }
}

/** The height above which every block is read whole. */
function wholeAbove(
  { blocks, readTo }: Pick<Followed<Seen>, 'blocks' | 'readTo'>,
  { fullBlocks, mostBlocks }: { readonly fullBlocks: number; readonly mostBlocks: number },
  head: number,
): number {
  const tip = blocks.at(-1)?.number ?? null;
  const read = readTo === null ? tip : Math.max(tip ?? 0, readTo - reorgMargin);
  return Math.max(0, head - mostBlocks, Math.min(head - fullBlocks, read ?? head));
}

/** Begins some blocks below the head, and reports everybody. */
export async function begin<Past extends Seen, Watch extends Followed<Past>, Block extends Seen>(
  watch: Watch,
  steps: Steps<Watch, Block, Past>,
  head: Block,
  signal: AbortSignal,
): Promise<void> {
  const number = wholeAbove(watch, steps, head.number);
  const base = number === head.number ? head : await steps.blockAt(watch, number, signal);
  if (base === null) return mustBeRecent(watch, steps, { number, head }, signal);
  watch.blocks.splice(0, watch.blocks.length, steps.past(base));
  steps.begun?.(watch, number + 1);
  for (const address of watch.known.keys()) watch.owed.add(address);
}

async function unwind<Past extends Seen, Watch extends Followed<Past>, Block extends Seen>(
  watch: Watch,
  steps: Steps<Watch, Block, Past>,
  head: Block,
  signal: AbortSignal,
): Promise<void> {
  const { blocks } = watch;
  let dropped = 0;
  for (let tip = blocks.at(-1); tip !== undefined; tip = blocks.at(-1)) {
    if (tip.number > head.number) {
      // A shorter chain: either this node is only behind, or blocks above its head are gone.
      const same = blocks.find(({ number }) => number === head.number);
      if (same?.hash === head.hash) return;
    } else {
      const there =
        tip.number === head.number ? head : await steps.blockAt(watch, tip.number, signal);
      if (there?.hash === tip.hash) break;
    }
    blocks.pop();
    if (blocks.length === 0) watch.readTo = Math.max(watch.readTo ?? 0, tip.number);
    dropped += 1;
    steps.takenBack?.(watch, tip);
  }
  if (dropped > 0) watch.log('reorganised', { chain: watch.chain, blocks: dropped });
  if (blocks.length === 0) await begin(watch, steps, head, signal);
}

/** An older block that cannot be read is an error of the node: its chain would be followed no more. */
async function mustBeRecent<Past extends Seen, Watch extends Followed<Past>, Block extends Seen>(
  watch: Watch,
  { recentBlocks, passOver }: Steps<Watch, Block, Past>,
  { number, head }: { readonly number: number; readonly head: Block },
  signal: AbortSignal,
): Promise<void> {
  const { chain } = watch;
  if (number > head.number - recentBlocks) return;
  await passOver(watch, signal);
  throw new ParleyError(
    'chain_unavailable',
    `the ${chain} node is at block ${head.number} and gives no block ${number} after the last`,
    { chain, block: number, head: head.number },
  );
}

export function push<Past extends Seen>({ blocks }: Pick<Followed<Past>, 'blocks'>, block: Past) {
  blocks.push(block);
  if (blocks.length > rememberedBlocks) blocks.splice(0, blocks.length - rememberedBlocks);
}

/** A cache or a proxy may give another block than the one of this number, or another transaction. */
export function mustBeAsked<Id extends number | string>(asked: Id, given: Id): void {
  const kind = typeof asked === 'number' ? 'block' : 'transaction';
  if (given !== asked) throw new Error(`asked for ${kind} ${asked}, it gave ${kind} ${given}`);
}

/** Something happened to an escrow: told now, and at every new head until it is deep. */
export function happened(
  { owed, shallow }: Pick<Watching, 'owed' | 'shallow'>,
  address: string,
  block: number,
): void {
  owed.add(address);
  shallow.set(address, Math.max(block, shallow.get(address) ?? 0));
}

/** Reports again whatever is on its way to its depth. `arrived` hears of what has come there. */
export async function comeToDepth(
  { shallow, known, owed }: Pick<Watching, 'shallow' | 'known' | 'owed'>,
  deepestFor: (watched: WatchedEscrow) => number | Promise<number>,
  arrived: (address: string, block: number) => void = () => {},
): Promise<void> {
  for (const [address, block] of [...shallow]) {
    const watched = known.get(address)?.watched;
    if (watched !== undefined) {
      owed.add(address);
      if (block > (await deepestFor(watched))) continue;
      arrived(address, block);
    }
    shallow.delete(address);
  }
}

export function takeOwed({ owed }: Pick<Watching, 'owed'>): string[] {
  const touched = [...owed];
  owed.clear();
  return touched;
}

/** The first from `from` on, below `to`, of which it is true; `to` where it is of none. */
export async function firstHeight(
  from: number,
  to: number,
  is: (height: number) => Promise<boolean>,
): Promise<number> {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Searches that are kept: one for each ten minutes in which a swap was agreed. */
const mostStarts = 1_000;

/** The height where a past of this second begins, by a search that is kept; null is not kept. */
export async function keptStart<Height extends number | null>(
  starts: Map<number, number>,
  second: number,
  search: () => Promise<Height>,
): Promise<Height | number> {
  const known = starts.get(second);
  if (known !== undefined) return known;
  const height = await search();
  if (height === null) return height;
  if (starts.size >= mostStarts) starts.clear();
  starts.set(second, height);
  return height;
}
