// The values kept sealed under a former key of the server, sealed anew with the first key, so that
// the former one may be put away.

import type { Tx } from '../db/database.ts';
import type { NotUnder, SealedRow } from '../db/sealed-rows.ts';
import type { Deps } from './deps.ts';
import { keyringOf } from './keyring.ts';

type Rows<Id> = {
  readonly read: (
    tx: Tx,
    of: NotUnder<Id>,
  ) => Promise<readonly (SealedRow<Id> & { readonly version: number })[]>;
  readonly store: (tx: Tx, row: SealedRow<Id>, version: number) => Promise<void>;
  /** Below all their ids. */
  readonly before: Id;
  readonly atOnce: number;
};

/** Returns how many no key opens: they stay as they are. */
export async function sealAnew<Id>(
  deps: Pick<Deps, 'settings' | 'db'>,
  { read, store, before, atOnce }: Rows<Id>,
): Promise<number> {
  const keyring = keyringOf(deps.settings);
  const { version } = keyring.encrypt(new Uint8Array(1));
  let unread = 0;
  for (let last: Id | undefined = before; last !== undefined; ) {
    const after: Id = last;
    const rows = await deps.db.transaction(async (tx) => {
      const found = await read(tx, { version, after, limit: atOnce });
      for (const { id, sealed, version: former } of found) {
        const plain = keyring.decrypt(former, sealed);
        if (plain === null) unread += 1;
        else await store(tx, { id, sealed: keyring.encrypt(plain).sealed }, version);
      }
      return found;
    });
    last = rows.at(-1)?.id;
  }
  return unread;
}
