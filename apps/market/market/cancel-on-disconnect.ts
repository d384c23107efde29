// Cancel on disconnect: a maker's connection says for how long it may be gone. When all that said
// so are gone for that long, the account's open quotes and levels are withdrawn, by any process. A
// commitment of the maker stays, and is checked again until it does not bind. A maker that comes
// back later finds it done.

import type { Database } from '../db/database.ts';
import {
  type Armed,
  dropFired,
  dueAccounts,
  fireSwitches,
  holdFired,
  insertSwitch,
  lockSwitches,
  markLost,
  nextLook,
  postponeFired,
  type Switch,
} from '../db/feed-switches.ts';
import { deleteLevels } from '../db/levels.ts';
import type { Deps } from '../ports/deps.ts';
import { type Some, type Withdrawn, withdrawSome } from './withdrawals.ts';

/** The beat of a process that has such connections. */
export const beatMs = 1_000;
/** A process silent for so long is dead, with its connections. */
export const lostMs = 3_000;
/** Threads in one transaction: some 10 ms of work, for which their RFQs stay locked. */
const batch = 100;
/** Accounts in one pass. */
const mostDue = 100;
/** Somebody else goes on with what a process left half done. */
const leaseMs = 10_000;
/** Until a quote that binds its maker is looked at again. */
const committedMs = 60_000;

type Needs = Pick<Deps, 'settings' | 'now' | 'log'> & { readonly db: Database };

/** The connection counts; first what is overdue of its account is withdrawn. */
export async function arm(deps: Needs, armed: Armed): Promise<void> {
  const { accountId } = armed;
  const isBack = await deps.db.transaction(async (tx) => {
    const all = await lockSwitches(tx, accountId);
    // Its own may have fired too: taken for lost although it was not.
    if (all.some(({ fired }) => fired) || isDue(all.filter(({ id }) => id !== armed.id))) {
      await fireSwitches(tx, accountId, leaseMs);
      return false;
    }
    await insertSwitch(tx, armed);
    return true;
  });
  if (isBack) return;
  await withdrawFired(deps, accountId);
  // A switch that had fired is dropped in the same statement: no process goes on withdrawing from
  // then on.
  await insertSwitch(deps.db, armed);
}

const isDue = (switches: readonly Switch[]) =>
  switches.length > 0 && switches.every(({ isOver }) => isOver);

/**
 * Withdraws what is due. `mayJudge`: also says which processes are dead. Returns after how many
 * milliseconds to look again; null = nobody has such a connection.
 */
export async function withdrawDue(deps: Needs, mayJudge: boolean): Promise<number | null> {
  if (mayJudge) await markLost(deps.db, lostMs, beatMs);
  const nextMs = await nextLook(deps.db, beatMs);
  if (nextMs === null || nextMs > 0) return nextMs;
  for (const accountId of await dueAccounts(deps.db, mostDue)) {
    await fire(deps, accountId).catch((error: unknown) => {
      deps.log.warn({ err: error, accountId }, 'quotes of a maker that is gone were not withdrawn');
    });
  }
  return nextLook(deps.db, beatMs);
}

async function fire(deps: Needs, accountId: string): Promise<void> {
  const fires = await deps.db.transaction(async (tx) => {
    if (!isDue(await lockSwitches(tx, accountId))) return false;
    await fireSwitches(tx, accountId, leaseMs);
    return true;
  });
  if (!fires) return;
  const { committed } = await withdrawFired(deps, accountId);
  if (committed === 0) await dropFired(deps.db, accountId);
  else await postponeFired(deps.db, accountId, committedMs);
}

/** In transactions of their own, as long as the maker is not back. */
async function withdrawFired(deps: Needs, makerId: string): Promise<Withdrawn> {
  // First: takers must not ask for a price that is gone.
  await deps.db.transaction(async (tx) => {
    if (await holdFired(tx, makerId)) await deleteLevels(tx, makerId, new Date(deps.now()));
  });
  let withdrawn = 0;
  let committed = 0;
  let after: string | null = null;
  do {
    const of = { makerId, after, limit: batch };
    const done: Some = await deps.db.transaction(async (tx) => {
      if (!(await holdFired(tx, makerId))) return { withdrawn: 0, committed: 0, next: null };
      return withdrawSome(tx, deps, 'disconnected', of);
    });
    withdrawn += done.withdrawn;
    committed += done.committed;
    after = done.next;
  } while (after !== null);
  const done = { withdrawn, committed };
  if (withdrawn > 0) {
    deps.log.info({ accountId: makerId, ...done }, 'quotes of a maker that is gone were withdrawn');
  }
  return done;
}
