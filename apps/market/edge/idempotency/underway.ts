// Which commands run now under an Idempotency-Key: in this process a set, and for other processes
// an advisory lock of a session that lasts as long as the process, so that a crash leaves nothing
// behind. Only who is answered 409 hangs on it: that an effect happens once does not (once.ts).

import type { Database, Session } from '../../db/database.ts';
import { leaveSession, tryLockSession } from '../../db/idempotency.ts';
import { type Slot, slotName, slotNumber } from './replies.ts';

export type Underway = {
  /** False while the slot runs in this process. */
  enter(slot: Slot): boolean;
  /** Lets other processes know; false while the slot runs in one of them. */
  announce(slot: Slot): Promise<boolean>;
  leave(slot: Slot): void;
  close(): void;
};

export function createUnderway(db: Pick<Database, 'session'>): Underway {
  const entered = new Set<string>();
  const announced = new Map<string, Session>();
  let current: Session | null = null;
  let opening: Promise<Session> | null = null;

  function session(): Promise<Session> | Session {
    if (current !== null && !current.lost()) return current;
    opening ??= db
      .session()
      .then((fresh) => {
        current = fresh;
        return fresh;
      })
      .finally(() => {
        opening = null;
      });
    return opening;
  }

  return {
    enter(slot) {
      const name = slotName(slot);
      if (entered.has(name)) return false;
      entered.add(name);
      return true;
    },
    async announce(slot) {
      const own = await session();
      const free = await tryLockSession(own, slotNumber('announced', slot));
      if (free) announced.set(slotName(slot), own);
      return free;
    },
    leave(slot) {
      const name = slotName(slot);
      const own = announced.get(name);
      announced.delete(name);
      entered.delete(name);
      if (own === undefined) return;
      // Not waited for: the reply is stored, and is found before the lock is asked for.
      leaveSession(own, slotNumber('announced', slot)).catch(() => own.end());
    },
    close() {
      current?.end();
      opening?.then((fresh) => fresh.end()).catch(() => {});
    },
  };
}
