// How deep the money of a deal lies, by the chains and by what the parties agreed on, whatever the
// market says of either.

import { depthFor } from '../../core/policy.ts';
import type { LegName } from '../../core/trade.ts';
import { type SimChain, tipOf } from './chain.ts';
import { highValueFrom } from './drills.ts';
import type { Deal } from './people.ts';
import { chainOf, type World } from './world.ts';

/** Every escrow under the deal's hashlock on a chain. */
export function escrowsOn(chain: SimChain, { hashlock }: Pick<Deal, 'hashlock'>): string[] {
  return [...chain.plans].filter(([, terms]) => terms.hashlock === hashlock).map(([at]) => at);
}

/** What both said that they would pay on a chain. */
export function amountOn({ base, quote, chains }: Deal, chain: string): bigint {
  return chains[0] === chain ? base.amount : quote.amount;
}

/** Leg `a` is the maker's, who gives the base of an RFQ that buys it. */
export function chainOfLeg({ direction, chains: [base, quote] }: Deal, leg: LegName): string {
  return (direction === 'buy_base') === (leg === 'a') ? base : quote;
}

/** Whether a block is as deep as such an amount needs. */
export function isDeepAt(chain: SimChain, deal: Deal, height: number): boolean {
  const { confirmations } = depthFor(chain.policy, amountOn(deal, chain.chain), highValueFrom);
  return tipOf(chain).height - height + 1 >= confirmations;
}

function hasDeep(world: World, deal: Deal, leg: LegName, escrows?: readonly string[]): boolean {
  const chain = chainOf(world, chainOfLeg(deal, leg));
  const wanted = amountOn(deal, chain.chain);
  return (escrows ?? escrowsOn(chain, deal)).some((escrow) =>
    (chain.holdings.get(escrow) ?? []).some(
      ({ amount, height }) => amount >= wanted && isDeepAt(chain, deal, height),
    ),
  );
}

/** Whether one payment of a leg's amount, in whichever escrow of the deal, is that deep. */
export const isDeep = (world: World, deal: Deal, leg: LegName) => hasDeep(world, deal, leg);

/** The same of the escrow that a party was last told is the leg's. */
export const isFundedDeep = (world: World, deal: Deal, leg: LegName) =>
  hasDeep(world, deal, leg, [deal.view?.legs[leg].escrow ?? '']);
