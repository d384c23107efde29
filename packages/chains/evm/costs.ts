// The cost of an escrow on an EVM chain at the price of now, in wei. The most is what `fees.ts`
// wants of a wallet.

import { measuredGas } from '@parley/contracts/escrows/artifacts/gas.ts';
import { larger } from '@parley/core/amounts.ts';
import type { Cost, Costs } from '../interface/gas.ts';
import { gathering } from '../nodes/gathering.ts';
import { gasFor, margin } from './fees.ts';
import { l1FeeOf } from './gas-fees.ts';
import { evmGasPolicyOf, forkUntil, gasOnChain } from './gas-policy.ts';
import { gasPrice } from './node.ts';
import type { Watch } from './watch.ts';

/** The bytes of the longest call: a funding with its fourteen words. */
const callBytes = 452;
const longestCall = `0x${'ff'.repeat(callBytes)}`;
/** A fork that is announced counts already. */
const anyTime = Number.POSITIVE_INFINITY;
const claimGas = 50_000n;

/** The least that is more than its claim costs. */
export const leastWei = (gasPrice: bigint): bigint => claimGas * gasPrice + 1n;

export async function costs(
  watch: Watch,
  token: string | null,
  signal: AbortSignal,
): Promise<Costs> {
  const { chainId } = watch;
  const rpc = gathering(watch.rpc, signal);
  const [price, fork, l1Fee] = await Promise.all([
    gasPrice(rpc, signal),
    forkUntil(rpc, chainId, anyTime, signal),
    l1FeeOf(rpc, evmGasPolicyOf(chainId), longestCall, signal),
  ]);
  const { native, token: erc20, approve, newWord } = measuredGas[fork];
  const [funding, settling] =
    token === null
      ? [native.fund + newWord, native.settle]
      : [erc20.fund + approve + newWord, erc20.settle];
  const cost = (gas: bigint, verb: 'fund' | 'claim'): Cost => {
    const usual = gasOnChain(chainId, gas) * price + l1Fee;
    const wanted = gasFor(chainId, { token }, verb, fork) * price;
    return { usual, most: larger(usual, verb === 'claim' ? margin * wanted : wanted) };
  };
  const settle = cost(settling, 'claim');
  return {
    fund: cost(funding, 'fund'),
    claim: settle,
    refund: settle,
    settlesFromAmount: false,
    deposit: null,
    leastAmount: token === null ? leastWei(price) : 1n,
  };
}
