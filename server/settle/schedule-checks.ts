// Checks of signed refunds, so that nobody's is in the way of all the rest: one at a time of an
// account, and of all of them together one step in a turn of the event loop.

import { setImmediate as turn } from 'node:timers/promises';

export type ScheduleChecks = {
  /** Null while another of this account is under way in this process. */
  alone<R>(accountId: string, work: (pause: () => Promise<void>) => Promise<R>): Promise<R> | null;
};

export function createScheduleChecks(nextTurn: () => Promise<void> = () => turn()): ScheduleChecks {
  const busy = new Set<string>();
  let last = Promise.resolve();
  const pause = () => {
    last = last.then(nextTurn);
    return last;
  };
  return {
    alone: (accountId, work) => {
      if (busy.has(accountId)) return null;
      busy.add(accountId);
      return work(pause).finally(() => busy.delete(accountId));
    },
  };
}
