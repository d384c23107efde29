// Tests only: a page that lists wallets, and has one of them sign a text.

import type { FoundWallet } from '../types.ts';
import { browserWallets } from '../wallets.ts';

let found: readonly FoundWallet[] = [];
const wallets = browserWallets('regtest');
wallets.listen((now) => {
  found = now;
});

const trader = {
  found: () => found,
  sign: async (name: string, text: string) => {
    const { id = '' } = found.find((each) => each.name === name) ?? {};
    const { signer } = await wallets.connect(id);
    return { address: signer.address, signature: await signer.signMessage(text) };
  },
};

export type Trader = typeof trader;
Object.assign(globalThis, { trader });
