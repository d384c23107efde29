// The swap that follows when both sides have accepted: deadlines, legs, and the addresses that the
// login wallets determine. Runs inside the transaction of the second acceptance; asks no node.

import { type Deadlines, deadlines } from '@parley/core/deadlines.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import type { Destination, Escrow, EscrowTerms } from '@parley/core/terms.ts';
import { type LegName, otherLeg } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { insertLeg, type PayableWallet, walletsToPay } from '../db/legs.ts';
import { insertSwap } from '../db/swaps.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { destinationOfPayout } from './destinations.ts';
import { keepEscrow, reserveLane } from './lanes.ts';
import { type PlannedLeg, planLegs, rulesOfLegs, type TradeTerms } from './preview.ts';

export type Agreement = TradeTerms & {
  readonly threadId: string;
  readonly rfqId: string;
  readonly hashlock: Hashlock;
  readonly makerId: string;
  readonly takerId: string;
};

/** Inserts the swap and its legs; the caller writes the events of the agreement. */
export async function createSwap(
  tx: Tx,
  deps: Deps,
  agreement: Agreement,
): Promise<{ swapId: string }> {
  const nowMs = deps.now();
  const swapId = uuidv7(nowMs, deps.randomBytes);
  const agreedAt = Math.floor(nowMs / 1000);
  const at = new Date(nowMs);
  const legs = planLegs(deps, agreement);
  const times = deadlines(agreedAt, { a: legs.a.timing, b: legs.b.timing }, legs.long);
  await insertSwap(tx, {
    ...agreement,
    id: swapId,
    long: legs.long,
    status: 'agreed',
    agreedAt,
    rules: rulesOfLegs(legs),
    deadlines: times,
    dueAt: times.expiresAt + 1,
    highValue: isHighValue(legs.a) || isHighValue(legs.b),
    at,
  });
  deps.metrics.swapChanges.inc({ status: 'agreed' });
  const wallets = await walletsToPay(
    tx,
    [agreement.makerId, agreement.takerId],
    [legs.a.adapter.family, legs.b.adapter.family],
    at,
  );
  // Lanes are locked: in one order everywhere, so that no two agreements wait for each other.
  const byChain = [legs.a, legs.b].sort((one, other) =>
    one.asset.chain < other.asset.chain ? -1 : 1,
  );
  for (const leg of byChain) {
    const fundBefore = fundBy({ deadlines: times }, { long: legs.long === leg.leg });
    await createLeg(tx, deps, { agreement, swapId, leg, times, fundBefore, wallets, at });
  }
  return { swapId };
}

function isHighValue({ asset: { highValueFrom }, amount }: PlannedLeg): boolean {
  return highValueFrom !== null && amount >= highValueFrom;
}

async function createLeg(
  tx: Tx,
  deps: Deps,
  made: {
    agreement: Agreement;
    swapId: string;
    leg: PlannedLeg;
    times: Deadlines;
    /** Unix seconds: its funding is sent before. */
    fundBefore: number;
    wallets: readonly PayableWallet[];
    at: Date;
  },
): Promise<void> {
  const { agreement, swapId, leg, times, fundBefore, wallets, at } = made;
  const { adapter, asset, amount } = leg;
  const { chain, address: token } = asset;
  const accounts: Record<LegName, string> = { a: agreement.makerId, b: agreement.takerId };
  const destination = (accountId: string): Destination | null =>
    destinationOfPayout(wallets, { accountId, adapter, network: deps.settings.network });
  const refund = destination(accounts[leg.leg]);
  const payeeId = accounts[otherLeg(leg.leg)];
  const payout = destination(payeeId);
  const ownLane = wallets.some(
    (each) => each.lends && each.accountId === payeeId && each.address === payout?.address,
  );
  const timelock = times.refundAt[leg.leg];
  let escrow: Escrow | null = null;
  let terms: EscrowTerms | null = null;
  if (payout !== null && refund !== null) {
    const { hashlock } = agreement;
    const user = {
      as: 'funder',
      owner: refund.address,
      accountId: accounts[leg.leg],
    } as const;
    const payee = { as: 'payee', owner: payout.address, accountId: payeeId } as const;
    const lane = await reserveLane(tx, adapter, user, ownLane ? payee : null);
    const placed = lane === null ? {} : { fundBefore, lane };
    terms = { chain, hashlock, payout, refund, token, amount, timelock, ...placed };
    escrow = adapter.plan(terms);
  }
  const { confirmations: requiredConfirmations } = leg.timing.depth;
  const fixed = { swapId, leg: leg.leg, chain, token, amount, timelock, requiredConfirmations };
  await insertLeg(tx, {
    ...fixed,
    family: adapter.family,
    assetId: asset.id,
    payout,
    refund,
    ownLane,
    escrow: escrow?.address ?? null,
  });
  if (escrow === null || terms === null) return;
  await keepEscrow(tx, adapter, { swapId, leg: leg.leg, terms, escrow, at });
}
