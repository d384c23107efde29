// The hand for a leg: by the wallet that the customer gave for its chain.

import { type Context, walletOf } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { expiringHand } from './account.ts';
import { bitcoinHand } from './bitcoin.ts';
import { evmHand } from './evm.ts';
import type { Hand } from './hand.ts';

export function handOf(context: Context, leg: SetLeg): Hand {
  const wallet = walletOf(context, leg.chain);
  switch (wallet.family) {
    case 'evm':
      return evmHand(context, leg, wallet);
    case 'bitcoin':
      return bitcoinHand(context, leg, wallet);
    case 'tron':
    case 'solana':
      return expiringHand(context, leg, wallet);
  }
}
