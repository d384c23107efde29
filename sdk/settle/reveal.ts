// What stands before a secret that is told: both chains, looked at anew, and whether the leg that
// pays for it would really pay.

import type { Offered } from '../../chains/interface/gas.ts';
import { claimGate } from '../../core/gates.ts';
import type { LegName } from '../../core/trade.ts';
import type { Kept, SwapRecord } from '../stores/store.ts';
import { mustAfford, mustAgree, offeredFor, type Telling } from './before-sending.ts';
import { type Context, legOf, look, lookAgain, ownSides, type Seen, sourceOf } from './context.ts';

/** Who sends the claim pays for it: oneself, for what is offered, or the market. */
type By = { readonly offered: Offered | null } | 'market';

/**
 * At both chains before signing, so that one that is silent holds up nobody's nonce; and after it
 * once more at the chain that is to pay: what changed there meanwhile, however short, must not cost
 * the secret.
 */
export function revealGate(context: Context, record: SwapRecord, gas: bigint | null) {
  const { gets, gives } = ownSides(record);
  let seen: Seen | null = null;
  const gate = async (signed: Kept | null) => {
    const fresh = await look(context, record);
    seen = fresh;
    const by = { offered: offeredFor(gas, signed) };
    await mayReveal(context, record, fresh, { legs: [gives, gets], by });
    return async (claim: Kept) => {
      const again = await lookAgain(context, record, fresh, gets);
      seen = again;
      const exactly = { offered: offeredFor(gas, claim) };
      await mayReveal(context, record, again, { legs: [gets], by: exactly });
    };
  };
  const still = async () => {
    if (seen !== null) await inTime(context, record, seen);
  };
  return { gate, telling: { before: record, still } };
}

/** Writing and trying take time. */
async function inTime(context: Context, record: SwapRecord, { state, clocks }: Seen) {
  claimGate(state, ownSides(record).gets, { ...clocks, wall: await context.now() });
}

/** The same where the market is to be told: nothing is signed between this and the telling. */
export async function relayGate(context: Context, record: SwapRecord): Promise<Telling> {
  const { gets, gives } = ownSides(record);
  const fresh = await look(context, record);
  await mayReveal(context, record, fresh, { legs: [gives, gets], by: 'market' });
  return { before: record, still: () => inTime(context, record, fresh) };
}

/**
 * With what no gate knows: whether the leg would really pay, now. A token that was paused, or that
 * refuses the payout since the funding, must not cost the secret.
 */
async function mayReveal(
  context: Context,
  record: SwapRecord,
  seen: Seen,
  { legs, by }: { readonly legs: readonly LegName[]; readonly by: By },
): Promise<void> {
  const { gets } = ownSides(record);
  claimGate(seen.state, gets, seen.clocks);
  // From then on only the chain may refuse.
  if (seen.state.secret !== null) return;
  const { adapter } = sourceOf(context, legOf(record, gets).chain);
  const tried = await Promise.allSettled([
    mustAgree(context, record, legs),
    by === 'market' ? null : mustAfford(context, record, by.offered),
    adapter.preflight(legOf(record, gets).escrow.terms, 'claim', context.limit()),
  ]);
  for (const each of tried) if (each.status === 'rejected') throw each.reason;
  await inTime(context, record, seen);
}
