// What the contract owes to everybody, asked of every step of its model.

import {
  type Action,
  type Asset,
  type Contract,
  dealAt,
  escrowAt,
  firstOf,
  type Message,
  type State,
} from './lanes.ts';
import { act } from './verbs.ts';

/** Never open twice, and ended once at most. */
const lives = ['', 'o', 'oc', 'or', 'oe'];

/** Escrows that the action names. */
export function namedBy(action: Action): readonly number[] {
  if ('groups' in action) return action.groups.flatMap(({ escrows }) => escrows);
  if ('escrows' in action) return action.escrows;
  return 'escrow' in action ? [action.escrow] : [];
}

function isOfWord({ scene, places, cuts }: Contract, { words }: State, index: number): boolean {
  const word = words[places[index] as number];
  const { counter } = escrowAt(scene, index);
  return word?.state === 1 && word.cut === cuts[index] && word.counter === counter;
}

/** Amounts by the fates alone. */
function owed(contract: Contract, fates: readonly string[]): string {
  const { native, token } = firstOf(contract, false).held;
  const held: Record<Asset, Record<string, number>> = {
    native: { ...native },
    token: { ...token },
  };
  for (const [index, fate] of fates.entries()) {
    const { asset, amount, funder, payout } = dealAt(contract.scene, index);
    const of = held[asset];
    const holder = { '': funder, o: 'contract', oc: payout }[fate] ?? funder;
    of[funder] = (of[funder] ?? 0) - amount;
    of[holder] = (of[holder] ?? 0) + amount;
  }
  return JSON.stringify(held);
}

function ofState(contract: Contract, state: State): string | null {
  const { fates, held, words } = state;
  if (fates.some((fate) => !lives.includes(fate))) return 'an escrow opens once and ends once';
  const open = fates.flatMap((fate, index) => (fate === 'o' ? [index] : []));
  const isKept = open.every((index) => isOfWord(contract, state, index));
  const words_ = words.filter((word) => word.state === 1).length;
  if (!isKept || words_ !== open.length) return 'an open word stays until its escrow ends';
  if (JSON.stringify(held) !== owed(contract, fates)) return 'every coin is where its escrow says';
  for (const index of open) {
    const { timelock, secret } = dealAt(contract.scene, index);
    const calm = { ...state, isRefusing: false };
    const due = { ...calm, time: Math.max(state.time, timelock) };
    const back = act(contract, due, { verb: 'refund', escrow: index });
    if (back.state.fates[index] !== 'or') return 'an open escrow can be refunded';
    if (state.time >= timelock) continue;
    const paid = act(contract, calm, { verb: 'claim', escrow: index, secret });
    if (paid.state.fates[index] !== 'oc') return 'an open escrow can be claimed';
  }
  return null;
}

/** Whether this is the word of the party that must agree. */
function isOf(message: Message | undefined, wanted: Message): boolean {
  return JSON.stringify(message) === JSON.stringify(wanted);
}

/** Whether an opening was asked for by its funder, and by the payee where the lane is the payee's. */
function isAsked({ scene }: Contract, action: Action, index: number): boolean {
  const { funder, payout } = dealAt(scene, index);
  const given = 'message' in action ? scene.messages[action.message as number] : undefined;
  const isFunders =
    'sender' in action
      ? action.sender === funder
      : isOf(given, { type: 'authorization', escrow: index, signer: funder });
  const isOpen = isOf(given, { type: 'open', escrow: index, signer: payout });
  return isFunders && (!escrowAt(scene, index).isPayees || isOpen);
}

const promises = {
  o: "an escrow opens in time, by its funder, and by the payee where the lane is the payee's",
  c: 'a claim comes before the timelock, with the secret',
  r: 'a refund without the payee comes from the timelock on',
  e: 'an early refund has the consent of the payee',
} as const;
type Letter = keyof typeof promises;

/** The promise that this change of one escrow broke. */
function ofChange(
  contract: Contract,
  { time }: State,
  action: Action,
  index: number,
  letter: Letter,
) {
  const { scene } = contract;
  const { payout, fundBefore, timelock, secret } = dealAt(scene, index);
  const given = 'message' in action ? scene.messages[action.message as number] : undefined;
  const shown = 'secret' in action ? action.secret : undefined;
  const isConsent =
    ('sender' in action && action.sender === payout) ||
    isOf(given, { type: 'release', escrow: index, signer: payout });
  const isRight = {
    o: time < fundBefore && isAsked(contract, action, index),
    c: time < timelock && (shown ?? secret) === secret,
    r: time >= timelock,
    e: isConsent,
  }[letter];
  return isRight && namedBy(action).includes(index) ? null : promises[letter];
}

/** A batch leaves no leg that it could have settled. */
function ofBatch(contract: Contract, before: State, action: Action, after: State): string | null {
  if (action.verb !== 'claimMany' && action.verb !== 'refundMany') return null;
  const isClaim = action.verb === 'claimMany';
  for (const { asset, to, escrows } of action.groups) {
    const isTaken = !(asset === 'native' && to === 'payee' && before.isRefusing);
    if (!isTaken || action.isStarved === true) continue;
    for (const index of escrows) {
      const deal = dealAt(contract.scene, index);
      const isIts = deal.asset === asset && (isClaim ? deal.payout : deal.funder) === to;
      const isShown = !isClaim || (action.secret ?? deal.secret) === deal.secret;
      const isDue = before.time < deal.timelock === isClaim;
      const isLeft = before.fates[index] === 'o' && after.fates[index] === 'o';
      if (isIts && isShown && isDue && isLeft) return 'a batch settles what it can';
    }
  }
  return null;
}

/** The promise that a step broke, or null. */
export function faultOf(
  contract: Contract,
  before: State,
  action: Action,
  after: State,
): string | null {
  const left = ofBatch(contract, before, action, after);
  if (left !== null || before === after) return left;
  const isOfChain = action.verb !== 'reorganise';
  const changed = after.fates.flatMap((fate, index) =>
    fate === before.fates[index] ? [] : [index],
  );
  for (const index of isOfChain ? changed : []) {
    const fault = ofChange(contract, before, action, index, after.fates[index]?.at(-1) as Letter);
    if (fault !== null) return fault;
  }
  if (action.verb === 'fundMany' && changed.length !== action.escrows.length) {
    return 'many fundings happen together or not at all';
  }
  return ofState(contract, after);
}
