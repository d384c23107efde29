// The cost of an escrow on Solana at the prices of now, in lamports.

import layout from '@parley/contracts/solana/layout.json' with { type: 'json' };
import type { Costs } from '../interface/gas.ts';
import { gathering } from '../nodes/gathering.ts';
import { depositOf, sparedLamports } from './fees.ts';
import { recentPrices, rentFor } from './node.ts';
import { feeOf, lastingRent, leastLamports, usualPrice } from './prices.ts';
import type { Watch } from './watch.ts';

export async function costs(
  watch: Pick<Watch, 'rpc'>,
  token: string | null,
  signal: AbortSignal,
): Promise<Costs> {
  const rpc = gathering(watch.rpc, signal);
  const [prices, own, lasting, account, { deposit, kept }] = await Promise.all([
    recentPrices(rpc, [], signal),
    rentFor(rpc, 0, signal),
    lastingRent(rpc, 0, signal),
    rentFor(rpc, layout.constants.vaultBytes, signal),
    depositOf({ rpc }, { token }, signal),
  ]);
  const usual = feeOf({ token }, usualPrice({ token }, prices));
  // The payer's account keeps its own rent; a claim may have to make the receiver's.
  const most = usual + sparedLamports + own;
  const settle = { usual, most: token === null ? most : most + account };
  return {
    fund: { usual, most },
    claim: settle,
    refund: settle,
    settlesFromAmount: false,
    deposit: { locked: deposit, keptByClaim: kept },
    leastAmount: token === null ? leastLamports(lasting, prices).least : 1n,
  };
}
