// Whether a funding that was taken on may still be sent: the gates of a funding are asked at each
// look, as whoever signed it would ask them before sending it.

import { ParleyError } from '../../core/errors.ts';
import { nothingSeen } from '../../core/facts.ts';
import { fundGate } from '../../core/gates.ts';
import type { SwapState } from '../../core/swap.ts';
import type { LegName } from '../../core/trade.ts';
import { readBothLegs, sourcesAgree } from '../settle/live.ts';
import type { On } from './tend.ts';

/** Throws what says nothing of the gates: a chain is away, or its nodes disagree. */
export async function isBarred({ deps, job, swap, signal }: On): Promise<boolean> {
  // What was signed for an escrow that the leg moved off is not sent any more.
  if (swap.state.legs[job.leg].escrow !== job.escrow) return true;
  const { state, clocks } = await readBothLegs(deps, swap, signal);
  try {
    fundGate(before(state, job.leg), job.leg, clocks);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return true;
  }
  await sourcesAgree(deps, swap, signal);
  return false;
}

/** As if this leg were not funded: what has funded it may be what is asked about. */
function before(state: SwapState, name: LegName): SwapState {
  const leg = { ...state.legs[name], facts: nothingSeen };
  return { ...state, legs: { ...state.legs, [name]: leg } };
}
