// Situations that chance alone brings about too seldom: in half of the seeds the first swap is one
// of these, each in its turn, so that any fifty-two seeds in a row meet all of them twice; in some
// of the others it is one of moments.ts. Who trades and where is given, and what happens when it
// matters; the rest is the seed's.

import { depthFor } from '../../core/policy.ts';
import { heldIn, tipOf } from './chain.ts';
import { highValueFrom, legOf } from './deals.ts';
import { lieAbout, standStill, takeClaimBack } from './faults.ts';
import { moments } from './moments.ts';
import { noteActivity } from './servers.ts';
import type { Deal, Drill, View, World } from './state.ts';
import { count, later, nodeOf, seconds, stirChain, tell } from './world.ts';

/** What is counted of one whose moment did not come in a seed. */
export const notComeOf = ({ name }: Pick<Drill, 'name'>) =>
  `drill ${name}: its moment did not come`;

type Agreed = Pick<View, 'deadlines' | 'legs'>;

const legsOf = (deal: Deal, { legs }: Agreed) => ({
  long: legs[legOf(deal, 'long')],
  short: legs[legOf(deal, 'short')],
});

/** Of the outage that the policy plans for; the chain has no other trouble. */
const shareOfOutage = 0.8;

/** The chain of a leg stands still from some instant on, as long as the rules allow: seconds. */
function stall(world: World, on: string, at: number): number {
  const node = nodeOf(world, on);
  const lasts = Math.floor(node.chain.policy.normal.outageSeconds * shareOfOutage);
  later(world, at - seconds(world), () => standStill(world, node, lasts));
  return lasts;
}

/** Both nodes fall behind, until neither funding is final; then they are back. */
function fallBehind(world: World, deal: Deal): void {
  for (const name of deal.chains) {
    const node = nodeOf(world, name);
    const { chain } = node;
    const fundings = [...chain.plans].flatMap(([escrow, { hashlock, amount }]) =>
      heldIn(chain, escrow).flatMap(({ height }) =>
        hashlock === deal.hashlock ? [{ height, amount }] : [],
      ),
    );
    const lags = fundings.map(({ height, amount }) => {
      const { confirmations } = depthFor(chain.policy, amount, highValueFrom);
      return tipOf(chain).height - height + 2 - confirmations;
    });
    const lasts = world.chance.int(240, 500);
    node.lag = Math.max(1, ...lags);
    // A poll that is under way saw the node as it was.
    world.begun += 1;
    count(world, 'node lagging (spells)');
    tell(world, `${name}: its node is ${node.lag} blocks behind for ${lasts} s`);
    noteActivity(world, chain);
    later(world, lasts, () => {
      node.lag = 0;
      noteActivity(world, chain);
    });
  }
}

/** As soon as there is an escrow of the long leg, its node says that it is paid. */
function lieSoon(world: World, deal: Deal, tries: number): void {
  const { chain, escrow } = deal.view?.legs[deal.long] ?? {};
  if (chain !== undefined && escrow != null) lieAbout(world, chain, escrow);
  else if (tries > 0) later(world, 60, () => lieSoon(world, deal, tries - 1));
}

const honest = { initiator: 'honest', counterparty: 'honest', alone: true } as const;

export const drills: readonly Drill[] = [
  {
    ...honest,
    name: 'the claim that told the secret is taken back',
    begin: (world) => takeClaimBack(world, 2_000, 1),
  },
  { ...honest, name: 'an escrow is paid twice', initiator: 'hasty', families: ['evm', 'bitcoin'] },
  { ...honest, name: 'a former escrow is paid', initiator: 'malicious', plan: 'payFormer' },
  {
    ...honest,
    name: 'an agreement commits late',
    initiator: 'malicious',
    plan: 'payUnasked',
    families: ['evm', 'tron'],
    lateAgreement: true,
  },
  { ...honest, name: 'nodes fall behind after the reveal', revealed: fallBehind },
  {
    ...honest,
    name: 'the secret is shown at the last moment, and the chain stands still',
    initiator: 'greedy',
    begin: (world, deal, swap) => {
      const { short } = legsOf(deal, swap);
      stall(world, short.chain, swap.deadlines.revealBy - world.chance.int(20, 90));
    },
  },
  {
    ...honest,
    name: 'the secret is shown at the timelock, and the other chain stands still',
    initiator: 'malicious',
    plan: 'revealLate',
    begin: (world, deal, swap) => {
      const { short, long } = legsOf(deal, swap);
      stall(world, long.chain, short.timelock - world.chance.int(0, 300));
    },
  },
  {
    ...honest,
    name: 'an initiator goes past the gates',
    initiator: 'malicious',
    plan: 'pastGates',
  },
  {
    ...honest,
    name: 'a counterparty goes past the gates',
    counterparty: 'malicious',
    plan: 'pastGates',
  },
  {
    ...honest,
    name: 'a node says that the long leg is paid',
    initiator: 'malicious',
    plan: 'neverPay',
    families: ['evm', 'solana'],
    begin: (world, deal) => lieSoon(world, deal, 30),
  },
  {
    ...honest,
    name: 'an initiator that has paid goes past the gates',
    initiator: 'malicious',
    plan: 'pastDeadlines',
  },
  {
    ...honest,
    name: 'the leg moves under the hands of whoever pays it',
    counterparty: 'malicious',
    plan: 'moveOften',
    families: ['evm', 'bitcoin'],
  },
  {
    ...honest,
    name: 'a leg is paid next to nothing',
    initiator: 'malicious',
    plan: 'underpay',
    families: ['evm', 'bitcoin'],
  },
];

/** The short leg's chain stands still at its timelock, until long after the long leg's would be. */
const comesBack: Drill = {
  ...honest,
  name: 'a chain comes back in the past',
  initiator: 'malicious',
  plan: 'claimBehind',
  families: ['evm', 'bitcoin'],
  isRollup: true,
  deals: 1,
  keys: 'none',
  begin: (world, deal, swap) => {
    const { short } = legsOf(deal, swap);
    const at = short.timelock - world.chance.int(1_200, 3_600);
    const lasts = stall(world, short.chain, at);
    later(world, at + lasts + 30 - seconds(world), () => stirChain(world, short.chain));
  },
};
/** In every second round, at a place of its own: what the other seeds tell stays as it was. */
const placeOfComingBack = 49;

/** Of as many seeds as it takes for each drill, and as many again: those with a moment. */
const placesOfMoments = [14, 18, 22, 24];

export const allDrills: readonly Drill[] = [...drills, ...moments, comesBack];

/** Null in most of the other half of the seeds. */
export function drillOf(seed: number): Drill | null {
  const round = 2 * drills.length;
  if (seed % (2 * round) === placeOfComingBack) return comesBack;
  const place = placesOfMoments.indexOf(seed % round);
  if (place === -1) return drills[seed % round] ?? null;
  const turn = Math.floor(seed / round) * placesOfMoments.length + place;
  return moments[turn % moments.length] ?? null;
}

/** Of two turns of a drill the first is without gas keys, which would act for its parties. */
export const isBare = (seed: number): boolean => seed % (4 * drills.length) < drills.length;
