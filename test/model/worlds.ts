// The worlds that are searched: every ordered pair of kinds of chain that a swap may have, either
// side following the rules, and both.

import type { Kind, Options } from './world.ts';

/** Short leg, long leg. Bitcoin is always the long one. */
export const pairs: readonly (readonly [short: Kind, long: Kind])[] = [
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

/** Searched with every `npm test`. */
export const usualLosses: readonly Options[] = [
  ...losses(pairs, plain),
  ...losses(calm, { ...plain, mayMove: 1 }),
  ...losses(calm, { ...plain, mayMove: 2 }),
  ...losses(calm, { ...plain, mayUnderpay: 3 }),
];

/** Searched with `npm run soak`: both legs move, small payments anywhere, longer times. */
export const deepLosses: readonly Options[] = [
  ...losses(pairs, { ...plain, mayMove: 3 }),
  ...losses(calm, { ...plain, mayMove: 3, mayUnderpay: 15 }),
  ...losses(pairs, { ...plain, mayUnderpay: 3 }),
  ...losses(pairs, { ...plain, scale: 2 }),
];

function both(scales: readonly number[]): Options[] {
  return pairs.flatMap(([short, long]) =>
    (['prompt', 'last'] as const).flatMap((question) =>
      scales.map((scale) => ({ ...plain, scale, short, long, question, honest: sides[0] })),
    ),
  );
}

export const usualSettlements: readonly Options[] = both([1]);
export const deepSettlements: readonly Options[] = both([2]);
