// The wallets of this browser, once for the page.

import { config } from '../market/config.ts';
import { browserWallets } from '../wallets/wallets.ts';

function bitcoinNetwork() {
  const found = config.chains.find((chain) => chain.family === 'bitcoin');
  if (found?.family === 'bitcoin') return found.bitcoin;
  return config.network === 'mainnet' ? 'mainnet' : 'regtest';
}

export const pageWallets = browserWallets(bitcoinNetwork());
