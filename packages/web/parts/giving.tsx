// Whether an account may give an asset: the market asks for a wallet of its family first.

import type { Family } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { lazy, Suspense } from 'react';
import { config } from '../market/config.ts';
import { useMe } from '../market/me.ts';
import { Answer, Loading } from './answer.tsx';
import { PhraseFirst } from './phrase-first.tsx';
import { useEngine } from './use-engine.ts';

/** With the ways to sign in anew, which few need here. */
const Vouched = lazy(async () => ({ default: (await import('./vouch.tsx')).Vouched }));

export type Giving = {
  readonly family: Family | undefined;
  /** Whether this account has shown a wallet of that family; null: not known. */
  readonly hasWallet: boolean | null;
};

export function useGiving(asset: Asset | undefined, isSignedIn: boolean): Giving {
  const me = useMe(isSignedIn);
  const family = config.chains.find(({ chain }) => chain === asset?.chain)?.family;
  if (me.data === undefined || family === undefined) return { family, hasWallet: null };
  const { login, proven } = me.data.wallets[family];
  return { family, hasWallet: login !== null || proven.length > 0 };
}

/** Few have a wallet on Bitcoin that signs texts: the key of the phrase does. */
export function BitcoinKey({ back }: { readonly back: string }) {
  const engine = useEngine();
  return (
    <Answer of={engine}>
      {(opened) => (
        <PhraseFirst engine={opened} back={back}>
          <Suspense fallback={<Loading />}>
            <Vouched engine={opened}>{null}</Vouched>
          </Suspense>
        </PhraseFirst>
      )}
    </Answer>
  );
}
