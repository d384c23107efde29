// Where a person without a wallet program of a family gets one.

import type { Family } from '@parley/core/families.ts';

type Program = { readonly name: string; readonly url: string };

export const programsToGet: Readonly<Record<Family, Program>> = {
  evm: { name: 'MetaMask', url: 'https://metamask.io/download' },
  tron: { name: 'TronLink', url: 'https://www.tronlink.org/' },
  solana: { name: 'Phantom', url: 'https://phantom.com/download' },
  bitcoin: { name: 'Xverse', url: 'https://www.xverse.app/download' },
};
