// The other side where it does what pays it most, in league with the market where that lies: it
// sees the true chains, knows what was told to anybody, and signs whatever its keys can.

import type { LegName } from '@parley/core/trade.ts';
import { heldIn, rawOf, refusal, type SimTransaction, tipOf, waitingAt } from '../chain.ts';
import { feeToReplace, unsignedFunding } from '../node.ts';
import { offer } from './nodes.ts';
import { escrowOf } from './plans.ts';
import { later, nowSeconds } from './time.ts';
import {
  count,
  depthIn,
  escrowsOf,
  otherOf,
  type Person,
  tell,
  termsOf,
  type World,
} from './world.ts';

type Plan = {
  /** Unix seconds; Infinity: never. */
  readonly fundsAt: number;
  /** After its funding was sent, and before a block has it, it takes it back. */
  readonly takesBack: boolean;
  readonly claimsAt: number;
  readonly isTold: 'by the market' | 'by a block';
  funding: SimTransaction | null;
};

const leastTickMs = 20_000;
const mostTickMs = 240_000;

export function rivalActs(world: World, rival: Person): void {
  const plan = planOf(world, rival);
  const tick = () => {
    act(world, rival, plan);
    later(world.chance.int(leastTickMs, mostTickMs), tick);
  };
  later(world.chance.int(0, mostTickMs), tick);
}

function planOf({ chance, times, agreedAt, market, chains }: World, { role }: Person): Plan {
  const isFirst = role === 'initiator';
  const last = isFirst ? times.initiatorFundBy : times.counterpartyFundBy;
  const { a: timelock } = times.refundAt;
  const drift = chains.a.policy.driftSeconds;
  return {
    fundsAt: chance.hits(0.15) ? Number.POSITIVE_INFINITY : chance.int(agreedAt, last),
    takesBack: chance.hits(0.1),
    claimsAt: chance.pick([
      agreedAt,
      chance.int(agreedAt, timelock),
      times.revealBy + 60,
      timelock - drift - chance.int(60, 600),
    ]),
    isTold: market.kind === 'lying' && chance.hits(0.7) ? 'by the market' : 'by a block',
    funding: null,
  };
}

function act(world: World, rival: Person, plan: Plan): void {
  const { chance } = world;
  fundOwn(world, rival, plan);
  if (knows(world, rival, plan)) claimAll(world, rival, plan);
  refundOwn(world, rival);
  if (world.market.kind === 'lying' && chance.hits(0.02)) moveLeg(world, rival);
  if (world.market.kind === 'lying' && chance.hits(0.02)) {
    world.market.lie = chance.pick(['deadlines', 'secret', 'nothing', null, null]);
  }
}

function knows({ isTold, chains }: World, { role }: Person, plan: Plan): boolean {
  if (role === 'initiator') return nowSeconds() >= plan.claimsAt;
  const isShown = chains.a.shown.size + chains.b.shown.size > 0;
  return isShown || (isTold && plan.isTold === 'by the market');
}

function trySend(world: World, leg: LegName, tx: SimTransaction): boolean {
  const chain = world.chains[leg];
  if (refusal(chain, tx, nowSeconds()) !== null) return false;
  offer(world, chain, rawOf(tx));
  return true;
}

/** Into what is shown now, or into what was agreed first. */
function fundOwn(world: World, rival: Person, plan: Plan): void {
  const { chance, times } = world;
  const { gives, gets, role } = rival;
  const chain = world.chains[gives];
  if (plan.funding !== null) {
    takeBack(world, rival, plan, plan.funding);
    return;
  }
  if (nowSeconds() < plan.fundsAt || nowSeconds() > times.revealBy) return;
  const other = otherOf(world, rival);
  const isPaid = escrowsOf(world, gets).some(([each]) => depthIn(world.chains[gets], each) > 2);
  if (role === 'counterparty' && other.kind !== 'absent' && !isPaid) return;
  const first = { counter: 1, moved: 0 };
  const terms = chance.hits(0.5) ? termsOf(world, gives) : termsOf(world, gives, first);
  const { address } = escrowOf(terms);
  const tx = unsignedFunding(chain, address, terms, chance.hex(6));
  if (trySend(world, gives, tx)) plan.funding = tx;
}

function takeBack(world: World, { gives }: Person, plan: Plan, tx: SimTransaction): void {
  const { family } = world.chains[gives];
  if (!plan.takesBack || family === 'tron' || family === 'solana') return;
  const isWaiting = waitingAt(world.chains[gives], tx.escrow, 'fund').length > 0;
  if (!isWaiting) return;
  const other = { ...tx, verb: 'move', escrow: '', amount: '0', fee: tx.fee + 5 } as const;
  if (trySend(world, gives, other)) {
    count(world, 'rival takes its funding back');
    tell(world, 'the rival takes its funding back');
  }
}

function spendAll(
  world: World,
  leg: LegName,
  { verb, secret }: { readonly verb: 'claim' | 'refund'; readonly secret: string | null },
): void {
  const { chance } = world;
  const chain = world.chains[leg];
  for (const [escrow, terms] of escrowsOf(world, leg)) {
    const unspent = heldIn(chain, escrow).filter(({ spentBy }) => spentBy === null);
    if (unspent.length === 0 || waitingAt(chain, escrow, verb).length > 0) continue;
    const isBitcoin = chain.family === 'bitcoin';
    const to = verb === 'claim' ? terms.payout : terms.refund;
    const coins = isBitcoin ? unspent.map(({ txid }) => txid) : [`coin-${chance.hex(6)}`];
    const by = isBitcoin ? (to.pubkey ?? '') : to.address;
    const fee = feeToReplace(chain, coins) + 1;
    const tx = { chain: chain.chain, verb, escrow, by, coins, amount: '0', secret, fee };
    if (trySend(world, leg, tx)) count(world, `rival sends a ${verb}`);
  }
}

function claimAll(world: World, rival: Person, { claimsAt }: Plan): void {
  const { secret, times } = world;
  const isOwnSecret = rival.role === 'initiator';
  // From the timelock on it could only tell the secret, which it may like to.
  const isLate = tipOf(world.chains.a).time >= times.refundAt.a && rival.gets === 'a';
  if (isOwnSecret && isLate && claimsAt < times.refundAt.a && !world.chance.hits(0.01)) return;
  spendAll(world, rival.gets, { verb: 'claim', secret });
}

function refundOwn(world: World, { gives }: Person): void {
  const { times, chains } = world;
  const { time } = tipOf(chains[gives]);
  if (time < times.refundAt[gives]) return;
  spendAll(world, gives, { verb: 'refund', secret: null });
}

/** The market shows another escrow of a leg. */
export function moveLeg(world: World, rival: Person | null): void {
  const { chance, market, chains } = world;
  const leg = chance.pick(['a', 'b'] as const);
  const { family } = chains[leg];
  if (family === 'evm' || family === 'tron') market.counters[leg] += 1;
  else if (rival !== null) market.moved[leg] += leg === rival.gives ? 1 : -1;
  world.news += 1;
  count(world, 'market moves a leg');
  tell(world, `the market moves leg ${leg}`);
}
