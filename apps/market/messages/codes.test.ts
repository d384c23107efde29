// Sign-in codes: first of all that waits, for as long as each is good, and gone once they were
// sent.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sendCode } from './codes.ts';
import { handOut } from './hand-out.ts';
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
