// New blocks, blocks taken back, the pending block, and events that came nearer to their depth.
// Blocks are read whole: a failed claim shows its secret in no log. Further behind than
// `mostBlocks`, logs alone are read.

import { ParleyError } from '@parley/core/errors.ts';
import type { Changes, Heads, WatchedEscrow } from '../interface/reading.ts';
import {
  comeToDepth,
  follow,
  happened,
  push,
  reorgMargin,
  type Steps,
  takeOwed,
} from '../kit/follow.ts';
import { once } from '../nodes/sources.ts';
import { sameAddress } from './address.ts';
import { type Block, blockAt, headBlock, type Log, type Tx } from './node.ts';
import { decodeCall } from './plan.ts';
import { deepestBlock, finalBlock } from './read.ts';
import { eachRange, ours } from './scan.ts';
import { noteLog, type Seen, touchesOf, type Watch } from './watch.ts';

/** Half an hour of Ethereum, and half a minute of Arbitrum. */
const fullBlocks = 128;
/** Eight minutes of Arbitrum, seven hours of Ethereum: 256 rounds of questions. */
const mostBlocks = 2_048;
/** Four seconds of Arbitrum, three minutes of Ethereum. */
const recentBlocks = 16;
/** Callers kept for an escrow: its own claim and refund are among the first. */
const mostCallers = 64;

const headsOf = ({ number, hash, timestamp }: Block): Heads => {
  return { height: number, hash, clock: timestamp };
};

export async function changes(watch: Watch, signal: AbortSignal): Promise<Changes> {
  const head = await headBlock(watch.rpc, signal);
  const before = watch.blocks.at(-1);
  await follow(watch, steps, head, signal);
  await readPending(watch, head, signal);
  if (head.hash !== before?.hash) await tellDepth(watch, head, signal);
  const readTo = watch.blocks.at(-1)?.number ?? null;
  return { touched: takeOwed(watch), heads: headsOf(head), readTo };
}

const steps: Steps<Watch, Block, Seen> = {
  fullBlocks,
  mostBlocks,
  recentBlocks,
  passOver: async ({ rpc }, signal) => rpc.passOver?.(signal),
  blockAt: ({ rpc }, number, signal) => blockAt(rpc, number, false, signal),
  past: ({ number, hash }) => ({ number, hash, touched: new Set() }),
  begun: (watch, from) => {
    watch.followedFrom = from;
    // Another chain may have come in this one's place.
    watch.hours.clear();
    watch.skippedTo = 0;
  },
  takenBack: (watch, { number, touched }) => {
    const { owed, known } = watch;
    watch.skippedTo = 0;
    for (const address of touched) {
      owed.add(address);
      const each = known.get(address);
      if (each?.scannedTo) each.scannedTo = Math.min(each.scannedTo, Math.max(0, number - 1));
    }
  },
  skip,
  take,
};

async function skip(
  watch: Watch,
  { to }: { readonly to: number },
  signal: AbortSignal,
): Promise<void> {
  const tip = watch.blocks.at(-1)?.number ?? 0;
  watch.log('far_behind', { chain: watch.chain, blocks: to - tip });
  const from = Math.max(tip, watch.skippedTo - reorgMargin) + 1;
  await eachRange(watch, filtersOf(watch), from, to, signal, (logs, end) => {
    for (const log of logs) note(watch, log);
    watch.skippedTo = end;
  });
  watch.skippedTo = 0;
  const base = await blockAt(watch.rpc, to, false, signal);
  if (base !== null) watch.blocks.splice(0, watch.blocks.length, steps.past(base));
}

const filtersOf = ({ contracts }: Watch) => [{ address: contracts, topics: [ours] }];

function note(watch: Watch, log: Log): string | null {
  const address = noteLog(watch, log);
  if (address === null) return null;
  happened(watch, address, log.block);
  return address;
}

async function take(
  watch: Watch,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<boolean> {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const blocks = await Promise.all(
    numbers.map((number) => blockAt(watch.rpc, number, true, signal)),
  );
  const logs: Log[] = [];
  await eachRange(watch, filtersOf(watch), from, to, signal, (found) => {
    logs.push(...found);
  });
  for (const block of blocks) {
    if (block === null || block.parentHash !== watch.blocks.at(-1)?.hash) return false;
    const own = logs.filter((log) => log.block === block.number);
    if (own.some((log) => log.blockHash !== block.hash)) return false;
    takeBlock(watch, block, own);
  }
  return true;
}

function takeBlock(watch: Watch, block: Block, logs: readonly Log[]): void {
  const touched = new Set<string>();
  for (const log of logs) {
    const address = note(watch, log);
    if (address !== null) touched.add(address);
  }
  for (const tx of block.txs) {
    for (const [address] of touchesOf(watch, tx)) {
      touched.add(address);
      const callers = watch.known.get(address)?.callers;
      if (callers !== undefined && callers.size < mostCallers) callers.set(tx.hash, block.hash);
    }
  }
  for (const address of touched) happened(watch, address, block.number);
  push(watch, { number: block.number, hash: block.hash, touched });
}

async function tellDepth(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const deepest = new Map<number, number>();
  const deepestFor = async (watched: WatchedEscrow) => {
    const { requiredConfirmations: required } = watched;
    const known = deepest.get(required) ?? (await deepestBlock(watch, watched, head, signal));
    deepest.set(required, known);
    return known;
  };
  await comeToDepth(watch, deepestFor, (address, block) => watch.unfinal.set(address, block));
  if (watch.unfinal.size === 0) return;
  const final = await finalBlock(watch, head, signal);
  for (const [address, block] of [...watch.unfinal]) {
    if (block > final) continue;
    watch.unfinal.delete(address);
    watch.owed.add(address);
  }
}

/** Fundings that wait for their block are told at once; of a claim only its secret is. */
async function readPending(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const pending = await blockAt(watch.rpc, 'pending', true, signal).catch((error: unknown) => {
    if (error instanceof ParleyError && error.code === 'chain_timeout') throw error;
    once(watch, 'no_pending_block', { chain: watch.chain, why: String(error) });
    return null;
  });
  const waiting = new Map<string, string>();
  // Some nodes answer with the best block when they have no pending one.
  for (const tx of pending !== null && pending.number > head.number ? pending.txs : []) {
    for (const address of touchesOf(watch, tx).keys()) {
      if (isFunding(watch, address, tx) && !waiting.has(address)) waiting.set(address, tx.hash);
    }
  }
  for (const address of new Set([...waiting.keys(), ...watch.waiting.keys()])) {
    const same = waiting.get(address) === watch.waiting.get(address);
    if (!same && watch.known.has(address)) watch.owed.add(address);
  }
  watch.waiting = waiting;
}

/** Its approval may wait in the same block, so it is not tried. */
function isFunding(watch: Watch, address: string, tx: Tx): boolean {
  const terms = watch.known.get(address)?.watched.terms;
  const call = tx.to === null ? null : decodeCall(tx.to, tx.input, watch.deployment);
  if (terms === undefined || call?.verb !== 'fund' || call.escrow !== address) return false;
  const value = terms.token === null ? terms.amount : 0n;
  return sameAddress(tx.from, terms.refund.address) && tx.value === value;
}
