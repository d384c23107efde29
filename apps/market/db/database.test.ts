// The two kinds of transaction on a real PostgreSQL: all of it or nothing, also when the last
// statements go out together with the commit.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { connect, databaseLimits, type Statement, type Tx } from './database.ts';

let database: TestDatabase;

before(async () => {
  database = await testDatabase();
  await database.db.rows(sql('create table marks (mark integer primary key)'));
});
after(() => database.drop());

function sql(text: string, ...values: unknown[]): Statement {
  return { name: `test ${text}`.slice(0, 60), text, values };
}

const insert = (tx: Tx, mark: number) => tx.rows(sql('insert into marks values ($1)', mark));

async function marks(tx: Tx = database.db): Promise<number[]> {
  const rows = await tx.rows<{ mark: number }>(sql('select mark from marks order by mark'));
  return rows.map(({ mark }) => mark);
}

async function emptied(): Promise<void> {
  await database.db.rows(sql('truncate marks'));
}

test('a row sent with the commit is there after it, and not before', async () => {
  await emptied();
  const seen = await database.db.pipelined(async (tx) => {
    await insert(tx.atCommit, 1);
    return marks(tx);
  });
  assert.deepEqual(seen, []);
  assert.deepEqual(await marks(), [1]);
});

test('statements of a pipeline run in order, inside one transaction', async () => {
  await emptied();
  const ids = await database.db.pipelined((tx) =>
    Promise.all(
      [1, 2, 3].map(async () => {
        const [row] = await tx.rows<{ id: string; started: Date }>(
          sql('select pg_current_xact_id()::text as id, transaction_timestamp() as started'),
        );
        return row!.id;
      }),
    ),
  );
  assert.equal(new Set(ids).size, 1);
});

test('a statement that fails at the commit undoes the others, and the next one is unharmed', async () => {
  await emptied();
  const failing = database.db.pipelined(async (tx) => {
    await insert(tx.atCommit, 1);
    await insert(tx.atCommit, 1);
    await insert(tx.atCommit, 2);
  });
  await assert.rejects(failing, { code: '23505' });
  assert.deepEqual(await marks(), []);
  await Promise.all(
    [3, 4, 5].map((mark) => database.db.pipelined((tx) => insert(tx.atCommit, mark))),
  );
  assert.deepEqual(await marks(), [3, 4, 5]);
});

test('a read that fails, and work that throws, leave nothing behind', async () => {
  await emptied();
  const failing = database.db.pipelined(async (tx) => {
    await insert(tx.atCommit, 1);
    await Promise.all([tx.rows(sql('select 1 / 0')), marks(tx)]);
  });
  await assert.rejects(failing, { code: '22012' });
  const throwing = database.db.pipelined(async (tx) => {
    await marks(tx);
    await insert(tx.atCommit, 1);
    throw new Error('changed its mind');
  });
  await assert.rejects(throwing, /changed its mind/);
  assert.deepEqual(await marks(), []);
});

test('a lock taken in a pipeline holds until its commit', async () => {
  await emptied();
  await insert(database.db, 1);
  const lock = sql('select mark from marks for update skip locked');
  const [inside, outside] = await database.db.pipelined(async (tx) => [
    await tx.rows(lock),
    await database.db.rows(lock),
  ]);
  assert.deepEqual([inside!.length, outside!.length], [1, 0]);
  assert.equal((await database.db.rows(lock)).length, 1);
});

test('a connection lost in a transaction of either kind fails it alone', async () => {
  await emptied();
  const losing = async (tx: Tx) => {
    await insert(tx, 1);
    await tx.rows(sql('select pg_terminate_backend(pg_backend_pid())'));
  };
  await assert.rejects(database.db.transaction(losing));
  await assert.rejects(database.db.pipelined(losing));
  assert.deepEqual(await marks(), []);
});

const isLost = (error: unknown) =>
  /^(08006|ECONNRESET|ECONNREFUSED|EPIPE)$/.test((error as { code?: string }).code ?? 'none');

test('a connection that is cut, and one that cannot be had, fail with the code of a lost one', async (t) => {
  const cut = await cutter(database.url);
  const db = connect(cut.url, { ...databaseLimits, connections: 1 });
  try {
    for (const begin of [
      (long: Statement) => db.rows(long),
      (long: Statement) => db.transaction((tx) => tx.rows(long)),
      (long: Statement) => db.pipelined((tx) => tx.rows(long)),
    ]) {
      const long = sleeping();
      const running = assert.rejects(begin(long), isLost);
      await untilRuns(long);
      cut.cut();
      await running;
    }
    // One is busy and there may be no other: a wait that ends.
    const long = sleeping();
    const busy = assert.rejects(db.rows(long), isLost);
    await untilRuns(long);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const waiting = [
      assert.rejects(db.rows(sql('select 1')), isLost),
      assert.rejects(db.session(), isLost),
    ];
    t.mock.timers.tick(databaseLimits.connectMs);
    await Promise.all(waiting);
    t.mock.timers.reset();
    cut.cut();
    await busy;
  } finally {
    await db.close();
    await cut.stop();
  }
});

test('a connection that goes silent fails with the code of a lost one, within a limit', async (t) => {
  const line = await cutter(database.url);
  // A timer of before would not be cleared, and keep this process for as long as a connection idles.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const db = connect(line.url, { ...databaseLimits, connections: 1 });
  try {
    await db.rows(sql('select 1'));
    line.silence();
    const asked = assert.rejects(db.rows(sql('select 1')), isLost);
    // It is sent in a later turn than it is asked for.
    await turn();
    t.mock.timers.tick(2 * databaseLimits.statementMs);
    await asked;
  } finally {
    await line.stop();
    await db.close();
  }
});

/** A line to the database that can be cut, or go silent. */
async function cutter(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection(Number(target.port), target.hostname);
    for (const each of [client, upstream]) {
      sockets.add(each);
      each.on('error', () => {}).on('close', () => sockets.delete(each));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    cut: () => {
      for (const each of sockets) each.destroy();
    },
    silence: () => {
      for (const each of sockets) each.unpipe().pause();
    },
    stop: () => {
      for (const each of sockets) each.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Each has its own text: the server does not end one when its connection is cut. */
function sleeping(): Statement {
  return sql(`select pg_sleep(20) as "${randomUUID()}"`);
}

async function untilRuns({ text }: Statement): Promise<void> {
  const running = sql(`select from pg_stat_activity where query = $1 and state = 'active'`, text);
  await waitUntil(async () => (await database.db.rows(running)).length > 0);
}

test('a connection that a poll needs every ten seconds stays open between two of them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const db = connect(database.url);
  const both = async () => {
    const asked = [1, 2].map(() => db.rows<{ pid: number }>(sql('select pg_backend_pid() as pid')));
    return (await Promise.all(asked)).map(([row]) => row?.pid).sort();
  };
  const before = await both();
  t.mock.timers.tick(11_000);
  assert.deepEqual(await both(), before);
  await db.close();
});

test('an array arrives as it was, whatever its texts hold', async () => {
  const texts = ['', 'NULL', '"', '\\', '\\"', '{a,b}', ' a ', 'ä€😀', 'a\nb\tc', '"\n\\', null];
  const dates = [new Date(0), new Date(-1e13), new Date('9999-12-31T23:59:59.999Z'), null];
  const numbers = [1, -2.5, 2n ** 62n, null];
  const nested = [
    ['a', null],
    ['"', '\\'],
  ];
  const [row] = await database.db.rows({
    name: '',
    text: `select $1::text[] as texts, $2::timestamptz[] as dates, $3::numeric[]::text[] as numbers,
      $4::text[] as nested, $5::boolean[] as booleans, $6::bytea[] as bytes, $7::uuid[] as none`,
    values: [texts, dates, numbers, nested, [true, null], [Buffer.from([0, 92])], []],
  });
  assert.deepEqual(row, {
    texts,
    dates,
    numbers: numbers.map((each) => each?.toString() ?? null),
    nested,
    booleans: [true, null],
    bytes: [Buffer.from([0, 92])],
    none: [],
  });
});
