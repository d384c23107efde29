// Before a claim of a known secret is given up: on the word of one node of several it is not, as a
// party that has the secret takes the other leg. Asked as long as a claim may land by our own
// clock, so that nodes that never agree keep nothing for ever.

import { within } from '@parley/chains/nodes/time-limit.ts';
import { lateClaim } from '@parley/core/deadlines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { lookAgainSeconds } from './bounds.ts';
import { claimWasShown } from './db/attempts.ts';
import type { Decision, Look } from './decide.ts';
import type { On } from './step.ts';

/** The decision; or, where the chain's nodes disagree, to keep what there is and look again. */
export async function unlessDisputed(on: On, next: Decision, look: Look): Promise<Decision> {
  const { deps, job, escrow, adapter, signal } = on;
  const { policy } = adapter;
  const mayLandUntil = escrow.terms.timelock + lateClaim({ policy, depth: policy.high });
  if (look.wall >= mayLandUntil || !givesUp(next, look)) return next;
  if (!look.isPublic && !(await claimWasShown(deps.db, job.id))) return next;
  const asking = adapter.mustAgree?.(escrow, signal);
  try {
    if (asking !== undefined) await within(signal, job.chain, asking);
    return next;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'sources_disagree') throw error;
    const { chain, swapId, leg } = job;
    deps.log.warn({ chain, swapId, leg }, 'nodes disagree: a claim of the keeper is not given up');
    // Nodes may forget it meanwhile.
    if (next.do === 'void') return { do: 'send', attempt: next.attempt, reveals: false };
    // A node that is right takes it. One attempt is made: a claim that fails costs gas.
    if (look.isPublic && look.attempts.length === 0) {
      return { do: 'sign', instead: null, reveals: false };
    }
    return { do: 'wait', seconds: lookAgainSeconds };
  }
}

/** A transaction that gives way to a relay behind it was not promised, and is signed anew. */
function givesUp(next: Decision, look: Look): boolean {
  if (look.verb !== 'claim' || look.yields) return false;
  if (next.do === 'void') return next.attempt.verb === 'claim';
  if (next.do !== 'end') return false;
  // More than half of the nodes have said so of it.
  return !look.attempts.some(({ verb, outcome }) => verb === 'claim' && outcome === 'deep');
}
