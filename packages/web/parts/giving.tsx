// Whether an account may give an asset: the market asks for a wallet of its family first.

import { type Family, has } from '@parley/core/families.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { config } from '../market/config.ts';
import { useMe } from '../market/session.ts';
import { text } from '../texts/texts.ts';
import { Notice } from './controls.tsx';
import { PhraseFirst, useEngine } from './engine.tsx';
import { Answer, Loading } from './page.tsx';
import { chainName } from './words.ts';

/** With the ways to sign in anew, which few need here. */
const Vouched = lazy(async () => ({ default: (await import('./vouch.tsx')).Vouched }));

type Giving = {
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

type WalletFirstProps = {
  giving: Giving;
  asset: Asset | undefined;
  /** Where the person goes on afterwards: a path of this app. */
  back: string;
};

/** Draws nothing where the asset may be given: the market refuses an account without a wallet. */
export function WalletFirst({ giving, asset, back }: WalletFirstProps) {
  if (giving.hasWallet !== false || asset === undefined) return null;
  // Few have a wallet on Bitcoin that signs texts: the key of the phrase does.
  if (has(giving.family, 'coins')) return <BitcoinKey back={back} />;
  return (
    <Notice
      kind="warn"
      title={text('swap_box.no_wallet', { chain: chainName(asset.chain) })}
      action={<Link to="/wallets">{text('swap_box.no_wallet.action')}</Link>}
    >
      {text('swap_box.no_wallet.why')}
    </Notice>
  );
}

function BitcoinKey({ back }: Pick<WalletFirstProps, 'back'>) {
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
