// The rules with one thing wrong: what a search must find, and where it looks. Each alters a copy
// of the functions of core/ that the search is given; core/ itself is untouched.

import { type Deadlines, type LegTiming, lateClaim } from '../../core/deadlines.ts';
import type { Step } from '../../core/next.ts';
import type { Clocks, SwapState } from '../../core/swap.ts';
import { loss, unsettled } from './faults.ts';
import { refusedRefund } from './honest-moves.ts';
import { type Rules, realRules } from './rules.ts';
import type { Options } from './world.ts';

export type Mutation = {
  readonly name: string;
  readonly rules: Rules;
  readonly where: Options;
  readonly finds: string;
};

const base = { mayMove: 0, mayUnderpay: 0, scale: 1 } as const;
const drifts = { ...base, short: 'solana', long: 'solana' } as const;
const steady = { ...base, short: 'evm', long: 'evm' } as const;
const initiator = { ...drifts, question: 'loss', honest: 'initiator' } as const;
const counterparty = { ...drifts, question: 'loss', honest: 'counterparty' } as const;
const prompt = { ...drifts, question: 'prompt', honest: 'initiator' } as const;
const last = { ...steady, question: 'last', honest: 'initiator' } as const;

/** The terms of the formulas, by the policies of both legs. */
function termsOf(short: LegTiming, long: LegTiming) {
  const larger = (name: 'reactSeconds' | 'detectSeconds' | 'driftSeconds') =>
    Math.max(short.policy[name], long.policy[name]);
  return {
    react: larger('reactSeconds'),
    detect: larger('detectSeconds'),
    lead: larger('driftSeconds'),
    sign: short.policy.signSeconds,
    driftShort: short.policy.driftSeconds,
    driftLong: long.policy.driftSeconds,
    late: short.policy.lateClaimSeconds,
    trails: lateClaim(short) - short.policy.lateClaimSeconds,
    settleShort: short.depth.settleSeconds,
    settleLong: long.depth.settleSeconds,
    outageShort: short.depth.outageSeconds,
    outageLong: long.depth.outageSeconds,
  };
}

type Terms = ReturnType<typeof termsOf>;
type Line =
  | 'revealBy'
  | 'counterpartyFundBy'
  | 'initiatorFundBy'
  | 'expiresAt'
  | 'start'
  | 'T_long';

/** One line of the formula without one of its terms, the other lines as they are. */
function without(line: Line, term: keyof Terms): Rules {
  const shifted = (right: Deadlines, by: number): Deadlines => {
    const { a, b } = right.refundAt;
    switch (line) {
      case 'T_long':
        return { ...right, refundAt: { a, b: b - by } };
      case 'expiresAt':
        return { ...right, expiresAt: right.expiresAt - by };
      case 'start':
        // Less time before the first funding: everything after it comes that much sooner.
        return {
          initiatorFundBy: right.initiatorFundBy - by,
          expiresAt: right.expiresAt - by,
          counterpartyFundBy: right.counterpartyFundBy - by,
          revealBy: right.revealBy - by,
          refundAt: { a: a - by, b: b - by },
        };
      default:
        return { ...right, [line]: right[line] + by };
    }
  };
  return {
    ...realRules,
    deadlines: (agreedAt, legs, long) => {
      const right = realRules.deadlines(agreedAt, legs, long);
      return shifted(right, termsOf(legs.a, legs.b)[term]);
    },
  };
}

function lineMutations(): Mutation[] {
  const lines: readonly (readonly [Line, readonly (keyof Terms)[], Options, string])[] = [
    ['revealBy', ['settleShort', 'outageShort', 'sign', 'driftShort'], initiator, loss],
    [
      'T_long',
      ['trails', 'detect', 'late', 'react', 'settleLong', 'outageLong', 'driftLong'],
      counterparty,
      loss,
    ],
    ['counterpartyFundBy', ['settleShort', 'react'], last, unsettled],
    ['initiatorFundBy', ['settleLong', 'react'], last, unsettled],
    ['expiresAt', ['settleLong'], last, unsettled],
    ['start', ['react', 'lead'], prompt, unsettled],
  ];
  return lines.flatMap(([line, terms, where, finds]) =>
    terms.map((term) => ({
      name: `${line} without ${term}`,
      rules: without(line, term),
      where,
      finds,
    })),
  );
}

/** A gate that forgets that the secret is public. */
const asIfSecret: Rules['claimGate'] = (swap, name, clocks) =>
  realRules.claimGate({ ...swap, secret: null }, name, clocks);

/** The steps as they would be if the swap were another. */
const nextAs =
  (altered: (swap: SwapState, clocks: Clocks) => SwapState): Rules['nextSteps'] =>
  (swap, clocks) =>
    realRules.nextSteps(altered(swap, clocks), clocks);

const isRefunded = (swap: SwapState, leg: Step['leg']) =>
  leg !== null && swap.legs[leg].facts.refunded !== null;

const everLater = (swap: SwapState): SwapState => ({
  ...swap,
  deadlines: { ...swap.deadlines, revealBy: Number.MAX_SAFE_INTEGER },
});

const steps =
  (altered: (steps: Step[]) => Step[]): Rules['nextSteps'] =>
  (swap, clocks) =>
    altered(realRules.nextSteps(swap, clocks));

const notStrayed = (swap: SwapState): SwapState => ({
  ...swap,
  legs: { a: { ...swap.legs.a, strayed: false }, b: { ...swap.legs.b, strayed: false } },
});

const forgetsFormer: Rules['outcome'] = (before, look) =>
  realRules.outcome(before, {
    ...look,
    escrows: look.escrows.filter(({ leg, address }) => before.legs[leg].escrow === address),
  });

const longMoves = { ...initiator, ...steady, mayMove: 1 } as const;
const shortMoves = { ...counterparty, ...steady, mayMove: 2 } as const;

export const mutations: readonly Mutation[] = [
  ...lineMutations(),
  ...(
    [
      ['initiator', initiator],
      ['counterparty', counterparty],
    ] as const
  ).map(([who, where]) => ({
    name: `counting at depth 1 for the ${who}`,
    rules: {
      ...realRules,
      sighting: (txid, confirmations, depth) =>
        realRules.sighting(txid, confirmations, { ...depth, confirmations: 1 }),
    } satisfies Rules,
    where: { ...where, ...steady },
    finds: loss,
  })),
  ...(
    [
      ['initiator', longMoves],
      ['counterparty', shortMoves],
    ] as const
  ).map(([who, where]) => ({
    name: `former escrows forgotten by the record of the ${who}`,
    rules: { ...realRules, outcome: forgetsFormer },
    where,
    finds: loss,
  })),
  {
    name: 'money in a former escrow stops neither funding nor revealing',
    rules: {
      ...realRules,
      nextSteps: nextAs(notStrayed),
      fundGate: (swap, name, clocks) => realRules.fundGate(notStrayed(swap), name, clocks),
      claimGate: (swap, name, clocks) => realRules.claimGate(notStrayed(swap), name, clocks),
    },
    where: longMoves,
    finds: loss,
  },
  {
    name: 'a claim gate that refuses though the secret is public, the initiator by its time',
    rules: { ...realRules, claimGate: asIfSecret },
    where: initiator,
    finds: loss,
  },
  {
    name: 'a claim gate that refuses though the secret is public, the counterparty',
    rules: { ...realRules, claimGate: asIfSecret },
    where: shortMoves,
    finds: loss,
  },
  ...(
    [
      ['initiator', initiator],
      ['counterparty', counterparty],
    ] as const
  ).map(([who, where]) => ({
    name: `a claim that a waiting refund hides from the ${who}`,
    rules: {
      ...realRules,
      nextSteps: (swap, clocks) =>
        realRules
          .nextSteps(swap, clocks)
          .filter(({ action, leg }) => action !== 'claim' || !isRefunded(swap, leg)),
    } satisfies Rules,
    where,
    finds: loss,
  })),
  {
    name: 'a refund gate that opens one tick early',
    rules: {
      ...realRules,
      refundGate: (leg, timelock, clocks) => realRules.refundGate(leg, timelock - 1, clocks),
      nextSteps: (swap, clocks) =>
        realRules.nextSteps(swap, { ...clocks, a: clocks.a + 1, b: clocks.b + 1 }),
    },
    where: initiator,
    finds: refusedRefund,
  },
  {
    name: 'a secret revealed after revealBy',
    rules: {
      ...realRules,
      nextSteps: nextAs(everLater),
      claimGate: (swap, name, clocks) => realRules.claimGate(everLater(swap), name, clocks),
    },
    where: initiator,
    finds: loss,
  },
  {
    name: 'a secret forgotten when its transaction is gone',
    rules: {
      ...realRules,
      outcome: (before, look) => realRules.outcome({ ...before, secret: null }, look),
    },
    where: initiator,
    finds: loss,
  },
  {
    name: 'claims that are not offered once they were sent',
    rules: {
      ...realRules,
      nextSteps: steps((all) => all.filter(({ action }) => action !== 'claim')),
    },
    where: last,
    finds: unsettled,
  },
  {
    name: 'a refund that is not offered',
    rules: {
      ...realRules,
      nextSteps: steps((all) => all.filter(({ action }) => action !== 'refund')),
    },
    where: counterparty,
    finds: loss,
  },
];
