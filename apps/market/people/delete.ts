// The end of an account. It waits as payouts do, so that a thief of one login cannot take it away:
// its person hears of it on every channel, and stops it. It leaves the row with its id and the
// day it was made, keys without names, swaps and RFQs with the addresses and amounts that the
// chains show too, how it kept its agreements in numbers, hashlocks for ever (a secret must never
// be used twice), and the replies kept under Idempotency-Keys for their day.

import { ParleyError } from '@parley/core/errors.ts';
import {
  emptyAccount,
  findAccount,
  lockTrader,
  openTradingOf,
  setAccountLeaving,
} from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { formerChannelsOf } from '../db/former-channels.ts';
import { revokeKeys } from '../db/keys.ts';
import { loginsOf } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { revokeSessions } from '../db/sessions.ts';
import type { Deps } from '../ports/deps.ts';
import { holdFrom } from './hold.ts';
import { formerOf } from './logins.ts';
import { lockLive, type Session } from './sessions.ts';

const askTheOperator =
  'this account is blocked, and is not deleted by itself: ask the operator of the market to erase it';

/** Throws `account_in_use` while anything of its trading is open, and `account_blocked`. */
export async function askDeletion(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  session: Session,
): Promise<{ readonly leavesAt: Date }> {
  const { accountId } = session;
  await lockLive(tx, deps, session);
  const at = new Date(deps.now());
  await mustBeOver(tx, accountId, at);
  const asked = (await findAccount(tx, accountId))?.leavesAt ?? null;
  if (asked !== null) return { leavesAt: asked };
  const leavesAt = holdFrom(deps);
  await setAccountLeaving(tx, accountId, leavesAt);
  const payload = { leavesAt: leavesAt.toISOString() };
  await insertOutbox(tx, [{ topic: 'account.deleted', accountId, payload, at }]);
  return { leavesAt };
}

async function mustBeOver(tx: Tx, accountId: string, at: Date): Promise<void> {
  // The next account of the same wallet would not be blocked (decision 0062).
  await lockTrader(tx, accountId, askTheOperator);
  const { swaps, rfqs } = await openTradingOf(tx, accountId, at);
  if (swaps + rfqs === 0) return;
  throw new ParleyError(
    'account_in_use',
    `${swaps} swaps and ${rfqs} orders or quotes of the account are open; settle the swaps, ` +
      'cancel the orders or let them expire, and delete it then',
    { swaps, rfqs },
  );
}

/** Its wait is over. It stays where something of it is open again, which its person hears. */
export async function endAccount(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  accountId: string,
): Promise<void> {
  const at = new Date(deps.now());
  try {
    await mustBeOver(tx, accountId, at);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    // Deleted by another process since.
    if (!(await setAccountLeaving(tx, accountId, null))) return;
    const payload = { account: true, why: error.code };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
    return;
  }
  const { leavesAt = null } = (await findAccount(tx, accountId)) ?? {};
  // Stopped meanwhile.
  if (leavesAt === null || leavesAt > at) return;
  const reached = (await loginsOf(tx, accountId)).map(formerOf).filter((each) => each !== null);
  const before = await formerChannelsOf(tx, [accountId], at);
  const former = [...reached, ...before.map(({ channel, to }) => ({ channel, to }))];
  await insertOutbox(tx, [{ topic: 'account.deleted', accountId, payload: { former }, at }]);
  await revokeKeys(tx, accountId, at);
  await revokeSessions(tx, accountId, null, at);
  await emptyAccount(tx, accountId, at);
}
