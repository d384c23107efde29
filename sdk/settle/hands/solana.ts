// Solana: one transaction does it all, tokens included, signed by the one who pays for it.

import type { SolanaWallet } from '../../wallets/wallet.ts';
import type { Context, SetLeg } from '../context.ts';
import { notFor } from './account.ts';
import { expiringHand } from './expiring.ts';
import type { Hand } from './hand.ts';

export function solanaHand(context: Context, leg: SetLeg, wallet: SolanaWallet): Hand {
  return expiringHand(context, leg, wallet, {
    approvesTokens: false,
    signingsOf: (built) => {
      if (built.sign !== 'solana-tx') return notFor(wallet, built);
      return [() => wallet.sign(built, context.limit())];
    },
  });
}
