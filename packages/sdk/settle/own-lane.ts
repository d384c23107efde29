// A lane of this side's own, lent to the funder of the leg that pays it. A funding there costs less,
// since the lane was used before. The signature lets the funder alone open this one escrow. Only a
// key that signs alone lends: a person would be asked once more.

import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import type { Destination } from '@parley/core/terms.ts';
import { messageOf, ParleyApiError } from '../errors.ts';
import { verdictOf } from '../verdict.ts';
import type { Wallet } from '../wallets/wallet.ts';
import { type Context, payingLeg, sourceOf, walletOf } from './context.ts';
import { asked } from './market.ts';
import { accountKey } from './record.ts';

/** How a wallet signs for lanes of this address; null: it lends none. */
export function lenderOf(chain: string, wallet: Wallet | undefined, { address }: Destination) {
  if (wallet === undefined || !has(wallet, 'lanes') || wallet.asks !== undefined) return null;
  const { family, signTypedData } = wallet;
  const isOwn = accountKey(chain, family, wallet.address) === accountKey(chain, family, address);
  return (isOwn && signTypedData) || null;
}

/** Signs the own verified terms, never the market's text. Repeated until the market has it. */
export async function openLane(context: Context): Promise<void> {
  const { client, swapId } = context;
  const leg = payingLeg(context);
  const { address: escrow, terms } = leg.escrow;
  const { lanes } = sourceOf(context, leg.chain).adapter;
  const wallet = walletOf(context, leg.chain);
  const sign = lenderOf(leg.chain, wallet, terms.payout);
  if (client === null || lanes === undefined || sign === null) return;
  try {
    const signature = await sign(lanes.consent(terms), context.signingLimit(wallet));
    lanes.mustOpen(terms, signature);
    const body = { signature, escrow };
    await asked(context, (how) => client.openLane(swapId, leg.leg, body, how));
    context.emit('signed', leg.leg, `lends a lane of its own to leg ${leg.leg}`);
  } catch (error) {
    context.signal?.throwIfAborted();
    const isOfMarket = error instanceof ParleyApiError;
    if (!isOfMarket && !(error instanceof ParleyError)) throw error;
    // Without the signature the leg moves to a lane of its funder's.
    context.waits(leg, `lends no lane to leg ${leg.leg}: ${messageOf(error)}`);
    if (isOfMarket && verdictOf(error) === 'again') return;
  }
  await context.keep({ laneOpened: escrow });
}
