// The deals that the maker has agreed to, a file each beside the store of the SDK, on disk before
// they are acted on.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { idShape } from '@parley/sdk/stores/entries.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { namesIn } from '@parley/trader/swaps.ts';

/** `lapsed`: the other side never agreed. `refused`: no coin moved, and none will. */
export type End = 'received' | 'refunded' | 'lost' | 'nothing' | 'lapsed' | 'refused';

export type Deal = {
  readonly threadId: string;
  readonly rfqId: string;
  readonly takerId: string;
  /** By the names of the settings. */
  readonly pair: string;
  readonly gives: 'base' | 'quote';
  readonly base: BaseUnits;
  readonly quote: BaseUnits;
  readonly acceptedAt: UnixSeconds;
  /** null: not known yet. */
  readonly swapId: string | null;
  readonly end: End | null;
  readonly endedAt: UnixSeconds | null;
  /** From when what is left in the own escrow can be refunded. Absent: nothing is. */
  readonly remainsFrom?: UnixSeconds;
};

export type Journal = {
  /** By thread. */
  readonly deals: ReadonlyMap<string, Deal>;
  /** Returns when it survives a power cut. */
  keep(deal: Deal): Promise<void>;
  close(): Promise<void>;
};

/** A deal that ended this long ago is forgotten. */
const forgottenSeconds = 7 * 86_400;

const folderIn = (dir: string) => join(dir, 'deals');

/** By thread. Throws where a file is no deal, since the maker could not know its open deals. */
export async function readJournal(dir: string): Promise<Map<string, Deal>> {
  const folder = folderIn(dir);
  const deals = new Map<string, Deal>();
  for (const name of await namesIn(folder)) {
    const deal = parse((await readUpTo(join(folder, `${name}.json`))) ?? '', name);
    deals.set(deal.threadId, deal);
  }
  return deals;
}

function parse(text: string, name: string): Deal {
  try {
    const deal = JSON.parse(text) as Deal & Readonly<Record<'base' | 'quote', string>>;
    return { ...deal, base: BigInt(deal.base), quote: BigInt(deal.quote) };
  } catch (cause) {
    throw new Error(`the file of deal ${name} is damaged`, { cause });
  }
}

/** `dir` is there, and locked for this process alone. */
export async function openJournal(dir: string, now: () => UnixSeconds): Promise<Journal> {
  const deals = await readJournal(dir);
  const fileOf = (threadId: string) => {
    // Ids come from a market.
    if (idShape.test(threadId)) return join(folderIn(dir), `${threadId}.json`);
    throw new Error(`"${threadId.slice(0, 80)}" cannot be the name of a deal`);
  };
  const forget = async () => {
    for (const { threadId, endedAt, remainsFrom = 0 } of [...deals.values()]) {
      if (endedAt === null || now() - Math.max(endedAt, remainsFrom) <= forgottenSeconds) continue;
      await rm(fileOf(threadId), { force: true });
      deals.delete(threadId);
    }
  };
  await forget();
  let queue: Promise<void> = Promise.resolve();
  return {
    deals,
    keep: (deal) => {
      const run = queue.then(async () => {
        await writePrivate(fileOf(deal.threadId), jsonOf(deal));
        deals.set(deal.threadId, deal);
        if (deal.endedAt !== null) await forget();
      });
      queue = run.catch(() => undefined);
      return run;
    },
    close: () => queue,
  };
}
