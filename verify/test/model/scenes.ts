// Who trades what in which lanes, and everything that they can try in a state.

import type { Model } from './explore.ts';
import {
  type Action,
  type Asset,
  type Contract,
  type Deal,
  dealAt,
  type Escrow,
  escrowAt,
  firstOf,
  type Group,
  type Message,
  type Party,
  type Scene,
  type State,
} from './lanes.ts';
import { faultOf } from './promises.ts';
import { act } from './verbs.ts';

export type Play = {
  readonly name: string;
  readonly scene: Scene;
  /** Whether verbs of several escrows are tried too. */
  readonly hasMany: boolean;
  /** Whether messages come one by one, and the chain may go back to an earlier block once. */
  readonly isReorganised: boolean;
};

const deal = (
  secret: number,
  funder: Party,
  asset: Asset,
  amount: number,
  more: Partial<Deal> = {},
): Deal => ({
  secret,
  funder,
  payout: 'payee',
  asset,
  amount,
  fundBefore: 1,
  timelock: 2,
  ...more,
});

/** The same lane of each deal, under every counter. */
function escrowsIn(
  places: readonly Pick<Escrow, 'deal' | 'lane' | 'isPayees'>[],
  counters: readonly number[],
): Escrow[] {
  return places.flatMap((place) => counters.map((counter) => ({ ...place, counter })));
}
const own = (deal: number, lane = 0) => ({ deal, lane, isPayees: false });
const payees = (deal: number, lane = 0) => ({ deal, lane, isPayees: true });

const said = (type: Message['type'], escrow: number, signer: Party): Message => ({
  type,
  escrow,
  signer,
});

export const plays: readonly [lanes: Play, funders: Play, batches: Play] = [
  {
    name: 'a lane of the funder and one of the payee, messages one by one, a reorganisation',
    scene: {
      deals: [deal(0, 'ann', 'native', 3), deal(0, 'ann', 'native', 5)],
      escrows: escrowsIn([own(0), own(1), payees(0)], [1, 2]),
      messages: [said('release', 0, 'payee'), said('open', 4, 'payee'), said('release', 4, 'ann')],
      lastTime: 2,
    },
    hasMany: false,
    isReorganised: true,
  },
  {
    name: 'two funders in the lanes of one payee',
    scene: {
      deals: [
        deal(0, 'ann', 'native', 3),
        deal(1, 'ben', 'token', 5, { timelock: 3 }),
        deal(1, 'ben', 'token', 5, { payout: 'stranger', timelock: 3 }),
      ],
      escrows: escrowsIn([own(0), own(1), own(2), payees(0), payees(1)], [1, 2]),
      messages: [
        said('open', 6, 'payee'),
        said('open', 9, 'payee'),
        said('open', 8, 'ben'),
        said('release', 6, 'payee'),
        said('release', 2, 'payee'),
        said('release', 0, 'ann'),
        said('release', 9, 'ben'),
        said('authorization', 2, 'ben'),
        said('authorization', 2, 'ann'),
      ],
      lastTime: 3,
    },
    hasMany: false,
    isReorganised: false,
  },
  {
    name: 'batches in two assets for two receivers, and payments that fail',
    scene: {
      deals: [
        deal(0, 'ann', 'native', 3),
        deal(1, 'ann', 'native', 5, { timelock: 3 }),
        deal(2, 'ann', 'token', 7),
        deal(3, 'payee', 'native', 4, { payout: 'ben' }),
      ],
      escrows: escrowsIn([own(0), own(1, 1), own(2, 2), own(2, 3), own(3), payees(2)], [1]),
      messages: [],
      lastTime: 3,
    },
    hasMany: true,
    isReorganised: false,
  },
];

function fundings({ scene }: Contract, { signed }: State, escrow: number): Action[] {
  const { funder, asset, amount } = dealAt(scene, escrow);
  const value = asset === 'native' ? amount : 0;
  const messages = signed.flatMap((isSigned, message) => (isSigned ? [message] : []));
  const ofType = (type: Message['type']) =>
    messages.filter((each) => scene.messages[each]?.type === type);
  const consents = escrowAt(scene, escrow).isPayees
    ? [...ofType('open'), ...ofType('release')]
    : [];
  const authorizations = asset === 'token' ? ofType('authorization') : [];
  return [
    { verb: 'fund', escrow, sender: funder, value },
    { verb: 'fund', escrow, sender: funder, value: value + 1 },
    { verb: 'fund', escrow, sender: 'stranger', value },
    ...consents.map(
      (message): Action => ({ verb: 'fund', escrow, sender: funder, value, message }),
    ),
    ...authorizations.map((message): Action => ({ verb: 'fundAuthorized', escrow, message })),
  ];
}

function endings({ scene }: Contract, { signed }: State, escrow: number): Action[] {
  const { funder, payout, secret } = dealAt(scene, escrow);
  const messages = signed.flatMap((isSigned, message) => (isSigned ? [message] : []));
  const verb = 'refundEarly';
  return [
    { verb: 'claim', escrow, secret },
    { verb: 'claim', escrow, secret: secret + 1 },
    { verb: 'refund', escrow },
    { verb, escrow, sender: payout },
    { verb, escrow, sender: funder },
    ...messages.map((message): Action => ({ verb, escrow, sender: 'stranger', message })),
  ];
}

const groupOf = (
  scene: Scene,
  verb: 'claimMany' | 'refundMany',
  escrows: readonly number[],
): Group => {
  const { asset, payout, funder } = dealAt(scene, escrows[0] as number);
  return { asset, to: verb === 'claimMany' ? payout : funder, escrows };
};

function pairs({ scene }: Contract, one: number, other: number): Action[] {
  const paidBy = (escrow: number) => {
    const { asset, amount } = dealAt(scene, escrow);
    return asset === 'native' ? amount : 0;
  };
  const sender = dealAt(scene, one).funder;
  const value = paidBy(one) + paidBy(other);
  const escrows = [one, other];
  const inOrder = (['claimMany', 'refundMany'] as const).flatMap((verb): Action[] => [
    { verb, groups: [groupOf(scene, verb, escrows)] },
    { verb, groups: [groupOf(scene, verb, [one]), groupOf(scene, verb, [other])] },
  ]);
  const all: Action[] = [...inOrder, { verb: 'fundMany', escrows, sender, value }];
  // Their order is of no matter to these.
  if (one > other) return all;
  const less = [...new Set([paidBy(one), paidBy(other)])].filter((part) => part !== value);
  return [
    ...all,
    ...less.map((part): Action => ({ verb: 'fundMany', escrows, sender, value: part })),
    { verb: 'fundMany', escrows, sender: 'stranger', value },
    ...(['claimMany', 'refundMany'] as const).map((verb): Action => {
      return { verb, groups: [groupOf(scene, verb, escrows)], isStarved: true };
    }),
    { verb: 'claimMany', groups: [groupOf(scene, 'claimMany', escrows)], secret: 99 },
  ];
}

/** Calls of the contract, whatever its state is. */
function callsOf({ scene, hasMany }: Play, contract: Contract, state: State): Action[] {
  const all = scene.escrows.map((_, index) => index);
  const each = all.flatMap((escrow) => [
    ...fundings(contract, state, escrow),
    ...endings(contract, state, escrow),
  ]);
  if (!hasMany) return each;
  return [...all.flatMap((one) => all.flatMap((other) => pairs(contract, one, other))), ...each];
}

/** What happens around the contract. */
function eventsOf({ scene, hasMany, isReorganised }: Play, state: State): Action[] {
  const events: Action[] = hasMany ? [{ verb: 'refuse' }] : [];
  if (state.time < scene.lastTime) events.push({ verb: 'wait' });
  if (!isReorganised) return events;
  const canMark = state.marked === null && !state.isReorganised;
  if (canMark) events.push({ verb: 'mark' });
  if (state.marked !== null) events.push({ verb: 'reorganise' });
  const unsigned = state.signed.flatMap((isSigned, message) => (isSigned ? [] : [message]));
  return [...events, ...unsigned.map((message): Action => ({ verb: 'sign', message }))];
}

/** One text for one state. A step that moves other amounts than its escrows say is a fault before. */
function textOf(state: State): string {
  const { time, isRefusing, words, fates, signed, marked, isReorganised } = state;
  const flags = [time, isRefusing, isReorganised, ...signed].map(Number).join('');
  const held = words.map(({ counter, state, cut }) => `${counter}${state}${cut}`);
  return `${flags} ${held} ${fates} ${marked === null ? '' : textOf(marked)}`;
}

/** The play with the contract whole, or with a rule broken. */
export function modelOf(play: Play, contract: Contract): Model<State, Action> {
  // They depend on the messages that are there, and on nothing else.
  const calls = new Map<string, readonly Action[]>();
  const callsIn = (state: State) => {
    const key = state.signed.join();
    const known = calls.get(key) ?? callsOf(play, contract, state);
    calls.set(key, known);
    return known;
  };
  return {
    first: firstOf(contract, !play.isReorganised),
    actions: (state) => [...eventsOf(play, state), ...callsIn(state)],
    step: (state, action) => act(contract, state, action).state,
    keyOf: textOf,
    faultOf: (before, action, after) => faultOf(contract, before, action, after),
  };
}
