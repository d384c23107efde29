// An error is an answer of the person's own wallet, of this page, or of the market. Pure.

import { ParleyApiError, WalletError } from '@parley/sdk/errors.ts';

type Said = {
  readonly kind: 'info' | 'warn' | 'bad';
  readonly title:
    | 'failed.declined'
    | 'failed.silent'
    | 'failed.wallet'
    | 'failed.here'
    | 'failed.other';
};

/** The last layer that says more than the one around it. */
const mostLayers = 4;

function walletErrorIn(error: unknown, depth = 0): WalletError | null {
  if (error instanceof WalletError) return error;
  const isOver = depth >= mostLayers || !(error instanceof Error);
  return isOver ? null : walletErrorIn(error.cause, depth + 1);
}

export function saidOf(error: unknown): Said {
  if (error instanceof ParleyApiError) return { kind: 'bad', title: 'failed.other' };
  switch (walletErrorIn(error)?.code) {
    case undefined:
      return { kind: 'bad', title: 'failed.here' };
    case 'declined':
      return { kind: 'info', title: 'failed.declined' };
    case 'silent':
      return { kind: 'warn', title: 'failed.silent' };
    default:
      return { kind: 'warn', title: 'failed.wallet' };
  }
}
