// kill -9 of a server between the commit of a new key and its announcement, at each point where it
// can matter, and another that goes on: the announcement arrives in the mailbox and in the chat,
// once; where it was sent and that was not stored yet, at most once more, with the same id.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createKey } from '../server/market/keys.ts';
import { leaseMs } from '../server/messages/bounds.ts';
import { createMessaging } from '../server/messages/messaging.ts';
import { type MailServer, startMailServer } from '../server/messages/testing/mail-server.ts';
import { newPerson, someAddress, someChat } from '../server/messages/testing/people.ts';
import {
  botToken,
  type MessagingProcess,
  settingsOf,
  startMessaging,
} from '../server/messages/testing/process.ts';
import { type BotApi, startBotApi } from './support/bot-api.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { testDeps } from './support/deps.ts';
import { type Point, type PostgresProxy, postgresProxy } from './support/postgres-proxy.ts';

type Case = { readonly what: string; readonly point: Point; readonly mayRepeat?: true };

const cases: readonly Case[] = [
  {
    what: 'with the event taken, uncommitted',
    point: { statement: 'messages_insert', when: 'after' },
  },
  { what: 'after handing out', point: { statement: 'messages_claim', when: 'before' } },
  { what: 'with messages in hand', point: { statement: 'messages_claim', when: 'after' } },
  {
    what: 'after sending, before that is stored',
    point: { statement: 'messages_outcome', when: 'before' },
    mayRepeat: true,
  },
];

type Stage = {
  readonly database: TestDatabase;
  readonly proxy: PostgresProxy;
  readonly victim: MessagingProcess;
};

let mail: MailServer;
let bot: BotApi;
let stages: Stage[] = [];

before(async () => {
  [mail, bot] = await Promise.all([startMailServer(), startBotApi(botToken)]);
  const databases: TestDatabase[] = [];
  for (const _ of cases) databases.push(await testDatabase());
  stages = await Promise.all(
    databases.map(async (database) => {
      const proxy = await postgresProxy(database.url);
      const outside = { databaseUrl: proxy.url, mail: mail.url, bot: bot.url };
      return { database, proxy, victim: await startMessaging(outside) };
    }),
  );
});
after(async () => {
  for (const { database, proxy, victim } of stages) {
    await victim.stop();
    await proxy.close();
    await database.drop();
  }
  await mail?.stop();
  await bot?.stop();
});

cases.forEach(({ what, point, mayRepeat }, index) => {
  test(`killed ${what}, another process announces the key, and nothing is lost`, async () => {
    const { database, proxy, victim } = stages[index] ?? assert.fail();
    const { db } = database;
    const settings = settingsOf({ databaseUrl: '', mail: mail.url, bot: bot.url });
    const deps = testDeps({ db, settings });
    const [address, chat] = [someAddress(), someChat()];
    const accountId = await newPerson(deps, { email: [address], chats: [chat] });
    const reached = proxy.stopAt(point);
    const { key } = await db.transaction((tx) =>
      createKey(tx, deps, { accountId, name: 'mine', scopes: ['read'] }),
    );
    await reached;
    await victim.kill();
    const next = createMessaging(deps);
    await next.pass();
    // What was in the dead one's hand is taken over when it must be dead, and not before.
    deps.advance(leaseMs);
    await next.pass();
    await next.pass();
    await next.stop();
    const mails = mail.arrived.filter(({ to }) => to.includes(address));
    const chats = bot.messages.filter(({ chatId }) => String(chatId) === chat);
    const texts = [...mails.map(({ raw }) => raw), ...chats.map(({ text }) => text)];
    for (const text of texts) assert.ok(!text.includes(key), 'the key itself is in no message');
    const most = mayRepeat ? 2 : 1;
    assert.ok(mails.length >= 1 && mails.length <= most, `${mails.length} mails`);
    assert.ok(chats.length >= 1 && chats.length <= most, `${chats.length} messages`);
    if (mayRepeat) assert.ok(mails.length + chats.length > 2, 'one was sent and not stored');
    assert.equal(new Set(mails.map(({ headers }) => headers.get('message-id'))).size, 1);
  });
});
