// From an event in the outbox to a mail and a chat, over a real SMTP server and a stub of the Bot
// API: to whom, how often, and what comes of each kind of refusal.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BotApi, startBotApi } from '../../test/support/bot-api.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { loginsOf } from '../db/logins.ts';
import { claimMessages, lockMessages, peopleTopics, storeAttempt } from '../db/messages.ts';
import { leaseMs, retryAfterSeconds } from './bounds.ts';
import { sendCode } from './codes.ts';
import { handOut } from './hand-out.ts';
import { createMessaging, type Messaging } from './messaging.ts';
import { resealMessages } from './sealed.ts';
import { type MailServer, startMailServer } from './testing/mail-server.ts';
import {
  addLogins,
  forgetMessages,
  happens,
  newPerson,
  someAddress,
  someChat,
  storedMessages,
} from './testing/people.ts';
import { botToken, settingsOf } from './testing/process.ts';

let database: TestDatabase;
let mail: MailServer;
let bot: BotApi;
let deps: TestDeps;
let messaging: Messaging;
function newDeps(mailUrl = mail.url, token = botToken): TestDeps {
  const settings = settingsOf({ databaseUrl: '', mail: mailUrl, bot: bot.url }, token);
  const made = testDeps({ db: database.db, settings });
  made.freeze();
  return made;
}

before(async () => {
  [database, mail, bot] = await Promise.all([
    testDatabase(),
    startMailServer(),
    startBotApi(botToken),
  ]);
  deps = newDeps();
  messaging = createMessaging(deps);
});
afterEach(async () => {
  mail.refuse(null);
  bot.answerAlways({ kind: 'ok' });
  await forgetMessages(database.db);
});
after(async () => {
  await messaging?.stop();
  await Promise.all([mail?.stop(), bot?.stop(), database?.drop()]);
});

const mailsTo = (address: string, server = mail) =>
  server.arrived.filter(({ to }) => to.includes(address));
const chatted = (chat: string) => bot.messages.filter(({ chatId }) => String(chatId) === chat);
const stored = () => storedMessages(database.db);

async function counted(channel: string, outcome: string, of: TestDeps = deps): Promise<number> {
  const text = await of.metrics.registry.metrics();
  const line = `messages_total\\{channel="${channel}",outcome="${outcome}"\\} (\\d+)`;
  return Number(new RegExp(line).exec(text)?.[1] ?? 0);
}

test('an event reaches every address and every open chat of its account once, and no other', async () => {
  const [one, two, chat, gone] = [someAddress(), someAddress(), someChat(), someChat()];
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
  assert.match(chatted(chat)[0]?.text ?? '', /parley_test_abc123/);
  const rows = await stored();
  assert.ok(rows.every(({ state, sealed }) => state === 'sent' && sealed.length === 0));
  assert.equal(await counted('email', 'sent'), 2);
});

test('what is of no channel is dropped, whatever its topic, and topics of others stay', async () => {
  const reached = await newPerson(deps, { email: [someAddress()] });
  const silent = await newPerson(deps, {});
  for (const topic of peopleTopics) await happens(deps, silent, topic);
  await happens(deps, reached, 'swap.agreed');
  await happens(deps, reached, 'key.leaked');
  await messaging.pass();
  assert.deepEqual(await stored(), []);
  const text = 'select topic from outbox order by topic';
  const left = await database.db.rows({ name: '', text, values: [] });
  assert.deepEqual(left, [{ topic: 'key.leaked' }, { topic: 'swap.agreed' }]);
});

test('a removed login hears of its removal beside those that stay, and a deleted account last', async () => {
  const [stays, removed, chat] = [someAddress(), someAddress(), someChat()];
  const accountId = await newPerson(deps, { email: [stays] });
  const was = { channel: 'email', to: removed };
  await happens(deps, accountId, 'login.removed', { way: 'email', what: removed, former: was });
  const former = [
    { channel: 'email', to: removed },
    { channel: 'telegram', to: chat },
    { channel: 'pigeon', to: 'x' },
    null,
  ];
  const gone = await newPerson(deps, {});
  await happens(deps, gone, 'account.deleted', { former });
  await messaging.pass();
  assert.equal(mailsTo(stays).length, 1);
  assert.deepEqual(
    mailsTo(removed).map(({ headers }) => headers.get('subject')),
    ['Parley: a way to sign in was removed', 'Parley: your account was deleted'],
  );
  assert.equal(chatted(chat).length, 1);
});

test('while one process hands out no other does', async () => {
  const accountId = await newPerson(deps, { email: [someAddress()] });
  await happens(deps, accountId, 'key.revoked');
  const channels = new Set(['email'] as const);
  await database.db.transaction(async (tx) => {
    assert.equal(await lockMessages(tx), true);
    assert.equal(await handOut(deps, channels), 0);
  });
  assert.equal(await handOut(deps, channels), 1);
});

test('two processes side by side send each message once', async () => {
  const addresses = Array.from({ length: 12 }, someAddress);
  for (const address of addresses) {
    const accountId = await newPerson(deps, { email: [address] });
    await happens(deps, accountId, 'session.created', { device: 'Firefox on Linux' });
  }
  const other = createMessaging(deps);
  await Promise.all([messaging.pass(), other.pass()]);
  await Promise.all([messaging.pass(), other.pass()]);
  await other.stop();
  assert.deepEqual(
    addresses.map((each) => mailsTo(each).length),
    addresses.map(() => 1),
  );
});

test('200 messages of an account wait, 300 where a thief would drown them, and no more', async () => {
  const accountId = await newPerson(deps, { email: [someAddress()] });
  const dropped = await counted('email', 'dropped');
  for (let each = 0; each < 201; each += 1) await happens(deps, accountId, 'key.created');
  for (let each = 0; each < 101; each += 1) await happens(deps, accountId, 'payout.changing');
  const channels = new Set(['email'] as const);
  while ((await handOut(deps, channels)) > 0);
  const counts = Object.groupBy(await stored(), ({ event }) => event);
  assert.deepEqual([counts['key.created']?.length, counts['payout.changing']?.length], [200, 100]);
  assert.equal(await counted('email', 'dropped'), dropped + 2);
});

test('a mail server that is busy is asked again after 5 s, and not before', async () => {
  const address = someAddress();
  const accountId = await newPerson(deps, { email: [address] });
  await happens(deps, accountId, 'key.created');
  mail.refuse({ at: 'RCPT', answer: `451 4.7.1 <${address}> is greylisted` });
  await messaging.pass();
  const [row] = await stored();
  assert.deepEqual([row?.state, row?.attempts, row?.error], ['waiting', 1, 'EENVELOPE 451 4.7.1']);
  assert.equal(messaging.mailIsDown(), false, 'it is up, and has no time for this one');
  mail.refuse(null);
  deps.advance(4_999);
  await messaging.pass();
  assert.equal(mailsTo(address).length, 0);
  deps.advance(1);
  await messaging.pass();
  assert.equal(mailsTo(address).length, 1);
});

test('a mail server that is down is said to be, and sent to when it is up, with the same id', async () => {
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
  const [waiting] = await stored();
  assert.deepEqual([waiting?.state, waiting?.error], ['waiting', 'ECONNREFUSED']);
  down.advance(299_999);
  assert.equal(sending.mailIsDown(), true);
  down.advance(1);
  assert.equal(sending.mailIsDown(), false, 'nobody has tried for five minutes');
  const again = await startMailServer(first.port);
  await sending.pass();
  assert.equal(sending.mailIsDown(), false);
  const [arrived] = mailsTo(address, again);
  assert.equal(arrived?.headers.get('message-id'), `<${waiting?.id}@market.example>`);
  await sending.stop();
  await again.stop();
});

test('a message is tried at its times, and dropped with its address after the last', async () => {
  const address = someAddress();
  const accountId = await newPerson(deps, { email: [address] });
  await happens(deps, accountId, 'key.created');
  mail.refuse({ at: 'DATA', answer: '451 4.3.0 try later' });
  for (const seconds of retryAfterSeconds) {
    await messaging.pass();
    const [row] = await stored();
    assert.equal(row?.next_at.getTime(), deps.now() + seconds * 1_000);
    deps.advance(seconds * 1_000);
  }
  assert.equal((await stored())[0]?.attempts, retryAfterSeconds.length);
  await messaging.pass();
  const [row] = await stored();
  assert.deepEqual([row?.state, row?.attempts, row?.sealed.length], ['dropped', 7, 0]);
  assert.equal(mailsTo(address).length, 0);
});

test('a mailbox that is not there gets no second attempt, and no other mail waits for it', async () => {
  const address = someAddress();
  const accountId = await newPerson(deps, { email: [address] });
  await happens(deps, accountId, 'key.created');
  mail.refuse({ at: 'RCPT', answer: `550 5.1.1 <${address}>: no such user` });
  await messaging.pass();
  const [row] = await stored();
  assert.deepEqual(
    [row?.state, row?.error, row?.sealed.length],
    ['dropped', 'EENVELOPE 550 5.1.1', 0],
  );
  assert.equal(messaging.mailIsDown(), false);
});

test('a bot that is told to wait waits that long, with all other messages, and half a minute at most', async () => {
  const [one, two] = [someChat(), someChat()];
  const first = await newPerson(deps, { chats: [one] });
  const second = await newPerson(deps, { chats: [two] });
  await happens(deps, first, 'key.created');
  bot.answerNext({ kind: 'too many requests', retryAfterSeconds: 90 });
  await messaging.pass();
  await happens(deps, second, 'key.created');
  deps.advance(29_999);
  await messaging.pass();
  assert.equal(chatted(two).length, 0, 'the bot rests');
  deps.advance(1);
  await messaging.pass();
  assert.equal(chatted(two).length, 1);
  assert.equal(chatted(one).length, 0, 'its own message waits as long as was asked');
  deps.advance(59_999);
  await messaging.pass();
  assert.equal(chatted(one).length, 0);
  deps.advance(1);
  await messaging.pass();
  assert.equal(chatted(one).length, 1);
});

test('a bot waits for an hour at most, whatever it is asked', async () => {
  const accountId = await newPerson(deps, { chats: [someChat()] });
  await happens(deps, accountId, 'key.created');
  bot.answerNext({ kind: 'too many requests', retryAfterSeconds: 86_400 });
  await messaging.pass();
  const [row] = await stored();
  assert.equal(row?.next_at.getTime(), deps.now() + 3_600_000);
  deps.advance(30_000);
});

for (const kind of ['blocked', 'deactivated', 'chat not found'] as const) {
  test(`a chat that is over (${kind}) ends, shows it, and is told by mail, once`, async () => {
    const [address, chat] = [someAddress(), someChat()];
    const accountId = await newPerson(deps, { email: [address], chats: [chat] });
    await happens(deps, accountId, 'key.created');
    await happens(deps, accountId, 'key.revoked');
    bot.answerAlways({ kind });
    const ended = await counted('telegram', 'ended');
    await messaging.pass();
    const logins = await loginsOf(database.db, accountId);
    const login = logins.find(({ way }) => way === 'provider');
    assert.equal(login?.chatEndedAt?.getTime(), deps.now());
    assert.equal(await counted('telegram', 'ended'), ended + 2);
    await messaging.pass();
    const subjects = mailsTo(address).map(({ headers }) => headers.get('subject'));
    assert.deepEqual(subjects.sort(), [
      'Parley: Telegram messages have ended',
      'Parley: a new API key',
      'Parley: an API key was revoked',
    ]);
    bot.answerAlways({ kind: 'ok' });
    await happens(deps, accountId, 'key.created');
    await messaging.pass();
    assert.equal(chatted(chat).length, 0, 'nothing is sent there any more');
  });
}

test('a chat that was given anew while the old one was refused goes on', async () => {
  const [chat, fresh] = [someChat(), someChat()];
  const accountId = await newPerson(deps, {});
  const [id = ''] = await addLogins(deps, accountId, { chats: [chat] });
  await happens(deps, accountId, 'key.created');
  await handOut(deps, new Set(['telegram'] as const));
  const text = 'update logins set chat_id = $2 where id = $1';
  await database.db.rows({ name: '', text, values: [id, fresh] });
  bot.answerNext({ kind: 'blocked' });
  await messaging.pass();
  const [login] = await loginsOf(database.db, accountId);
  assert.equal(login?.chatEndedAt, null);
});

test('a token that is refused is told to the operator once, without the token', async () => {
  const lines: string[] = [];
  const bad = { ...newDeps(mail.url, '123456:THIS-token-was-revoked'), log: recording(lines) };
  const sending = createMessaging(bad);
  for (let each = 0; each < 3; each += 1) {
    const accountId = await newPerson(bad, { chats: [someChat()] });
    await happens(bad, accountId, 'key.created');
  }
  await sending.pass();
  await sending.stop();
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', /HTTP 401: the token/);
  assert.doesNotMatch(lines.join(), /revoked/);
  const rows = await stored();
  assert.ok(
    rows.every(({ state, error }) => state === 'waiting' && error === 'HTTP 401: the token'),
  );
});

/** A log that keeps its lines. */
function recording(lines: string[]): TestDeps['log'] {
  const keep = (...given: unknown[]) => {
    lines.push(JSON.stringify(given));
  };
  const silent = () => {};
  return { ...deps.log, error: keep, warn: keep, info: silent, debug: silent } as TestDeps['log'];
}

for (const answer of [{ kind: 'failure', status: 502, html: true }, { kind: 'hang up' }] as const) {
  test(`a Bot API that fails (${answer.kind}) is asked again later`, async () => {
    const chat = someChat();
    const accountId = await newPerson(deps, { chats: [chat] });
    await happens(deps, accountId, 'key.created');
    bot.answerNext(answer);
    await messaging.pass();
    assert.equal((await stored())[0]?.state, 'waiting');
    deps.advance(5_000);
    await messaging.pass();
    assert.equal(chatted(chat).length, 1);
  });
}

test('a code leaves before everything else that waits, and what it said is gone', async () => {
  const address = someAddress();
  const accountId = await newPerson(deps, { email: Array.from({ length: 6 }, someAddress) });
  await happens(deps, accountId, 'key.created');
  await handOut(deps, new Set(['email'] as const));
  const expiresAt = new Date(deps.now() + 600_000);
  await sendCode(database.db, deps, { address, code: '271828', expiresAt });
  const before = mail.arrived.length;
  await messaging.pass();
  assert.ok(mail.arrived.slice(before, before + 4).some(({ to }) => to.includes(address)));
  const [arrived] = mailsTo(address);
  assert.match(arrived?.text ?? '', /^Your code is 271828$/m);
  assert.doesNotMatch(arrived?.headers.get('subject') ?? '', /271828/);
  const row = (await stored()).find(({ event }) => event === 'code');
  assert.deepEqual([row?.state, row?.sealed.length, row?.account_id], ['sent', 0, null]);
});

test('a code is tried for its ten minutes, and not after', async () => {
  const expiresAt = new Date(deps.now() + 600_000);
  const [late, later] = [someAddress(), someAddress()];
  for (const address of [late, later]) {
    await sendCode(database.db, deps, { address, code: '314159', expiresAt });
  }
  mail.refuse({ at: 'MAIL', answer: '421 4.3.2 not now' });
  for (const seconds of [5, 30, 120]) {
    await messaging.pass();
    deps.advance(seconds * 1_000);
  }
  assert.ok((await stored()).every(({ state }) => state === 'waiting'));
  await messaging.pass();
  const states = (await stored()).map(({ state, sealed }) => [state, sealed.length]);
  assert.deepEqual(
    states,
    [
      ['dropped', 0],
      ['dropped', 0],
    ],
    'the next attempt would be too late',
  );
  mail.refuse(null);
  const soon = new Date(deps.now() + 1_000);
  await sendCode(database.db, deps, { address: late, code: '314159', expiresAt: soon });
  deps.advance(1_000);
  await messaging.pass();
  assert.equal(mailsTo(late).length, 0);
  assert.deepEqual((await stored()).map(({ error }) => error).at(-1), 'too late');
});

test('5 000 codes wait and no more', async () => {
  const expiresAt = new Date(deps.now() + 600_000);
  const code = { address: someAddress(), code: '161803', expiresAt };
  const fill = (count: number) =>
    database.db.rows({
      name: '',
      text: `insert into messages (id, channel, event, sealed, key_version, state, next_at, made_at)
        select gen_random_uuid(), 'email', 'code', '', 1, 'waiting', now(), now()
        from generate_series(1, $1)`,
      values: [count],
    });
  await fill(4_999);
  assert.equal(await sendCode(database.db, deps, code), true);
  assert.equal(await sendCode(database.db, deps, code), false);
});

test('a running process sends what is committed within a moment of being woken', async () => {
  const address = someAddress();
  const sending = createMessaging(deps);
  sending.start();
  const expiresAt = new Date(deps.now() + 600_000);
  const waking = { ...deps, messaging: sending };
  await sleep(10);
  await database.db.transaction(async (tx) => {
    await sendCode(tx, waking, { address, code: '141421', expiresAt });
    await sleep(50);
  });
  for (let tries = 0; tries < 100 && mailsTo(address).length === 0; tries += 1) await sleep(10);
  await sending.stop();
  assert.equal(mailsTo(address).length, 1);
});

test('what waits is sealed anew under a new key, and what no key opens is dropped', async () => {
  const [kept, lost] = [someAddress(), someAddress()];
  const [old, fresh] = ['42'.repeat(32), '43'.repeat(32)];
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
  const errors = (await stored()).map(({ state, error }) => [state, error]);
  assert.deepEqual(errors, [
    ['sent', null],
    ['dropped', 'no key of the server opens it'],
  ]);
});

test('what a process had in hand when it died is sent by another after its time, once', async () => {
  const address = someAddress();
  const accountId = await newPerson(deps, { email: [address] });
  await happens(deps, accountId, 'key.created');
  await handOut(deps, new Set(['email'] as const));
  const now = new Date(deps.now());
  const until = new Date(deps.now() + leaseMs);
  const taken = await claimMessages(database.db, { channel: 'email', now, until, room: 4 });
  assert.equal(taken.length, 1);
  deps.advance(leaseMs - 1);
  await messaging.pass();
  assert.equal(mailsTo(address).length, 0);
  deps.advance(1);
  await messaging.pass();
  assert.equal(mailsTo(address).length, 1);
  // The dead one was only slow: what came of its attempt is no news any more.
  const [{ id, attempts } = assert.fail()] = taken;
  const late = { id, attempts, at: now, state: 'waiting', nextAt: now, error: 'late' } as const;
  await storeAttempt(database.db, late);
  assert.equal((await stored())[0]?.state, 'sent');
});

test('what waits on a channel that nobody configured any more is dropped', async () => {
  const accountId = await newPerson(deps, { email: [someAddress()] });
  await happens(deps, accountId, 'key.created');
  await handOut(deps, new Set(['email'] as const));
  const none = createMessaging(deps, { email: null, telegram: null });
  await none.pass();
  await none.stop();
  const [row] = await stored();
  assert.deepEqual([row?.state, row?.sealed.length], ['dropped', 0]);
});
