// Launches by a factory's events, at depth. A reorganisation is noticed by the last block's hash.

import { ParleyError } from '@parley/core/errors.ts';
import {
  type LaunchEvent,
  type LaunchPage,
  type LaunchPosition,
  type LaunchReader,
  type LaunchSource,
  launchEvent,
} from '@parley/tokens/launches.ts';
import { type Opened, told } from '../nodes/opened.ts';
import { firstHeight, type Seen } from './follow.ts';
import type { Watching } from './watch.ts';

export type Timed = Seen & { readonly seconds: number };

export type Factory = LaunchEvent & { readonly address: string };

/** The launches in a range of blocks: a token for each launch, null where it names none. */
export type Told = { readonly tokens: readonly (string | null)[]; readonly end: number };

export type Steps<Watch> = {
  readonly pageBlocks: number;
  /** Blocks that are read again when the last one is gone, and again until one is known. */
  readonly rewindBlocks: number;
  newest(
    watch: Watch,
    signal: AbortSignal,
  ): Promise<{ readonly deep: number; readonly seconds: number }>;
  blockAt(watch: Watch, height: number, signal: AbortSignal): Promise<Timed | null>;
  /** The blocks behind `last`, up to this height or as far as the node answers: up to `end`. */
  read(
    watch: Watch,
    factory: Factory,
    range: { readonly last: Seen; readonly to: number },
    signal: AbortSignal,
  ): Promise<Told>;
  isContract(watch: Watch, token: string, signal: AbortSignal): Promise<boolean>;
};

const batch = 8;

export function launchReader<Watch extends Pick<Watching, 'chain' | 'log'>>(
  watch: Watch,
  steps: Steps<Watch>,
  opened: Opened,
): LaunchReader {
  return told(watch, opened, {
    read: (
      _: Watch,
      source: LaunchSource,
      after: LaunchPosition | null,
      mostSeconds: number,
      signal: AbortSignal,
    ) => read(watch, steps, source, after, mostSeconds, signal),
    existing: async (_: Watch, tokens: readonly string[], signal: AbortSignal) => {
      const found: string[] = [];
      for (let from = 0; from < tokens.length; from += batch) {
        const some = tokens.slice(from, from + batch);
        const are = await Promise.all(some.map((each) => steps.isContract(watch, each, signal)));
        found.push(...some.filter((_, at) => are[at]));
      }
      return found;
    },
  });
}

const none = { tokens: [], skipped: 0 } as const;
const positionOf = ({ number, hash }: Seen): LaunchPosition => ({ height: number, hash });

async function read<Watch extends Pick<Watching, 'chain' | 'log'>>(
  watch: Watch,
  steps: Steps<Watch>,
  source: LaunchSource,
  after: LaunchPosition | null,
  mostSeconds: number,
  signal: AbortSignal,
): Promise<LaunchPage> {
  const { chain, log } = watch;
  if (!('factory' in source)) throw new Error(`${chain}: a launchpad needs a factory`);
  const { factory: address, launchpad = address } = source;
  const { pageBlocks, rewindBlocks } = steps;
  const there = (height: number) => blockThere(watch, steps, height, signal);
  const from = (block: Seen, isWhole = false) => {
    return { ...none, position: positionOf(block), isWhole };
  };
  const { deep, seconds } = await steps.newest(watch, signal);
  if (after === null) return from(await there(deep), true);
  const { height } = after;
  const since = seconds - mostSeconds;
  /** The first block from there on that is not older, or the last one. */
  const oldest = async (low: number) => {
    const isYoung = async (at: number) => (await there(at)).seconds >= since;
    return there(await firstHeight(low, deep, isYoung));
  };
  if (deep <= height) {
    // A little behind is another machine; by much is a node that lied about its head, now or then.
    if (deep > height - rewindBlocks) return { ...none, position: after, isWhole: true };
    log('launches_ahead_of_chain', { chain, at: height, head: deep });
    return from(await oldest(0));
  }
  const last = await there(height);
  if (last.hash !== after.hash) {
    log('launches_reorganised', { chain, at: height });
    return from(await there(Math.max(0, height - rewindBlocks)));
  }
  if (last.seconds < since) {
    const first = await oldest(height);
    log('launches_too_old', { chain, launchpad, from: height, to: first.number });
    if (first.number > height) return from(first);
  }
  const range = { last, to: Math.min(deep, height + pageBlocks) };
  const { tokens, end } = await steps.read(
    watch,
    { ...launchEvent(source), address },
    range,
    signal,
  );
  const named = tokens.filter((each) => each !== null);
  return {
    tokens: [...new Set(named)],
    skipped: tokens.length - named.length,
    position: positionOf(await there(end)),
    isWhole: end === deep,
  };
}

async function blockThere<Watch extends Pick<Watching, 'chain' | 'log'>>(
  watch: Watch,
  steps: Steps<Watch>,
  height: number,
  signal: AbortSignal,
): Promise<Timed> {
  const block = await steps.blockAt(watch, height, signal);
  if (block?.number === height) return block;
  const { chain } = watch;
  const sentence = `the ${chain} node does not show block ${height}, which is below its head`;
  throw new ParleyError('chain_unavailable', sentence, { chain, block: height });
}
