// From an event in the outbox to a mail and a chat, over a real SMTP server and a stub of the Bot
// API: to whom, how often, and what comes of a mail server that refuses or is away.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { insertFormerChannel } from '../db/former-channels.ts';
import { retryAfterSeconds } from './bounds.ts';
import { handOut } from './hand-out.ts';
import { createMessaging } from './messaging.ts';
import { resealMessages } from './sealed.ts';
import { startMailServer } from './testing/mail-server.ts';
import { happens, newPerson, someAddress, someChat } from './testing/people.ts';
import { openStage, type Stage } from './testing/stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
after(() => stage?.close());

/** The event of an account with one address, which it returns. */
async function news(topic = 'key.created'): Promise<string> {
  const address = someAddress();
  await happens(stage.deps, await newPerson(stage.deps, { email: [address] }), topic);
  return address;
}

/** When mail was last taken, and when none could be sent, as Prometheus reads it. */
async function toldOfMail({ metrics }: Stage['deps']): Promise<{ taken: number; down: number }> {
  const of = async (gauge: typeof metrics.messagesDown) =>
    (await gauge.get()).values.find(({ labels }) => labels.channel === 'email')?.value ?? -1;
  return { taken: await of(metrics.messagesTaken), down: await of(metrics.messagesDown) };
}

test('an event reaches every address and every open chat of its account once, and no other', async () => {
  const { database, deps, messaging, mailsTo, chatted, stored, counted } = stage;
  const one = someAddress();
  const two = someAddress();
  const chat = someChat();
  const gone = someChat();
  const other = someAddress();
  const accountId = await newPerson(deps, { email: [one, two], chats: [chat, gone] });
  await newPerson(deps, { email: [other] });
  await database.db.rows({
    name: '',
    text: 'update logins set chat_ended_at = now() where chat_id = $1',
    values: [gone],
  });
  await happens(deps, accountId, 'key.created', { prefix: 'parley_test_abc123', scopes: ['read'] });
  await messaging.pass();
  await messaging.pass();
  assert.deepEqual(
    [one, two, other].map((each) => mailsTo(each).length),
    [1, 1, 0],
  );
  assert.deepEqual([chatted(chat).length, chatted(gone).length], [1, 0]);
  assert.match(mailsTo(one)[0]?.text ?? '', /parley_test_abc123/);
  assert.match(chatted(chat)[0] ?? '', /parley_test_abc123/);
  assert.deepEqual(await stored(), []);
  assert.equal(await counted('email', 'sent'), 2);
});

test('where a removed login was heard, what a thief does is told for the hold, and the end of the account', async () => {
  const { deps, messaging, mailsTo, chatted } = stage;
  const stays = someAddress();
  const removed = someAddress();
  const chat = someChat();
  const accountId = await newPerson(deps, { email: [stays] });
  const until = new Date(deps.now() + 1);
  const was = { accountId, channel: 'email', to: removed, until } as const;
  await insertFormerChannel(deps.db, was);
  // Told once where the address is a login again.
  await insertFormerChannel(deps.db, { ...was, to: stays });
  await happens(deps, accountId, 'login.removed', { way: 'email', what: removed });
  await happens(deps, accountId, 'payout.changing', { family: 'evm', address: '0x1' });
  await happens(deps, accountId, 'key.expiring');
  await messaging.pass();
  assert.equal(mailsTo(stays).length, 3);
  assert.equal(mailsTo(removed).length, 2);
  deps.advance(1);
  await happens(deps, accountId, 'payout.changed', { family: 'evm', address: '0x1' });
  const former = [
    { channel: 'email', to: removed },
    { channel: 'telegram', to: chat },
    { channel: 'pigeon', to: 'x' },
    null,
  ];
  const gone = await newPerson(deps, {});
  await happens(deps, gone, 'account.deleted', { former });
  await messaging.pass();
  assert.equal(mailsTo(stays).length, 4);
  const [, , last, ...more] = mailsTo(removed).map(({ headers }) => headers.get('subject'));
  assert.deepEqual([last, more], ['Parley: your account was deleted', []]);
  assert.equal(chatted(chat).length, 1);
});

test('200 messages of an account wait, 300 where a thief would drown them, and no more', async () => {
  const { deps, stored, counted } = stage;
  const accountId = await newPerson(deps, { email: [someAddress()] });
  const dropped = await counted('email', 'dropped');
  for (let each = 0; each < 201; each += 1) await happens(deps, accountId, 'key.created');
  for (let each = 0; each < 101; each += 1) await happens(deps, accountId, 'payout.changing');
  const channels = new Set(['email'] as const);
  while ((await handOut(deps, channels)) > 0);
  const counts = Object.groupBy(await stored(), ({ about }) => about.event);
  assert.deepEqual([counts['key.created']?.length, counts['payout.changing']?.length], [200, 100]);
  assert.equal(await counted('email', 'dropped'), dropped + 2);
});

test('a mail server that is down is said to be, and sent to when it is up, with the same id', async () => {
  const { newDeps, mailsTo, stored } = stage;
  const first = await startMailServer();
  const down = newDeps(first.url);
  await first.stop();
  const sending = createMessaging(down);
  const address = someAddress();
  const accountId = await newPerson(down, { email: [address] });
  await happens(down, accountId, 'login.added', { way: 'passkey', what: 'a phone' });
  assert.equal(sending.mailIsDown(), false);
  await sending.pass();
  assert.equal(sending.mailIsDown(), true);
  const fellAt = down.now() / 1_000;
  assert.deepEqual(await toldOfMail(down), { taken: 0, down: fellAt });
  const [waiting] = await stored();
  assert.deepEqual([waiting?.state, waiting?.failure], ['waiting', 'ECONNREFUSED']);
  down.advance(299_999);
  assert.equal(sending.mailIsDown(), true);
  down.advance(1);
  assert.equal(sending.mailIsDown(), false, 'nobody has tried for five minutes');
  const again = await startMailServer(first.port);
  await sending.pass();
  assert.equal(sending.mailIsDown(), false);
  assert.deepEqual(await toldOfMail(down), { taken: down.now() / 1_000, down: fellAt });
  const [arrived] = mailsTo(address, again);
  assert.equal(arrived?.headers.get('message-id'), `<${waiting?.id}@market.example>`);
  await sending.stop();
  await again.stop();
});

test('a message is tried at its times, and dropped with its address after the last', async () => {
  const { mail, deps, messaging, mailsTo, stored } = stage;
  const address = await news();
  mail.refuse({ at: 'DATA', answer: '451 4.3.0 try later' });
  for (const seconds of retryAfterSeconds) {
    await messaging.pass();
    const [row] = await stored();
    assert.equal(row?.due_at.getTime(), deps.now() + seconds * 1_000);
    deps.advance(seconds * 1_000);
  }
  assert.equal((await stored())[0]?.attempts, retryAfterSeconds.length);
  await messaging.pass();
  const [row] = await stored();
  assert.deepEqual([row?.state, row?.attempts, row?.sealed], ['dropped', 7, null]);
  assert.equal(mailsTo(address).length, 0);
});

test('a mailbox that is not there gets no second attempt, and no other mail waits for it', async () => {
  const { mail, deps, messaging, stored } = stage;
  const before = await toldOfMail(deps);
  deps.advance(1_000);
  const address = await news();
  mail.refuse({ at: 'RCPT', answer: `550 5.1.1 <${address}>: no such user` });
  await messaging.pass();
  const [row] = await stored();
  assert.deepEqual(
    [row?.state, row?.failure, row?.sealed],
    ['dropped', 'EENVELOPE 550 5.1.1', null],
  );
  assert.equal(messaging.mailIsDown(), false);
  assert.deepEqual(await toldOfMail(deps), { ...before, taken: deps.now() / 1_000 });
});

test('a waiting message is sealed anew under a new key, and one that no key opens is dropped', async () => {
  const { deps, mailsTo, stored } = stage;
  const kept = someAddress();
  const lost = someAddress();
  const old = '42'.repeat(32);
  const fresh = '43'.repeat(32);
  const under = (encryptionKey: string) => ({
    ...deps,
    settings: { ...deps.settings, encryptionKey },
  });
  const one = await newPerson(deps, { email: [kept] });
  await happens(deps, one, 'key.created');
  await handOut(under(old), new Set(['email'] as const));
  await resealMessages(under(`${fresh},${old}`));
  const two = await newPerson(deps, { email: [lost] });
  await happens(deps, two, 'key.created');
  await handOut(under(old), new Set(['email'] as const));
  const sending = createMessaging(under(fresh));
  await sending.pass();
  await sending.stop();
  assert.deepEqual([mailsTo(kept).length, mailsTo(lost).length], [1, 0]);
  const failures = (await stored()).map(({ state, failure }) => [state, failure]);
  assert.deepEqual(failures, [['dropped', 'no key of the server opens it']]);
});
