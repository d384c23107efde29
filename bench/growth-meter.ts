// How much tables and indexes grow by a request.

import type { Database } from '../server/db/database.ts';

const requests = 1_000;
const atOnce = 25;

/** Bytes of each of so many requests. */
export async function bytesOfEach(
  db: Database,
  work: (at: number) => Promise<unknown>,
): Promise<{ readonly each: number; readonly requests: number }> {
  const bytes = async () => {
    // What is free within a page is counted: an update leaves it behind.
    const [row] = await db.rows<{ bytes: string }>({
      name: 'bench_bytes',
      text: 'select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables',
      values: [],
    });
    return Number(row?.bytes);
  };
  const before = await bytes();
  for (let at = 0; at < requests; at += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, n) => work(at + n)));
  }
  return { each: ((await bytes()) - before) / requests, requests };
}

/** An Idempotency-Key as long as it may be. */
export function namedHeaders(at: number): Record<string, string> {
  return { 'idempotency-key': String(at).padStart(255, 'k') };
}
