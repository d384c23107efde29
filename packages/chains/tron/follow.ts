// New blocks, blocks taken back, and events nearer to being solid. Blocks are read whole: a failed
// claim shows its secret in no log. Far behind, every watched escrow is reported.

import type { Changes, Heads } from '../interface/reading.ts';
import { begin, comeToDepth, follow, happened, push, type Steps, takeOwed } from '../kit/follow.ts';
import { type Block, blockAt, blocksOf, headBlock, type Info, secondOf } from './node.ts';
import { areOf, infosOf } from './receipts.ts';
import { noteLog, noteMade, type Seen, touchesOf, verbOfTopic, type Watch } from './watch.ts';

/** Five minutes. */
const fullBlocks = 100;
/** Half an hour: their receipts are up to half a megabyte a block. */
const mostBlocks = 600;
/** Blocks, and receipts of blocks, that a node may not have yet. */
const recentBlocks = 3;

const headsOf = (head: Block): Heads => {
  return { height: head.number, hash: head.hash, clock: secondOf(head) };
};

export async function changes(watch: Watch, signal: AbortSignal): Promise<Changes> {
  const head = await headBlock(watch.http, 'head', signal);
  const before = watch.blocks.at(-1);
  await follow(watch, steps, head, signal);
  if (head.hash !== before?.hash && watch.shallow.size > 0) {
    const solid = await headBlock(watch.http, 'solid', signal);
    await comeToDepth(watch, ({ requiredConfirmations }) =>
      Math.min(solid.number, head.number - requiredConfirmations + 1),
    );
  }
  const readTo = watch.blocks.at(-1)?.number ?? null;
  return { touched: takeOwed(watch), heads: headsOf(head), readTo };
}

/**
 * `shallow` has the escrows of a block that is taken back: blocks that are not solid are emitted
 * anew.
 */
const steps: Steps<Watch, Block, Seen> = {
  fullBlocks,
  mostBlocks,
  recentBlocks,
  passOver: async ({ http }, signal) => http.passOver?.(signal),
  blockAt: ({ http }, number, signal) => blockAt(http, number, signal),
  past: ({ txs: _, ...block }) => ({ ...block, about: null }),
  // Another chain may have come in this one's place.
  begun: ({ starts }) => starts.clear(),
  skip: (watch, { to, head }, signal) => {
    const behind = to - (watch.blocks.at(-1)?.number ?? 0);
    watch.log('far_behind', { chain: watch.chain, blocks: behind });
    return begin(watch, steps, head, signal);
  },
  take,
};

async function take(
  watch: Watch,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<boolean> {
  const blocks = await blocksOf(watch.http, from, to, signal);
  const infos = await Promise.all(
    blocks.map((block) => (block.txs.length > 0 ? infosOf(watch, block, signal) : [])),
  );
  for (const [at, block] of blocks.entries()) {
    if (block.number !== from + at || block.parentHash !== watch.blocks.at(-1)?.hash) return false;
    const own = infos[at] ?? [];
    if (!areOf(block, own)) return false;
    takeBlock(watch, block, own);
  }
  return blocks.length === to - from + 1;
}

function takeBlock(watch: Watch, block: Block, infos: readonly Info[]): void {
  const touched = new Set<string>();
  for (const { txid, succeeded, logs } of infos) {
    for (const log of logs) {
      const escrow = noteLog(watch, log);
      if (escrow === null) continue;
      touched.add(escrow);
      const verb = verbOfTopic.get(log.topics[0] ?? '');
      if (!succeeded || verb === undefined) continue;
      const { number, hash } = block;
      noteMade(watch, { escrow, verb }, { txid, block: number, hash, isSolid: false });
    }
  }
  for (const { rawData } of block.txs) {
    for (const [escrow] of touchesOf(watch, rawData)) touched.add(escrow);
  }
  for (const escrow of touched) happened(watch, escrow, block.number);
  push(watch, { ...steps.past(block), about: touched });
}
