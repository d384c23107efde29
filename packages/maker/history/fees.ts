// The fees that the transactions of an ended swap have paid, by the own nodes: asked some time after
// the end, and again until all of them are known. One transaction of several swaps is shared by them
// to the unit.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { factsOf, has } from '@parley/core/families.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { queue } from '@parley/core/queue.ts';
import { nullIfMissing } from '@parley/host/missing-file.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { ownSides } from '@parley/sdk/settle/record.ts';
import { type Kept, type Store, type SwapRecord, versionsOf } from '@parley/sdk/stores/store.ts';
import { feePaid } from '@parley/trader/paying/fees.ts';
import { writePrivate } from '@parley/trader/places.ts';
import type { ChainConfig } from '../config/config.ts';
import type { Deal, Journal, PaidFee } from '../journal.ts';
import { appendLine, linesIn } from '../json-lines.ts';
import type { Log } from '../log.ts';

/** Fees are asked of blocks that a reorganisation seldom takes back. */
const settledMs = 30_000;
/** Asked this often of one swap while this process runs. */
const mostTries = 50;
/** Swaps that are asked about in one pass. */
const mostAtOnce = 20;
const limitMs = 30_000;
/** After so many batches those are forgotten of which all fees are known. */
const forgetEach = 1_000;

/** Claims or refunds of several swaps that went in one transaction. */
export type BatchSent = {
  readonly chain: string;
  readonly txid: string;
  readonly swapIds: readonly string[];
};

/** One transaction that may have cost this side something, and which swaps share it. */
export type Sent = {
  readonly chain: string;
  /** Any of these may be mined, and one is at most. */
  readonly versions: readonly string[];
  /** It is in a block, as the escrow shows: a node that does not have it is asked again. */
  readonly isMined: boolean;
  readonly block?: string | undefined;
  /** Those that share it, in one order for all of them. */
  readonly swapIds: readonly string[];
};

/** Which transactions a swap's own side has sent, by its record and the batches it was in. */
export function sentOf(record: SwapRecord, batches: readonly BatchSent[]): Sent[] {
  const { swap, seen = {}, marks = {} } = record;
  const { gives, gets } = ownSides(record);
  const at = (leg: 'a' | 'b') => swap.legs[leg].escrow?.address ?? '';
  const shown = {
    funded: [seen[at(gives)]?.funded?.txid, marks[at(gives)]?.funded?.hash],
    refunded: [seen[at(gives)]?.refunded?.txid, marks[at(gives)]?.refunded?.hash],
    claimed: [seen[at(gets)]?.claimed?.txid, marks[at(gets)]?.claimed?.hash],
    none: [],
  } as const;
  const one = (kept: Kept | null | undefined, leg: 'a' | 'b', by: keyof typeof shown): Sent[] => {
    const [txid, block] = shown[by];
    // A spend that was signed beforehand pays out of the own amount, whoever sends it.
    const isOwn = has(swap.legs[leg], 'coins') && (by === 'claimed' || by === 'refunded');
    const versions = kept ? versionsOf(kept) : [];
    const isMined = txid !== undefined && (isOwn || versions.includes(txid));
    if (!kept && !isMined) return [];
    return [
      {
        chain: swap.legs[leg].chain,
        versions: isMined ? [txid] : versions,
        isMined,
        swapIds: kept?.batch ?? [swap.id],
        ...(isMined && block !== undefined && { block }),
      },
    ];
  };
  const own = batches.filter(({ swapIds }) => swapIds.includes(swap.id));
  return [
    ...one(record.approved ?? record.approval, gives, 'none'),
    ...one(record.funding, gives, 'funded'),
    ...one(record.cancel, gives, 'none'),
    ...one(record.claim, gets, 'claimed'),
    ...one(record.refund, gives, 'refunded'),
    // One that never left, or gave way to another version, is in no block.
    ...own.map(({ chain, txid, swapIds }) => {
      const isMined = txid === shown.claimed[0] || txid === shown.refunded[0];
      return { chain, versions: [txid], isMined, swapIds };
    }),
  ];
}

/** The part of one swap: equal parts, and what is left is the first one's. */
export function shareOf(units: BaseUnits, swapIds: readonly string[], swapId: string): BaseUnits {
  const each = units / BigInt(Math.max(1, swapIds.length));
  return swapIds[0] === swapId ? units - each * BigInt(swapIds.length - 1) : each;
}

export type FeesInput = {
  readonly dir: string;
  readonly chains: readonly ChainConfig[];
  readonly store: Pick<Store, 'getSwap'>;
  readonly journal: Journal;
  readonly log: Log;
  readonly now: () => Millis;
  readonly signal: AbortSignal;
  /** Default: by the own nodes. */
  readonly paid?: typeof feePaid;
};

export async function createFees(input: FeesInput) {
  const { dir, journal, log, now, signal } = input;
  const file = join(dir, 'history', 'batches.jsonl');
  let batches: BatchSent[] = [];
  const tries = new Map<string, number>();
  const inTurn = queue();
  /** Batches are kept while the fees of one of their swaps may still be asked. */
  const forget = async () => {
    const open = new Set<string | null>();
    for (const { swapId, fees } of journal.deals.values()) if (fees === undefined) open.add(swapId);
    batches = batches.filter(({ swapIds }) => swapIds.some((id) => open.has(id)));
    await writePrivate(file, batches.map((each) => `${lineOf(each)}\n`).join(''));
  };
  // A file that cannot be read or written loses shares of fees, and no swap waits for it.
  try {
    batches = await readBatches(file);
    if (batches.length > 0) await forget();
  } catch (error) {
    log.error('batches_unread', { error: messageOf(error) });
  }
  return {
    /** Before its swaps end, or a moment after. */
    batched: (batch: BatchSent): Promise<void> =>
      inTurn(async () => {
        batches.push(batch);
        if (batches.length % forgetEach === 0) return forget();
        await appendLine(file, lineOf(batch));
      }),
    look: async (): Promise<void> => {
      const due = [...journal.deals.values()].filter(({ threadId, endedAt, swapId, fees }) => {
        if (swapId === null || endedAt === null || fees !== undefined) return false;
        const isOld = now() - endedAt * 1_000 > settledMs;
        return isOld && (tries.get(threadId) ?? 0) < mostTries;
      });
      for (const { threadId } of due.slice(0, mostAtOnce)) {
        tries.set(threadId, (tries.get(threadId) ?? 0) + 1);
        const deal = journal.deals.get(threadId);
        try {
          const fees = deal && (await feesOf(input, deal, batches));
          // Taken anew: another part of the maker may have kept it meanwhile.
          const last = journal.deals.get(threadId);
          if (!fees || !last) continue;
          await journal.keep({ ...last, fees });
          log.info('fees', {
            threadId,
            swapId: last.swapId,
            transactions: fees.length,
          });
        } catch (error) {
          signal.throwIfAborted();
          log.debug('fees_unread', { threadId, error: messageOf(error) });
        }
      }
    },
  };
}

/** null: one of them is not known yet. */
async function feesOf(
  { chains, store, signal, paid = feePaid }: FeesInput,
  { swapId }: Deal,
  batches: readonly BatchSent[],
): Promise<PaidFee[] | null> {
  const record = swapId === null ? null : await store.getSwap(swapId);
  if (record === null || swapId === null) return [];
  const fees: PaidFee[] = [];
  for (const { chain, versions, isMined, block, swapIds } of sentOf(record, batches)) {
    const of = chains.find((each) => each.chain === chain);
    if (of === undefined) return null;
    let found = false;
    for (const txid of versions) {
      // A batch that a killed process had noted is signed again, to the same bytes.
      if (fees.some((each) => each.chain === chain && each.txid === txid)) {
        found = true;
        continue;
      }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
      const units = await paid({ chain, of, txid, block }, limit);
      if (units === null) continue;
      found = true;
      const { decimals } = factsOf[of.family].coin;
      fees.push({ chain, txid, decimals, units: shareOf(units, swapIds, swapId) });
    }
    if (isMined && !found) return null;
  }
  return fees;
}

const lineOf = (batch: BatchSent) => JSON.stringify(batch);

/** Lines that are none are left out. */
async function readBatches(file: string): Promise<BatchSent[]> {
  const batches: BatchSent[] = [];
  if ((await stat(file).catch(nullIfMissing)) === null) return batches;
  for await (const { text } of linesIn(file)) {
    const batch = batchIn(text);
    if (batch !== null) batches.push(batch);
  }
  return batches;
}

function batchIn(text: string): BatchSent | null {
  try {
    const said = JSON.parse(text) as Partial<BatchSent> | null;
    return Array.isArray(said?.swapIds) ? (said as BatchSent) : null;
  } catch {
    return null;
  }
}
