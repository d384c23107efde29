// Launches that a factory tells of: its events, a range of blocks at a time, at the depth that
// money waits for. What is taken back from deeper is noticed by the hash of the last block, and
// read again.

import { getAddress } from 'viem/utils';
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
import { type Block, blockAt, codeAt, headBlock, type Log } from './node.ts';
import { eachRange } from './scan.ts';
import type { Watch } from './watch.ts';

/** Blocks of one page: in as many requests as the provider wants. */
const pageBlocks = 10_000;
/** Blocks that are read again when the last one is gone, and again as many until one is known. */
const rewindBlocks = 512;
/** Contracts asked for at once. */
const batch = 8;

/** `depth`: blocks that hold a launch, its own included, before it counts. */
export function launchesOf(watch: Watch, depth: number, opened: Opened): LaunchReader {
  return {
    read: opened(
      (source: LaunchSource, after: LaunchPosition | null, mostSeconds: number, signal) =>
        read(watch, depth, source, after, mostSeconds, signal),
    ),
    existing: opened((tokens: readonly string[], signal) => existing(watch, tokens, signal)),
  };
}

async function read(
  watch: Watch,
  depth: number,
  source: LaunchSource,
  after: LaunchPosition | null,
  mostSeconds: number,
  signal: AbortSignal,
): Promise<LaunchPage> {
  if (!('factory' in source)) throw new Error(`${watch.chain}: a launchpad needs a factory`);
  const head = await headBlock(watch.rpc, signal);
  const deep = Math.max(0, head.number - depth + 1);
  if (after === null) return nothing(await blockThere(watch, deep, signal), true);
  if (deep <= after.height) {
    // Behind by a little is another machine of the provider's. By much is a node that lied about
    // its head, now or then: nobody knows up to where the launches were read.
    if (deep > after.height - rewindBlocks) return { ...none, position: after, isWhole: true };
    const oldest = await oldestBlock(watch, 0, deep, head.timestamp - mostSeconds, signal);
    watch.log('launches_ahead_of_chain', { chain: watch.chain, at: after.height, head: deep });
    return nothing(oldest, false);
  }
  const last = await blockThere(watch, after.height, signal);
  if (last.hash !== after.hash) {
    const back = Math.max(0, after.height - rewindBlocks);
    watch.log('launches_reorganised', { chain: watch.chain, at: after.height });
    return nothing(await blockThere(watch, back, signal), false);
  }
  const since = head.timestamp - mostSeconds;
  if (last.timestamp < since) {
    const oldest = await oldestBlock(watch, last.number, deep, since, signal);
    watch.log('launches_too_old', {
      chain: watch.chain,
      launchpad: source.launchpad ?? source.factory,
      from: last.number,
      to: oldest.number,
    });
    if (oldest.number > last.number) return nothing(oldest, false);
  }
  const to = Math.min(deep, last.number + pageBlocks);
  const { logs, end } = await logsFrom(watch, source, last.number + 1, to, signal);
  const { number: height, hash } = await blockThere(watch, end, signal);
  return { ...tokensIn(logs), position: { height, hash }, isWhole: end === deep };
}

const none = { tokens: [], skipped: 0 } as const;

function nothing({ number, hash }: Block, isWhole: boolean): LaunchPage {
  return { ...none, position: { height: number, hash }, isWhole };
}

async function blockThere({ rpc, chain }: Watch, at: number, signal: AbortSignal): Promise<Block> {
  const block = await blockAt(rpc, at, false, signal);
  if (block?.number === at) return block;
  const sentence = `the ${chain} node does not show block ${at}, which is below its head`;
  throw new ParleyError('chain_unavailable', sentence, { chain, block: at });
}

/** The first block from there on that is not older, or the last one. */
async function oldestBlock(
  watch: Watch,
  from: number,
  to: number,
  since: number,
  signal: AbortSignal,
): Promise<Block> {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { timestamp } = await blockThere(watch, middle, signal);
    if (timestamp < since) low = middle + 1;
    else high = middle;
  }
  return blockThere(watch, low, signal);
}

type Read = { readonly logs: readonly (string | null)[]; readonly end: number };

/** Up to `to`, or as far as the node answered. */
async function logsFrom(
  watch: Watch,
  source: { readonly factory: string; readonly event: string; readonly token: string },
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Read> {
  const { factory } = source;
  const event = launchEvent(source);
  const filters = [{ address: factory, topics: [`0x${event.topic}`] }];
  const logs: (string | null)[] = [];
  let end = from - 1;
  try {
    await eachRange(watch, filters, from, to, signal, (found, rangeEnd) => {
      for (const log of found) {
        const isIn = log.block > end && log.block <= rangeEnd;
        if (log.address === factory && isIn) logs.push(tokenOf(event, log));
      }
      end = rangeEnd;
    });
  } catch (error) {
    // What was read counts: a provider that gives little at a time would never be read otherwise.
    if (end < from) throw error;
  }
  return { logs, end };
}

function tokenOf(event: LaunchEvent, { topics, data }: Log): string | null {
  const plain = (hex: string) => hex.slice(2).toLowerCase();
  const token = event.tokenIn(topics.map(plain), plain(data));
  return token === null ? null : getAddress(`0x${token}`);
}

function tokensIn(logs: readonly (string | null)[]): Pick<LaunchPage, 'tokens' | 'skipped'> {
  const tokens = logs.filter((each) => each !== null);
  return { tokens: [...new Set(tokens)], skipped: logs.length - tokens.length };
}

async function existing(
  { rpc }: Watch,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; from < tokens.length; from += batch) {
    const some = tokens.slice(from, from + batch);
    const codes = await Promise.all(some.map((each) => codeAt(rpc, each, 'latest', signal)));
    found.push(...some.filter((_, at) => codes[at] !== '0x'));
  }
  return found;
}
