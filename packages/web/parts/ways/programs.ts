// Wallet programs of this browser that sign texts.

import type { Family } from '@parley/core/families.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import { useSyncExternalStore } from 'react';
import type { FoundWallet } from '../../wallets/types.ts';
import { connectWallet, pageWallets } from '../page-wallets.ts';

let found: readonly FoundWallet[] = [];

function subscribe(changed: () => void): () => void {
  return pageWallets.listen((now) => {
    found = now;
    changed();
  });
}

export function usePrograms(families: readonly Family[]): readonly FoundWallet[] {
  const all = useSyncExternalStore(subscribe, () => found);
  return all.filter(({ family }) => families.includes(family));
}

/** Asks the person for an account. Throws WalletError. */
export async function signerOf(id: string): Promise<MessageSigner> {
  return (await connectWallet(id)).signer;
}
