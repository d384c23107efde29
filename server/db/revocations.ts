// What server processes tell one another of revoked keys. The statements that revoke (keys.ts)
// notify `key_revoked` with the account and a notice; each process that has dropped what it
// remembered of the account answers with `key_forgotten`.

import type { Tx } from './database.ts';
import type { Listener } from './listen.ts';

// Any constants will do; they only have to differ from other users of advisory locks.
const lockClass = 7_269_552;
const lockName = 1;

/** From now on this connection hears of revocations, and others see that it does. */
export async function listenForRevocations(listener: Listener): Promise<void> {
  await listener.rows({
    name: 'show_listener',
    text: 'select pg_advisory_lock_shared($1, $2)',
    values: [lockClass, lockName],
  });
  await listener.rows({ name: 'listen_revoked', text: 'listen key_revoked', values: [] });
  await listener.rows({ name: 'listen_forgotten', text: 'listen key_forgotten', values: [] });
}

/** From now on this connection is not waited for, though others may still hear on it. */
export async function endListening(listener: Listener): Promise<void> {
  await listener.rows({
    name: 'hide_listener',
    text: 'select pg_advisory_unlock_shared($1, $2)',
    values: [lockClass, lockName],
  });
}

/** Tells that whatever was remembered of the account is dropped. */
export async function tellForgotten(listener: Listener, notice: string): Promise<void> {
  await listener.rows({
    name: 'tell_forgotten',
    text: `select pg_notify('key_forgotten', $1 || ' ' || pg_backend_pid())`,
    values: [notice],
  });
}

/** The connections that hear of revocations, by what they sign `key_forgotten` with. */
export async function findListeners(tx: Tx): Promise<string[]> {
  const rows = await tx.rows<{ pid: string }>({
    name: 'find_listeners',
    text: `
      select pid::text from pg_locks
      where locktype = 'advisory' and classid = $1::oid and objid = $2::oid and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())
        and granted`,
    values: [lockClass, lockName],
  });
  return rows.map(({ pid }) => pid);
}
