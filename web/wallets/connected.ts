// The wallets that a person has linked in this page: what the engine settles with, one object a
// chain and account.

import type { ChainKey, Family } from '../../core/families.ts';
import { type Asking, asking } from '../../sdk/wallets/asking.ts';
import type { Wallet } from '../../sdk/wallets/wallet.ts';
import type { BrowserWallets, Link, Place, SdkWallet } from './types.ts';

export type ConnectedWallets = {
  /** Clicks of the person: `want` lets the next pass of `settle` open the wallet. */
  readonly asks: Asking;
  links(): readonly Link[];
  /** Asks the person for an account. Throws WalletError. */
  connect(id: string): Promise<Link>;
  /** Forgets it here; what the wallet allows this site is seen to in the wallet. */
  disconnect(link: Link): void;
  /** For `settle`. null: that account is not linked. Bitcoin is paid by hand or by its link. */
  wallet(family: Family, chain: ChainKey, address: string): Wallet | null;
  /** A wallet was linked, or has gone. */
  subscribe(heard: () => void): () => void;
};

/** `placeOf`: the chain by a node of the person's own; null: none of this app. */
export function connectedWallets(
  wallets: BrowserWallets,
  placeOf: (chain: ChainKey) => Place | null,
): ConnectedWallets {
  const links = new Set<Link>();
  const made = new Map<
    Link,
    Map<ChainKey, { readonly place: string; readonly wallet: SdkWallet }>
  >();
  const listeners = new Set<() => void>();
  const asks = asking();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const drop = (link: Link) => {
    made.delete(link);
    if (links.delete(link)) tell();
  };
  return {
    asks,
    links: () => [...links],
    connect: async (id) => {
      const link = await wallets.connect(id);
      const { family, address } = link.signer;
      for (const each of links) if (isOf(each, family, address)) links.delete(each);
      links.add(link);
      link.onGone(() => drop(link));
      tell();
      return link;
    },
    disconnect: drop,
    wallet: (family, chain, address) => {
      const place = placeOf(chain);
      const link = [...links].find((each) => isOf(each, family, address));
      if (link === undefined || link.family === 'bitcoin' || place?.family !== family) return null;
      const own = made.get(link) ?? new Map();
      made.set(link, own);
      // Its node is another one after the person has named one.
      const key = JSON.stringify(place);
      const before = own.get(chain);
      const wallet = before?.place === key ? before.wallet : link.on(place, asks);
      own.set(chain, { place: key, wallet });
      return wallet;
    },
    subscribe: (heard) => {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
  };
}

function isOf({ signer }: Link, family: Family, address: string): boolean {
  if (signer.family !== family) return false;
  return family === 'evm'
    ? signer.address.toLowerCase() === address.toLowerCase()
    : signer.address === address;
}
