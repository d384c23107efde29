// The effect of age on rows of people, on both sides of each boundary.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import { type CeremonyWay, countCodes, insertCeremony, mostOfSession } from '../db/ceremonies.ts';
import { liveSessionsOf, revokeSession } from '../db/sessions.ts';
import { prune } from '../market/prune.ts';
import { issueTicket } from './feed-tickets.ts';
import { type Session, windowAt } from './sessions.ts';
import { takeUp } from './sign-in.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
  deps = testDeps({ db: database.db });
  deps.freeze();
});
after(() => database.drop());

const day = 86_400_000;

async function signIn(): Promise<Session> {
  const proven = { way: 'email', address: `${randomUUID()}@example.org` } as const;
  const browser = { hash: randomBytes(32), device: 'Firefox on Linux', place: '192.0.2.7' };
  const { session } = await database.db.transaction((tx) =>
    takeUp(tx, deps, proven, { purpose: 'sign-in' }, browser),
  );
  return session;
}

const begin = (sessionId: string | null, subject: string, way: CeremonyWay = 'email') =>
  insertCeremony(database.db, {
    id: randomUUID(),
    browser: randomBytes(32),
    way,
    purpose: sessionId === null ? 'sign-in' : 'renew',
    sessionId,
    subject,
    facts: {},
    madeAt: new Date(deps.now()),
    expiresAt: new Date(deps.now() + 600_000),
  });

const run = <Row>(text: string, ...values: unknown[]) =>
  database.db.rows<Row>({ name: '', text, values });
const use = ({ id }: Session) =>
  run('update sessions set last_used_at = $2 where id = $1', id, new Date(deps.now()));
const left = async () =>
  (await run<{ id: string }>('select id from sessions order by id')).map(({ id }) => id);

test('a code goes a day after it expired, because it is counted until then', async () => {
  await begin(null, 'counted');
  const codes = { subject: 'counted', known: null };
  const sent = () => countCodes(database.db, codes, '', new Date(deps.now() - day));
  deps.advance(day);
  assert.equal((await prune(deps)).codes, 0);
  deps.advance(-1);
  assert.equal((await sent()).all, 1);
  deps.advance(600_001);
  assert.equal((await prune(deps)).codes, 0);
  deps.advance(1);
  assert.equal((await prune(deps)).codes, 1);
});

test('a begun login goes a minute after it expired, and the oldest of a session at once', async () => {
  await begin(null, 'of a wallet', 'wallet');
  deps.advance(600_000 + 60_000);
  assert.equal((await prune(deps)).ceremonies, 0);
  deps.advance(1);
  assert.equal((await prune(deps)).ceremonies, 1);
  const session = await signIn();
  await begin(session.id, 'a code');
  const subjects = Array.from({ length: mostOfSession + 1 }, (_, at) => `text ${at}`);
  for (const subject of subjects) {
    deps.advance(1);
    await begin(session.id, subject, 'payout');
  }
  const rows = await run<{ subject: string }>(
    'select subject from ceremonies where session_id = $1 order by made_at',
    session.id,
  );
  assert.deepEqual(
    rows.map((each) => each.subject),
    ['a code', ...subjects.slice(1)],
  );
});

test('a session goes 30 days after it was revoked, was idle for 30, or was 90 old', async () => {
  await run('delete from sessions');
  const revoked = await signIn();
  const idle = await signIn();
  const old = await signIn();
  await issueTicket(deps, revoked);
  await begin(revoked.id, 'of a session');
  const { accountId, id } = revoked;
  await revokeSession(database.db, accountId, id, new Date(deps.now()));
  const began = deps.now();
  const at = async (days: number) => {
    await prune(deps);
    deps.freeze(began + days * day);
    assert.equal((await prune(deps)).sessions, 0, `${days} days`);
    deps.advance(1);
    if (days < 90) await use(old);
    return (await prune(deps)).sessions;
  };
  assert.equal(await at(30), 1);
  assert.deepEqual(await left(), [idle.id, old.id].sort());
  assert.equal(await at(60), 1);
  assert.deepEqual(await left(), [old.id]);
  deps.freeze(began + 89 * day);
  await use(old);
  // Its end, 90 days, comes before it would be idle.
  assert.equal(await at(120), 1);
});

test('a session ends 30 days after its last use, and 90 after it was made', async () => {
  const session = await signIn();
  const began = deps.now();
  const isLive = async (ms: number) => {
    deps.freeze(began + ms);
    const live = await liveSessionsOf(database.db, session.accountId, windowAt(deps.now()));
    return live.length === 1;
  };
  const around = async (days: number) => [await isLive(days * day - 1), await isLive(days * day)];
  assert.deepEqual(await around(30), [true, false]);
  await use(session);
  assert.deepEqual(await around(60), [true, false]);
  await use(session);
  await isLive(89 * day);
  await use(session);
  assert.deepEqual(await around(90), [true, false]);
});
