// The outcomes of a block's transactions, and the ones that did something to an escrow.

import { hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import type { LaunchReader } from '@parley/tokens/launches.ts';
import { launchReader, type Steps } from '../kit/launches.ts';
import { learn } from '../kit/watch.ts';
import type { Opened } from '../nodes/opened.ts';
import { tronAddressOf } from './address.ts';
import {
  type Block,
  blockAt,
  blocksOf,
  codeAt,
  headBlock,
  type Info,
  infoOf,
  infosAt,
  type Log,
  secondOf,
} from './node.ts';
import { bareAddress, callsIn } from './plan.ts';
import { noteLog, topicOfVerb, touchesOf, type Verb, type Watch } from './watch.ts';

const batch = 8;
/** A stranger may quote our calls in as many transactions as he likes: so many are asked for. */
const mostAsked = 16;

/** Logs of strangers can make them too much for one answer: then each is asked for. */
export async function infosOf(watch: Watch, block: Block, signal: AbortSignal): Promise<Info[]> {
  const { http } = watch;
  try {
    return await infosAt(http, block.number, signal);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'chain_unavailable') throw error;
  }
  const infos: Info[] = [];
  for (let from = 0; from < block.txs.length; from += batch) {
    const some = block.txs.slice(from, from + batch);
    const read = await Promise.all(some.map(({ txid }) => infoOf(http, txid, 'head', signal)));
    infos.push(...read.filter((each) => each !== null));
  }
  return infos;
}

/** Whether these are its receipts: those of another block would name none of its transactions. */
export function areOf({ txs }: Block, infos: readonly Info[]): boolean {
  const ids = new Set(txs.map(({ txid }) => txid));
  return infos.length === ids.size && infos.every(({ txid }) => ids.has(txid));
}

// Throws `chain_unavailable` rather than leave a log out. java-tron has no index of logs by
// default.
async function eachBlock(
  watch: Watch,
  last: { readonly number: number; readonly hash: string },
  to: number,
  signal: AbortSignal,
  take: (logs: readonly Log[]) => void,
): Promise<void> {
  let tip = last;
  while (tip.number < to) {
    const from = tip.number + 1;
    const blocks = await blocksOf(watch.http, from, Math.min(to, tip.number + batch), signal);
    if (blocks.length === 0) throw unavailable(watch, from, 'gives none');
    const logs = await Promise.all(blocks.map((block) => logsIn(watch, block, signal)));
    for (const [at, block] of blocks.entries()) {
      if (block.number !== tip.number + 1 || block.parentHash !== tip.hash) {
        throw unavailable(watch, tip.number + 1, 'gives one that does not follow the last');
      }
      take(logs[at] ?? []);
      tip = block;
    }
  }
}

async function logsIn(watch: Watch, block: Block, signal: AbortSignal): Promise<readonly Log[]> {
  if (block.txs.length === 0) return [];
  const infos = await infosOf(watch, block, signal);
  // A node that has not got them yet would hide what they tell.
  if (!areOf(block, infos)) {
    const why = `gives ${infos.length} of ${block.txs.length} receipts`;
    throw unavailable(watch, block.number, why);
  }
  return infos.flatMap((info) => (info.succeeded ? info.logs : []));
}

function unavailable({ chain }: Watch, block: number, why: string): ParleyError {
  const sentence = `the ${chain} node, asked for block ${block}, ${why}`;
  return new ParleyError('chain_unavailable', sentence, { chain, block });
}

/** `hash`: of the block that has it. */
export type Deed = { readonly verb: Verb; readonly txid: string; readonly hash: string };

// By its log or, where the node keeps logs back, by having been that very call. Learns a secret.
export async function transactionIn(
  watch: Watch,
  escrow: string,
  number: number,
  verbs: readonly Verb[],
  signal: AbortSignal,
): Promise<Deed | null> {
  const block = await blockAt(watch.http, number, signal);
  if (block === null) return null;
  const { hash } = block;
  const calls = verbs.flatMap((verb) => {
    return ownCalls(watch, block, escrow, verb).map((txid) => ({ verb, txid, hash }));
  });
  for (const { txid } of calls.slice(0, mostAsked)) {
    const info = await infoOf(watch.http, txid, 'head', signal);
    const deed = info && deedIn(watch, [info], escrow, verbs);
    if (deed) return { ...deed, hash };
  }
  // By another contract, or without its log.
  const deed = deedIn(watch, await infosOf(watch, block, signal), escrow, verbs);
  if (deed !== null) return { ...deed, hash };
  if (verbs.includes('claim')) for (const { rawData } of block.txs) touchesOf(watch, rawData);
  return calls[0] ?? null;
}

function deedIn(
  watch: Watch,
  infos: readonly Info[],
  escrow: string,
  verbs: readonly Verb[],
): Pick<Deed, 'verb' | 'txid'> | null {
  for (const info of infos) {
    const verb = verbs.find((each) => didIt(watch, info, escrow, each));
    if (verb !== undefined) return { verb, txid: info.txid };
  }
  return null;
}

export async function loggedIn(
  watch: Watch,
  escrow: string,
  number: number,
  verb: Verb,
  signal: AbortSignal,
): Promise<string | null> {
  const block = await blockAt(watch.http, number, signal);
  if (block === null) return null;
  const infos = await infosOf(watch, block, signal);
  return deedIn(watch, infos, escrow, [verb])?.txid ?? null;
}

/** Successful transactions with this call inside, which may be a mere quotation. */
function ownCalls(watch: Watch, block: Block, escrow: string, verb: Verb): string[] {
  const { deployment, contracts } = watch;
  const names = (rawData: string) => [...contracts.keys()].some((each) => rawData.includes(each));
  return block.txs.flatMap(({ txid, succeeded, rawData }) => {
    if (!succeeded || !names(rawData)) return [];
    const own = callsIn(rawData, deployment).filter(
      (call) => call.verb === verb && call.escrow === escrow,
    );
    for (const { secret } of own) if (secret !== null) learn(watch, secret);
    return own.length > 0 ? [txid] : [];
  });
}

function didIt(watch: Watch, { succeeded, logs }: Info, escrow: string, verb: Verb): boolean {
  if (!succeeded) return false;
  const said = logs.filter(({ topics }) => topics[0] === topicOfVerb[verb]);
  return said.some((log) => noteLog(watch, log) === escrow);
}

const slotSeconds = 3;
/** Guesses by the slots; then the rest is halved. */
const mostGuesses = 8;

type Timed = Pick<Block, 'number' | 'timestampMs'>;

export async function firstFrom(
  watch: Pick<Watch, 'http'>,
  second: number,
  head: Timed,
  signal: AbortSignal,
): Promise<Timed | null> {
  if (secondOf(head) < second) return null;
  let high = head;
  let low: Timed | null = null;
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
  low: Timed | null,
  high: Timed,
  { second, byHalves }: { readonly second: number; readonly byHalves: boolean },
): number {
  const least = (low?.number ?? -1) + 1;
  const most = high.number - 1;
  if (byHalves) return Math.floor((least + most) / 2);
  const slots = (seconds: number) => Math.max(1, Math.ceil(seconds / slotSeconds));
  // No more blocks than slots: from above this is at it or before, from below at it or behind.
  const at =
    low === null
      ? high.number - slots(secondOf(high) - second)
      : low.number + slots(second - secondOf(low));
  return Math.min(most, Math.max(least, at));
}

export function launchesOf(watch: Watch, opened: Opened): LaunchReader {
  return launchReader(watch, steps, opened);
}

const steps: Steps<Watch> = {
  // Five minutes of them.
  pageBlocks: 100,
  rewindBlocks: 100,
  newest: async ({ http }, signal) => {
    const solid = await headBlock(http, 'solid', signal);
    return { deep: solid.number, seconds: secondOf(solid) };
  },
  blockAt: async ({ http }, height, signal) => {
    const block = await blockAt(http, height, signal);
    return block && { number: height, hash: block.hash, seconds: secondOf(block) };
  },
  read: async (watch, factory, { last, to }, signal) => {
    const address = bareAddress(factory.address).slice(2);
    const tokens: (string | null)[] = [];
    await eachBlock(watch, last, to, signal, (logs) => {
      for (const { topics, data, ...log } of logs) {
        if (log.address !== address || topics[0] !== factory.topic) continue;
        const token = factory.tokenIn(topics, data);
        tokens.push(token === null ? null : tronAddressOf(hexToBytes(token)));
      }
    });
    return { tokens, end: to };
  },
  isContract: async ({ http }, token, signal) => (await codeAt(http, token, signal)) !== null,
};
