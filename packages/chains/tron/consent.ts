// A payee's consent to a refund before the timelock, and the question to its code.

import { releasing } from '../escrows/releasing.ts';
import { eachSource } from '../nodes/sources.ts';
import { trialOf } from './energy.ts';
import { deploymentOf, releaseIn, releaseText, tronEscrow } from './plan.ts';
import type { Watch } from './watch.ts';

export const { consentOf, mustBeReleased } = releasing<Watch>({
  family: 'tron',
  plan: { escrowOf: tronEscrow, releaseText, releaseIn },
  answers: (watch, terms, question, signal) => {
    const { contract: from } = deploymentOf(watch, terms);
    const call = { from, to: terms.payout.address, data: question.slice(2), value: 0n };
    return eachSource(watch, watch.http, async (http) => {
      const { failure, output } = await trialOf({ ...watch, http }, call, signal);
      return failure === null ? output : null;
    });
  },
});
