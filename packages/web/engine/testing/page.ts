// Tests only: the engine of a page, and a wallet in it that signs by a key without asking anybody.

import { linkMessage } from '@parley/sdk/keys.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { show } from '../../market/own-site.ts';
import type { AccountLink, EvmPlace } from '../../wallets/types.ts';
import { pageEngine } from '../page.ts';

export { linkMessage, pageEngine, show };

export function keyLink(privateKey: `0x${string}`): AccountLink {
  const at = (chainId: number, rpcUrl: string | readonly string[]) =>
    evmWallet({ privateKey, chainId, rpcUrl });
  const signer = at(1, 'http://127.0.0.1:1');
  const on = ({ chainId, rpcUrls }: EvmPlace) => at(chainId, rpcUrls);
  const link = { family: 'evm', found: null, signer, on, onGone: () => () => {} };
  return link as unknown as AccountLink;
}
