// Requests for quote: posting, cancelling, and what they look like to whom.

import { ParleyError } from '@parley/core/errors.ts';
import type { Direction } from '@parley/core/trade.ts';
import { lockTrader } from '../db/accounts.ts';
import { findStanding } from '../db/agreements.ts';
import type { Asset } from '../db/assets.ts';
import type { Tx } from '../db/database.ts';
import type { Holdings } from '../db/holdings.ts';
import { findHoldings } from '../db/holdings.ts';
import type { Rfq } from '../db/rfqs.ts';
import { countLiveRfqs, insertRfq, lockRfqs, setRfqStatus } from '../db/rfqs.ts';
import { closeThreads, findTakerAcceptance } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { holds, parseAddress } from './addresses.ts';
import { assertOpen, assetPair, checkAmounts, holdOpen } from './assets.ts';
import { endedDays, mostLiveRfqs, rfqsOfSettled } from './bounds.ts';
import { tellFeed } from './feed-log.ts';
import { assertFree, assertLive } from './negotiation.ts';
import { type RfqView, rfqView } from './views.ts';

export function unknownRfq(id: string): ParleyError {
  return new ParleyError('unknown_rfq', `there is no RFQ ${id.slice(0, 64)}`);
}

/** Throws `no_wallet` unless a wallet of the asset's chain is among the holdings. */
export function assertHolds(deps: Pick<Deps, 'adapters'>, holdings: Holdings, given: Asset): void {
  const family = deps.adapters.get(given.chain)?.family;
  if (family !== undefined && holdings.families.includes(family)) return;
  throw new ParleyError(
    'no_wallet',
    `giving ${given.symbol} needs a wallet on ${given.chain} proven by this account`,
    { chain: given.chain },
  );
}

/** Throws `same_chain`. */
export function mustDiffer({ base, quote }: { readonly base: Asset; readonly quote: Asset }): void {
  if (base.chain !== quote.chain) return;
  throw new ParleyError(
    'same_chain',
    `base and quote must be on two chains; both are on ${base.chain}`,
    { chain: base.chain },
  );
}

type NewRfq = {
  readonly direction: Direction;
  readonly baseAssetId: string;
  readonly baseAmount: bigint;
  readonly quoteAssetId: string;
  readonly ttlSeconds: number;
  readonly visibility: 'public' | 'private';
  readonly askAmount: bigint | null;
  readonly targetAddress: string | null;
  readonly minSettled: number | null;
};

/**
 * The checks that can refuse before the transaction; asks the chains whether the amounts can
 * settle. Returns the wanted RFQ with its target address in canonical form.
 */
export async function preparePost(
  deps: Pick<Deps, 'settings' | 'adapters' | 'db'>,
  wanted: NewRfq,
  signal: AbortSignal,
): Promise<NewRfq> {
  let { targetAddress } = wanted;
  if (targetAddress !== null) {
    if (wanted.visibility !== 'private') {
      throw new ParleyError('bad_field', 'targetAddress goes with visibility "private" only', {
        field: 'targetAddress',
      });
    }
    targetAddress = parseAddress(targetAddress, deps.settings.network).address;
  }
  const pair = await assetPair(deps.db, wanted.baseAssetId, wanted.quoteAssetId);
  mustDiffer(pair);
  assertOpen(pair.base, pair.quote);
  const amounts = [{ asset: pair.base, amount: wanted.baseAmount }];
  if (wanted.askAmount !== null) amounts.push({ asset: pair.quote, amount: wanted.askAmount });
  await checkAmounts(deps, amounts, signal);
  return { ...wanted, targetAddress };
}

/** `free`: the places of an account that has settled nothing. */
export const rfqPlaces = (settled: number, free: number): number =>
  Math.min(free + rfqsOfSettled * settled, Math.max(free, mostLiveRfqs));

export async function postRfq(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'adapters' | 'now' | 'randomBytes'>,
  creatorId: string,
  wanted: NewRfq,
): Promise<Rfq> {
  // The lock makes the count below right: an account posts one RFQ at a time.
  await lockTrader(tx, creatorId);
  const now = new Date(deps.now());
  const { base, quote } = await holdOpen(tx, wanted.baseAssetId, wanted.quoteAssetId);
  const given = wanted.direction === 'sell_base' ? base : quote;
  assertHolds(deps, await findHoldings(tx, creatorId), given);
  const creatorStanding = await findStanding(tx, creatorId);
  const settled = creatorStanding?.settled ?? 0;
  const free = deps.settings.liveRfqs;
  const most = rfqPlaces(settled, free);
  const live = await countLiveRfqs(tx, creatorId, now);
  if (live >= most) {
    throw new ParleyError(
      'too_many_open',
      `this account has ${live} live RFQs, and may have ${most}: ${free}, and ${rfqsOfSettled} more ` +
        `for each of its ${settled} settled swaps of the ${endedDays - 1} days before today (UTC), ` +
        `at most ${mostLiveRfqs}; cancel one first`,
      { live, most, settled },
    );
  }
  const { direction, baseAmount, visibility, askAmount, ttlSeconds } = wanted;
  const rfq: Rfq = {
    id: uuidv7(now.getTime(), deps.randomBytes),
    creatorId,
    direction,
    base,
    baseAmount,
    quote,
    visibility,
    askAmount,
    targetAddress: wanted.targetAddress,
    minSettled: wanted.minSettled,
    status: 'open',
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1_000),
    creatorStanding,
  };
  await insertRfq(tx, rfq);
  await tellFeed(tx, 'created', rfq, now);
  return rfq;
}

/** Cancels the creator's RFQ and closes its threads; again is fine. */
export async function cancelRfq(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  callerId: string,
  id: string,
): Promise<Rfq> {
  const [rfq] = await lockRfqs(tx, [id]);
  if (rfq === undefined) throw unknownRfq(id);
  if (rfq.creatorId !== callerId) {
    throw new ParleyError('not_creator', 'only its creator may cancel an RFQ', { rfqId: id });
  }
  if (rfq.status === 'cancelled') return rfq;
  const nowMs = deps.now();
  assertLive(rfq, nowMs);
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const bound = await findTakerAcceptance(tx, id, new Date(nowMs - ttlMs), new Date(nowMs));
  if (bound !== null) assertFree(bound.price, 'taker', nowMs, ttlMs);
  return endRfq(tx, rfq, new Date(nowMs));
}

/** Ends an RFQ that is locked and live. */
export async function endRfq(tx: Tx, rfq: Rfq, at: Date): Promise<Rfq> {
  await setRfqStatus(tx, rfq.id, 'cancelled', at);
  await closeThreads(tx, rfq.id, at);
  const cancelled: Rfq = { ...rfq, status: 'cancelled' };
  // The event is also emitted for a closed asset, although it was before: it may be reopening now.
  await tellFeed(tx, 'cancelled', cancelled, at);
  return cancelled;
}

/** The RFQ as `viewerId` may see it; `holdings` are the viewer's. */
export function rfqFor(rfq: Rfq, viewerId: string, holdings: Holdings, nowMs: number): RfqView {
  const { creatorId, targetAddress } = rfq;
  const shows =
    targetAddress !== null && (viewerId === creatorId || holds(holdings.addresses, targetAddress));
  return rfqView(rfq, nowMs, shows);
}
