// Whether amounts can settle on their chains (dust, fees above the value), asked within a time
// limit: a node that hangs is a timeout of ours, not a fault.

import { within } from '../../chains/nodes/time-limit.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Asset } from '../db/assets.ts';
import type { Deps } from '../ports/deps.ts';

/** Throws `amount_too_small`, `asset_closed`, `chain_timeout` or `chain_unavailable`. */
export async function checkAmounts(
  deps: Pick<Deps, 'adapters'>,
  amounts: readonly { readonly asset: Asset; readonly amount: bigint }[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    amounts.map(async ({ asset, amount }) => {
      const adapter = deps.adapters.get(asset.chain);
      if (adapter === undefined) {
        throw new ParleyError('asset_closed', `${asset.chain} is not served here at the moment`, {
          chain: asset.chain,
        });
      }
      await within(signal, asset.chain, adapter.checkAmount(asset.address, amount, signal));
    }),
  );
}
