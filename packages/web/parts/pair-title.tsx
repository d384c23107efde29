// The heading of an order, a deal or a swap: both sides with their marks, heard as one sentence.

import type { Asset } from '@parley/sdk/types.ts';
import { Coin } from './coin.tsx';
import { Icon } from './icons.tsx';

export type TitleSide = {
  readonly asset: Asset | undefined;
  /** An amount with its symbol, or the symbol alone. */
  readonly said: string;
};

type PairTitleProps = { title: string; gives: TitleSide; gets: TitleSide };

export function PairTitle({ title, gives, gets }: PairTitleProps) {
  return (
    <>
      <span className="unseen">{title}</span>
      <span className="pair-title" aria-hidden="true">
        <Side {...gives} />
        <Icon name="arrow" />
        <Side {...gets} />
      </span>
    </>
  );
}

function Side({ asset, said }: TitleSide) {
  return (
    <span>
      <Coin asset={asset} size={28} withChain />
      <span>{said}</span>
    </span>
  );
}
