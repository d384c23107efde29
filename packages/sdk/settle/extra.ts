// Bitcoin paid by hand: the excess in the own escrow. The secret opens all of it, so it is not
// revealed before a person accepts that loss.

import type { EscrowPayment } from '@parley/chains/interface/reading.ts';
import { larger } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { isMuch } from '@parley/core/facts.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { nodesOf } from '../chains.ts';
import { type Context, ownLeg, sourceOf } from './context.ts';
import { watchedOf } from './record.ts';

/** Base units beyond the amount that nothing has spent, those in the mempool too. */
export function extraOf(payments: readonly EscrowPayment[], amount: BaseUnits): BaseUnits {
  const open = payments.filter(({ spent }) => spent === null);
  const held = open.reduce((sum, each) => sum + each.amount, 0n);
  return held > amount ? held - amount : 0n;
}

/**
 * Payments to the own escrow by each node that answers, since one that is behind hides some; null:
 * its chain lists none. Throws what the first node fails with where none answers.
 */
export async function paymentsByEach(
  context: Context,
): Promise<readonly (readonly EscrowPayment[])[] | null> {
  const leg = ownLeg(context);
  const nodes = nodesOf(sourceOf(context, leg.chain));
  if (nodes[0]?.payments === undefined) return null;
  const watched = watchedOf(context.record, leg.leg);
  const asked = nodes.map(async (node) => (await node.payments?.(watched, context.limit())) ?? []);
  const answers = await Promise.allSettled(asked);
  const lists = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [first] = answers;
  if (lists.length === 0 && first?.status === 'rejected') throw first.reason;
  return lists;
}

/** Throws `paid_too_much`: with the secret the other side could take what was not agreed. */
export async function mustHoldNoMore(context: Context): Promise<void> {
  const { record, givesExtra = () => false } = context;
  const leg = ownLeg(context);
  // A restored record does not know who paid.
  const isByHand = record.byHand === true || record.restored === true;
  const lists = isByHand ? await paymentsByEach(context) : null;
  if (lists === null) return;
  const extra = lists.map((each) => extraOf(each, leg.amount)).reduce(larger, 0n);
  if (!isMuch(extra, leg.amount) || givesExtra(extra)) return;
  const sentence =
    `the escrow of leg ${leg.leg} holds ${extra} sats more than the ${leg.amount} agreed: the ` +
    'secret would let the other side take them too. Say `givesExtra`, or wait for the refund';
  throw new ParleyError('paid_too_much', sentence, { extra, amount: leg.amount });
}
