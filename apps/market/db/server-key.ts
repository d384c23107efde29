// The statement about the server key: the database has the digest of the one that seals its values.

import { did } from '@parley/host/postgres/statements.ts';

/** `own` seals from now on; false, and nothing changes, where none of `held` sealed before. */
export const takeServerKey = did<[own: string, held: readonly string[]]>('server_key_take')`
  insert into server_key (digest) values ($1)
    on conflict (one) do update set digest = $1 where server_key.digest = any($2::text[])
    returning 1`;
