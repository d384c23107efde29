// Who waits for a turn to sign on a real database: the order, who is gone, and how many may.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { awaitTurn, endTurn, type TurnKind, takeTurn } from '../db/keeper-turns.ts';
import type { Gas } from '../ports/gas.ts';
import { realTime } from '../ports/signing-time.ts';
import { mostWaiting, mostWaitingOf, turnAwaitedMs, turnMs } from './bounds.ts';
import { giveTurnBack, type Turn, turnOn } from './sign.ts';

const chain = 'nowhere';
const gas = { account: { chain } } as Gas;
const gone = '00000000-0000-4000-8000-000000000001';
const somebody = '00000000-0000-4000-8000-000000000002';
const turnTimes = { milliseconds: turnMs, lapseMs: turnAwaitedMs };
let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
beforeEach(() => sql('with w as (delete from keeper_waiters) delete from keeper_turns'));
after(() => database?.drop());

const sql = <Row>(text: string) => database.db.rows<Row>({ name: '', text, values: [] });
const waitingIn = async () => {
  const [row] = await sql<{ n: number }>('select count(*) as n from keeper_waiters');
  return row?.n ?? 0;
};

async function untilWaiting(number: number): Promise<void> {
  while ((await waitingIn()) < number) await sleep(20);
}

const patient = (kind: TurnKind) =>
  ({ kind, patienceMs: 60_000, signal: AbortSignal.timeout(60_000) }) as const;

async function holdNow(kind: TurnKind): Promise<Turn> {
  const turn = await turnOn(database, gas, patient(kind));
  assert.ok(turn !== null);
  return turn;
}

/** Waits in the queue; notes when it had its turn, and gives it back. */
async function wait(
  kind: TurnKind,
  name: string,
  had: string[],
  deps: Parameters<typeof turnOn>[0] = database,
): Promise<void> {
  const turn = await turnOn(deps, gas, patient(kind));
  assert.ok(turn !== null);
  had.push(name);
  await giveTurnBack(deps, turn);
}

test('a relay to sign again is next but one at worst, unless it follows another such', async () => {
  for (const [now, number, wanted] of [
    ['new', 20, ['promised', 'own', 'stranger 0', 'stranger 1']],
    ['own', 3, ['stranger 0', 'promised', 'own', 'stranger 1']],
    ['promised', 3, ['own', 'stranger 0', 'promised', 'stranger 1']],
  ] as const) {
    const had: string[] = [];
    const turn = await holdNow(now);
    const all: Promise<void>[] = [];
    for (let at = 0; at < number; at += 1) {
      all.push(wait('new', `stranger ${at}`, had));
      await untilWaiting(at + 1);
    }
    all.push(wait('own', 'own', had));
    all.push(wait('promised', 'promised', had));
    await untilWaiting(number + 2);
    await giveTurnBack(database, turn);
    await Promise.all(all);
    assert.deepEqual(had.slice(0, 4), wanted, `while ${now} had the turn`);
    const strangers = had.filter((name) => name.startsWith('stranger'));
    // They go in the order in which they came.
    assert.deepEqual(
      strangers,
      strangers.map((_, at) => `stranger ${at}`),
    );
    assert.equal(await waitingIn(), 0);
  }
});

test('who died while it waited holds up nobody for longer than its place lasts', async () => {
  const { db } = database;
  let nowMs = 1_000_000;
  let looks = 0;
  const signingTime = {
    ...realTime,
    turnClock: () => new Date(nowMs),
    pause: async (ms: number, signal: AbortSignal) => {
      looks += 1;
      await realTime.pause(ms, signal);
    },
  };
  const deps = { db, signingTime };
  const turn = await turnOn(deps, gas, patient('own'));
  assert.ok(turn !== null);
  const dead = { kind: 'new', milliseconds: turnAwaitedMs } as const;
  assert.equal(await awaitTurn(db, chain, gone, { ...dead, clock: new Date(nowMs) }), 0);
  let has = false;
  const waiting = turnOn(deps, gas, patient('new')).then((next) => {
    has = true;
    return next;
  });
  await untilWaiting(2);
  await giveTurnBack(deps, turn);
  const seen = looks;
  while (looks < seen + 3) await sleep(20);
  assert.equal(has, false, 'its place still counts');
  nowMs += turnAwaitedMs + 1;
  const next = await waiting;
  assert.ok(next !== null);
  await giveTurnBack(deps, next);
  nowMs += 61_000;
  await giveTurnBack(deps, (await turnOn(deps, gas, patient('own'))) as Turn);
  assert.equal(await waitingIn(), 0, 'and is forgotten');
});

test('so many requests may wait, the next is refused at once, and what was promised may', async () => {
  // By a clock that stands still no place lapses, however slow the machine.
  const at = new Date();
  const deps = { db: database.db, signingTime: { ...realTime, turnClock: () => at } };
  const turn = await turnOn(deps, gas, patient('own'));
  assert.ok(turn !== null);
  const ending = new AbortController();
  const { signal } = ending;
  const asked = Array.from({ length: mostWaiting + 6 }, () =>
    turnOn(deps, gas, { kind: 'new', patienceMs: 60_000, signal }),
  );
  const refused: unknown[] = [];
  const ends = asked.map((each) => each.catch((error: unknown) => refused.push(error)));
  while (refused.length < 6) await sleep(20);
  await untilWaiting(mostWaiting);
  const most = { code: 'overloaded', facts: { chain, waiting: mostWaiting } };
  await assert.rejects(turnOn(deps, gas, patient('new')), most);
  const had: string[] = [];
  const promised = wait('promised', 'promised', had, deps);
  await untilWaiting(mostWaiting + 1);
  // Who does not wait any more leaves its place.
  ending.abort();
  await Promise.all(ends);
  assert.equal(refused.length, mostWaiting + 6);
  assert.equal(await waitingIn(), 1);
  assert.equal(await turnOn(deps, gas, { ...patient('new'), patienceMs: -1 }), null);
  assert.equal(await waitingIn(), 1, 'nor does one whose patience ends');
  await giveTurnBack(deps, turn);
  await promised;
  assert.deepEqual(had, ['promised']);
});

test('after the clock was set back nobody waits for who had a place or a turn before', async () => {
  const { db } = database;
  for (const backMs of [2_000, 600_000, 3_600_000]) {
    let nowMs = Date.now();
    const deps = { db, signingTime: { ...realTime, turnClock: () => new Date(nowMs) } };
    const first = await turnOn(deps, gas, patient('own'));
    assert.ok(first !== null);
    const asked = () => ({ milliseconds: turnAwaitedMs, clock: new Date(nowMs) });
    const idOf = (at: number) => `00000000-0000-4000-8000-0000000000${10 + at}`;
    await awaitTurn(db, chain, gone, { kind: 'promised', ...asked() });
    await awaitTurn(db, chain, idOf(mostWaiting), { kind: 'own', ...asked() });
    for (let at = 0; at < mostWaiting; at += 1) {
      await awaitTurn(db, chain, idOf(at), { kind: 'new', ...asked() });
    }
    nowMs -= backMs;
    // Who waits still says so, and is before whoever comes.
    const still = { kind: 'new', ...asked() } as const;
    assert.equal(await awaitTurn(db, chain, idOf(3), still), 0);
    const now = { ...realTime, turnClock: () => new Date(nowMs), elapsedMs: () => 0 };
    const patience = { patienceMs: -1, signal: AbortSignal.timeout(60_000) };
    const impatient = { db, signingTime: now };
    assert.equal(await turnOn(impatient, gas, { kind: 'new', ...patience }), null);
    assert.equal(await takeTurn(db, chain, idOf(3), { ...still, ...turnTimes }), true);
    assert.equal(await endTurn(db, chain, idOf(3), new Date(nowMs)), true);
    // The turn of before has ended: nothing that was signed in it is kept.
    assert.equal(await endTurn(db, chain, first.holder, new Date(nowMs)), false);
    for (const kind of ['promised', 'own', 'new'] as const) {
      const turn = await turnOn(impatient, gas, { kind, ...patience });
      assert.ok(turn !== null, `${kind}, ${backMs} ms back`);
      await giveTurnBack(impatient, turn);
    }
    // And is no place too many.
    const another = await turnOn(impatient, gas, { kind: 'own', ...patience });
    assert.equal(await turnOn(impatient, gas, { kind: 'new', ...patience }), null);
    await giveTurnBack(impatient, another as Turn);
    await sql('with w as (delete from keeper_waiters) delete from keeper_turns');
  }
});

test('one account has a share of the places, and what others ask for has the rest', async () => {
  const at = new Date();
  const deps = { db: database.db, signingTime: { ...realTime, turnClock: () => at } };
  const turn = await turnOn(deps, gas, patient('own'));
  assert.ok(turn !== null);
  const accountId = '00000000-0000-4000-8000-0000000000aa';
  const of = (id: string) => ({ ...patient('new'), accountId: id });
  const refused: unknown[] = [];
  const had: string[] = [];
  const ask = async (id: string) => {
    const own = await turnOn(deps, gas, of(id));
    assert.ok(own !== null);
    had.push(id);
    await giveTurnBack(deps, own);
  };
  const asked = Array.from({ length: mostWaitingOf + 6 }, () => ask(accountId));
  const ends = asked.map((each) => each.catch((error: unknown) => refused.push(error)));
  while (refused.length < 6 && (await waitingIn()) <= mostWaitingOf) await sleep(20);
  await untilWaiting(mostWaitingOf);
  assert.ok(refused.length >= 6, `${await waitingIn()} of one account wait`);
  const facts = { chain, waiting: mostWaitingOf };
  await assert.rejects(turnOn(deps, gas, of(accountId)), { code: 'overloaded', facts });
  const other = ask(somebody);
  await untilWaiting(mostWaitingOf + 1);
  await giveTurnBack(deps, turn);
  await Promise.all([...ends, other]);
  const all = [...Array.from({ length: mostWaitingOf }, () => accountId), somebody];
  assert.deepEqual([had, refused.length], [all, 6]);
});

test('a turn whose answer is lost is had when it is asked for again, or ends at once', async () => {
  const { db } = database;
  let lost = 0;
  const losing: typeof db = {
    ...db,
    rows: async <Row>(statement: Parameters<typeof db.rows>[0]) => {
      const rows = await db.rows<Row>(statement);
      if (statement.name !== 'keeper_take_turn' || lost === 0) return rows;
      lost -= 1;
      throw new Error('the connection is gone');
    },
  };
  lost = 1;
  // Nor does it wait until the turn that is its own has ended.
  const turn = await turnOn({ db: losing }, gas, { ...patient('new'), patienceMs: -1 });
  assert.ok(turn !== null);
  assert.equal(await turnOn(database, gas, { ...patient('own'), patienceMs: -1 }), null);
  await giveTurnBack(database, turn);
  lost = 2;
  await assert.rejects(turnOn({ db: losing }, gas, patient('new')), /connection is gone/);
  const next = await turnOn(database, gas, { ...patient('own'), patienceMs: -1 });
  assert.ok(next !== null, 'the turn that nobody knows of has ended');
  await giveTurnBack(database, next);
});

test('of two that ask for the last place at once one has it, and the other is refused', async () => {
  const { db } = database;
  const { promise: holds, resolve: hasIt } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  // Its place is taken, and nobody else can see that before it commits.
  const slow: typeof db = {
    ...db,
    transaction: (work) =>
      db.transaction(async (tx) => {
        const done = await work(tx);
        hasIt();
        await released;
        return done;
      }),
  };
  const turn = await holdNow('own');
  // However slow this is, no place lapses meanwhile.
  const clock = new Date();
  const signingTime = { ...realTime, turnClock: () => clock };
  const place = { kind: 'new', milliseconds: turnAwaitedMs, clock } as const;
  for (let at = 1; at < mostWaiting; at += 1) await awaitTurn(db, chain, randomUUID(), place);
  const ending = new AbortController();
  const asking = { kind: 'new', patienceMs: 60_000, signal: ending.signal } as const;
  const first = turnOn({ db: slow, signingTime }, gas, asking).catch((error: unknown) => error);
  await holds;
  let isRefused = false;
  const second = turnOn({ db, signingTime }, gas, asking).catch((error: unknown) => {
    isRefused = true;
    return error;
  });
  try {
    const isBlocked = async () => {
      const [row] = await sql<{ n: number }>(`select count(*) as n from pg_locks
        where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`);
      return (row?.n ?? 0) > 0;
    };
    while (!(await isBlocked()) && !isRefused && (await waitingIn()) < mostWaiting) await sleep(20);
    assert.equal(await waitingIn(), mostWaiting - 1, 'who asks second waits for the first');
    release();
    await untilWaiting(mostWaiting);
    while (!isRefused && (await waitingIn()) === mostWaiting) await sleep(20);
    assert.equal(((await second) as { code?: string }).code, 'overloaded');
    assert.equal(await waitingIn(), mostWaiting);
  } finally {
    release();
    ending.abort();
    await Promise.all([first, second]);
    await giveTurnBack(database, turn);
  }
});
