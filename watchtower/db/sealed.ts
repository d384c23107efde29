// What is kept sealed, to be sealed anew when the key that seals is replaced.

import type { Tx } from '../port.ts';

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
    read: (tx: Tx, of: NotUnder) =>
      tx.rows<Row & { readonly version: number }>({
        name: `keeper_sealed_not_of_${kind}`,
        text: `select id, ${column} as sealed, ${version} as version from ${table}
          where ${column} is not null and ${version} <> $1 and id > $2
          order by id limit $3 for update`,
        values: [of.version, of.after, of.limit],
      }),
    store: async (tx: Tx, { id, sealed }: Row, under: number) => {
      await tx.rows({
        name: `keeper_reseal_${kind}`,
        text: `update ${table} set ${column} = $2, ${version} = $3 where id = $1`,
        values: [id, sealed, under],
      });
    },
  };
}
