// An amount of an asset that is known by its id.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { Amount } from './amount.tsx';
import { chainName } from './names.ts';

type AssetAmountProps = {
  readonly units: BaseUnits;
  /** undefined: the market lists it no more, or has not answered; base units are shown then. */
  readonly asset: Asset | undefined;
  /** The same symbol is another thing on another chain. */
  readonly withChain?: boolean;
};

export function AssetAmount({ units, asset, withChain = false }: AssetAmountProps) {
  if (asset === undefined) return <span className="amount">{units.toString()}</span>;
  return (
    <>
      <Amount units={units} decimals={asset.decimals} symbol={asset.symbol} />
      {withChain && <span className="soft"> {chainName(asset.chain)}</span>}
    </>
  );
}
