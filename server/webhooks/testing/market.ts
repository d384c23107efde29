// Tests only: accounts with webhooks, what happens to them, and a receiver that is a function.

import type { Database } from '../../db/database.ts';
import { insertOutbox } from '../../db/outbox.ts';
import type { Deps } from '../../ports/deps.ts';
import { insertAccount } from '../../settle/testing/account.ts';
import type { Send } from '../attempt.ts';
import { registerWebhook } from '../register.ts';
import type { Sending } from '../send.ts';

type Parts = Pick<Deps, 'settings' | 'now' | 'randomBytes'> & { readonly db: Database };

export async function newAccount(deps: Parts): Promise<string> {
  return (await insertAccount(deps, [])).accountId;
}

/** Its id. */
export async function newWebhook(deps: Parts, accountId: string, url: string): Promise<string> {
  const wanted = { accountId, url, events: [], known: [] };
  const { webhook } = await deps.db.transaction((tx) => registerWebhook(tx, deps, wanted));
  return webhook.id;
}

export async function happens(
  { db, now }: Parts,
  accountId: string,
  topic: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<void> {
  const entry = { topic, accountId, payload, at: new Date(now()) };
  await db.transaction((tx) => insertOutbox(tx, [entry]));
}

/** Of which a test says what it answers; and all that was sent to it. */
export function recording(answer: (sending: Sending) => number | Promise<number>) {
  const sent: Sending[] = [];
  const send: Send = async (sending) => {
    sent.push(sending);
    return { status: await answer(sending), error: null };
  };
  return { sent, send };
}

/** Looks again and again, for up to ten seconds. */
export async function reached(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
