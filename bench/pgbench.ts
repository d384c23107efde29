// pgbench, the peer of durable quotes: one row like a thread a transaction, each committed to disk.
// It comes with Debian's package postgresql; the embedded PostgreSQL brings none.

import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Database } from '@parley/market/db/database.ts';
import { isMiniature } from './miniature.ts';
import { perSecond } from './report.ts';

const run = promisify(execFile);

/** Seconds beside those that are counted. */
const mostMore = 16;

export type Pgbench = {
  /** Transactions a second over `seconds`. */
  inserts(concurrency: number, seconds: number): Promise<number>;
  stop(): Promise<void>;
};

/**
 * Inserts into a table with the columns, indexes and constraints of `threads`, its reference to
 * the RFQ too: every row on one of the book's RFQs, by a maker of its own. `rfqIdHead` is what
 * the ids of RFQs 1 to `rfqs` begin with; 12 hex digits follow.
 */
export async function openPgbench(
  { url, db }: { readonly url: string; readonly db: Database },
  book: { readonly rfqIdHead: string; readonly rfqs: number },
  takerId: string,
): Promise<Pgbench> {
  const program = isMiniature ? '' : await findPgbench();
  await db.rows({
    name: 'bench_like_threads',
    text: `create table bench_threads
      (like threads including all, foreign key (rfq_id) references rfqs (id))`,
    values: [],
  });
  const folder = await mkdtemp(join(tmpdir(), 'parley-pgbench-'));
  const script = join(folder, 'insert.sql');
  // The moment of the message without colons, which would name variables here.
  const message = '[{"by":"maker","quoteAmount":"65000000","at":"2026-01-01T00h00m00.000Z"}]';
  const insert = `insert into bench_threads (id, rfq_id, maker_id, taker_id, status, quote_amount, proposed_by,
  messages, created_at, updated_at)
values (uuidv7(), ('${book.rfqIdHead}' || lpad(to_hex(:rfq::int), 12, '0'))::uuid,
  gen_random_uuid(), '${takerId}', 'open', 65000000, 'maker', '${message}', now(), now());
`;
  await writeFile(script, `\\set rfq random(1, ${book.rfqs})\n${insert}`);
  // Connecting takes its part of the time, and the first transaction of each connection reads the
  // catalog: the first second is not counted, and a busy machine is given longer.
  const inserts = async (concurrency: number, seconds: number, more = 2): Promise<number> => {
    if (isMiniature) {
      const text = insert.replace(':rfq', '1');
      return perSecond(1, seconds, () => db.rows({ name: 'bench_insert', text, values: [] }));
    }
    const wanted = Math.ceil(seconds);
    const how = ['--no-vacuum', '--protocol=prepared', '--progress=1', `--client=${concurrency}`];
    const args = [...how, '--jobs=2', `--time=${wanted + more}`, `--file=${script}`, url];
    const { stderr } = await run(program, args, { timeout: (wanted + more + 60) * 1_000 });
    const told = [...stderr.matchAll(/^progress: [\d.]+ s, ([\d.]+) tps/gm)];
    const rates = told.slice(1, wanted + 1).map(([, rate]) => Number(rate));
    if (rates.length === wanted) return rates.reduce((sum, rate) => sum + rate) / wanted;
    if (more > mostMore) throw new Error(`pgbench said: ${stderr}`);
    return inserts(concurrency, seconds, 2 * more);
  };
  return {
    inserts,
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** On PATH, else where Debian puts the newest. Throws with how to get it. */
async function findPgbench(): Promise<string> {
  const installed = globSync('/usr/lib/postgresql/*/bin/pgbench').sort();
  for (const program of ['pgbench', ...installed.reverse()]) {
    const runs = await run(program, ['--version']).then(
      () => true,
      () => false,
    );
    if (runs) return program;
  }
  throw new Error('pgbench is needed to measure quotes against: apt-get install postgresql');
}
