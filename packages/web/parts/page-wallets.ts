// The wallets of this browser, once for the page: found, connected, and handed to what settles.

import { type Family, has } from '@parley/core/families.ts';
import { config } from '../market/config.ts';
import { recalled, remember } from '../texts/remembered.ts';
import type { AccountLink, Link } from '../wallets/types.ts';
import { browserWallets } from '../wallets/wallets.ts';

/** null: the market, where there is one, has no Bitcoin. */
export function bitcoinNetwork() {
  const found = config.chains.find((chain) => has(chain, 'coins'));
  return has(found, 'coins') ? found.bitcoin : null;
}

const other = config.network === 'mainnet' ? 'mainnet' : 'regtest';
export const pageWallets = browserWallets(bitcoinNetwork() ?? other);

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
  remember('localStorage', chosenKey(link.signer.family), id);
  link.onGone(() => linked.delete(link));
  if (has(link, 'coins')) return link;
  if (taker === null) waiting.push(link);
  else taker(link);
  return link;
}

const chosenKey = (family: Family) => `parley.program.${family}`;

/** The program of that family that a person chose last in this browser. */
export function chosenProgram(family: Family): string | null {
  return recalled('localStorage', chosenKey(family));
}

/** The wallet of this page that has shown that account. */
export function connected(family: Family, address: string): Link | null {
  const plain = (text: string) => (has(family, 'foldsCase') ? text.toLowerCase() : text);
  const isOf = ({ signer }: Link) =>
    signer.family === family && plain(signer.address) === plain(address);
  return [...linked].find(isOf) ?? null;
}

export function isConnected(family: Family, address: string): boolean {
  return connected(family, address) !== null;
}

/** `use` of the engine: it is given what was connected before, and what is from now on. */
export function handOver(use: Take): void {
  taker = use;
  for (const link of waiting.splice(0)) use(link);
}
