// TRON: the approvals of a token, and then the funding, each when the one before has succeeded.

import type { TronWallet } from '../../wallets/wallet.ts';
import type { Context, SetLeg } from '../context.ts';
import { notFor } from './account.ts';
import { expiringHand } from './expiring.ts';
import type { Hand } from './hand.ts';

export function tronHand(context: Context, leg: SetLeg, wallet: TronWallet): Hand {
  return expiringHand(context, leg, wallet, {
    approvesTokens: true,
    signingsOf: (built) => {
      if (built.sign !== 'tron-txid') return notFor(wallet, built);
      return built.transactions.map((each) => () => wallet.sign(each, context.limit()));
    },
  });
}
