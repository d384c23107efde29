// The cost of a swap beside its amounts, by the own nodes: shown in a plan, and not exceeded when
// the plan is done.

import { factsOf } from '@parley/core/families.ts';
import { roundedAmount } from '@parley/trader/rounded.ts';
import type { Session } from '@parley/trader/session.ts';
import type { Sides } from '@parley/trader/sides.ts';
import { withMargin } from '../plans.ts';

const nodeMs = 15_000;

/** Base units of each chain's own coin: the most of now. */
export async function feesOf(
  session: Session,
  { gives, gets }: Sides,
): Promise<Readonly<Record<string, string>>> {
  const sums = new Map<string, bigint>();
  for (const [side, { own }] of [
    ['gives', gives],
    ['gets', gets],
  ] as const) {
    const { adapter } = await session.source(own.chain);
    const costs = await adapter.costs?.(own.token, AbortSignal.timeout(nodeMs));
    if (costs === undefined) continue;
    const sum = side === 'gives' ? costs.fund.most + costs.refund.most : costs.claim.most;
    sums.set(own.chain, (sums.get(own.chain) ?? 0n) + sum);
  }
  return Object.fromEntries([...sums].map(([chain, sum]) => [chain, `${sum}`]));
}

/** `most` has them in base units. */
const few = { most: 3, exactly: false } as const;

export function feesWords(session: Session, most: Readonly<Record<string, string>>): string[] {
  return Object.entries(withMargin(most)).map(([chain, units]) => {
    const coin = { name: chain, decimals: factsOf[session.chain(chain).family].coin.decimals };
    return `fees on ${chain}: at most ${roundedAmount(BigInt(units), coin, 'up', few)}`;
  });
}
