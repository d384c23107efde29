// Swaps as rows of a list, in the order of the engine. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { SwapView } from '../../engine/types.ts';
import type { Listed } from '../../parts/labels.ts';
import { text } from '../../texts/texts.ts';
import { amountsOf, shown } from './shown.ts';

export type SwapRow = {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly deadline: UnixSeconds | null;
  readonly isOpen: boolean;
};

export function swapRows(
  swaps: readonly SwapView[],
  now: UnixSeconds,
  listed: readonly Listed[],
): SwapRow[] {
  return swaps.map((swap) => {
    const seen = { swap, now, payments: [] };
    const { title, clock } = shown(seen, listed);
    const { gives, gets } = amountsOf(seen, listed);
    return {
      id: swap.id,
      name: text('swaps.give_get', { gives, gets }),
      status: title,
      deadline: clock?.at ?? null,
      isOpen: swap.phase !== 'ended',
    };
  });
}
