// TRON and Solana: transactions die by themselves, and a dead one is made anew, no earlier. Of two
// fundings of the same terms the chain takes one.

import type { Material } from '../../../chains/interface/material.ts';
import type { ExpiringWallet } from '../../wallets/wallet.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { due, lookedAfter, send, sendToAll, sendWaiting } from '../send.ts';
import { accountHand, notFor } from './account.ts';
import type { Hand, Signing } from './hand.ts';
import { forgetFunding } from './late.ts';

export function expiringHand(context: Context, leg: SetLeg, wallet: ExpiringWallet): Hand {
  return accountHand(context, leg, wallet, {
    // On Solana one transaction does it all.
    approvesTokens: wallet.family === 'tron',
    signingsOf: (built) => signingsOf(context, wallet, built),
    push: async (slot, kept) => {
      const by = slot === 'claim' || slot === 'refund' ? sendToAll : send;
      await sendWaiting(context, leg, kept, by);
    },
    // They have no nonces, and none is left out by what was never sent.
    sharesNonces: false,
    keeping: (work) => work(),
    forget: () => {},
    cancelFunding: () => awaitDeath(context, leg, wallet),
    // It holds nobody up, and fails without effect if it is mined.
    withdrawClaim: async () => {},
    isGivenAway: async () => false,
  });
}

/** On TRON approvals of a token come first, each signed when the one before has succeeded. */
function signingsOf(context: Context, wallet: ExpiringWallet, built: Material): readonly Signing[] {
  if (wallet.family === 'tron' && built.sign === 'tron-txid') {
    return built.transactions.map((each) => () => wallet.sign(each, context.limit()));
  }
  if (wallet.family === 'solana' && built.sign === 'solana-tx') {
    return [() => wallet.sign(built, context.limit())];
  }
  return notFor(wallet, built);
}

/** No nonce or coin can be spent otherwise, and an expired transaction is dead. */
async function awaitDeath(context: Context, leg: SetLeg, wallet: ExpiringWallet): Promise<void> {
  const { funding } = context.record;
  if (funding === null || !due(context, leg, funding)) return;
  const { state } = await wallet.fate(funding, context.limit());
  lookedAfter(context, funding);
  if (state === 'lost' || state === 'reverted') return forgetFunding(context, leg);
  const isWaiting = state === 'waiting';
  context.waits(leg, isWaiting ? 'waits until the late funding has died' : 'the funding was mined');
}
