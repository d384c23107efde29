// Settings of a connection before its first statement, by SET and not at startup: a stock pooler
// refuses startup parameters that it does not know. Statements read and write the same, whatever
// the defaults of role and database are.

import type pg from 'pg';

export type SessionLimits = {
  /** A statement running longer is ended by the server; 0: never. */
  readonly statementMs: number;
  /** Waiting longer for somebody's lock ends a statement; else it waits as long as it may run. */
  readonly lockMs?: number;
  /** Every transaction is one that may only read. */
  readonly readOnly?: true;
};

// A prepared statement keeps the plan of its first runs. One that was made on empty tables, where it
// is cheapest to read a whole table, would read all of it ever after (64 quotes took 200 ms on
// 30 000 threads). With these a join looks each row up by an index. They do not stop an `exists` that
// is made a hash of its whole table, so each that names a row ends with `offset 0`.
const planner = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  jit: 'off',
};

/** How values are written, which the driver reads, and what SQL means. */
const meaning = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  idle_session_timeout: '0',
};

export function sessionSettings(
  name: string,
  { statementMs, lockMs = 0, readOnly }: SessionLimits,
): Readonly<Record<string, string>> {
  // Whole milliseconds.
  const within = String(Math.floor(statementMs));
  return {
    application_name: name,
    ...meaning,
    ...planner,
    default_transaction_read_only: readOnly ? 'on' : 'off',
    statement_timeout: within,
    lock_timeout: String(Math.floor(lockMs)),
    idle_in_transaction_session_timeout: within,
  };
}

/** The connection is not one session of PostgreSQL: its settings are gone, or another's. */
export class PoolerError extends Error {
  readonly how: PoolerFault;

  constructor(how: PoolerFault) {
    super(`the database is behind a pooler that ${poolerFaults[how]}; ${poolerTodo}`);
    this.name = 'PoolerError';
    this.how = how;
  }
}

const poolerTodo = 'name PostgreSQL itself, or a pooler in session mode (docs/database.md)';

type PoolerFault = keyof typeof poolerFaults;
const poolerFaults = {
  transaction: 'gives each transaction another session (transaction mode)',
  statement: 'gives each statement another session (statement mode)',
  reset: 'gives a session on without DISCARD ALL',
  silent: 'hands on no notifications',
};

/** Sets them, and reads them again. Throws PoolerError where they are not what they were. */
export async function setSession(
  client: pg.ClientBase,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const sets = Object.entries(settings).map(([name, to]) => `set ${name} to '${to}'`);
  // Since PostgreSQL 17.
  const newer = `select set_config('transaction_timeout', '0', false)
    where current_setting('transaction_timeout', true) is not null`;
  // Two looks at pg_settings, which has a row of every setting there is, were 2 ms of PostgreSQL.
  const each = Object.keys(settings).map((name) => `current_setting('${name}')`);
  const read = `select array[${each.join(', ')}]::text as settings`;
  const answers = await client.query([...sets, newer, read].join('; '));
  // One for each statement, which the type of `query` does not say.
  const first = (answers as unknown as pg.QueryResult<{ settings: string }>[]).at(-1)!;
  const later = await client.query<{ settings: string }>(read);
  if (later.rows[0]!.settings !== first.rows[0]!.settings) throw new PoolerError('transaction');
}
