// Assets as the customer pins them. Contract and decimals are its own; only the id is the market's.

import type { CallOptions, ParleyClient } from './client.ts';
import { pagesOf } from './pages.ts';
import type { PinnedAsset } from './trade.ts';
import { verifyAsset } from './verify.ts';

export type Pinning = Pick<PinnedAsset, 'chain' | 'token' | 'decimals'> &
  Partial<Pick<PinnedAsset, 'highValueFrom'>>;

const pageSize = 100;
/** The most pages of one chain's list: more assets than that are read by their contract alone. */
const mostPages = 20;

/**
 * The asset with the id by which the market knows it. `highValueFrom` in base units; default null.
 * Throws where the market lists none, and VerificationError where its decimals are others.
 */
export async function pin(
  client: Pick<ParleyClient, 'assets'>,
  { chain, token, decimals, highValueFrom = null }: Pinning,
  how: CallOptions = {},
): Promise<PinnedAsset> {
  const wanted = token === null ? { chain } : { chain, address: token };
  const ask = (from: object) => client.assets({ ...wanted, ...from, limit: pageSize }, how);
  for await (const { assets } of pagesOf(mostPages, ask)) {
    const found = assets.find((each) => each.chain === chain && each.address === token);
    if (found === undefined) continue;
    const pinned = { id: found.id, chain, token, decimals, highValueFrom };
    verifyAsset(found, pinned);
    return pinned;
  }
  const what = token === null ? 'native coin' : `token ${token}`;
  throw new Error(`the market lists no ${what} of chain "${chain}"; listAsset asks for a token`);
}
