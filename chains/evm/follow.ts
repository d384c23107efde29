// What happened since the last look: new blocks with their logs and transactions, blocks taken
// back, the pending block, and events that came nearer to their depth. Each new block is read
// whole, because a claim that failed shows its secret in no log. Work grows with blocks and
// events, never with the number of escrows.
//
// After a start, or when more than `fullBlocks` behind, older blocks are read by their logs only:
// a secret in a claim that FAILED there is not found; any other is, since it left a log.

import type { Changes, Heads } from '../adapter.ts';
import { type Block, blockAt, headBlock, type Log } from './node.ts';
import { readPending } from './pending.ts';
import { deepestBlock, finalBlock, headOnce } from './read.ts';
import { eachRange, ours } from './scan.ts';
import { noteLog, touchesOf, type Watch } from './watch.ts';

/** Blocks read whole in one call, and after a start. */
export const fullBlocks = 128;
/** Blocks asked for at once. */
const batch = 8;
/** Blocks remembered to walk back over; a deeper reorganisation reports every escrow. */
const rememberedBlocks = 512;

/** Callers kept for an escrow: its own claim and refund are among the first. */
const mostCallers = 64;

const headsOf = ({ number, hash, timestamp }: Block): Heads => {
  return { height: number, hash, clock: timestamp };
};

export async function heads(watch: Watch, signal: AbortSignal): Promise<Heads> {
  return headsOf(await headOnce(watch, signal));
}

/** One caller at a time. What was found before a failure is kept for the next call. */
export async function changes(watch: Watch, signal: AbortSignal): Promise<Changes> {
  const head = await headBlock(watch.rpc, signal);
  const before = watch.blocks.at(-1);
  if (before === undefined) await start(watch, head, signal);
  await unwind(watch, head, signal);
  await advance(watch, head, signal);
  await readPending(watch, head, signal);
  if (head.hash !== before?.hash) await comeToDepth(watch, head, signal);
  const touched = [...watch.owed];
  watch.owed.clear();
  return { touched, heads: headsOf(head) };
}

async function start(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const number = Math.max(0, head.number - fullBlocks);
  const base = await blockAt(watch.rpc, number, false, signal);
  if (base === null) return;
  watch.blocks.splice(0, watch.blocks.length, { number, hash: base.hash, touched: new Set() });
  watch.followedFrom = number + 1;
  // Another chain may have come in this one's place.
  watch.hours.clear();
  for (const address of watch.known.keys()) watch.owed.add(address);
}

/** Drops the blocks that the chain took back, and reports whom they touched. */
async function unwind(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const { blocks, known, owed } = watch;
  let dropped = 0;
  for (let tip = blocks.at(-1); tip !== undefined; tip = blocks.at(-1)) {
    if (tip.number > head.number) {
      // A shorter chain: either this node is only behind, or blocks above its head are gone.
      const same = blocks.find(({ number }) => number === head.number);
      if (same?.hash === head.hash) return;
    } else {
      const there =
        tip.number === head.number ? head : await blockAt(watch.rpc, tip.number, false, signal);
      if (there?.hash === tip.hash) break;
    }
    blocks.pop();
    dropped += 1;
    for (const address of tip.touched) {
      owed.add(address);
      const each = known.get(address);
      if (each?.scannedTo) each.scannedTo = Math.min(each.scannedTo, Math.max(0, tip.number - 1));
    }
  }
  if (dropped > 0) watch.log('reorganised', { chain: watch.chain, blocks: dropped });
  if (blocks.length === 0) await start(watch, head, signal);
}

async function advance(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const tip = watch.blocks.at(-1);
  if (tip === undefined) return;
  if (head.number - tip.number > fullBlocks) await skip(watch, tip.number, head, signal);
  let from = (watch.blocks.at(-1)?.number ?? head.number) + 1;
  while (from <= head.number) {
    const to = Math.min(head.number, from + batch - 1);
    if (!(await take(watch, from, to, signal))) return;
    from = to + 1;
  }
}

/** Far behind: logs only, up to the blocks that are read whole. */
async function skip(watch: Watch, tip: number, head: Block, signal: AbortSignal): Promise<void> {
  const to = head.number - fullBlocks;
  watch.log('far_behind', { chain: watch.chain, blocks: to - tip });
  await eachRange(
    watch,
    [{ address: watch.deployment.contract, topics: [ours] }],
    tip + 1,
    to,
    signal,
    (logs) => {
      for (const log of logs) note(watch, log);
    },
  );
  const base = await blockAt(watch.rpc, to, false, signal);
  if (base === null) return;
  watch.blocks.splice(0, watch.blocks.length, { number: to, hash: base.hash, touched: new Set() });
}

function note(watch: Watch, log: Log): string | null {
  const address = noteLog(watch, log);
  if (address === null) return null;
  watch.owed.add(address);
  watch.shallow.set(address, Math.max(log.block, watch.shallow.get(address) ?? 0));
  return address;
}

/** Takes a few blocks and their logs; false when they do not fit together: try again later. */
async function take(watch: Watch, from: number, to: number, signal: AbortSignal): Promise<boolean> {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const blocks = await Promise.all(
    numbers.map((number) => blockAt(watch.rpc, number, true, signal)),
  );
  const logs: Log[] = [];
  await eachRange(
    watch,
    [{ address: watch.deployment.contract, topics: [ours] }],
    from,
    to,
    signal,
    (found) => {
      logs.push(...found);
    },
  );
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
      if (callers !== undefined && callers.size < mostCallers) callers.add(tx.hash);
      watch.shallow.set(address, Math.max(block.number, watch.shallow.get(address) ?? 0));
    }
  }
  for (const address of touched) watch.owed.add(address);
  watch.blocks.push({ number: block.number, hash: block.hash, touched });
  if (watch.blocks.length > rememberedBlocks) {
    watch.blocks.splice(0, watch.blocks.length - rememberedBlocks);
  }
}

/** Reports again whatever is on its way to its depth, at every new head, and once it is final. */
async function comeToDepth(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const deepest = new Map<number, number>();
  for (const [address, block] of [...watch.shallow]) {
    const watched = watch.known.get(address)?.watched;
    if (watched !== undefined) {
      watch.owed.add(address);
      const { requiredConfirmations: required } = watched;
      const known = deepest.get(required) ?? (await deepestBlock(watch, watched, head, signal));
      deepest.set(required, known);
      if (block > known) continue;
      watch.unfinal.set(address, block);
    }
    watch.shallow.delete(address);
  }
  if (watch.unfinal.size === 0) return;
  const final = await finalBlock(watch, head, signal);
  for (const [address, block] of [...watch.unfinal]) {
    if (block > final) continue;
    watch.unfinal.delete(address);
    watch.owed.add(address);
  }
}
