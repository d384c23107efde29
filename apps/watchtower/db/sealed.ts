// Sealed values, to be sealed anew when the key that seals is replaced.

import { many, none } from '@parley/host/postgres/statements.ts';

const kept = {
  attempts: ['keeper_attempts', 'sealed', 'sealed_version'],
  jobs: ['keeper_jobs', 'secret', 'secret_version'],
} as const;
export const sealedKinds = Object.keys(kept) as (keyof typeof kept)[];

type Row = { readonly id: number; readonly sealed: Buffer };
type NotUnder = { readonly version: number; readonly after: number; readonly limit: number };

/** Reads what is sealed under another key than this one, waits for what is in use, and stores. */
export function sealedRows(kind: keyof typeof kept) {
  const [table, column, version] = kept[kind];
  return {
    read: many<[of: NotUnder], Row & { readonly version: number }>(`keeper_sealed_not_of_${kind}`)`
      select id, ${column} as sealed, ${version} as version from ${table}
        where ${column} is not null and ${version} <> :version and id > :after
        order by id limit :limit for update`,
    store: none<[row: Row, version: number]>(`keeper_reseal_${kind}`)`
      update ${table} set ${column} = :sealed, ${version} = $2 where id = :id`,
  };
}
