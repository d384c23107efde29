// Whether amounts can settle on their chains (dust, fees above the value), asked within a time
// limit: a node that hangs is a timeout of ours, not a fault.

import { ParleyError } from '../../core/errors.ts';
import type { Deps } from '../deps.ts';
import type { Asset } from './assets.ts';

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

async function within(signal: AbortSignal, chain: string, asked: Promise<void>): Promise<void> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(timedOut(chain));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    await Promise.race([asked, ended]);
  } catch (error) {
    // What a client library throws when its signal ends is the same thing.
    throw signal.aborted && !(error instanceof ParleyError) ? timedOut(chain, error) : error;
  } finally {
    signal.removeEventListener('abort', end);
    ended.catch(() => {});
    asked.catch(() => {});
  }
}

function timedOut(chain: string, cause?: unknown): ParleyError {
  return new ParleyError(
    'chain_timeout',
    `${chain} did not answer in time; nothing was changed, try again`,
    { chain },
    cause === undefined ? {} : { cause },
  );
}
