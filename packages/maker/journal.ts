// The deals that the maker has agreed to, a file each beside the store of the SDK, on disk before
// they are acted on.

import { join } from 'node:path';
import type { ChainKey } from '@parley/core/families.ts';
import type { BaseUnits, UnixSeconds } from '@parley/core/nominal.ts';
import { queue } from '@parley/core/queue.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { idShape } from '@parley/sdk/stores/entries.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { namedFiles } from '@parley/trader/named-files.ts';
import { addToLedger } from './history/ledger.ts';
import type { Price } from './rules/price.ts';

/** `lapsed`: the other side never agreed. `refused`: no coin moved, and none will. */
export type End = 'received' | 'refunded' | 'lost' | 'nothing' | 'lapsed' | 'refused';

export type Deal = {
  /** The address of the market that has the thread. */
  readonly market: string;
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
  /** A hedge is told of it. Absent: there was none when it was agreed. */
  readonly hedged?: true;
  /** The price of the source when it was agreed. Absent: an older version agreed it. */
  readonly value?: AgreedValue;
  /** The fees that its own transactions paid, once nodes have told them all. */
  readonly fees?: readonly PaidFee[];
};

/** Whole coins of quote for one of base, and what a whole coin is, whatever the settings become. */
export type AgreedValue = Price & { readonly decimals: Readonly<Record<'base' | 'quote', number>> };

/** Base units of the chain's own coin. */
export type PaidFee = {
  readonly chain: ChainKey;
  readonly txid: string;
  readonly decimals: number;
  readonly units: BaseUnits;
};

export type Journal = {
  /** By thread. */
  readonly deals: ReadonlyMap<string, Deal>;
  /** Returns when it survives a power cut. */
  keep(deal: Deal): Promise<void>;
  close(): Promise<void>;
};

export type OpenedJournal = Journal & {
  /** Files that could not be read as this process began. Their deals may be open. */
  readonly damaged: readonly Damaged[];
};

/** A deal that ended this long ago is forgotten. */
const forgottenSeconds = 7 * 86_400;

const dealsIn = (dir: string) => namedFiles(join(dir, 'deals'));

/** A file that is no deal: half of one, one that others alone may read, a folder in its place. */
export type Damaged = { readonly threadId: string; readonly file: string; readonly why: string };

/** By thread. `firstMarket` has the deals that name none, written when a maker had one market. */
export async function readJournal(
  dir: string,
  firstMarket = '',
  damaged: Damaged[] = [],
): Promise<Map<string, Deal>> {
  const { ids, read, placeOf } = dealsIn(dir);
  const deals = new Map<string, Deal>();
  for (const threadId of await ids()) {
    try {
      const deal = dealIn((await read(threadId)) ?? '');
      if (deal.threadId !== threadId) throw new Error(`it is of thread ${deal.threadId}`);
      const { market = firstMarket }: Partial<Deal> = deal;
      deals.set(threadId, { ...deal, market });
    } catch (error) {
      damaged.push({ threadId, file: await placeOf(threadId), why: messageOf(error) });
    }
  }
  return deals;
}

/** As `jsonOf` wrote it. Throws where the text is no deal. */
export function dealIn(text: string): Deal {
  const { base, quote, value, fees, ...rest } = JSON.parse(text) as Written;
  return {
    ...rest,
    base: BigInt(base),
    quote: BigInt(quote),
    ...(value && { value: { ...value, over: BigInt(value.over), under: BigInt(value.under) } }),
    ...(fees && { fees: fees.map((each) => ({ ...each, units: BigInt(each.units) })) }),
  };
}

/** A bigint of a deal is a text there. */
type Texts<Of> = { readonly [Name in keyof Of]: Of[Name] extends bigint ? string : Of[Name] };
type Written = Texts<Omit<Deal, 'value' | 'fees'>> & {
  readonly value?: Texts<AgreedValue>;
  readonly fees?: readonly Texts<PaidFee>[];
};

/** `dir` is there, and locked for this process alone. */
export async function openJournal(
  dir: string,
  now: () => UnixSeconds,
  firstMarket: string,
): Promise<OpenedJournal> {
  const damaged: Damaged[] = [];
  const deals = await readJournal(dir, firstMarket, damaged);
  const files = dealsIn(dir);
  const mustBeName = (threadId: string) => {
    // Ids come from a market.
    if (idShape.test(threadId)) return;
    throw new Error(`"${threadId.slice(0, 80)}" cannot be the name of a deal`);
  };
  const forget = async () => {
    for (const { threadId, endedAt, remainsFrom = 0 } of [...deals.values()]) {
      if (endedAt === null || now() - Math.max(endedAt, remainsFrom) <= forgottenSeconds) continue;
      await files.remove(threadId);
      deals.delete(threadId);
    }
  };
  await forget();
  const inTurn = queue();
  return {
    deals,
    damaged,
    keep: (deal) =>
      inTurn(async () => {
        mustBeName(deal.threadId);
        mustBeOwn(deal, deals);
        // First: after a crash in between it ends once more, and its last line counts.
        if (deal.endedAt !== null && deal.swapId !== null) {
          await addToLedger(dir, deal.endedAt, jsonOf(deal));
        }
        await files.write(deal.threadId, jsonOf(deal));
        deals.set(deal.threadId, deal);
        if (deal.endedAt !== null) await forget();
      }),
    close: () => inTurn(async () => {}),
  };
}

/** A market could name a thread or swap of another one, and take its place in the journal. */
function mustBeOwn({ threadId, swapId, market }: Deal, deals: ReadonlyMap<string, Deal>): void {
  const isOther = (deal: Deal) =>
    deal.threadId === threadId ? deal.market !== market : swapId !== null && deal.swapId === swapId;
  const other = [...deals.values()].find(isOther);
  if (other === undefined) return;
  const what = other.threadId === threadId ? `thread ${threadId}` : `swap ${swapId}`;
  throw new Error(`${what} of ${market} is one of ${other.market} already`);
}
