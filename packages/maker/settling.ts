// Agreed swaps are settled, whatever the switches say: each swap by `settle` of the SDK from its
// store, and again after everything that passes by itself. Fundings, claims and refunds of many go
// in batches.

import { setTimeout as wait } from 'node:timers/promises';
import type { Sighting } from '@parley/core/facts.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { drive, type Trouble } from '@parley/sdk/drive.ts';
import { codeOf, messageOf } from '@parley/sdk/errors.ts';
import { isoTime, timedText } from '@parley/sdk/people.ts';
import type { FundsTogether } from '@parley/sdk/settle/context.ts';
import { fundingsTogether } from '@parley/sdk/settle/fund-together.ts';
import {
  type Outcome,
  type Progress,
  type SettleInput,
  type Shown,
  settle,
} from '@parley/sdk/settle.ts';
import { settleMany } from '@parley/sdk/settle-many.ts';
import { mayBeFunded, type Store } from '@parley/sdk/stores/store.ts';
import type { OwnChains } from './chains.ts';
import type { Doubts } from './doubts.ts';
import type { BatchSent } from './history/fees.ts';
import type { Deal, End, Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { MarketMetrics } from './metrics.ts';
import type { Promises } from './promises.ts';

/** Between two questions of one swap to the market. */
const leastMarketPollMs = 2_000;
/** A step that only a person can end is tried again this seldom. */
const personPauseMs = 300_000;
/** Looks at the chains, before an end that the disk has not taken is tried again. */
const unkeptPolls = 10;
/** How long a funding waits for others: one look at the chains of each swap, and a half. */
const fundTogetherMs = 1_500;
/** For one run that takes what remains: others wait behind it. */
const remainsLimitMs = 600_000;

/** A swap needs these of the market that it was agreed on. */
export type MarketOfDeal = {
  readonly client: ParleyClient;
  readonly promises: Promises;
  readonly log: Log;
  readonly metrics: Pick<MarketMetrics, 'ended' | 'failures' | 'needsPerson'>;
};

export type SettlingInput = {
  readonly chains: OwnChains;
  readonly store: Store;
  readonly marketOf: (deal: Deal) => MarketOfDeal;
  readonly journal: Journal;
  readonly log: Log;
  readonly doubts: Pick<Doubts, 'shown' | 'ended'>;
  readonly now: () => Millis;
  readonly signal: AbortSignal;
  readonly pollMs: Millis;
  readonly batchMs: Millis;
  /** Told of each batch of claims or refunds, whose fee its swaps share. */
  readonly batched?: (batch: BatchSent) => Promise<void>;
};

export type Settling = ReturnType<typeof createSettling>;

export function createSettling(input: SettlingInput) {
  const { journal, marketOf, log, doubts, now, signal } = input;
  const running = new Map<string, Promise<void>>();
  /** Swaps that wait for a person, and the address of each one's market. */
  const people = new Map<string, string>();
  const together = fundingsTogether({
    withinMs: fundTogetherMs,
    onSent: ({ chain, swapIds, txid }) =>
      log.info('batch', { chain, verb: 'fund', swaps: swapIds.length, txid, state: 'sent' }),
  });
  const fundsTogether = input.batchMs === 0 ? undefined : together;
  const inputFor = (deal: Deal, swapId: string) => inputOf(input, deal, swapId, fundsTogether);

  const seconds = () => Math.floor(now() / 1_000);
  /** A later run takes what it can of the remains: it holds no place. */
  const end = async (deal: Deal, how: End, remains: Outcome['remains'] = null) => {
    const left = remains === null ? {} : { remainsFrom: remains.refundableAt };
    const { promises, metrics, log } = marketOf(deal);
    const ended = { ...deal, end: how, endedAt: seconds(), ...left };
    await journal.keep(ended);
    promises.ended(ended);
    if (deal.swapId !== null) doubts.ended(deal.swapId);
    metrics.ended.inc({ end: how });
    const told = { threadId: deal.threadId, swapId: deal.swapId, end: how };
    // A person has to know of a leg that was taken without a payment.
    log[how === 'lost' ? 'error' : 'info']('ended', { ...told, ...leftIn(remains) });
  };

  const takeRemains = async (deal: Deal, swapId: string) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(remainsLimitMs)]);
    const run = { ...(await inputFor(deal, swapId)), signal: within };
    const { remains } = await settle(run).finally(() => doubts.ended(swapId));
    marketOf(deal).log.info('remains', { swapId, ...leftIn(remains) });
    if (remains !== null) return;
    const { remainsFrom: _, ...rest } = deal;
    await journal.keep(rest);
  };

  const waits = (deal: Deal, swapId: string, isSo: boolean) => {
    if (isSo) people.set(swapId, deal.market);
    else people.delete(swapId);
    const count = [...people.values()].filter((market) => market === deal.market).length;
    marketOf(deal).metrics.needsPerson.set(count);
  };

  /** A swap that waits for a person is tried again seldom: the maker goes on without one. */
  const driveOn = async (deal: Deal, swapId: string) => {
    const { metrics, log } = marketOf(deal);
    const onTrouble = ({ error, verdict }: Trouble) => {
      const facts = { swapId, code: codeOf(error), error: timedText(messageOf(error)) };
      waits(deal, swapId, verdict !== 'again');
      metrics.failures.inc({ what: 'settle' });
      log[verdict === 'again' ? 'warn' : 'error']('settle_failed', facts);
    };
    const ready = () => inputFor(deal, swapId);
    for (;;) {
      const driven = await drive({ ready, onTrouble, signal });
      if (driven.is === 'ended') {
        waits(deal, swapId, false);
        return await end(deal, driven.outcome.end, driven.outcome.remains);
      }
      if (driven.verdict === 'over' && (await nothingMoved(input.store, swapId))) {
        waits(deal, swapId, false);
        return await end(deal, 'refused');
      }
      await wait(personPauseMs, undefined, { signal });
    }
  };

  /** A disk that takes no end now may take it later: until then the swap holds its place. */
  const driveToEnd = async (deal: Deal, swapId: string) => {
    for (;;) {
      try {
        return await driveOn(deal, swapId);
      } catch (error) {
        signal.throwIfAborted();
        marketOf(deal).log.error('settle_failed', { swapId, error: messageOf(error) });
      }
      await wait(unkeptPolls * input.pollMs, undefined, { signal });
    }
  };

  return {
    running: () => running.size,
    /** Once a swap. */
    begin: (deal: Deal) => {
      const { swapId } = deal;
      if (swapId === null || running.has(swapId)) return;
      const run = driveToEnd(deal, swapId)
        // Only the signal ends it.
        .catch(() => {})
        .finally(() => running.delete(swapId));
      running.set(swapId, run);
    },
    /** One that never became a swap. */
    drop: (deal: Deal, how: 'lapsed' | 'refused') => end(deal, how),
    /**
     * The payments of strangers beside settled fundings, one after the other: each pass tries once,
     * until the journal forgets the deal.
     */
    takeRemains: async () => {
      for (const deal of [...journal.deals.values()]) {
        const { swapId, remainsFrom = Number.POSITIVE_INFINITY } = deal;
        if (swapId === null || remainsFrom > seconds()) continue;
        await takeRemains(deal, swapId).catch((error: unknown) => {
          signal.throwIfAborted();
          marketOf(deal).log.warn('remains_failed', {
            swapId,
            code: codeOf(error),
            error: messageOf(error),
          });
        });
      }
    },
    /** Until all have stopped: they do where the signal has aborted. */
    stopped: async () => {
      await Promise.allSettled(running.values());
    },
    /** Claims with a public secret and refunds of one chain, in few transactions. */
    batch: async (chain: ChainKey) => {
      const own = [...journal.deals.values()].flatMap(({ end, swapId }) =>
        end === null && swapId !== null ? [swapId] : [],
      );
      if (own.length < 2) return;
      const { chains, store } = input;
      // On disk before it leaves, and it leaves where the disk fails too: a claim waits for none.
      const onSigned = async ({ txid, swapIds }: Pick<BatchSent, 'txid' | 'swapIds'>) => {
        const kept = input.batched?.({ chain, txid, swapIds });
        await kept?.catch((error: unknown) => {
          log.warn('batch_unkept', { chain, txid, error: messageOf(error) });
        });
      };
      const many = { chain, chains, store, swapIds: own, signal, onSigned };
      const { batches, left } = await settleMany(many);
      for (const { verb, swapIds, txid, state } of batches) {
        log.info('batch', { chain, verb, swaps: swapIds.length, txid, state });
      }
      for (const { swapId, why } of left) log.debug('batch_left', { chain, swapId, why });
    },
  };
}

function leftIn(remains: Outcome['remains']) {
  const at = remains === null ? null : isoTime(remains.refundableAt);
  return { remains: remains?.amount ?? 0n, refundableAt: at };
}

async function inputOf(
  given: SettlingInput,
  deal: Deal,
  swapId: string,
  fundsTogether: FundsTogether | undefined,
): Promise<SettleInput> {
  const { chains, store, marketOf, now, signal, pollMs, batchMs, doubts } = given;
  const { client, promises, log } = marketOf(deal);
  const { threadId } = deal;
  const trade = await store.getTrade(threadId);
  return {
    swapId,
    client,
    chains,
    store,
    signal,
    pollMs,
    // All swaps of a market together ask it twice a second at most: the budget is for quotes too.
    marketPollMs: leastMarketPollMs + 500 * promises.open.size,
    ...(trade === null ? {} : { trade }),
    now: () => Math.floor(now() / 1_000),
    leaveToBatchMs: batchMs,
    ...(fundsTogether === undefined ? {} : { fundsTogether }),
    onProgress: ({ step, state, leg, text, txid, code }: Progress) =>
      log.info('swap', { swapId, step, state, leg, text, txid, code }),
    onShown: (shown: Shown) => {
      const { swap, legs } = shown;
      doubts.shown(swapId, shown);
      const [own, other] = swap.party === 'maker' ? (['a', 'b'] as const) : (['b', 'a'] as const);
      promises.shown(threadId, {
        funded: isInBlock(legs.get(own)?.leg.facts.funded),
        back: isInBlock(legs.get(own)?.leg.facts.refunded),
        paid: isInBlock(legs.get(other)?.leg.facts.claimed),
      });
    },
  };
}

function isInBlock(sighting: Sighting | null = null): boolean {
  return sighting !== null && (sighting.confirmations > 0 || sighting.deep);
}

async function nothingMoved(store: Store, swapId: string): Promise<boolean> {
  const record = await store.getSwap(swapId);
  return record === null || !mayBeFunded(record);
}
