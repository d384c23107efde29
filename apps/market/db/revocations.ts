// The notices of revoked keys between server processes. The statements that revoke (keys.ts,
// sessions.ts) notify `key_revoked` with the account. A process that waits notifies it again, with a
// word of its own for this wait; each process that has dropped what it remembered of the account
// answers that word with `key_forgotten`.

import { list, none } from '@parley/host/postgres/statements.ts';
import type { Listener } from './database.ts';

// Any constants will do; they only have to differ from other users of advisory locks.
const lock = '7269552, 1';

const showListener = none('show_listener')`
  select pg_advisory_lock_shared(${lock})`;
const listenRevoked = none('listen_revoked')`
  listen key_revoked`;
const listenForgotten = none('listen_forgotten')`
  listen key_forgotten`;

/** From now on this connection hears of revocations, and others see that it does. */
export async function listenForRevocations(listener: Listener): Promise<void> {
  await showListener(listener);
  await listenRevoked(listener);
  await listenForgotten(listener);
}

/** From now on this connection is not waited for, though others may still hear on it. */
export const endListening = none('hide_listener')`
  select pg_advisory_unlock_shared(${lock})`;

/** Tells that whatever was remembered of the account is dropped. */
export const tellForgotten = none<[word: string]>('tell_forgotten')`
  select pg_notify('key_forgotten', $1 || ' ' || pg_backend_pid())`;

/** Has all processes drop what they remember of the account, and answer `word`. */
export const askForgotten = none<[accountId: string, word: string]>('ask_forgotten')`
  select pg_notify('key_revoked', $1::uuid || ' ' || $2)`;

/** The connections that hear of revocations, by what they sign `key_forgotten` with. */
export const findListeners = list<[], string>('find_listeners')`
  select pid::text from pg_locks
    where locktype = 'advisory' and (classid, objid, objsubid) = (${lock}, 2)
      and database = (select oid from pg_database where datname = current_database())
      and granted`;
