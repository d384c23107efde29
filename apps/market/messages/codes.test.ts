// Sign-in codes: first of all that waits, for as long as each is good, and gone once they were
// sent.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendCode } from './codes.ts';
import { handOut } from './hand-out.ts';
import { createMessaging } from './messaging.ts';
import { happens, newPerson, someAddress, waitingContents } from './testing/people.ts';
import { openStage, type Stage } from './testing/stage.ts';

const purpose = 'sign-in' as const;
let stage: Stage;
before(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
after(() => stage?.close());

test('a code leaves before everything else that waits, and what it said is gone', async () => {
  const { database, mail, deps, messaging, mailsTo, stored } = stage;
  const address = someAddress();
  const accountId = await newPerson(deps, { email: Array.from({ length: 6 }, someAddress) });
  await happens(deps, accountId, 'key.created');
  await handOut(deps, new Set(['email'] as const));
  const expiresAt = new Date(deps.now() + 600_000);
  await sendCode(database.db, deps, { address, code: '271828', expiresAt, purpose });
  const waiting = await waitingContents(deps);
  assert.equal(waiting.find(({ to }) => to === address)?.facts.code, '271828');
  assert.ok((await stored()).every(({ sealed }) => sealed?.includes('271828') === false));
  const before = mail.arrived.length;
  await messaging.pass();
  assert.ok(mail.arrived.slice(before, before + 4).some(({ to }) => to.includes(address)));
  const [arrived] = mailsTo(address);
  assert.match(arrived?.text ?? '', /^Your code is 271828$/m);
  assert.doesNotMatch(arrived?.headers.get('subject') ?? '', /271828/);
  assert.deepEqual(await stored(), []);
});

test('a code is tried for its ten minutes, and not after', async () => {
  const { database, mail, deps, messaging, mailsTo, stored } = stage;
  const expiresAt = new Date(deps.now() + 600_000);
  const late = someAddress();
  const later = someAddress();
  for (const address of [late, later]) {
    await sendCode(database.db, deps, { address, code: '314159', expiresAt, purpose });
  }
  mail.refuse({ at: 'MAIL', answer: '421 4.3.2 not now' });
  for (const seconds of [5, 30, 120]) {
    await messaging.pass();
    deps.advance(seconds * 1_000);
  }
  assert.ok((await stored()).every(({ state }) => state === 'waiting'));
  await messaging.pass();
  const states = (await stored()).map(({ state, sealed }) => [state, sealed]);
  assert.deepEqual(
    states,
    [
      ['dropped', null],
      ['dropped', null],
    ],
    'the next attempt would be too late',
  );
  mail.refuse(null);
  const soon = new Date(deps.now() + 1_000);
  await sendCode(database.db, deps, { address: late, code: '314159', expiresAt: soon, purpose });
  deps.advance(1_000);
  await messaging.pass();
  assert.equal(mailsTo(late).length, 0);
  assert.deepEqual((await stored()).map(({ failure }) => failure).at(-1), 'too late');
});

test('5 000 codes wait and no more', async () => {
  const { database, deps } = stage;
  const expiresAt = new Date(deps.now() + 600_000);
  const code = { address: someAddress(), code: '161803', expiresAt, purpose };
  const fill = (count: number) =>
    database.db.rows({
      name: '',
      text: `insert into jobs (id, kind, about, due_at, made_at)
        select gen_random_uuid(), 'code', '{}', now(), now()
        from generate_series(1, $1)`,
      values: [count],
    });
  await fill(4_999);
  assert.equal(await sendCode(database.db, deps, code), true);
  assert.equal(await sendCode(database.db, deps, code), false);
});

test('a code leaves as soon as it is committed, and nobody asks for it again and again', async () => {
  const { deps, mailsTo, database } = stage;
  const looks = { before: 0, after: 0 };
  let isCommitted = false;
  const rows: typeof database.db.rows = (statement) => {
    if (statement.name === 'jobs_next') looks[isCommitted ? 'after' : 'before'] += 1;
    return database.db.rows(statement);
  };
  const sending = createMessaging({ ...deps, db: { ...database.db, rows } });
  sending.start();
  const address = someAddress();
  const expiresAt = new Date(deps.now() + 600_000);
  await database.db.transaction(async (tx) => {
    await sendCode(tx, deps, { address, code: '141421', expiresAt, purpose });
    await sleep(1_500);
    // Before the commit: the look that it causes may come before this call returns.
    isCommitted = true;
  });
  // Two polls of those who hear nothing, and far less than one of those who do.
  for (let tries = 0; tries < 200 && mailsTo(address).length === 0; tries += 1) await sleep(10);
  await sending.stop();
  assert.equal(mailsTo(address).length, 1);
  // At the start, when it began to listen, and for what a test before has said.
  assert.ok(looks.before <= 3, `${looks.before} looks before anything was committed`);
  assert.ok(looks.after >= 1);
});
