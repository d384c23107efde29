// Tests only: a database, a mail server, a stub of the Bot API and what sends between them.

import { type BotApi, startBotApi } from '@parley/verify/test/support/bot-api.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import { type TestDeps, testDeps } from '@parley/verify/test/support/deps.ts';
import type { Settings } from '../../settings/config.ts';
import { createMessaging, type Messaging } from '../messaging.ts';
import { type Arrived, type MailServer, startMailServer } from './mail-server.ts';
import { forgetMessages, type StoredMessage, storedMessages } from './people.ts';

const botToken = '123456:TEST-stub-of-the-bot-api';

function settingsOf(mail: string, bot: string, token: string): Partial<Settings> {
  return {
    encryptionKey: '42'.repeat(32),
    people: {
      publicUrl: 'https://market.example',
      mail: { url: mail, from: 'Parley <no-reply@market.example>' },
      bot: { token, api: bot },
      providers: [],
      corsOrigins: [],
      payoutHoldSeconds: 3_600,
    },
  };
}

export type Stage = {
  readonly database: TestDatabase;
  readonly mail: MailServer;
  readonly bot: BotApi;
  /** Its clock stands. */
  readonly deps: TestDeps;
  readonly messaging: Messaging;
  /** Others like `deps`. */
  newDeps(mailUrl?: string, token?: string): TestDeps;
  mailsTo(address: string, server?: MailServer): Arrived[];
  /** The messages that arrived in a chat. */
  chatted(chat: string): string[];
  stored(): Promise<StoredMessage[]>;
  counted(channel: string, outcome: string): Promise<number>;
  /** Another test begins. */
  clear(): Promise<void>;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  const [database, mail, bot] = await Promise.all([
    testDatabase(),
    startMailServer(),
    startBotApi(botToken),
  ]);
  const { db } = database;
  const newDeps = (mailUrl = mail.url, token = botToken) => {
    const settings = settingsOf(mailUrl, bot.url, token);
    const made = testDeps({ db, settings });
    made.freeze();
    return made;
  };
  const deps = newDeps();
  const messaging = createMessaging(deps);
  return {
    database,
    mail,
    bot,
    deps,
    messaging,
    newDeps,
    mailsTo: (address, server = mail) => server.arrived.filter(({ to }) => to.includes(address)),
    chatted: (chat) =>
      bot.messages.filter(({ chatId }) => String(chatId) === chat).map(({ text }) => text),
    stored: () => storedMessages(db),
    counted: async (channel, outcome) => {
      const text = await deps.metrics.registry.metrics();
      const line = `messages_total\\{channel="${channel}",outcome="${outcome}"\\} (\\d+)`;
      return Number(new RegExp(line).exec(text)?.[1] ?? 0);
    },
    clear: async () => {
      mail.refuse(null);
      bot.answerAlways({ kind: 'ok' });
      await forgetMessages(db);
    },
    close: async () => {
      await messaging.stop();
      await Promise.all([mail.stop(), bot.stop(), database.drop()]);
    },
  };
}
