// What happened since the last look: new blocks with their transactions and receipts, blocks taken
// back, and events that came nearer to being solid. Each new block is read whole, because a claim
// that failed shows its secret in no log. Work grows with blocks and events, never with the number
// of escrows.
//
// After a start, or when more than `fullBlocks` behind, every watched escrow is reported: its state
// says what became of it and in which block, without any log. Only a secret in a claim that FAILED
// in the blocks between is not found.

import { ParleyError } from '../../core/errors.ts';
import type { Changes, Heads } from '../adapter.ts';
import { type Block, blockAt, blocksOf, headBlock, type Info } from './node.ts';
import { infosOf } from './receipts.ts';
import { verbOfTopic } from './topics.ts';
import { noteLog, noteMade, touchesOf, type Watch } from './watch.ts';

/** Blocks read whole in one call, and after a start: five minutes of them. */
export const fullBlocks = 100;
/** Blocks asked for at once: a receipt request each. */
const batch = 8;
/** Blocks whose receipts a node may not have yet. */
const recentBlocks = 3;
/** Blocks remembered to walk back over; a deeper reorganisation reports every escrow. */
const rememberedBlocks = 512;

const headsOf = ({ number, id, timestampMs }: Block): Heads => {
  return { height: number, hash: id, clock: Math.floor(timestampMs / 1_000) };
};

export async function heads({ http }: Watch, signal: AbortSignal): Promise<Heads> {
  return headsOf(await headBlock(http, 'head', signal));
}

/** One caller at a time. What was found before a failure is kept for the next call. */
export async function changes(watch: Watch, signal: AbortSignal): Promise<Changes> {
  const head = await headBlock(watch.http, 'head', signal);
  const before = watch.blocks.at(-1);
  if (before === undefined) await start(watch, head, signal);
  await unwind(watch, head, signal);
  await advance(watch, head, signal);
  if (head.id !== before?.id && watch.shallow.size > 0) await comeToDepth(watch, head, signal);
  const touched = [...watch.owed];
  watch.owed.clear();
  return { touched, heads: headsOf(head) };
}

/** Begins anew some blocks below the head, and reports everybody. */
async function start(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const number = Math.max(0, head.number - fullBlocks);
  const base = number === head.number ? head : await blockAt(watch.http, number, signal);
  if (base === null) return;
  const { id, timestampMs } = base;
  watch.blocks.splice(0, watch.blocks.length, { number, id, timestampMs });
  for (const escrow of watch.known.keys()) watch.owed.add(escrow);
}

/**
 * Drops the blocks that the chain took back. Whom they touched is in `shallow`: what is not solid
 * is reported at every new head.
 */
async function unwind(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const { blocks } = watch;
  let dropped = 0;
  for (let tip = blocks.at(-1); tip !== undefined; tip = blocks.at(-1)) {
    if (tip.number > head.number) {
      // A shorter chain: either this node is only behind, or blocks above its head are gone.
      const same = blocks.find(({ number }) => number === head.number);
      if (same?.id === head.id) return;
    } else {
      const there =
        tip.number === head.number ? head : await blockAt(watch.http, tip.number, signal);
      if (there?.id === tip.id) break;
    }
    blocks.pop();
    dropped += 1;
  }
  if (dropped > 0) watch.log('reorganised', { chain: watch.chain, blocks: dropped });
  if (blocks.length === 0) await start(watch, head, signal);
}

async function advance(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const tip = watch.blocks.at(-1);
  if (tip === undefined) return;
  if (head.number - tip.number > fullBlocks) {
    watch.log('far_behind', { chain: watch.chain, blocks: head.number - tip.number });
    await start(watch, head, signal);
  }
  let from = (watch.blocks.at(-1)?.number ?? head.number) + 1;
  while (from <= head.number) {
    const to = Math.min(head.number, from + batch - 1);
    if (!(await take(watch, from, to, head, signal))) return;
    from = to + 1;
  }
}

/** Takes a few blocks; false when they do not fit together: try again later. */
async function take(
  watch: Watch,
  from: number,
  to: number,
  head: Block,
  signal: AbortSignal,
): Promise<boolean> {
  const blocks = await blocksOf(watch.http, from, to, signal);
  const infos = await Promise.all(
    blocks.map((block) => (block.txs.length > 0 ? infosOf(watch, block, signal) : [])),
  );
  for (const [at, block] of blocks.entries()) {
    if (block.number !== from + at || block.parentId !== watch.blocks.at(-1)?.id) return false;
    const own = infos[at] ?? [];
    // Receipts of another block of this height would name none of its transactions.
    const ids = new Set(block.txs.map(({ txid }) => txid));
    if (own.length !== block.txs.length || own.some(({ txid }) => !ids.has(txid))) {
      mustBeRecent(watch, block, own.length, head);
      return false;
    }
    takeBlock(watch, block, own);
  }
  return blocks.length === to - from + 1;
}

/** A node's machines may need a moment for a block's receipts, not several blocks. */
function mustBeRecent({ chain }: Watch, block: Block, receipts: number, head: Block): void {
  if (block.number > head.number - recentBlocks) return;
  throw new ParleyError(
    'chain_unavailable',
    `the ${chain} node has ${receipts} receipts for the ${block.txs.length} transactions of ` +
      `block ${block.number}`,
    { chain, block: block.number, receipts },
  );
}

function takeBlock(watch: Watch, block: Block, infos: readonly Info[]): void {
  const touched = new Set<string>();
  const second = Math.floor(block.timestampMs / 1_000);
  for (const { txid, succeeded, logs } of infos) {
    for (const log of logs) {
      const escrow = noteLog(watch, log);
      if (escrow === null) continue;
      touched.add(escrow);
      const verb = verbOfTopic.get(log.topics[0] ?? '');
      if (!succeeded || verb === undefined) continue;
      noteMade(watch, { escrow, verb, second }, { txid, block: block.number, isSolid: false });
    }
  }
  for (const { rawData } of block.txs) {
    for (const [escrow] of touchesOf(watch, rawData)) touched.add(escrow);
  }
  for (const escrow of touched) {
    watch.owed.add(escrow);
    watch.shallow.set(escrow, Math.max(block.number, watch.shallow.get(escrow) ?? 0));
  }
  const { number, id, timestampMs } = block;
  watch.blocks.push({ number, id, timestampMs });
  if (watch.blocks.length > rememberedBlocks) {
    watch.blocks.splice(0, watch.blocks.length - rememberedBlocks);
  }
}

/** Reports again whatever is on its way to its depth, until it is there. */
async function comeToDepth(watch: Watch, head: Block, signal: AbortSignal): Promise<void> {
  const solid = await headBlock(watch.http, 'solid', signal);
  for (const [escrow, block] of [...watch.shallow]) {
    const watched = watch.known.get(escrow)?.watched;
    if (watched !== undefined) {
      watch.owed.add(escrow);
      const deepest = Math.min(solid.number, head.number - watched.requiredConfirmations + 1);
      if (block > deepest) continue;
    }
    watch.shallow.delete(escrow);
  }
}
