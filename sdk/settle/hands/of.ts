// The hand for a leg: by the wallet that the customer gave for its chain.

import { type Context, type SetLeg, walletOf } from '../context.ts';
import { bitcoinHand } from './bitcoin.ts';
import { evmHand } from './evm.ts';
import type { Hand } from './hand.ts';
import { solanaHand } from './solana.ts';
import { tronHand } from './tron.ts';

export function handOf(context: Context, leg: SetLeg): Hand {
  const wallet = walletOf(context, leg.chain);
  switch (wallet.family) {
    case 'evm':
      return evmHand(context, leg, wallet);
    case 'bitcoin':
      return bitcoinHand(context, leg, wallet);
    case 'tron':
      return tronHand(context, leg, wallet);
    case 'solana':
      return solanaHand(context, leg, wallet);
  }
}
