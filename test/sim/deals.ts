// What a deal is, by the chains and by what the parties agreed on, whatever the market says of
// either: its legs, its escrows, whether its secret is public and its money final.

import { depthFor } from '../../core/policy.ts';
import type { LegName } from '../../core/trade.ts';
import { heldIn, type SimChain, tipOf } from './chain.ts';
import type { Deal, Drill, Party, Side, Wallet, World } from './state.ts';
import { chainOf } from './world.ts';

/** From which amount on the assets of these markets want the higher depth, base units. */
export const highValueFrom = 4_000_000n;

export const legOf = (deal: Deal, side: 'long' | 'short'): LegName =>
  (side === 'long') === (deal.long === 'a') ? 'a' : 'b';

export const ownLeg = (deal: Deal, role: Side['role']): LegName =>
  legOf(deal, role === 'initiator' ? 'long' : 'short');

/** What a party has on a chain; the login's is the first. */
export const walletsOn = ({ wallets }: Party, chain: string): readonly Wallet[] =>
  wallets.get(chain) ?? [];

export const otherLeg = (name: LegName): LegName => (name === 'a' ? 'b' : 'a');

export const isDrilled = ({ drill, deals }: World, deal: Deal): boolean =>
  drill !== null && (drill.isPair === true || deals[0] === deal);

/** Which side the plan of the drill is for. */
export function plannedRole({ initiator }: Drill): Side['role'] {
  return initiator === 'malicious' ? 'initiator' : 'counterparty';
}

export function isPublic(world: World, deal: Deal): boolean {
  return deal.chains.some((name) => chainOf(world, name).shown.has(deal.hashlock));
}

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

/** Whether a block is final for such an amount. */
export function isFinalAt(chain: SimChain, deal: Deal, height: number): boolean {
  const { confirmations } = depthFor(chain.policy, amountOn(deal, chain.chain), highValueFrom);
  return tipOf(chain).height - height + 1 >= confirmations;
}

function hasFinal(world: World, deal: Deal, leg: LegName, escrows?: readonly string[]): boolean {
  const chain = chainOf(world, chainOfLeg(deal, leg));
  const wanted = amountOn(deal, chain.chain);
  return (escrows ?? escrowsOn(chain, deal)).some((escrow) =>
    heldIn(chain, escrow).some(
      ({ amount, height }) => amount >= wanted && isFinalAt(chain, deal, height),
    ),
  );
}

/** Whether one payment of a leg's amount, in whichever escrow of the deal, is final. */
export const isFinal = (world: World, deal: Deal, leg: LegName) => hasFinal(world, deal, leg);

/** The same of the escrow that a party was last told is the leg's. */
export const isFundedFinal = (world: World, deal: Deal, leg: LegName) =>
  hasFinal(world, deal, leg, [deal.view?.legs[leg].escrow ?? '']);
