// Whether an account may give an asset: the market asks for a wallet of its family first.

import { type Family, has } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { config } from '../market/config.ts';
import { useMe } from '../market/session.ts';
import { market, queries } from '../market/site.ts';
import { text } from '../texts/texts.ts';
import { chainName } from './words.ts';

export type Giving = {
  readonly family: Family | undefined;
  /** Whether this account has shown a wallet of that family; null: not known. */
  readonly hasWallet: boolean | null;
};

export function familyOf(asset: Pick<Asset, 'chain'> | undefined): Family | undefined {
  return config.chains.find(({ chain }) => chain === asset?.chain)?.family;
}

export function useGiving(asset: Asset | undefined, isSignedIn: boolean): Giving {
  const me = useMe(isSignedIn);
  const family = familyOf(asset);
  if (me.data === undefined || family === undefined) return { family, hasWallet: null };
  const { login, proven } = me.data.wallets[family];
  return { family, hasWallet: login !== null || proven.length > 0 };
}

/** Whether only a wallet program can show it: `ConnectDialog` asks for one. */
export function needsProgram({ family, hasWallet }: Giving): boolean {
  return hasWallet === false && !has(family, 'coins');
}

/**
 * The account may give the asset afterwards: on Bitcoin by the key of this browser, which is made
 * and shown without a press. Throws a sentence where a wallet of its chain is wanted first.
 */
export async function prepareGiving(asset: Asset): Promise<void> {
  const family = familyOf(asset);
  if (family === undefined) return;
  const { wallets } = await queries.fetchQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => market.me({ signal }),
  });
  const { login, proven } = wallets[family];
  if (login !== null || proven.length > 0) return;
  if (!has(family, 'coins')) {
    throw new Error(text('giving.no_wallet', { chain: chainName(asset.chain) }));
  }
  const { showOwnKey } = await import('./own-key.ts');
  await showOwnKey(wallets);
}
