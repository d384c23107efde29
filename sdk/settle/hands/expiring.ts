// Families whose transactions die by themselves, in minutes, when no block takes them. Nothing is
// raised or replaced there: a dead one is made anew, and no earlier, because of two that live both
// could be mined. `lost` says that it is dead by what the chain never takes back (see the wallets).
// Of two fundings of the same terms the escrow contract or program takes one, all the same.

import type { Material } from '../../../chains/interface/material.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { ExpiringWallet } from '../../wallets/wallet.ts';
import type { Context, SetLeg } from '../context.ts';
import { due, lookedAfter, send, sendToAll, sendWaiting } from '../send.ts';
import { accountHand } from './account.ts';
import type { Hand, Signing } from './hand.ts';
import { forgetFunding } from './late.ts';

export function expiringHand(
  context: Context,
  leg: SetLeg,
  wallet: ExpiringWallet,
  how: {
    readonly approvesTokens: boolean;
    readonly signingsOf: (built: Material) => readonly Signing[];
  },
): Hand {
  return accountHand(context, leg, wallet, {
    approvesTokens: how.approvesTokens,
    signingsOf: how.signingsOf,
    push: async (record, slot, kept) => {
      const by = slot === 'claim' || slot === 'refund' ? sendToAll : send;
      await sendWaiting(context, leg, kept, by);
      return record;
    },
    // They have no nonces, and none is left out by what was never sent.
    takesTurns: false,
    keeping: (work) => work(),
    forget: () => {},
    cancelFunding: (record, funding) => awaitDeath(context, record, funding, leg, wallet),
    // It holds nobody up, and fails without effect if it is mined.
    withdrawClaim: async (record) => record,
    isGivenAway: async () => false,
  });
}

/**
 * A cancellation has no meaning here: there is no nonce or coin to spend otherwise, and none is
 * needed, since an expired transaction is dead. A late funding is not sent again, and forgotten
 * once it has died.
 */
async function awaitDeath(
  context: Context,
  record: SwapRecord,
  funding: Kept,
  leg: SetLeg,
  wallet: ExpiringWallet,
): Promise<SwapRecord> {
  if (!due(context, leg, funding)) return record;
  const { state } = await wallet.fate(funding, context.limit());
  lookedAfter(context, funding);
  if (state === 'lost' || state === 'reverted') return forgetFunding(context, record, leg);
  const text =
    state === 'waiting' ? 'waits until the late funding has died' : 'the funding was mined';
  context.tell('waiting', leg.leg, text);
  return record;
}
