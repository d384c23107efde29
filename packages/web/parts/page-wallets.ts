// The wallets of this browser, once for the page: found, connected, and handed to what settles.

import { type Family, has } from '@parley/core/families.ts';
import { config } from '../market/config.ts';
import type { AccountLink, Link } from '../wallets/types.ts';
import { browserWallets } from '../wallets/wallets.ts';

function bitcoinNetwork() {
  const found = config.chains.find((chain) => has(chain, 'coins'));
  if (has(found, 'coins')) return found.bitcoin;
  return config.network === 'mainnet' ? 'mainnet' : 'regtest';
}

export const pageWallets = browserWallets(bitcoinNetwork());

type Take = (link: AccountLink) => void;

const linked = new Set<Link>();
const waiting: AccountLink[] = [];
let taker: Take | null = null;

/**
 * Asks the person for an account. It signs for the swaps of its account too: a person who has
 * signed in with it need not connect it again to pay. Throws WalletError.
 */
export async function connectWallet(id: string, wanted?: string): Promise<Link> {
  const link = await pageWallets.connect(id, wanted);
  linked.add(link);
  link.onGone(() => linked.delete(link));
  if (has(link, 'coins')) return link;
  if (taker === null) waiting.push(link);
  else taker(link);
  return link;
}

/** Whether a wallet of this page has shown that account. */
export function isConnected(family: Family, address: string): boolean {
  const plain = (text: string) => (has(family, 'foldsCase') ? text.toLowerCase() : text);
  const isOf = ({ signer }: Link) =>
    signer.family === family && plain(signer.address) === plain(address);
  return [...linked].some(isOf);
}

/** `use` of the engine: it is given what was connected before, and what is from now on. */
export function handOver(use: Take): void {
  taker = use;
  for (const link of waiting.splice(0)) use(link);
}
