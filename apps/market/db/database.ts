// The one way to PostgreSQL. A statement is a named SQL text with its values; a `Tx` in the
// parameters of a function says that it runs inside somebody's transaction.

import type { Duplex } from 'node:stream';
import { literalOf } from '@parley/host/postgres/array-literal.ts';
import type { Statement, Tx } from '@parley/host/postgres/statements.ts';
import pg from 'pg';
import { type SessionLimits, sessionSettings, setSession } from './session.ts';
import { createUsage, type DatabaseUsage, type Metered } from './usage.ts';
import { sessionName } from './version.ts';

export type { Statement, Tx };

/** A transaction in which statements need not wait for each other's answers. */
export type PipelinedTx = Tx & {
  /** Sent together with the commit: answers no rows, and its failure is the transaction's. */
  readonly atCommit: Tx;
};

export type Database = Tx & {
  /** Runs `work` in one READ COMMITTED transaction; an exception rolls it back. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  /**
   * The same in fewer round trips: `begin` goes out with the first statements, which must only
   * read and lock, and the last ones with `commit`. Statements run in the order they are sent.
   */
  pipelined<Result>(work: (tx: PipelinedTx) => Promise<Result>): Promise<Result>;
  /** One of the connections, for what lasts as long as it does; `close` ends it too. */
  session(): Promise<Session>;
  /** A connection besides the others. */
  listen(ears: Ears): Promise<Listener>;
  close(): Promise<void>;
  /** The statements that this process runs; absent for a database that tests made. */
  readonly usage?: DatabaseUsage;
};

export type Session = Tx & {
  /** True once the connection is gone, and what it held with it. */
  lost(): boolean;
  end(): void;
};

type Ears = {
  heard(channel: string, payload: string): void;
  /** Once, when the connection is gone without `end`. */
  lost(): void;
};

/** `answeredAt`: the moment of its last answer, by `performance.now()`. */
export type Listener = Tx & { answeredAt(): number; end(): void };

type DatabaseLimits = SessionLimits & {
  readonly connections: number;
  /** Waiting longer for a free connection is an error. */
  readonly connectMs: number;
};

export const databaseLimits: DatabaseLimits = {
  connections: 10,
  statementMs: 10_000,
  connectMs: 5_000,
};

/**
 * A new connection costs thirty statements before its first. Passes of ten seconds that meet by
 * chance need a third one every minute or two.
 */
const idleMs = 180_000;

/** How much longer than the server's own limit an answer is waited for. */
const silentMs = 5_000;

// int8 columns hold Unix seconds, heights and counters, all far below 2^53.
const parsing = (parsers: ReadonlyMap<number, (text: string) => unknown>) =>
  ({
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
  }) as pg.CustomTypesConfig;
const { INT8, NUMERIC } = pg.types.builtins;
const types = parsing(new Map([[INT8, Number]]));
const moneyTypes = parsing(
  new Map<number, (text: string) => unknown>([
    [INT8, Number],
    [NUMERIC, BigInt],
  ]),
);

export function connect(url: string, limits: DatabaseLimits = databaseLimits): Database {
  // A reader breaks by no migration: the doctor may be of any version.
  const name = limits.readOnly ? 'parley-reading' : sessionName;
  const settings = sessionSettings(name, limits);
  const onConnect = (client: pg.ClientBase) => setSession(client, settings);
  const config = {
    connectionString: url,
    // The server ends a statement sooner; this ends one whose connection went silent.
    query_timeout: limits.statementMs + silentMs,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: idleMs,
    application_name: name,
    pipeline: true,
    types,
  };
  // It is waited for, which its type does not say.
  const waited = onConnect as (client: pg.ClientBase) => void;
  const pool = new pg.Pool({ ...config, max: limits.connections, onConnect: waited });
  // An idle connection that the server ended is replaced at the next use; unheard, the event
  // would end the process.
  pool.on('error', () => {});
  const usage = createUsage(pool);
  const on = { pool, usage };
  const sessions = new Set<Session>();
  return {
    usage,
    rows: (statement) => rowsOf(pool, statement, usage),
    transaction: (work) => inTransaction(on, work),
    pipelined: (work) => inPipeline(on, work),
    session: async () => {
      const client = await connectionOf(on);
      const session = sessionOn(client, usage, () => sessions.delete(session));
      sessions.add(session);
      return session;
    },
    listen: (ears) =>
      openListener({ ...config, query_timeout: limits.statementMs }, { ears, usage, onConnect }),
    close: () => {
      for (const session of sessions) session.end();
      return pool.end();
    },
  };
}

function sessionOn(client: pg.PoolClient, usage: Metered, ended: () => void): Session {
  let lost = false;
  const end = () => {
    if (lost) return;
    lost = true;
    ended();
    // Not given back: its locks end with it.
    client.release(true);
  };
  client.on('error', end);
  return { rows: (statement) => rowsOf(client, statement, usage), lost: () => lost, end };
}

async function rowsOf<Row>(
  client: pg.Pool | pg.ClientBase,
  statement: Statement,
  usage: Metered,
): Promise<Row[]> {
  const { name, text, values, hasMoney, isPlannedAnew, shape } = statement;
  const config: pg.QueryConfig & { rowMode?: 'array' } = {
    ...(isPlannedAnew ? {} : { name }),
    ...(shape && { rowMode: 'array' }),
    text,
    values: values.map(literalOf),
    types: hasMoney ? moneyTypes : types,
  };
  const began = performance.now();
  try {
    const { rows, fields } = await client.query(config);
    if (shape === undefined || rows.length === 0) return rows as Row[];
    return rows.map(shape(fields.map((field) => field.name))) as Row[];
  } catch (error) {
    const failure = withCode(error);
    usage.failed(failure);
    throw failure;
  } finally {
    usage.done(name, performance.now() - began);
  }
}

/** The texts by which pg reports that a connection is lost, or none is to be had. */
const lostWords =
  /^(Connection terminated|timeout exceeded when|Client (has enc|was closed)|Query read timeout)/;
/** connection_failure (PostgreSQL, appendix A). */
const lostCode = '08006';

/** The same error, with the code of a lost connection where that is what it is. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || 'code' in error || !lostWords.test(error.message)) return error;
  return Object.assign(new Error(error.message, { cause: error }), { code: lostCode });
}

type On = { readonly pool: pg.Pool; readonly usage: Metered };

function connectionOf({ pool, usage }: On): Promise<pg.PoolClient> {
  return pool.connect().catch((error: unknown) => {
    const failure = withCode(error);
    usage.failed(failure);
    throw failure;
  });
}

async function inTransaction<Result>(
  { pool, usage }: On,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return onConnection({ pool, usage }, async (client) => {
    await client.query('begin');
    const result = await work({ rows: (statement) => rowsOf(client, statement, usage) });
    await client.query('commit');
    return result;
  });
}

async function inPipeline<Result>(
  { pool, usage }: On,
  work: (tx: PipelinedTx) => Promise<Result>,
): Promise<Result> {
  return onConnection({ pool, usage }, async (client) => {
    const together = sentTogether(client);
    together();
    const begun = client.query('begin');
    const last: Statement[] = [];
    const atCommit: Tx = {
      rows: async (statement) => {
        last.push(statement);
        return [];
      },
    };
    const rows = async <Row>(statement: Statement): Promise<Row[]> => {
      const answer = rowsOf<Row>(client, statement, usage);
      // Without a transaction nothing that was read is worth anything.
      const [read] = await Promise.all([answer, begun]);
      return read;
    };
    const [result] = await Promise.all([work({ rows, atCommit }), begun]);
    // A failed statement makes PostgreSQL roll back at the commit behind it.
    together();
    const stored = last.map((each) => rowsOf(client, each, usage));
    await Promise.all([...stored, client.query('commit')]);
    return result;
  });
}

/** All that is sent from now to the end of this turn of the event loop goes out as one. */
function sentTogether(client: pg.PoolClient): () => void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
  const send = () => stream.uncork();
  return () => {
    stream.cork();
    process.nextTick(send);
  };
}

/** Rolls back when `work` fails. */
async function onConnection<Result>(
  on: On,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await connectionOf(on);
  let broken: Error | undefined;
  // The loss of a connection also fails what is under way on it; unheard, it would end the process.
  const lost = () => {};
  client.on('error', lost);
  try {
    return await work(client);
  } catch (error) {
    // A connection that cannot even roll back is thrown away.
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw withCode(error);
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

type Hearing = {
  readonly ears: Ears;
  readonly usage: Metered;
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
};

// PostgreSQL keeps what was notified for nobody: a listener that loses this connection has missed
// it.
/** Statements of it have a time limit. It does not keep the process from ending. */
async function openListener(
  config: pg.ClientConfig,
  { ears, usage, onConnect }: Hearing,
): Promise<Listener> {
  const client = new pg.Client({ ...config, keepAlive: true });
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    client.end().catch(() => {});
  };
  const lose = () => {
    if (over) return;
    end();
    ears.lost();
  };
  client.on('notification', ({ channel, payload = '' }) => ears.heard(channel, payload));
  // Until somebody listens to it, what is under way says that it is lost.
  client.on('error', () => {});
  try {
    await client.connect();
    await onConnect(client);
  } catch (error) {
    end();
    throw error;
  }
  client.on('error', lose);
  client.on('end', lose);
  (client as pg.Client & { unref(): void }).unref();
  let answeredAt = performance.now();
  const rows = async <Row>(statement: Statement): Promise<Row[]> => {
    const answer = await rowsOf<Row>(client, statement, usage);
    answeredAt = performance.now();
    return answer;
  };
  return { rows, answeredAt: () => answeredAt, end };
}

/** An answer proves that the connection is alive. */
export async function proveListener(listener: Listener): Promise<void> {
  await listener.rows({ name: 'prove_listener', text: 'select 1', values: [] });
}
