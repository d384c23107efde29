// Which wallets of wallet-standard can sign for Solana: known before anything of Solana is loaded.

import type { Wallet } from '@wallet-standard/base';
import { fieldOf } from './asked.ts';

export const signsTransactions = 'solana:signTransaction';
export const signsMessages = 'solana:signMessage';
export const connects = 'standard:connect';

export function isOfSolana(wallet: unknown): wallet is Wallet {
  const chains = fieldOf(wallet, 'chains');
  const features = fieldOf(wallet, 'features');
  const isThere = (name: string) => fieldOf(features, name) !== undefined;
  const isSolana = Array.isArray(chains) && chains.some((each) => `${each}`.startsWith('solana:'));
  return isSolana && [connects, signsTransactions, signsMessages].every(isThere);
}
