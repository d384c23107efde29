// Whether a funding that was taken on may still be sent: the gates of a funding are asked at each
// look, as whoever signed it would ask them before sending it.

import { ParleyError } from '../../core/errors.ts';
import { isUnknown, nothingSeen } from '../../core/facts.ts';
import { fundGate } from '../../core/gates.ts';
import type { SwapState } from '../../core/swap.ts';
import type { LegName } from '../../core/trade.ts';
import { realTime } from '../ports/signing-time.ts';
import { readBothLegs, sourcesAgree } from '../settle/live.ts';
import { gatesMs } from './bounds.ts';
import type { On } from './tend.ts';

/** Null: a chain is away, or its nodes disagree. That takes no more than a part of the look. */
export async function barredNow(on: On): Promise<boolean | null> {
  const { deps, job, signal } = on;
  const { limit } = deps.signingTime ?? realTime;
  try {
    return await isBarred({ ...on, signal: AbortSignal.any([signal, limit(gatesMs)]) });
  } catch (error) {
    if (signal.aborted || !(error instanceof ParleyError)) throw error;
    const { chain, swapId, leg } = job;
    const facts = { chain, swapId, leg, failure: error.code };
    deps.log.warn(facts, 'the gates of a funding cannot be asked');
    return null;
  }
}

async function isBarred({ deps, job, swap, signal }: On): Promise<boolean> {
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

/**
 * As if this leg were not funded: what has funded it may be what is asked about. What nobody can
 * tell of it stays so, as it may have been funded and have ended.
 */
function before(state: SwapState, name: LegName): SwapState {
  const { facts } = state.legs[name];
  const leg = { ...state.legs[name], facts: isUnknown(facts) ? facts : nothingSeen };
  return { ...state, legs: { ...state.legs, [name]: leg } };
}
