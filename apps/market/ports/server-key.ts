// Every process of a database holds the key that the others seal with. Otherwise it would start, and
// could read no secret of a webhook, stored reply or message of theirs.

import type { Tx } from '../db/database.ts';
import { takeServerKey } from '../db/server-key.ts';
import { type KeySettings, keyringOf } from './keyring.ts';

type Keyed = { readonly db: Tx; readonly settings: KeySettings };

/**
 * Before anything is sealed. The first start on a database decides. Throws where this process does
 * not hold the key of the process that started last.
 */
export async function mustHoldServerKey({ db, settings }: Keyed): Promise<void> {
  const { digests } = keyringOf(settings);
  if (await takeServerKey(db, digests[0], digests)) return;
  const own =
    settings.encryptionKey == null ? 'server.key in PARLEY_HOME' : 'PARLEY_ENCRYPTION_KEY';
  throw new Error(
    `${own}: values in this database are sealed with another key. Give all processes of a ` +
      'database the same PARLEY_ENCRYPTION_KEY, and name the former key beside a new one ' +
      '(docs/secure.md#the-servers-own-key)',
  );
}
