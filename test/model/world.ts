// What one search is about: two chains with policies of a few ticks, who follows the rules, and
// what the others may do; and the worlds that are searched: every ordered pair of kinds of chain
// that a swap may have, either side following the rules, and both.

import { type Deadlines, deadlines as deadlinesOf } from '../../core/deadlines.ts';
import type { Family } from '../../core/families.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { Role } from '../../core/trade.ts';

/** A kind of chain, as far as the rules can tell chains apart. TRON is as EVM is, OP as Solana. */
export type Kind = 'evm' | 'bitcoin' | 'solana';

/**
 * `loss`: one side follows the rules against everybody else. `prompt`: both do, within `react` of
 * every step, while clocks drift. `last`: both do, as late as every deadline lets, by true clocks.
 */
export type Question = 'loss' | 'prompt' | 'last';

type Options = {
  readonly short: Kind;
  readonly long: Kind;
  readonly question: Question;
  /** Who follows the rules, in `loss`. */
  readonly honest: Role;
  /** Legs that may move off an escrow, as in `State.moved`. */
  readonly mayMove: number;
  /** Escrows that may get a payment which is too small, one bit each, as in `slots`. */
  readonly mayUnderpay: number;
  /** Ticks of every term of the formula. */
  readonly scale: number;
};

export type World = Options & {
  readonly name: string;
  readonly policies: { readonly short: ChainPolicy; readonly long: ChainPolicy };
  readonly families: { readonly short: Family; readonly long: Family };
  readonly deadlines: Deadlines;
  readonly timelocks: { readonly short: number; readonly long: number };
  readonly horizon: number;
};

/** Blocks that no reorganisation reaches: the model's chains are irreversible from the second. */
const depth = 2;

/** Every term of the formula takes its ticks, so that leaving one out is felt. */
function policyOf(kind: Kind, settleSeconds: number, scale: number): ChainPolicy {
  const normal = { confirmations: depth, settleSeconds, outageSeconds: scale };
  const drift = kind === 'solana' ? scale : 0;
  return {
    floorSeconds: 0,
    normal,
    high: normal,
    lateClaimSeconds: kind === 'evm' ? 0 : scale,
    driftSeconds: drift,
    windowSeconds: kind === 'solana' ? null : 0,
    reactSeconds: scale,
    signSeconds: scale,
    detectSeconds: scale,
  };
}

export function worldOf(options: Options): World {
  // Where nothing is faulty a chain takes its time, and there is no outage to fill.
  const { scale } = options;
  const settle = options.question === 'loss' ? scale : 2 * scale;
  const policy = (kind: Kind) => policyOf(kind, settle, scale);
  const short = policy(options.short);
  const long = policy(options.long);
  const timing = (each: ChainPolicy) => ({ policy: each, depth: each.normal });
  const deadlines = deadlinesOf(0, { a: timing(short), b: timing(long) }, 'b');
  const { a, b } = deadlines.refundAt;
  const who = options.question === 'loss' ? `${options.honest} against all` : options.question;
  const moves = ['', ', long leg moves', ', short leg moves', ', both legs move'][options.mayMove];
  const dust = options.mayUnderpay === 0 ? '' : ', small payments';
  return {
    ...options,
    name: `${options.short} short, ${options.long} long, ${who}${moves}${dust}`,
    policies: { short, long },
    families: { short: options.short, long: options.long },
    deadlines,
    timelocks: { short: a, long: b },
    horizon: Math.max(a, b) + long.lateClaimSeconds + 2,
  };
}

/** Short leg, long leg. Bitcoin is always the long one. */
const pairs: readonly (readonly [short: Kind, long: Kind])[] = [
  ['evm', 'evm'],
  ['evm', 'bitcoin'],
  ['evm', 'solana'],
  ['solana', 'evm'],
  ['solana', 'bitcoin'],
  ['solana', 'solana'],
];
const sides = ['initiator', 'counterparty'] as const;

type Extent = Pick<Options, 'mayMove' | 'mayUnderpay' | 'scale'>;

/** One side against all, at an extent. */
function losses(of: typeof pairs, extent: Extent): Options[] {
  return of.flatMap(([short, long]) =>
    sides.map((honest) => ({ ...extent, short, long, honest, question: 'loss' as const })),
  );
}

const plain = { mayMove: 0, mayUnderpay: 0, scale: 1 } as const;
/** Where no clock drifts: what an escrow that moved changes has nothing to do with clocks. */
const calm = pairs.filter(([short, long]) => short === 'evm' && long !== 'solana');

function both(scale: number): Options[] {
  return pairs.flatMap(([short, long]) =>
    (['prompt', 'last'] as const).map((question) => {
      return { ...plain, scale, short, long, question, honest: sides[0] };
    }),
  );
}

/** Two that take most of the time are left to the soak: two clocks that drift, and what moves. */
const most = pairs.slice(0, -1);
const rest = pairs.slice(-1);
const quick = calm.slice(0, 1);
const slow = calm.slice(1);
const moving = (of: typeof pairs): Options[] => [
  ...losses(of, { ...plain, mayMove: 1 }),
  ...losses(of, { ...plain, mayMove: 2 }),
  ...losses(of, { ...plain, mayUnderpay: 3 }),
];

/** Searched with every `npm test`. */
export const usual = [...losses(most, plain), ...moving(quick), ...both(1)].map(worldOf);

/** With `npm run soak -- model`: the others, both legs move, small payments, longer times. */
export const deep = [
  ...losses(rest, plain),
  ...moving(slow),
  ...losses(pairs, { ...plain, mayMove: 3 }),
  ...losses(calm, { ...plain, mayMove: 3, mayUnderpay: 15 }),
  ...losses(pairs, { ...plain, mayUnderpay: 3 }),
  ...losses(pairs, { ...plain, scale: 2 }),
  ...both(2),
].map(worldOf);
