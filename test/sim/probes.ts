// Attacks that must be refused whoever would lose by them: signed transactions handed to the
// market's own broadcast past the moments at which its builders stop, and moves that leave money in
// an escrow that the same secret opens.

import type { LegName } from '../../core/trade.ts';
import {
  type Move,
  make,
  send,
  type Turn,
  tryBuilders,
  tryToFund,
  tryToReveal,
} from './attacks.ts';
import { clockAt, type SimChain, tipOf } from './chain.ts';
import { isDeep } from './depth.ts';
import { isPublic } from './drills.ts';
import { ask, ownLeg } from './people.ts';
import { rawOf, type SimTransaction } from './transaction.ts';
import { count, seconds, tell, violate } from './world.ts';

const namesOf = ({ deal, side }: Turn): { own: LegName; other: LegName } => {
  const own = ownLeg(deal, side.role);
  return { own, other: own === 'a' ? 'b' : 'a' };
};

/** By the market, which must not take it; `rule` says why. */
async function mustBeRefused(turn: Turn, tx: SimTransaction, rule: string): Promise<void> {
  const { world, side, deal } = turn;
  const body = { chain: tx.chain, signed: rawOf(tx) };
  count(world, 'attack past the gates');
  const url = '/v1/tx/broadcast';
  const { status, code } = await ask(world, side.party, { method: 'POST', url, body });
  tell(world, `${side.party.name} hands in a ${tx.verb} of ${deal.name}: ${code ?? status}`);
  if (status === 200) violate(world, rule, `${deal.name}, a ${tx.verb} by ${side.party.name}`);
}

/** Its own leg, too late or before the other's is deep. */
async function fundPast(turn: Turn): Promise<void> {
  const { world, own, deal, view, side } = turn;
  const { own: name, other } = namesOf(turn);
  const { escrow, amount } = view.legs[name];
  if (escrow === null || (own.holdings.get(escrow) ?? []).length > 0) return;
  const { initiatorFundBy, counterpartyFundBy } = view.deadlines;
  const isInitiator = side.role === 'initiator';
  const isLate = seconds(world) > (isInitiator ? initiatorFundBy : counterpartyFundBy);
  const isEarly = !isInitiator && !isDeep(world, deal, other);
  if (!isLate && !isEarly) return;
  const tx = make(turn, own, { verb: 'fund', escrow, amount: BigInt(amount) });
  const rule = isLate
    ? 'no funding after its last moment'
    : 'no funding before the long leg is deep';
  await mustBeRefused(turn, tx, rule);
}

/** Of a swap that has ended nothing is watched any more: what touches it is passed on. */
const isSpent = ({ holdings }: SimChain, escrow: string) =>
  (holdings.get(escrow) ?? []).some(({ spentBy }) => spentBy !== null);

const going = ['agreed', 'initiator_funded', 'counterparty_funded', 'initiator_claimed'];

/** The other leg, before both are deep or too late; with a wrong secret at any time. */
async function claimPast(turn: Turn): Promise<void> {
  const { world, deal, side, other: chain, view } = turn;
  const escrow = view.legs[namesOf(turn).other].escrow;
  if (escrow === null || isSpent(chain, escrow)) return;
  const wrong = make(turn, chain, { verb: 'claim', escrow, secret: side.party.chance.hex(32) });
  if (wrong.coins.length > 0) await mustBeRefused(turn, wrong, 'no claim with a wrong secret');
  if (side.role !== 'initiator' || isPublic(world, deal)) return;
  const isLate = seconds(world) > view.deadlines.revealBy;
  const isEarly = !isDeep(world, deal, 'a') || !isDeep(world, deal, 'b');
  if (!isLate && !isEarly) return;
  const tx = make(turn, chain, { verb: 'claim', escrow, secret: deal.secret });
  if (tx.coins.length === 0) return;
  const rule = isLate ? 'no reveal after its last moment' : 'no reveal before both legs are deep';
  await mustBeRefused(turn, tx, rule);
}

/** A reorganisation may have taken the newest blocks' times back. */
const slackSeconds = 3_600;

/** Before its timelock, where a node would take what fails. */
async function refundPast(turn: Turn): Promise<void> {
  const { own, view } = turn;
  const { escrow, timelock } = view.legs[namesOf(turn).own];
  const held = escrow === null ? [] : (own.holdings.get(escrow) ?? []);
  if (escrow === null || !held.some(({ spentBy }) => spentBy === null)) return;
  if (clockAt(own, tipOf(own).height) + slackSeconds >= timelock) return;
  await mustBeRefused(
    turn,
    make(turn, own, { verb: 'refund', escrow }),
    'no refund before its timelock',
  );
}

/** Now by a builder, now by hand. */
export const pastGates: Move = async (turn) => {
  if (!going.includes(turn.view.status)) return;
  const { own, other } = namesOf(turn);
  await tryToFund(turn, own);
  await fundPast(turn);
  const { chance } = turn.side.party;
  if (chance.hits(0.5)) await claimPast(turn);
  if (chance.hits(0.3)) await refundPast(turn);
  if (chance.hits(0.3)) await tryToReveal(turn, other);
  if (chance.hits(0.3)) await tryBuilders(turn);
};

/** Of one that pays by the rules, and then shows its secret to nobody in time. */
export const pastDeadlines: Move = (turn) => pastGates(turn);

const paid = (chain: SimChain, escrow: string) =>
  (chain.holdings.get(escrow) ?? []).length > 0 ||
  [...chain.mempool.values()].some(({ tx }) => tx.escrow === escrow && tx.verb === 'fund');

/** Moves its leg, pays the escrow that it moved off, and then wants to pay the other as well. */
export const payFormer: Move = async (turn) => {
  const { world, side, deal, view, own } = turn;
  const { own: name, other } = namesOf(turn);
  const { escrow } = view.legs[name];
  if (escrow === null) return;
  const formers = [...own.plans].filter(
    ([at, { hashlock }]) => hashlock === deal.hashlock && at !== escrow,
  );
  const [former] = formers;
  if (former === undefined) {
    const wallet = (side.party.wallets.get(own.chain) ?? [])[1];
    const address = wallet?.pubkey ?? wallet?.address ?? '';
    const body = { chain: own.chain, address };
    const url = `/v1/swaps/${deal.id}/address`;
    const { status, code } = await ask(world, side.party, { method: 'POST', url, body });
    count(world, 'attack move address');
    tell(world, `${side.party.name} moves its address on ${own.chain}: ${code ?? status}`);
    return;
  }
  const [at, { amount }] = former;
  if (!paid(own, at)) send(turn, own, make(turn, own, { verb: 'fund', escrow: at, amount }));
  await tryToFund(turn, name);
  await tryToReveal(turn, other);
};

/** Pays an escrow that it has asked no builder for, and does nothing more. */
export const payUnasked: Move = (turn) => {
  const { view, own } = turn;
  const { escrow, amount } = view.legs[namesOf(turn).own];
  if (escrow === null || paid(own, escrow)) return;
  send(turn, own, make(turn, own, { verb: 'fund', escrow, amount: BigInt(amount) }));
};
