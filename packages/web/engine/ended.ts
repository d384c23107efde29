// The record of a swap that has ended: enough to display it as the chains showed it last. Pure.

import type { LegName } from '@parley/core/trade.ts';
import type { Outcome } from '@parley/sdk/settle.ts';
import { readKept } from '@parley/sdk/stores/store.ts';
import type { SwapView } from './types.ts';
import { type LegShown, type Told, viewOf } from './view.ts';

export type Ended = {
  readonly outcome: Outcome;
  readonly told: Omit<Told, 'shown' | 'history'>;
  /** Absent in what a former build has kept. */
  readonly legs?: readonly (readonly [LegName, LegShown])[];
};

export function endedOf(outcome: Outcome, { shown, history: _, ...told }: Told): Ended {
  const legs = [...(shown?.legs ?? [])].map(([name, { leg, clock }]) => {
    return [name, { leg: { facts: leg.facts }, clock }] as const;
  });
  return { outcome, told: { ...told, phase: 'ended', end: outcome }, legs };
}

export function endedView(text: string, history: Told['history']): SwapView {
  const { outcome, told, legs = [] } = readKept<Ended>(text);
  const shown = { legs: new Map(legs) };
  return viewOf({ ...told, history, shown, end: outcome, phase: 'ended' }, 0);
}
