// The end of an account. What stays: the row with its id and the day it was made, keys without
// names, swaps and RFQs with the addresses and amounts that the chains show too, how it kept its
// agreements in numbers, hashlocks for ever (a secret must never be used twice), and the replies
// kept under Idempotency-Keys for their day.

import { ParleyError } from '../../core/errors.ts';
import { emptyAccount, lockTrader, openTradingOf } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { formerChannelsOf } from '../db/former-channels.ts';
import { revokeKeys } from '../db/keys.ts';
import { loginsOf } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { revokeSessions } from '../db/sessions.ts';
import type { Deps } from '../ports/deps.ts';
import { formerOf } from './logins.ts';
import { lockLive, type Session } from './sessions.ts';

const askTheOperator =
  'this account is blocked, and is not deleted by itself: ask the operator of the market to erase it';

/**
 * Throws `account_in_use` while anything of its trading is open, and `account_blocked`. Ends under
 * the session's id.
 */
export async function deleteAccount(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  session: Session,
): Promise<void> {
  const { accountId } = session;
  await lockLive(tx, deps, session);
  // The next account of the same wallet would not be blocked (docs/decisions/0062).
  await lockTrader(tx, accountId, askTheOperator);
  const at = new Date(deps.now());
  const { swaps, rfqs } = await openTradingOf(tx, accountId, at);
  if (swaps + rfqs > 0) {
    throw new ParleyError(
      'account_in_use',
      `${swaps} swaps and ${rfqs} orders or quotes of the account are open; settle the swaps, ` +
        'cancel the orders or let them expire, and delete it then',
      { swaps, rfqs },
    );
  }
  const reached = (await loginsOf(tx, accountId)).map(formerOf).filter((each) => each !== null);
  const before = await formerChannelsOf(tx, [accountId], at);
  const former = [...reached, ...before.map(({ channel, to }) => ({ channel, to }))];
  await insertOutbox(tx, [{ topic: 'account.deleted', accountId, payload: { former }, at }]);
  await revokeKeys(tx, accountId, session.id, at);
  await revokeSessions(tx, accountId, null, session.id, at);
  await emptyAccount(tx, accountId, at);
}
