// Whether each connection is one session of PostgreSQL for as long as it lasts, found by what the
// other side does and not by what it is called. Locks that outlive a transaction, prepared
// statements, settings and notifications are the session's: behind a pooler that hands sessions
// round they are gone, or somebody else's, and only once there is traffic.

import pg from 'pg';
import { PoolerError, sessionSettings, setSession } from './session.ts';

/** A start looks for a pooler before its database: opening a connection, and its answer. */
const connectMs = 10_000;
const answerMs = 5_000;
/** Others that hold a session each, so that one which is handed round is not had again. */
const mostOthers = 3;
const channel = 'parley_probe';
const settings = sessionSettings('parley-probe', { statementMs: answerMs });
/** protocol_violation (PostgreSQL, appendix A): how statement mode refuses `begin`. */
const protocolCode = '08P01';

/** Throws PoolerError where they are not. `isReplica`: a replica notifies nobody. */
export async function mustKeepSessions(url: string, isReplica = false): Promise<void> {
  const all: pg.Client[] = [];
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      application_name: 'parley-probe',
    });
    client.on('error', () => {});
    all.push(client);
    await client.connect();
    await setSession(client, settings);
    return client;
  };
  try {
    const one = await open();
    const mark = `${process.pid}.${performance.now()}`;
    await one.query(`set parley.mark to '${mark}'`);
    const { pid } = await seen(one);
    for (let others = 0; others < mostOthers; others += 1) {
      const other = await openIfRoom(open);
      if (other === null) break;
      await begin(other);
      if ((await seen(other)).pid === pid) throw new PoolerError('transaction');
      const again = await seen(one);
      if (again.pid !== pid || again.mark !== mark) throw new PoolerError('transaction');
    }
    if (!isReplica) await mustHear(one);
    // Given up with all that it has, as that of a process that ends.
    await one.query(`prepare "${mark}" as select 1`);
    await one.query('select pg_advisory_lock_shared($1)', [process.pid]);
    await one.end();
    const next = await openIfRoom(open);
    if (next !== null && (await hasLeft(next, mark))) throw new PoolerError('reset');
  } finally {
    await Promise.all(all.map((client) => client.end().catch(() => {})));
  }
}

async function seen(client: pg.Client): Promise<{ pid: number; mark: string | null }> {
  const { rows } = await client.query<{ pid: number; mark: string | null }>(
    `select pg_backend_pid() as pid, current_setting('parley.mark', true) as mark`,
  );
  return rows[0]!;
}

/** A session before left a setting, a statement or a lock: RESET ALL takes the first alone. */
async function hasLeft(client: pg.Client, mark: string): Promise<boolean> {
  const { rows } = await client.query<{ left: boolean }>(
    `select coalesce(current_setting('parley.mark', true) = $1, false)
      or exists (select from pg_prepared_statements where name = $1)
      or exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())
      as left`,
    [mark],
  );
  return rows[0]!.left;
}

/** Null: the server or the pooler has no more of them, which is no fault of a session. */
async function openIfRoom(open: () => Promise<pg.Client>): Promise<pg.Client | null> {
  return open().catch((error: unknown) => {
    if (error instanceof PoolerError) throw error;
    return null;
  });
}

async function begin(client: pg.Client): Promise<void> {
  await client.query('begin').catch((error: { code?: string }) => {
    throw error.code === protocolCode ? new PoolerError('statement') : error;
  });
}

async function mustHear(client: pg.Client): Promise<void> {
  const heard = new Promise<boolean>((resolve) => {
    client.once('notification', () => resolve(true));
    setTimeout(resolve, answerMs, false).unref();
  });
  await client.query(`listen ${channel}`);
  await client.query(`notify ${channel}`);
  if (!(await heard)) throw new PoolerError('silent');
}
