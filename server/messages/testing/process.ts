// Tests only: a server process of its own that sends messages, on a given database, over a given
// mail server and Bot API.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testDeps } from '../../../test/support/deps.ts';
import { connect } from '../../db/database.ts';
import type { Settings } from '../../settings/config.ts';
import { createMessaging } from '../messaging.ts';

const self = fileURLToPath(import.meta.url);

export type Outside = { readonly databaseUrl: string; readonly mail: string; readonly bot: string };

export type MessagingProcess = {
  stop(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
};

export const botToken = '123456:TEST-stub-of-the-bot-api';

/** The same for every process: what one seals another opens. */
export function settingsOf({ mail, bot }: Outside, token = botToken): Partial<Settings> {
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

export async function startMessaging(outside: Outside): Promise<MessagingProcess> {
  const child = fork(self, [JSON.stringify(outside)], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) => {
    throw new Error(`the messaging process ended with ${code}`);
  });
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return {
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function serve(outside: Outside): Promise<void> {
  const db = connect(outside.databaseUrl);
  const messaging = createMessaging(testDeps({ db, settings: settingsOf(outside) }));
  // Also when the test is killed: the channel closes with it.
  process.once('disconnect', async () => {
    await messaging.stop();
    await db.close();
  });
  messaging.start();
  process.send?.('ready');
}

if (process.argv[1] === self && process.send !== undefined) {
  await serve(JSON.parse(process.argv[2] ?? '{}'));
}
