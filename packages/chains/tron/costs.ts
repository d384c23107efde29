// The cost of an escrow on TRON at the prices of now, in sun, for a sender with neither energy nor
// bandwidth of its own.

import type { Cost, Costs } from '../interface/gas.ts';
import { ownEnergy, transactionBytes, unknownTransfer, withMargin } from './energy.ts';
import { type Prices, pricesOf } from './node.ts';
import type { Watch } from './watch.ts';

/** USDT to a holder; a first one takes twice as much (tronscan.org). */
const usualTransfer = 65_000n;

/** The least that is more than its claim costs. */
export const leastSun = ({ energySun, byteSun }: Prices): bigint =>
  ownEnergy.trxSettle * energySun + transactionBytes * byteSun + 1n;

export async function costs(
  { http }: Watch,
  token: string | null,
  signal: AbortSignal,
): Promise<Costs> {
  const prices = await pricesOf(http, signal);
  const { energySun, byteSun } = prices;
  const cost = (usual: bigint, most: bigint, transactions = 1n): Cost => {
    const bytes = transactions * transactionBytes * byteSun;
    return { usual: usual * energySun + bytes, most: withMargin(most) * energySun + bytes };
  };
  const { trxFund, trxSettle, newAccount, tokenFund, tokenSettle, approve } = ownEnergy;
  const [fund, settle] =
    token === null
      ? [cost(trxFund, trxFund), cost(trxSettle, trxSettle + newAccount)]
      : [
          cost(tokenFund + approve + usualTransfer, tokenFund + approve + unknownTransfer, 2n),
          cost(tokenSettle + usualTransfer, tokenSettle + unknownTransfer),
        ];
  const leastAmount = token === null ? leastSun(prices) : 1n;
  const settles = { claim: settle, refund: settle, settlesFromAmount: false };
  return { fund, ...settles, deposit: null, leastAmount };
}
