// Messages in chats: the bot's answers, and the outcome of the message and of the chat.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { loginsOf } from '../db/logins.ts';
import { createMessaging } from './messaging.ts';
import { happens, newPerson, someAddress, someChat } from './testing/people.ts';
import { openStage, type Stage } from './testing/stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
after(() => stage?.close());

test('a bot that is told to wait waits that long, with all other messages, and half a minute at most', async () => {
  const { bot, deps, messaging, chatted } = stage;
  const one = someChat();
  const two = someChat();
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

for (const kind of ['blocked', 'deactivated', 'chat not found'] as const) {
  test(`a chat that is over (${kind}) ends, shows it, and is told by mail, once`, async () => {
    const { database, bot, deps, messaging, mailsTo, chatted, counted } = stage;
    const address = someAddress();
    const chat = someChat();
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

test('a token that is refused is told to the operator once, without the token', async () => {
  const { mail, deps, newDeps, stored } = stage;
  const lines: string[] = [];
  const bad = {
    ...newDeps(mail.url, '123456:THIS-token-was-revoked'),
    log: recording(deps.log, lines),
  };
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
    rows.every(({ state, failure }) => state === 'waiting' && failure === 'HTTP 401: the token'),
  );
});

/** A log that keeps its lines. */
function recording(log: TestDeps['log'], lines: string[]): TestDeps['log'] {
  const keep = (...given: unknown[]) => {
    lines.push(JSON.stringify(given));
  };
  const silent = () => {};
  return { ...log, error: keep, warn: keep, info: silent, debug: silent } as TestDeps['log'];
}
