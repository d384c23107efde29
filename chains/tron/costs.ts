// What an escrow costs on TRON at the prices of now, in sun, by who has neither energy nor
// bandwidth of its own.

import type { Cost, Costs } from '../interface/gas.ts';
import { ownEnergy, transactionBytes, unknownTransfer, withMargin } from './energy.ts';
import { pricesOf } from './node.ts';
import type { Watch } from './watch.ts';

/** USDT to a holder; a first one takes twice as much (tronscan.org). */
const usualTransfer = 65_000n;

export async function costs(
  { http }: Watch,
  token: string | null,
  signal: AbortSignal,
): Promise<Costs> {
  const { energySun, byteSun } = await pricesOf(http, signal);
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
  return { fund, claim: settle, refund: settle, settlesFromAmount: false, deposit: null };
}
