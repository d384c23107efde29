// Receivers' token accounts on Solana, whose rent the gas key pays and their owner keeps. Anybody
// could earn it by swaps with himself: a day has a number of them, of relays and claims together.

import type { GasWork } from '../chains/gas/account.ts';
import { within } from '../chains/nodes/time-limit.ts';
import { relaySums } from './db/sums.ts';
import { accountsShort, dayOf } from './spending.ts';
import type { On } from './step.ts';

/**
 * Whether signing this would make one that it may make, asked before a lease. Refunds make none:
 * their funder paid from one, and can send them. What a relay may make was counted at its request.
 */
export async function wantsAccount(on: On, work: GasWork): Promise<boolean> {
  const { gas, job, escrow, adapter, signal } = on;
  if (job.purpose === 'relay') return job.makesAccount;
  const { token } = escrow.terms;
  if (work.verb !== 'claim' || token === null || adapter.family !== 'solana') return false;
  const quote = await within(signal, job.chain, gas.account.quote(work, signal));
  return quote.makesAccount;
}

/** Whether there is room for one more of this day; under a lease nobody else takes it. */
export async function hasRoomForAccount({ deps, gas, job }: On): Promise<boolean> {
  if (job.purpose === 'relay') return true;
  const { id: except, chain, accountId } = job;
  const since = dayOf(deps.now());
  const sums = await relaySums(deps.db, { chain, since, accountId, except });
  // By its own part alone: what others have used up must not keep an absent receiver from its leg.
  return accountsShort(gas.relays, { ...sums, made: sums.ownMade }) === null;
}
