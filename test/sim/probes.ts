// Attacks that must be refused whoever would lose by them: signed transactions handed to the
// market's own broadcast past the moments at which its builders stop, and moves that leave money in
// an escrow that the same secret opens.

import {
  clockSlackSeconds,
  fund,
  fundBy,
  type Move,
  make,
  move,
  type Turn,
  tryBuilders,
  tryToFund,
  tryToReveal,
} from './attacks.ts';
import { chainClock, heldIn, holdsAny, type SimChain, waitingAt } from './chain.ts';
import { isFinal, isPublic, walletsOn } from './deals.ts';
import { post } from './people.ts';
import { rawOf, type SimTransaction } from './transaction.ts';
import { count, seconds, tell, violate } from './world.ts';

/** By the market, which must not take it; `rule` says why. */
async function mustBeRefused(turn: Turn, tx: SimTransaction, rule: string): Promise<void> {
  const { world, side, deal } = turn;
  const body = { chain: tx.chain, signed: rawOf(tx) };
  count(world, 'attack past the gates');
  const { status, code } = await post(world, side.party, '/v1/tx/broadcast', { body });
  tell(world, `${side.party.name} hands in a ${tx.verb} of ${deal.name}: ${code ?? status}`);
  if (status === 200) violate(world, rule, `${deal.name}, a ${tx.verb} by ${side.party.name}`);
}

/** Its own leg, too late or before the other's is final. */
async function fundPast(turn: Turn): Promise<void> {
  const { world, own, deal, view, side, ownName, otherName } = turn;
  const { escrow, amount } = view.legs[ownName];
  if (escrow === null || heldIn(own, escrow).length > 0) return;
  const isLate = seconds(world) > fundBy(turn);
  const isEarly = side.role !== 'initiator' && !isFinal(world, deal, otherName);
  if (!isLate && !isEarly) return;
  const tx = make(turn, own, { verb: 'fund', escrow, amount: BigInt(amount) });
  const [late, early] = [
    'no funding after its last moment',
    'no funding before the long leg is final',
  ];
  await mustBeRefused(turn, tx, isLate ? late : early);
}

const going = ['agreed', 'initiator_funded', 'counterparty_funded', 'initiator_claimed'];

/** The other leg, before both are final or too late; with a wrong secret at any time. */
async function claimPast(turn: Turn): Promise<void> {
  const { world, deal, side, other: chain, view, otherName } = turn;
  const { escrow } = view.legs[otherName];
  // Of a swap that has ended nothing is watched any more: what touches it is passed on.
  if (escrow === null || heldIn(chain, escrow).some(({ spentBy }) => spentBy !== null)) return;
  const wrong = make(turn, chain, { verb: 'claim', escrow, secret: side.party.chance.hex(32) });
  if (wrong.coins.length > 0) await mustBeRefused(turn, wrong, 'no claim with a wrong secret');
  if (side.role !== 'initiator' || isPublic(world, deal)) return;
  const isLate = seconds(world) > view.deadlines.revealBy;
  const isEarly = !isFinal(world, deal, 'a') || !isFinal(world, deal, 'b');
  if (!isLate && !isEarly) return;
  const tx = make(turn, chain, { verb: 'claim', escrow, secret: deal.secret });
  if (tx.coins.length === 0) return;
  const rule = isLate ? 'no reveal after its last moment' : 'no reveal before both legs are final';
  await mustBeRefused(turn, tx, rule);
}

/** Before its timelock, where a node would take what fails. */
async function refundPast(turn: Turn): Promise<void> {
  const { own, view, ownName } = turn;
  const { escrow, timelock } = view.legs[ownName];
  if (escrow === null || !holdsAny(own, escrow)) return;
  if (chainClock(own) + clockSlackSeconds >= timelock) return;
  const tx = make(turn, own, { verb: 'refund', escrow });
  await mustBeRefused(turn, tx, 'no refund before its timelock');
}

/** Now by a builder, now by hand. */
export const pastGates: Move = async (turn) => {
  if (!going.includes(turn.view.status)) return;
  await tryToFund(turn);
  await fundPast(turn);
  const { chance } = turn.side.party;
  if (chance.hits(0.5)) await claimPast(turn);
  if (chance.hits(0.3)) await refundPast(turn);
  if (chance.hits(0.3)) await tryToReveal(turn);
  if (chance.hits(0.3)) await tryBuilders(turn);
};

/** Of one that pays by the rules, and then shows its secret to nobody in time. */
export const pastDeadlines: Move = (turn) => pastGates(turn);

/** Whether a payment of an escrow is there or on its way. */
export const isPaidInto = (chain: SimChain, escrow: string) =>
  heldIn(chain, escrow).length > 0 || waitingAt(chain, escrow, 'fund').length > 0;

/** Moves its leg, pays the escrow that it moved off, and then wants to pay the other as well. */
export const payFormer: Move = async (turn) => {
  const { side, deal, view, own, ownName } = turn;
  const { escrow } = view.legs[ownName];
  if (escrow === null) return;
  const former = [...own.plans].find(
    ([at, { hashlock }]) => hashlock === deal.hashlock && at !== escrow,
  );
  if (former === undefined) {
    const [, wallet] = walletsOn(side.party, own.chain);
    const { note } = await move(turn, own.chain, wallet?.pubkey ?? wallet?.address ?? '');
    return note();
  }
  const [at, { amount }] = former;
  if (!isPaidInto(own, at)) fund(turn, at, amount);
  await tryToFund(turn);
  await tryToReveal(turn);
};

/** Pays an escrow that it has asked no builder for, and does nothing more. */
export const payUnasked: Move = (turn) => {
  const { view, own, ownName } = turn;
  const { escrow, amount } = view.legs[ownName];
  if (escrow !== null && !isPaidInto(own, escrow)) fund(turn, escrow, BigInt(amount));
};
